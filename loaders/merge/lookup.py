"""Keys of the source into ids of ours: one lookup for all keys of a kind that a chunk names."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.database import Session
from pinakes.loaders.merge.context import UNKNOWN, Ids, read_statement

_LAST_ID: Final = {
    "papers": "SELECT COALESCE(MAX(paper_id), 0) FROM papers",
    "authors": "SELECT COALESCE(MAX(author_id), 0) FROM authors",
    "cited_references": "SELECT COALESCE(MAX(reference_id), 0) FROM cited_references",
    "citations": """
        SELECT GREATEST(
            (SELECT COALESCE(MAX(citation_id), 0) FROM citations),
            (SELECT COALESCE(MAX(citation_id), 0) FROM pending_citations)
        )
    """,
}


@dataclass(slots=True)
class Keys:
    """Distinct keys in the order in which they are first named, and the id of each."""

    keys: pa.Array
    ids: Ids

    def find(self, column: pa.ChunkedArray) -> Ids:
        """The ids of a column of keys; `UNKNOWN` for a null and for a key that has none."""
        positions = pc.index_in(column, value_set=self.keys)
        codes = positions.fill_null(len(self.keys)).to_numpy()
        found: Ids = np.append(self.ids, UNKNOWN)[codes]
        return found

    def number_new(self, last_id: int) -> "Keys":
        """Give every key without an id the next one, in order; the keys that were without, with their ids."""
        is_new = np.array(self.ids == UNKNOWN)
        self.ids[is_new] = last_id + 1 + np.arange(np.count_nonzero(is_new))
        return Keys(self.keys.filter(pa.array(is_new)), self.ids[is_new])


def find_keys(session: Session, kind: str, corpus_id: int, columns: Iterable[pa.ChunkedArray]) -> Keys:
    """The distinct keys of columns that name papers, authors, cited references or queries, with their ids."""
    parts = [part for column in columns for part in column.chunks]
    keys = pc.unique(pa.chunked_array(parts, pa.string())).drop_null()
    ids = np.full(len(keys), UNKNOWN, dtype=np.int64)
    if len(keys):
        staged = pa.table({"position": pa.array(np.arange(len(keys))), "key": keys})
        with session.staged({"staged_keys": staged}):
            found = session.fetch_arrow(read_statement("lookup.sql", kind), {"corpus_id": corpus_id})
        ids[found["position"].to_numpy()] = found["id"].to_numpy()
    return Keys(keys, ids)


def find_last_id(session: Session, table: str) -> int:
    """The greatest id that is in use."""
    return int(session.scalar(_LAST_ID[table]))
