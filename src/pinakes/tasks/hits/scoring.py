"""Stored rankings to scores: of queries, of subsets of them, and of single types of candidates.

Everything is computed on columns of numbers, about 30 bytes a hit. Scores of one type of candidates are those
of rankings cut to its candidates and the relevant papers; they say how hard a type is for a system (Medić and
Šnajder 2022, section 4.4). A relevant paper has a grade from 1 on; the source `cited` is of these alone and
no type.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.distinct import find_distinct
from pinakes.errors import EvaluationError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.evaluators.base import Measure
from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.evaluate import evaluate_columns
from pinakes.evaluators.registry import parse_measures
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation
from pinakes.records import Score
from pinakes.tasks.base import ScoreRun, read_mode
from pinakes.tasks.hits.expected import Expected, read_expected
from pinakes.tasks.hits.hits import PaperNumbers, number_papers, read_hits, read_source_id

RELEVANT: Final = "cited"


class CandidateType(NamedTuple):
    """The candidates of a type and the relevant papers, of the queries that have a candidate of it.

    `query` (n,) are positions of queries, `paper_id` (n,) our ids; `query_ids` the queries: the others
    are not asked about the type, where their relevant papers would have nobody to stand behind.
    """

    query: NDArray[np.int64]
    paper_id: NDArray[np.int64]
    query_ids: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """What every run of a benchmark is scored by.

    Attributes:
        types: candidate type -> what its rankings are cut to, and whose these are.
    """

    database: Database
    measures: Sequence[Measure]
    expected: Expected
    types: Mapping[str, CandidateType]
    aggregation: Aggregation

    def score(self, run_id: int) -> list[Score]:
        """The scores of a run: of single queries by measure, then of subsets.

        In the mode `published` a query without an answer is left out, as pytrec_eval leaves it out.
        """
        order = {measure.name: place for place, measure in enumerate(self.measures)}
        found: Iterable[Score] = self._score_queries(run_id)
        if read_mode(self.database, run_id) == "published":
            found = [score for score in found if score.queries_answered]
        per_query = sorted(found, key=lambda score: order[score.measure])
        return [*per_query, *aggregate(per_query, self.expected.attributes, self.aggregation)]

    def _score_queries(self, run_id: int) -> Iterator[Score]:
        ranked, judged, numbers = self._read(run_id)
        yield from evaluate_columns(ranked, judged, self.measures)
        for name, of_type in self.types.items():
            cut = cut_columns(ranked, of_type.query, numbers.find(of_type.paper_id))
            found = evaluate_columns(cut, judged, self.measures, f"type={name}")
            yield from (score for score in found if score.query_id in of_type.query_ids)

    def _read(self, run_id: int) -> tuple[RankedColumns, JudgedColumns, PaperNumbers]:
        expected = self.expected
        in_given_order = any(measure.family.in_given_order for measure in self.measures)
        hits = read_hits(self.database, run_id, expected.positions, in_given_order=in_given_order)
        of_types = (of_type.paper_id for of_type in self.types.values())
        numbers = number_papers(self.database, hits.paper_id, expected.paper_id, *of_types)
        ranked = RankedColumns(hits.query, numbers.find(hits.paper_id), hits.score)
        paper = numbers.find(expected.paper_id)
        held = paper >= 0
        judged = JudgedColumns(
            expected.query_ids,
            expected.query[held],
            paper[held].astype("int64"),
            expected.grade[held],
            lambda number: read_source_id(self.database, int(numbers.paper_ids[number])),
        )
        return (ranked if (ranked.paper >= 0).all() else ranked.select(ranked.paper >= 0)), judged, numbers


def prepare_scoring(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ScoreRun:
    """What scores a run of the benchmark by its id: judgments and types are read once.

    Raises:
        UnknownNameError: a measure is unknown.
        EvaluationError: the judgments are not what they must be, or candidate types are asked of a benchmark
            whose queries do not each have a pool of their own.
    """
    expected = read_expected(database, benchmark)
    return _Scoring(
        database=database,
        measures=parse_measures(names),
        expected=expected,
        types=read_candidate_types(database, benchmark, expected) if benchmark.candidate_types else {},
        aggregation=Aggregation(
            benchmark.group_by,
            benchmark.fold_column,
            benchmark.splits,
            benchmark.repeat_column,
            benchmark.averages,
        ),
    ).score


def read_candidate_types(
    database: Database, benchmark: Benchmark, expected: Expected
) -> dict[str, CandidateType]:
    """Every type of the candidates of queries that a score is expected of, by name."""
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
        requested = find_distinct(query[of_type])
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
