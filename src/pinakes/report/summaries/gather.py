"""From the database to the report on extraction of sentences."""

from collections.abc import Sequence
from dataclasses import replace

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.report.asked_runs import AskedRun, choose_asked
from pinakes.report.stored_values import Values, read_values, warn_of_choice, warn_of_run
from pinakes.report.summaries.data import Asked, SummaryReport, Trained, list_asked
from pinakes.report.summaries.datasets import read_datasets
from pinakes.report.summaries.example import read_example
from pinakes.report.summaries.labels import read_curves, read_positives, read_printed
from pinakes.report.summaries.names import Variation, find_variation, is_as_published
from pinakes.schema import trained_models
from pinakes.workload.summaries import AskedMode
from pinakes.workload.summary_reading import read_mode


def gather_summaries(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    mode: str | None = None,
) -> SummaryReport:
    """All that the report says of a benchmark's runs, from their stored answers and scores; one record.

    Args:
        run_ids: which runs; none: the newest of each system with the same settings on each corpus.
        all_runs: the older ones too.
        mode: whose runs; None: `corrected`, or the one that all runs have.

    Raises:
        EvaluationError: there is no such run, or none was scored.
    """
    chosen, left_out, used = choose_asked(database, benchmark, run_ids, all_runs=all_runs, mode=mode)
    numbers = [run.run_id for run in chosen]
    values = read_values(database, benchmark.name, numbers)
    runs = _order_runs(chosen, values)
    asked, asked_mode = list_asked(runs), _read_mode(database, benchmark, used)
    return SummaryReport(
        name=benchmark.name,
        title=benchmark.title,
        citation=benchmark.citation,
        licence=benchmark.licence,
        mode=used,
        asked_mode=asked_mode,
        runs=runs,
        variations=_find_variations(runs),
        values=values,
        published=benchmark.published,
        datasets=read_datasets(database, benchmark, asked),
        positives=read_positives(database, benchmark, used, asked),
        printed=read_printed(database, benchmark),
        curves=read_curves(database, benchmark, used, asked),
        examples=[
            example
            for one in asked
            if (example := read_example(database, benchmark, asked_mode, one, _select(runs, one, values)))
        ],
        trained=_read_trained(database, numbers),
        notes=tuple(benchmark.notes),
        warnings=_list_warnings(runs, values, left_out),
    )


def _read_mode(database: Database, benchmark: Benchmark, mode: str) -> AskedMode:
    with database.read() as session:
        return read_mode(session, replace(benchmark, mode=mode))


def _select(runs: Sequence[AskedRun], asked: Asked, values: Values) -> list[AskedRun]:
    """The runs that asked so and were scored."""
    return [
        run
        for run in runs
        if run.corpus == asked[0] and asked[1] in run.producers and (run.run_id, "all", "AP") in values
    ]


def _order_runs(runs: Sequence[AskedRun], values: Values) -> list[AskedRun]:
    """By corpus; in each the best by average precision first, then those without it."""

    def place(run: AskedRun) -> tuple[str, float, int]:
        score = values.get((run.run_id, "all", "AP"))
        return run.corpus, -score.value if score else 1.0, run.run_id

    return sorted(runs, key=place)


def _find_variations(runs: Sequence[AskedRun]) -> dict[int, Variation]:
    """Run id -> what the paper would call it; not of runs with settings that the paper does not have."""
    found = {}
    for run in runs:
        variation = find_variation(run.row.system, run.row.parameters)
        if variation is not None and is_as_published(variation, orjson.loads(run.row.parameters)):
            found[run.run_id] = variation
    return found


def _read_trained(database: Database, run_ids: Sequence[int]) -> dict[int, list[Trained]]:
    columns = ("trial", "settings", "epochs", "dev_score", "chosen")
    query = (
        sa.select(trained_models.c.run_id, *(trained_models.c[name] for name in columns))
        .where(trained_models.c.run_id.in_(run_ids))
        .order_by(trained_models.c.run_id, trained_models.c.trial)
    )
    found: dict[int, list[Trained]] = {}
    with database.read() as session:
        for row in session.rows(query):
            found.setdefault(row["run_id"], []).append(Trained(**{name: row[name] for name in columns}))
    return found


def _list_warnings(runs: Sequence[AskedRun], values: Values, left_out: int) -> list[str]:
    said: list[str] = []
    for run in runs:
        said += warn_of_run(run, values, "examples")
    return [*said, *warn_of_choice(runs, left_out)]
