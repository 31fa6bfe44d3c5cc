"""Papers and cited works that are one work under several names, merged so that a row's deletion undoes it.

Papers of a corpus are one work where their normalised titles are equal. Cited works are one where they are
the same paper, or share an identifier or a normalised title; a title or an identifier that stands with
several papers says nothing and joins no one. Nothing is rewritten: `duplicate_papers` and
`duplicate_references` name the row that stands for each duplicate, and the views `distinct_papers`,
`distinct_references` and `citation_links` read them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.load.corpus import find_corpus
from pinakes.load.resolve import MIN_TITLE_CHARACTERS, resolve_corpus
from pinakes.schema import check_schema, duplicate_papers, duplicate_references

_KINDS: Final = ("paper", "identifier", "title")
"""what two cited works may share, the surest first"""
_SHARED: Final = ("reference_id", "rank", "key_number", "kind")  # numbers, since there are as many as works

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """How many papers and cited works of a corpus stand under another one."""

    papers: int
    references: int


def deduplicate(database: Database, corpus: str, *, undo: bool = False) -> Deduplicated:
    """Merge the papers and the cited works of a corpus again from the start, or undo all merges."""
    blocks = read_blocks("pinakes.load", "sql", "deduplicate.sql")
    check_schema(database)
    with database.begin() as session:
        corpus_id = find_corpus(session, corpus)
        values = {"corpus_id": corpus_id}
        session.execute(blocks["undo_papers"], values)
        session.execute(blocks["undo_references"], values)
        papers = references = 0
        if not undo:
            limits = {**values, "min_characters": MIN_TITLE_CHARACTERS}
            papers = session.insert(duplicate_papers, session.fetch_arrow(blocks["papers"], limits))
        resolve_corpus(session, corpus_id)  # a title that two papers had may stand for one now
        if not undo:
            references = _merge_references(session, blocks, limits)
        return Deduplicated(papers, references)


def _merge_references(session: Session, blocks: dict[str, str], values: dict[str, int]) -> int:
    parts = [part.select(_SHARED) for part in session.stream(blocks["shared_keys"], values)]
    if not any(part.num_rows for part in parts):
        return 0
    shared = pa.concat_tables(parts)
    references, rows = np.unique(shared["reference_id"].to_numpy(), return_inverse=True)
    known, columns = np.unique(shared["key_number"].to_numpy(), return_inverse=True)
    kinds = shared["kind"].to_numpy().astype(np.int64)
    groups = _join(rows, columns, len(references), len(known))
    # `rank` puts the work that is to stand for its group first.
    rank = np.empty(len(references), dtype=np.int64)
    rank[rows] = shared["rank"].to_numpy()
    kept = _choose(groups, rank)
    surest = np.full(len(references), len(_KINDS), dtype=np.int64)
    np.minimum.at(surest, rows, kinds)
    is_duplicate = kept != np.arange(len(references))
    table = {
        "reference_id": pa.array(references[is_duplicate]),
        "kept_reference_id": pa.array(references[kept[is_duplicate]]),
        "matched_by": pa.array([_KINDS[kind] for kind in surest[is_duplicate]]),
    }
    return session.insert(duplicate_references, pa.table(table))


def _join(rows: Integers, columns: Integers, row_count: int, key_count: int) -> Integers:
    """The group of each work: works that share a key, and works that share a key with those, are one."""
    total = row_count + key_count
    edges = coo_array((np.ones(len(rows), dtype=np.int8), (rows, row_count + columns)), shape=(total, total))
    _, labels = connected_components(edges, directed=False)
    return np.asarray(labels[:row_count], dtype=np.int64)


def _choose(groups: Integers, rank: Integers) -> Integers:
    """For each work the work of its group that has the least rank.

    >>> _choose(np.array([0, 1, 0]), np.array([5, 7, 3])).tolist()
    [2, 1, 2]
    """
    order = np.lexsort((rank, groups))
    _, first = np.unique(groups[order], return_index=True)
    return np.asarray(order[first][groups], dtype=np.int64)
