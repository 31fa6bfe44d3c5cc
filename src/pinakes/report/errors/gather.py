"""Where runs go wrong, query by query: what they rank too high and too low, with the texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.compiled import EVERY_COLUMN
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.compare import read_query_values
from pinakes.evaluators.registry import parse_measure
from pinakes.queries.definition import Benchmark, require_task
from pinakes.queries.tasks import RANKING
from pinakes.report.data import RunRow
from pinakes.report.errors import selects
from pinakes.report.errors.data import (
    ErrorCandidate,
    ErrorQuery,
    ErrorReport,
    QuerySentence,
    Ranked,
)
from pinakes.report.gather import choose_scale
from pinakes.report.runs import choose_runs
from pinakes.workload.benchmark import open_benchmark

MOST_QUERIES: Final = 200
"""queries that a page has, the worst"""


@dataclass(frozen=True, slots=True)
class ErrorRequest:
    """Which errors of a benchmark are looked at.

    Attributes:
        run_ids: which runs, the one that the queries are ordered by first; none: the best one.
        query_ids: which queries; none: the worst 200.
        top: candidates of each kind for each run and query.
        relevant_from: the lowest grade that is relevant; None: as the benchmark's measures have it, or 1.
    """

    benchmark: str
    run_ids: Sequence[int] = ()
    query_ids: Sequence[str] = ()
    top: int = 10
    relevant_from: int | None = None


def gather_errors(database: Database, request: ErrorRequest) -> ErrorReport:
    """For each query, the worst first, the highest candidates that are not relevant and the lowest that are.

    Raises:
        InputError: `top` is below 1.
        EvaluationError: there is no such run or query, or no run that was evaluated.
    """
    if request.top < 1:
        raise InputError(f"--top is {request.top}; expected 1 or more.")
    benchmark = open_benchmark(database, request.benchmark)
    require_task(benchmark, RANKING)
    measure = parse_measure(benchmark.headline_measure).name
    chosen = _choose_runs(database, benchmark, request.run_ids, measure)
    values = {run.run_id: read_query_values(database, run.run_id, measure) for run in chosen}
    query_ids, left_out = _choose_queries(values[chosen[0].run_id], request.query_ids)
    level = find_relevant(benchmark) if request.relevant_from is None else request.relevant_from
    with database.read() as session:
        queries = ErrorReader(session, benchmark, chosen, query_ids, values).read(level, request.top)
    return ErrorReport(
        name=benchmark.name,
        title=benchmark.title,
        measure=measure,
        scale=choose_scale(benchmark.published),
        relevant_from=level,
        grades=dict(benchmark.grades),
        top=request.top,
        runs=tuple(chosen),
        queries=tuple(queries),
        left_out=left_out,
    )


def find_relevant(benchmark: Benchmark) -> int:
    """The lowest relevant grade: the `rel` of the headline or of the first measure that gives one; else 1."""
    names = (benchmark.headline_measure, *benchmark.measures)
    found = (parse_measure(name).parameters.get("rel") for name in names)
    return next((int(level) for level in found if level is not None), 1)


def _choose_runs(
    database: Database, benchmark: Benchmark, run_ids: Sequence[int], measure: str
) -> list[RunRow]:
    """The runs in the given order; none given: the one with the highest mean."""
    rows, _left_out = choose_runs(database, benchmark, run_ids, all_runs=False)
    runs = {row.run_id: row for row in rows}
    if run_ids:
        return [runs[run_id] for run_id in dict.fromkeys(run_ids)]
    means = {}
    for run_id in runs:
        try:
            values = read_query_values(database, run_id, measure)
        except EvaluationError:  # another one may have been evaluated
            continue
        means[run_id] = math.fsum(values.values()) / len(values)
    if not means:
        command = f"`pinakes evaluate {benchmark.name}`"
        raise EvaluationError(
            f"no run of {benchmark.name} has scores by {measure}; make them with {command}."
        )
    return [runs[max(means, key=lambda run_id: (means[run_id], -run_id))]]


def _choose_queries(values: Mapping[str, float], requested: Sequence[str]) -> tuple[list[str], int]:
    """The queries from the worst to the best, and how many of the better ones are left out.

    >>> _choose_queries({"a": 0.5, "b": 0.25}, [])
    (['b', 'a'], 0)
    """
    for query_id in requested:
        if query_id not in values:
            raise EvaluationError(
                f"no query {query_id!r} was evaluated; expected one of {len(values)}, as {min(values)}."
            )
    ordered = sorted(set(requested or values), key=lambda query_id: (values[query_id], query_id))
    kept = ordered if requested else ordered[:MOST_QUERIES]
    return kept, len(ordered) - len(kept)


@dataclass(frozen=True, slots=True)
class ErrorReader:
    """Reads the errors of some runs on some queries of a benchmark, in one session.

    Attributes:
        runs: the one that the queries are ordered by first.
        query_ids: in the order in which they are to be shown.
        values: run id -> query -> value of the headline measure.
    """

    session: Session
    benchmark: Benchmark
    runs: Sequence[RunRow]
    query_ids: Sequence[str]
    values: Mapping[int, Mapping[str, float]]

    def read(self, level: int, top: int) -> list[ErrorQuery]:
        """The queries with their errors, in the given order."""
        found = self.session.rows(selects.select_requested(self.benchmark, self.query_ids))
        requested = {row["query_id"]: row for row in found}
        sentences: dict[str, list[QuerySentence]] = {}
        for one in self.session.rows(selects.select_abstract_sentences(self.benchmark, self.query_ids)):
            sentence = QuerySentence(one["text"], bool(one["is_requested"]))
            sentences.setdefault(one["query_id"], []).append(sentence)
        candidates = self._read_candidates(level, top)
        counted = self.session.rows(selects.select_relevant_counts(self.benchmark, self.query_ids, level))
        relevant = {row["query_id"]: row["relevant"] for row in counted}
        return [
            ErrorQuery(
                query_id=query_id,
                groups={name: str(row[name]) for name in self.benchmark.group_by if row[name] is not None},
                values={run: of_run[query_id] for run, of_run in self.values.items() if query_id in of_run},
                relevant=relevant.get(query_id, 0),
                text=row["text"] or "",
                title=row["title"] or "",
                abstract=row["abstract"] or "",
                sentences=tuple(sentences.get(query_id, ())),
                false_positives=self._sort(
                    candidates.get((query_id, selects.FALSE_POSITIVE), ()), is_low=False
                ),
                low=self._sort(candidates.get((query_id, selects.LOW), ()), is_low=True),
            )
            for query_id in self.query_ids
            if (row := requested.get(query_id))
        ]

    def _read_sources(self) -> dict[tuple[str, int], str]:
        """Query and paper -> what put it into the pool; empty where the view does not say."""
        if self.benchmark.pool != "per_query":
            return {}
        view = sa.table("candidates", schema=self.benchmark.name)
        names = self.session.fetch_arrow(sa.select(EVERY_COLUMN).select_from(view).limit(0)).column_names
        if "source" not in names:
            return {}
        found: dict[tuple[str, int], list[str]] = {}
        for row in self.session.rows(selects.select_sources(self.benchmark, self.query_ids)):
            found.setdefault((row["query_id"], row["paper_id"]), []).append(row["source"] or "")
        return {key: ", ".join(sorted(set(",".join(several).split(",")))) for key, several in found.items()}

    def _read_candidates(self, level: int, top: int) -> dict[tuple[str, str], list[ErrorCandidate]]:
        """Query and kind -> its candidates, in no order."""
        sources = self._read_sources()
        run_ids = [run.run_id for run in self.runs]
        rows: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
        for row in self.session.rows(
            selects.select_errors(self.benchmark, run_ids, self.query_ids, level, top)
        ):
            rows.setdefault((row["query_id"], row["kind"], row["paper_id"]), []).append(row)
        found: dict[tuple[str, str], list[ErrorCandidate]] = {}
        for (query_id, kind, paper_id), of_runs in rows.items():
            first = of_runs[0]
            ranked = {row["run_id"]: Ranked(row["rank"], row["score"]) for row in of_runs if row["run_id"]}
            candidate = ErrorCandidate(
                first["source_id"],
                first["title"] or "",
                first["abstract"] or "",
                first["grade"],
                sources.get((query_id, paper_id), ""),
                ranked,
            )
            found.setdefault((query_id, kind), []).append(candidate)
        return found

    def _sort(self, candidates: Sequence[ErrorCandidate], *, is_low: bool) -> tuple[ErrorCandidate, ...]:
        """By the worst rank that a run gives; low ones then by the higher grade; then by the first run."""
        sign = -1 if is_low else 1

        def key(one: ErrorCandidate) -> tuple[float, int, list[float], str]:
            ranks = [sign * rank for rank in one.find_ranks(self.runs)]
            return min(ranks), -(one.grade or 0) if is_low else 0, ranks, one.source_id

        return tuple(sorted(candidates, key=key))
