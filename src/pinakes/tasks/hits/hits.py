"""A run's hits as columns of numbers, and the numbers that papers have in an evaluation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.evaluators.columns import round_to_float32
from pinakes.schema import hits, papers

_HIT = np.dtype([("paper_id", ">i8"), ("score", ">f8")])

Part = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""positions of queries (-1: not expected), paper ids and scores of some hits"""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The hits of expected queries: 16 bytes a hit.

    Attributes:
        query: positions of the queries (n,).
        paper_id: ours (n,).
        score: as 32-bit floats (n,).
    """

    query: NDArray[np.int32]
    paper_id: NDArray[np.int64]
    score: NDArray[np.float32]


def read_hits(
    database: Database, run_id: int, positions: Mapping[str, int], *, in_given_order: bool = False
) -> Hits:
    """A run's hits of the queries that `positions` holds (query id -> its position), read in parts.

    With `in_given_order` each query's hits stand in the order that the ranking's maker gave.
    """
    owned = hits.c.run_id == run_id
    in_order = partial(_read_rows, order_by=(hits.c.query_id, hits.c.rank))
    read = in_order if in_given_order else _READERS[database.name]
    with database.read() as session:
        session.raise_memory()
        count = session.scalar(sa.select(sa.func.count()).select_from(hits).where(owned))
        found = Hits(np.empty(count, np.int32), np.empty(count, np.int64), np.empty(count, np.float32))
        end = 0
        for query, paper_id, score in read(session, run_id, positions):
            expected = query >= 0
            start, end = end, end + int(np.count_nonzero(expected))
            found.query[start:end] = query[expected]
            found.paper_id[start:end] = paper_id[expected]
            found.score[start:end] = round_to_float32(score[expected])
    return Hits(found.query[:end], found.paper_id[:end], found.score[:end])


def _read_rows(
    session: Session,
    run_id: int,
    positions: Mapping[str, int],
    order_by: Sequence[sa.ColumnElement[Any]] = (),
) -> Iterator[Part]:
    statement = sa.select(hits.c.query_id, hits.c.paper_id, hits.c.score).where(hits.c.run_id == run_id)
    for part in session.stream(statement.order_by(*order_by), rows=250_000):
        query_id = part["query_id"].combine_chunks().dictionary_encode()
        known = [positions.get(name, -1) for name in query_id.dictionary.to_pylist()]
        query = np.array(known, dtype=np.int32)[query_id.indices.to_numpy()]
        yield query, part["paper_id"].to_numpy(), part["score"].to_numpy()


def _read_packed(session: Session, run_id: int, positions: Mapping[str, int]) -> Iterator[Part]:
    statement = read_blocks("pinakes.tasks.hits", "sql", "read_hits.sql")["postgresql"]
    for query_id, packed in session.stream_packed(statement, {"run_id": run_id}):
        of_query = np.frombuffer(packed, dtype=_HIT)
        query = np.full(len(of_query), positions.get(query_id, -1), dtype=np.int32)
        yield query, of_query["paper_id"], of_query["score"]


_READERS: Mapping[str, Callable[[Session, int, Mapping[str, int]], Iterator[Part]]] = {
    "duckdb": _read_rows,
    "postgresql": _read_packed,
}


@dataclass(frozen=True, slots=True, eq=False)
class PaperNumbers:
    """Papers numbered from 0 in the order of the source's ids, byte by byte.

    Attributes:
        paper_ids: the id of each number, ours.
        lowest: the lowest id that has a number.
        numbers: the number of each id from the lowest on; -1 where it has none.
    """

    paper_ids: NDArray[np.int64]
    lowest: int
    numbers: NDArray[np.int32]

    def find(self, paper_ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """The numbers of papers that were asked for; -1 where the database has no such paper."""
        return self.numbers[paper_ids - self.lowest] if len(paper_ids) else np.empty(0, np.int32)


def number_papers(database: Database, *groups: NDArray[np.int64]) -> PaperNumbers:
    """The numbers of all papers of some groups of ids.

    Takes 5 bytes for each id from the lowest to the highest: ids are ours, given one after the other.
    """
    given = [ids for ids in groups if len(ids)]
    lowest = min((int(ids.min()) for ids in given), default=0)
    highest = max((int(ids.max()) for ids in given), default=-1)
    is_requested = np.zeros(highest - lowest + 1, dtype=bool)
    for ids in given:
        is_requested[ids - lowest] = True
    ordered = _order_papers(database, np.flatnonzero(is_requested) + lowest)
    numbers = np.full(len(is_requested), -1, dtype=np.int32)
    numbers[ordered - lowest] = np.arange(len(ordered), dtype=np.int32)
    return PaperNumbers(ordered, lowest, numbers)


def _order_papers(database: Database, paper_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    requested = sa.table("requested_papers", sa.column("paper_id", sa.BigInteger))
    found = (
        sa.select(papers.c.paper_id)
        .join(requested, papers.c.paper_id == requested.c.paper_id)
        .order_by(papers.c.source_id, papers.c.paper_id)
    )
    with database.read() as session, session.staged({"requested_papers": pa.table({"paper_id": paper_ids})}):
        ordered: NDArray[np.int64] = session.fetch_arrow(found)["paper_id"].to_numpy()
    return ordered


def read_source_id(database: Database, paper_id: int) -> str:
    """The source's id of a paper."""
    with database.read() as session:
        return str(session.scalar(sa.select(papers.c.source_id).where(papers.c.paper_id == paper_id)))
