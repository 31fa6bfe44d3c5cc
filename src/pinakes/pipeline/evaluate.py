"""Stored rankings to stored scores: per query, aggregated, and compared between runs.

Leaves out: the formulas (`pinakes.evaluators`). Scores are computed from the hits and from the judgments as
they are now; computing them again replaces them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.evaluators.evaluate import evaluate as evaluate_rankings
from pinakes.evaluators.registry import parse_measure
from pinakes.evaluators.significance import Comparison, compare, holm
from pinakes.pipeline.benchmarking import open_benchmark
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation, select_judgments
from pinakes.records import Judgments, RankedPaper, Rankings, Score
from pinakes.schema import hits, papers, runs, scores


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run with the scores of it that were computed now."""

    run_id: int
    system: str
    scores: list[Score]

    def aggregates(self) -> list[Score]:
        """The scores of subsets, without those of single queries."""
        return [score for score in self.scores if score.query_id is None]


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two runs compared by one measure over all queries, with the tests' p-values after Holm's correction."""

    measure: str
    run_a: int
    run_b: int
    system_a: str
    system_b: str
    comparison: Comparison
    holm_t_test: float
    holm_wilcoxon: float
    holm_randomisation: float


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
    judgments, attributes = _read_judgments(database, benchmark)
    wanted = list(measures) or list(benchmark.measures)
    results = []
    for row in chosen:
        rankings = read_rankings(database, row["run_id"])
        found = _score(rankings, judgments, attributes, benchmark, wanted)
        with database.begin() as session:
            _store(session, row["run_id"], found)
        results.append(RunScores(row["run_id"], row["system"], found))
    return results


def find_runs(database: Database, benchmark: str, run_ids: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The runs of a benchmark, oldest first.

    Raises:
        EvaluationError: there is none, or not one of those that were named.
    """
    query = sa.select(runs).where(runs.c.benchmark == benchmark).order_by(runs.c.run_id)
    with database.read() as session:
        found = session.rows(query)
    missing = sorted(set(run_ids) - {row["run_id"] for row in found})
    if missing:
        known = ", ".join(str(row["run_id"]) for row in found) or "none"
        raise EvaluationError(f"{benchmark} has no run {missing[0]}; its runs: {known}.")
    if not found:
        command = f"`pinakes run {benchmark} --system …`"
        raise EvaluationError(f"{benchmark} has no run yet; make one with {command}.")
    return [row for row in found if not run_ids or row["run_id"] in run_ids]


def read_rankings(database: Database, run_id: int) -> Rankings:
    """A run's hits as rankings, in the order that their maker gave."""
    query = (
        sa.select(hits.c.query_id, papers.c.source_id, hits.c.score)
        .join(papers, hits.c.paper_id == papers.c.paper_id)
        .where(hits.c.run_id == run_id)
        .order_by(hits.c.query_id, hits.c.rank)
    )
    rankings: dict[str, list[RankedPaper]] = {}
    with database.read() as session:
        for part in session.stream(query):
            columns = (part[name].to_pylist() for name in ("query_id", "source_id", "score"))
            for query_id, source_id, score in zip(*columns, strict=True):
                rankings.setdefault(query_id, []).append(RankedPaper(source_id, score))
    return rankings


def _read_judgments(
    database: Database, benchmark: Benchmark
) -> tuple[Judgments, Mapping[str, Mapping[str, str | None]]]:
    view = relation(benchmark, "queries")
    names = [*benchmark.group_by, *([benchmark.fold_column] if benchmark.fold_column else [])]
    with database.read() as session:
        rows = session.fetch_arrow(select_judgments(benchmark))
        queries = session.rows(sa.select(view.c.query_id, *(view.c[name] for name in names)))
    judgments: dict[str, dict[str, int]] = {str(query["query_id"]): {} for query in queries}
    for query_id, source_id, grade in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        if query_id not in judgments:
            raise EvaluationError(
                f"{benchmark.name}.judgments judges query {query_id}, which {benchmark.name}.queries lacks."
            )
        if source_id in judgments[query_id]:
            raise EvaluationError(
                f"{benchmark.name}.judgments judges {source_id} twice for {query_id}; expected one grade."
            )
        judgments[query_id][source_id] = grade
    attributes = {query["query_id"]: {name: query[name] for name in names} for query in queries}
    return judgments, attributes


def _score(
    rankings: Rankings,
    judgments: Judgments,
    attributes: Mapping[str, Mapping[str, str | None]],
    benchmark: Benchmark,
    measures: Iterable[str],
) -> list[Score]:
    aggregation = Aggregation(benchmark.group_by, benchmark.fold_column, benchmark.splits)
    per_query = evaluate_rankings(rankings, judgments, measures)
    return [*per_query, *aggregate(per_query, attributes, aggregation)]


def _store(session: Session, run_id: int, found: Sequence[Score]) -> None:
    measures = {score.measure for score in found}
    session.execute(sa.delete(scores).where(scores.c.run_id == run_id, scores.c.measure.in_(measures)))
    names = ("measure", "subset", "query_id", "value", "queries_owed", "queries_answered", "queries_missing")
    columns: dict[str, Any] = {name: [getattr(score, name) for score in found] for name in names}
    columns["query_id"] = pa.array(columns["query_id"], pa.string())
    for name in names[4:]:
        columns[name] = pa.array(columns[name], pa.int32())
    owner = pa.array([run_id] * len(found), pa.int64())
    session.insert(scores, pa.table({"run_id": owner, **columns}))


def read_query_values(database: Database, run_id: int, measure: str) -> dict[str, float]:
    """A run's stored value for each query.

    Raises:
        EvaluationError: the run was not scored by that measure.
    """
    query = sa.select(scores.c.query_id, scores.c.value).where(
        scores.c.run_id == run_id, scores.c.measure == measure, scores.c.query_id.is_not(None)
    )
    with database.read() as session:
        found = {row["query_id"]: row["value"] for row in session.rows(query)}
    if not found:
        raise EvaluationError(
            f"run {run_id} has no scores by {measure}; compute them with `pinakes evaluate` first."
        )
    return found


def compare_runs(
    database: Database,
    benchmark_name: str,
    *,
    run_ids: Sequence[int] = (),
    measure: str | None = None,
    seed: int = 0,
) -> list[PairComparison]:
    """Every pair of runs compared over all queries by one measure, corrected by Holm over the pairs.

    Raises:
        EvaluationError: fewer than two runs, or one that was not scored.
    """
    benchmark = open_benchmark(database, benchmark_name)
    chosen = find_runs(database, benchmark_name, run_ids)
    if len(chosen) < 2:
        raise EvaluationError(f"{benchmark_name} has {len(chosen)} run to compare; expected two or more.")
    name = parse_measure(measure or benchmark.headline_measure).name
    values = {row["run_id"]: read_query_values(database, row["run_id"], name) for row in chosen}
    pairs = list(combinations(chosen, 2))
    compared = [compare(values[a["run_id"]], values[b["run_id"]], seed=seed) for a, b in pairs]
    corrected = [
        holm([getattr(one, p) for one in compared]) for p in ("t_test_p", "wilcoxon_p", "randomisation_p")
    ]
    return [
        PairComparison(
            name,
            a["run_id"],
            b["run_id"],
            a["system"],
            b["system"],
            one,
            *(float(ps[number]) for ps in corrected),
        )
        for number, ((a, b), one) in enumerate(zip(pairs, compared, strict=True))
    ]
