"""Where runs go wrong, query by query: what they rank too high and too low, with the texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.compare import read_query_values
from pinakes.evaluators.registry import parse_measure
from pinakes.queries.definition import Benchmark
from pinakes.report.error_data import ErrorReport, ErrorRun
from pinakes.report.error_page import error_table, render_error_lines, render_error_page
from pinakes.report.error_reading import ErrorReader
from pinakes.report.gather import choose_scale
from pinakes.report.runs import choose_runs
from pinakes.report.terminal import print_table
from pinakes.report.written_files import write_files
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
    measure = parse_measure(benchmark.headline_measure).name
    chosen = _choose_runs(database, benchmark, request.run_ids, measure)
    values = {run.run_id: read_query_values(database, run.run_id, measure) for run in chosen}
    query_ids, left_out = _choose_queries(values[chosen[0].run_id], request.query_ids)
    level = request.relevant_from if request.relevant_from is not None else find_relevant(benchmark)
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


def write_errors(errors: ErrorReport, folder: Path) -> list[Path]:
    """Write `errors.html` and `errors.jsonl` into a folder, which is made; the paths of both."""
    contents = {"errors.html": render_error_page(errors), "errors.jsonl": render_error_lines(errors)}
    return write_files(folder, contents)


def print_errors(errors: ErrorReport) -> None:
    """Print a row for each query: its values, and the first of what is too high and too low."""
    print_table(error_table(errors))


def find_relevant(benchmark: Benchmark) -> int:
    """The lowest relevant grade: the `rel` of the headline or of the first measure that gives one; else 1."""
    names = (benchmark.headline_measure, *benchmark.measures)
    found = (parse_measure(name).parameters.get("rel") for name in names)
    return next((int(level) for level in found if level is not None), 1)


def _choose_runs(
    database: Database, benchmark: Benchmark, run_ids: Sequence[int], measure: str
) -> list[ErrorRun]:
    """The runs in the given order; none given: the one with the highest mean."""
    rows, _left_out = choose_runs(database, benchmark, run_ids, all_runs=False)
    runs = {row.run_id: ErrorRun(row.run_id, row.label) for row in rows}
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
    ordered = sorted(requested or values, key=lambda query_id: (values[query_id], query_id))
    ordered = list(dict.fromkeys(ordered))
    kept = ordered if requested else ordered[:MOST_QUERIES]
    return kept, len(ordered) - len(kept)
