"""Stored rankings to stored scores: per query, and aggregated.

Leaves out: the formulas (`pinakes.evaluators`). Scores are computed from the hits and from the judgments as
they are now; computing them again replaces them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.evaluators.evaluate import evaluate as evaluate_rankings
from pinakes.pipeline.benchmarking import open_benchmark
from pinakes.pipeline.stored_runs import find_runs
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation, select_judgments
from pinakes.records import Judgments, RankedPaper, Rankings, Score
from pinakes.schema import hits, papers, scores


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run with the scores of it that were computed now."""

    run_id: int
    system: str
    scores: list[Score]

    def aggregates(self) -> list[Score]:
        """The scores of subsets, without those of single queries."""
        return [score for score in self.scores if score.query_id is None]


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
