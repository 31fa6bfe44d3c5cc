"""Stored rankings to stored scores: per query, and aggregated.

Scores are computed from the hits and from the judgments as they are now; computing them again replaces them.
Measures with an array kernel are computed on columns of numbers, about 30 bytes a hit; the others on
records.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.evaluate.candidate_types import CandidateType, cut_columns, cut_rankings, read_candidate_types
from pinakes.evaluate.hits import (
    PaperNumbers,
    number_papers,
    read_hits,
    read_rankings,
    read_source_id,
)
from pinakes.evaluate.judged import Expected, read_expected, read_judgments
from pinakes.evaluators.aggregate import Aggregation, Average, aggregate
from pinakes.evaluators.array_measures import find_kernel
from pinakes.evaluators.base import Measure
from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.evaluate import evaluate as evaluate_rankings
from pinakes.evaluators.evaluate_columns import evaluate_columns
from pinakes.evaluators.registry import parse_measure
from pinakes.queries.definition import Benchmark
from pinakes.records import Judgments, Score
from pinakes.run.stored_runs import find_runs
from pinakes.schema import scores
from pinakes.workload.benchmark import open_benchmark


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run with the scores of it that were computed now."""

    run_id: int
    system: str
    scores: list[Score]

    def aggregates(self) -> list[Score]:
        """The scores of subsets, without those of single queries."""
        return [score for score in self.scores if score.query_id is None]


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What every run of a benchmark is scored by.

    Attributes:
        judgments: as records; None where every measure has an array kernel.
        types: candidate type -> what its rankings are cut to, and whose these are.
    """

    database: Database
    measures: Sequence[Measure]
    expected: Expected
    judgments: Judgments | None
    types: Mapping[str, CandidateType]
    aggregation: Aggregation


def evaluate(
    database: Database, benchmark_name: str, *, run_ids: Sequence[int] = (), measures: Sequence[str] = ()
) -> list[RunScores]:
    """Score runs of a benchmark and store the scores; all of its runs unless some are named.

    Args:
        database: where they are.
        benchmark_name: the benchmark.
        run_ids: which runs; none: all.
        measures: which measures; none: those of the benchmark.

    Raises:
        EvaluationError: there is no run, or a ranking is not what a measure needs.
    """
    benchmark = open_benchmark(database, benchmark_name)
    chosen = find_runs(database, benchmark_name, run_ids)
    task = _prepare(database, benchmark, measures or benchmark.measures)
    results = []
    for row in chosen:
        found = _score(task, row["run_id"])
        with database.begin() as session:
            _store(session, row["run_id"], found)
        results.append(RunScores(row["run_id"], row["system"], found))
    return results


def _prepare(database: Database, benchmark: Benchmark, names: Sequence[str]) -> _Task:
    measures = list({measure.name: measure for measure in map(parse_measure, names)}.values())
    expected = read_expected(database, benchmark)
    needs_records = any(find_kernel(measure) is None for measure in measures)
    return _Task(
        database=database,
        measures=measures,
        expected=expected,
        judgments=read_judgments(database, benchmark, expected) if needs_records else None,
        types=read_candidate_types(database, benchmark, expected) if benchmark.candidate_types else {},
        aggregation=Aggregation(
            benchmark.group_by,
            benchmark.fold_column,
            benchmark.splits,
            benchmark.repeat_column,
            tuple(Average(one.name, one.column, one.decimals) for one in benchmark.averages),
        ),
    )


def _score(task: _Task, run_id: int) -> list[Score]:
    by_columns = [measure for measure in task.measures if find_kernel(measure)]
    by_records = [measure.name for measure in task.measures if not find_kernel(measure)]
    found = [
        *(_score_columns(task, run_id, by_columns) if by_columns else ()),
        *(_score_records(task, run_id, by_records) if by_records else ()),
    ]
    order = {measure.name: place for place, measure in enumerate(task.measures)}
    per_query = sorted(found, key=lambda score: order[score.measure])
    return [*per_query, *aggregate(per_query, task.expected.attributes, task.aggregation)]


def _score_columns(task: _Task, run_id: int, measures: Sequence[Measure]) -> Iterator[Score]:
    ranked, judged, numbers = _read_columns(task, run_id)
    yield from evaluate_columns(ranked, judged, measures)
    for name, of_type in task.types.items():
        cut = cut_columns(ranked, of_type.query, numbers.find(of_type.paper_id))
        yield from _keep_requested(evaluate_columns(cut, judged, measures, f"type={name}"), of_type)


def _read_columns(task: _Task, run_id: int) -> tuple[RankedColumns, JudgedColumns, PaperNumbers]:
    expected = task.expected
    hits = read_hits(task.database, run_id, expected.positions)
    of_types = (of_type.paper_id for of_type in task.types.values())
    numbers = number_papers(task.database, hits.paper_id, expected.paper_id, *of_types)
    ranked = RankedColumns(hits.query, numbers.find(hits.paper_id), hits.score)
    paper = numbers.find(expected.paper_id)
    held = paper >= 0
    judged = JudgedColumns(
        expected.query_ids,
        expected.query[held],
        paper[held].astype("int64"),
        expected.grade[held],
        lambda number: read_source_id(task.database, int(numbers.paper_ids[number])),
    )
    return (ranked if (ranked.paper >= 0).all() else ranked.select(ranked.paper >= 0)), judged, numbers


def _score_records(task: _Task, run_id: int, measures: Sequence[str]) -> Iterator[Score]:
    judgments = task.judgments or {}
    rankings = read_rankings(task.database, run_id)
    yield from evaluate_rankings(rankings, judgments, measures)
    for name, of_type in task.types.items():
        cut = cut_rankings(task.database, rankings, task.expected, of_type)
        yield from _keep_requested(evaluate_rankings(cut, judgments, measures, f"type={name}"), of_type)


def _keep_requested(found: Iterable[Score], of_type: CandidateType) -> Iterator[Score]:
    """The scores of queries that have a candidate of the type."""
    return (score for score in found if score.query_id in of_type.query_ids)


def _store(session: Session, run_id: int, found: Sequence[Score]) -> None:
    measures = {score.measure for score in found}
    session.execute(sa.delete(scores).where(scores.c.run_id == run_id, scores.c.measure.in_(measures)))
    names = (
        "measure",
        "subset",
        "query_id",
        "value",
        "queries_expected",
        "queries_answered",
        "queries_missing",
    )
    columns: dict[str, Any] = {name: [getattr(score, name) for score in found] for name in names}
    columns["query_id"] = pa.array(columns["query_id"], pa.string())
    for name in names[4:]:
        columns[name] = pa.array(columns[name], pa.int32())
    owner = pa.array([run_id] * len(found), pa.int64())
    session.insert(scores, pa.table({"run_id": owner, **columns}))
