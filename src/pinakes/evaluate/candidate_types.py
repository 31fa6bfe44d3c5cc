"""The candidates of each type, and rankings cut to one type: its candidates and the relevant papers.

Scores of such rankings say how hard a type is for a system (Medić and Šnajder 2022, section 4.4). A relevant
paper has a grade from 1 on; the source `cited` is of these alone and no type.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.judged import Expected
from pinakes.evaluators.columns import RankedColumns
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation
from pinakes.records import Rankings
from pinakes.schema import papers

RELEVANT: Final = "cited"


class CandidateType(NamedTuple):
    """The candidates of a type and the relevant papers, of the queries that have a candidate of the type.

    `query` (n,) are positions of queries, `paper_id` (n,) ids of ours; `query_ids` the queries: the others
    are not asked about the type, where their relevant papers would have nobody to stand behind.
    """

    query: NDArray[np.int64]
    paper_id: NDArray[np.int64]
    query_ids: frozenset[str]


def read_candidate_types(
    database: Database, benchmark: Benchmark, expected: Expected
) -> dict[str, CandidateType]:
    """Every type of the candidates of queries that owe a score, by name.

    Raises:
        EvaluationError: the queries do not each have a pool of their own.
    """
    if benchmark.pool != "per_query":
        raise EvaluationError(
            f"{benchmark.name} asks for scores by candidate type, and its pool is {benchmark.pool}; "
            "expected per_query."
        )
    view = relation(benchmark, "candidates")
    with database.read() as session:
        rows = session.fetch_arrow(
            sa.select(view.c.source, view.c.query_id, view.c.paper_id).where(view.c.source != RELEVANT)
        )
    source = np.array(rows["source"].to_pylist(), dtype=object)
    query = np.array([expected.positions.get(query_id, -1) for query_id in rows["query_id"].to_pylist()])
    paper_id = rows["paper_id"].to_numpy()
    is_relevant = expected.grade >= 1
    types = {}
    for name in sorted(set(source.tolist())):
        of_type = (source == name) & (query >= 0)
        requested = np.unique(query[of_type])
        relevant = is_relevant & np.isin(expected.query, requested)
        types[str(name)] = CandidateType(
            np.concatenate([expected.query[relevant], query[of_type]]),
            np.concatenate([expected.paper_id[relevant], paper_id[of_type]]),
            frozenset(expected.query_ids[position] for position in requested.tolist()),
        )
    return types


def cut_columns(ranked: RankedColumns, query: NDArray[np.int64], paper: NDArray[np.int32]) -> RankedColumns:
    """The ranked pairs that are among the given ones.

    >>> columns = RankedColumns(*(np.array(part) for part in ([0, 0, 1], [5, 6, 6], [3.0, 2.0, 1.0])))
    >>> cut_columns(columns, np.array([1, 0]), np.array([6, 5])).score.tolist()
    [3.0, 1.0]
    """
    papers_held = 1 + max(
        (int(numbers.max()) for numbers in (ranked.paper, paper) if len(numbers)), default=0
    )
    kept = query * papers_held + paper
    return ranked.select(np.isin(ranked.query.astype(np.int64) * papers_held + ranked.paper, kept))


def cut_rankings(
    database: Database, rankings: Rankings, expected: Expected, of_type: CandidateType
) -> Rankings:
    """The same of rankings as records."""
    source_ids = _read_source_ids(database, of_type.paper_id)
    kept = {
        (expected.query_ids[query], source_ids[paper_id])
        for query, paper_id in zip(of_type.query.tolist(), of_type.paper_id.tolist(), strict=True)
    }
    return {
        query_id: [paper for paper in ranking if (query_id, paper.source_id) in kept]
        for query_id, ranking in rankings.items()
    }


def _read_source_ids(database: Database, paper_ids: NDArray[np.int64]) -> Mapping[int, str]:
    low, high = (int(paper_ids.min()), int(paper_ids.max())) if len(paper_ids) else (0, -1)
    query = sa.select(papers.c.paper_id, papers.c.source_id).where(papers.c.paper_id.between(low, high))
    requested = set(paper_ids.tolist())
    with database.read() as session:
        return {
            paper_id: source_id
            for part in session.stream(query)
            for paper_id, source_id in zip(*(column.to_pylist() for column in part.columns), strict=True)
            if paper_id in requested
        }
