"""A sparse index written down: its terms, lengths and postings as rows, of one row of `side_indexes`.

Rows are written in the order of terms, so that what a query's terms have stands together on both databases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.sparse_bm25.postings import read_by_term
from pinakes.indexers.sparse_bm25.weights import weigh_postings
from pinakes.progress import Progress
from pinakes.schema import corpora, indexed_papers, indexed_terms, next_id, postings, term_indexes
from pinakes.schema.removal import Removed, remove_rows
from pinakes.vectors.side_index import Row

TERMS_AT_ONCE: Final = 200_000
_DIGESTS: Final = sa.table(
    "text_digests", sa.column("paper_id"), sa.column("section_number"), sa.column("text_digest")
)
_LENGTHS: Final = sa.table("staged_lengths", sa.column("paper_id"), sa.column("length"))


@dataclass(frozen=True, slots=True)
class Weighing:
    """What the weights of postings are computed with."""

    k1: float
    b: float
    formula: str


def find_written(session: Session, side_index_id: int) -> Row | None:
    """The row of `term_indexes` of a side index; None where it is not written down."""
    return session.first(sa.select(term_indexes).where(term_indexes.c.side_index_id == side_index_id))


def name_written(side_index: Row) -> str:
    """What an index is called where it is written down.

    >>> name_written({"scope": "corpus:scifact", "kind": "sparse_bm25", "paper_template": "title"})
    'scifact/sparse_bm25/title'
    """
    corpus = str(side_index["scope"]).removeprefix("corpus:")
    return f"{corpus}/{side_index['kind']}/{side_index['paper_template']}"


def write_down(
    session: Session,
    side_index: Row,
    index: SparseBm25Index,
    *,
    corpus: str,
    counted_in: str,
    weighing: Weighing,
    progress: Progress,
) -> Row:
    """Write the index into the tables, in place of what was there of it; its row of `term_indexes`."""
    side_index_id = int(side_index["side_index_id"])
    strike_out(session, [side_index_id])
    first_term = next_id(session, indexed_terms.c.term_id)
    frequencies, collection = np.asarray(index.postings.frequencies), index.collection
    posting_count = int(frequencies.sum(dtype=np.int64))
    row = {
        "side_index_id": side_index_id,
        "name": name_written(side_index),
        "corpus_id": session.scalar(sa.select(corpora.c.corpus_id).where(corpora.c.name == corpus)),
        "system": side_index["kind"],
        "paper_template": side_index["paper_template"],
        "counted_in": counted_in,
        "counted_papers": collection.row_count,
        "average_length": collection.average_length,
        "formula": weighing.formula,
        "k1": weighing.k1,
        "b": weighing.b,
        "analysis": orjson.dumps(index.analysis.to_json(), option=orjson.OPT_SORT_KEYS).decode(),
        "paper_count": index.row_count,
        "term_count": len(frequencies),
        "posting_count": posting_count,
        "content_digest": side_index["content_digest"],
        "stored_at": datetime.now(UTC),
    }
    session.execute(sa.insert(term_indexes).values(**row))
    _write_papers(session, side_index_id, index)
    for terms in _list_terms(side_index_id, index, first_term):
        session.insert(indexed_terms, terms)
    progress.start(f"write down {row['name']}", posting_count)
    try:
        for part in _list_postings(index, first_term, weighing):
            session.insert(postings, part)
            progress.advance(part.num_rows)
    finally:
        progress.finish()
    for table in (indexed_papers, indexed_terms, postings):
        session.execute(f"ANALYZE {table.name}")  # nothing else counts the rows for the planner
    return row


def strike_out(session: Session, side_index_ids: list[int]) -> Removed:
    """Remove all that was written of some side indexes."""
    keys = pa.table({"side_index_id": pa.array(side_index_ids, pa.int32())})
    return remove_rows(session, {term_indexes: keys})


def _write_papers(session: Session, side_index_id: int, index: SparseBm25Index) -> None:
    lengths = pa.table(
        {"paper_id": np.asarray(index.paper_ids), "length": np.asarray(index.postings.lengths)}
    )
    of_paper = sa.and_(_DIGESTS.c.paper_id == _LENGTHS.c.paper_id, _DIGESTS.c.section_number == 0)
    columns = (
        sa.literal(side_index_id).label("side_index_id"),
        _LENGTHS.c.paper_id,
        _LENGTHS.c.length,
        _DIGESTS.c.text_digest,
    )
    rows = sa.select(*columns).select_from(_LENGTHS.join(_DIGESTS, of_paper)).order_by(_LENGTHS.c.paper_id)
    with session.staged({_LENGTHS.name: lengths}):
        names = [column.name for column in columns]
        session.execute(sa.insert(indexed_papers).from_select(names, rows))


def _list_terms(side_index_id: int, index: SparseBm25Index, first_term: int) -> Iterator[pa.Table]:
    for start in range(0, len(index.vocabulary), TERMS_AT_ONCE):
        ids = np.arange(start, min(start + TERMS_AT_ONCE, len(index.vocabulary)), dtype=np.int32)
        yield pa.table(
            {
                "term_id": first_term + ids.astype(np.int64),
                "side_index_id": np.full(len(ids), side_index_id, np.int32),
                "term": pa.array(index.vocabulary.spell(ids), pa.string()),
                "document_frequency": np.asarray(index.collection.frequencies)[ids],
                "idf": index.weigh_terms(ids),
            }
        )


def _list_postings(index: SparseBm25Index, first_term: int, weighing: Weighing) -> Iterator[pa.Table]:
    paper_ids, lengths = np.asarray(index.paper_ids), np.asarray(index.postings.lengths)
    average = index.collection.average_length
    for part in read_by_term(index.postings):
        held, places = np.unique(part.term_ids, return_inverse=True)
        idf = index.weigh_terms(held)[places]
        weights = weigh_postings(idf, part.counts, lengths[part.rows], average, weighing.k1, weighing.b)
        yield pa.table(
            {
                "term_id": first_term + part.term_ids.astype(np.int64),
                "paper_id": paper_ids[part.rows],
                "frequency": part.counts.astype(np.int32),
                "weight": weights,
            }
        )
