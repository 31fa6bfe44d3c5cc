"""From the database to the report on alternative-self retrieval."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.report.asked_runs import AskedRun, choose_asked
from pinakes.report.self_retrieval.aggregate import (
    count_overlaps,
    read_maps,
    read_similarities,
    sum_losses,
)
from pinakes.report.self_retrieval.data import Code, SelfReport
from pinakes.report.self_retrieval.names import CATEGORIES, OWN, ROBUSTNESS
from pinakes.report.self_retrieval.views import read_capability, read_coverage, read_own, read_view
from pinakes.report.stored_values import Values, read_values, warn_of_choice, warn_of_run

SHOWN_VIEWS: Final = ("table_2", "datasets")
"""views of the benchmark that the report shows as they are"""


def gather_self_retrieval(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    mode: str | None = None,
) -> SelfReport:
    """All that the report says of a benchmark's runs, from their stored answers and scores.

    Args:
        run_ids: which runs; none: the newest of each system with the same settings on each corpus.
        all_runs: the older ones too.
        mode: whose runs; None: `corrected`, or the one that all runs have.

    Raises:
        EvaluationError: there is no such run, or none was scored.
    """
    scored = gather_scores(database, benchmark, run_ids, all_runs=all_runs, mode=mode)
    numbers = [run.run_id for run in scored.runs]
    overlaps, same = count_overlaps(database, numbers)
    return replace(
        scored,
        losses=sum_losses(database, numbers),
        overlaps=overlaps,
        same=same,
        similarities=read_similarities(database, numbers),
        maps=read_maps(database, numbers),
        coverage=read_coverage(database, benchmark, scored.runs),
        views={
            name: read_view(database, benchmark, name) for name in SHOWN_VIEWS if name in benchmark.own_views
        },
    )


def gather_scores(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    mode: str | None = None,
) -> SelfReport:
    """What `gather_self_retrieval` gives, with scores alone: all that a terminal shows."""
    asked, left_out, chosen = choose_asked(database, benchmark, run_ids, all_runs=all_runs, mode=mode)
    numbers = [run.run_id for run in asked]
    values = read_values(database, benchmark.name, numbers)
    return SelfReport(
        name=benchmark.name,
        title=benchmark.title,
        citation=benchmark.citation,
        licence=benchmark.licence,
        mode=chosen,
        codes=_list_codes(database, benchmark, values),
        runs=_order_runs(asked, values),
        values=values,
        published=benchmark.published,
        capability=read_capability(database, benchmark, numbers),
        notes=tuple(benchmark.notes),
        warnings=_list_warnings(asked, values, left_out),
    )


def _list_codes(
    database: Database, benchmark: Benchmark, values: Iterable[tuple[int, str, str]]
) -> list[Code]:
    """The codes that some run was asked, by category and then by the paper's number; a user's own last."""
    rows = read_own(database, benchmark, "codes", ("code", "category", "number"))
    known = {row["code"]: (row["category"], row["number"] or 0) for row in rows}
    asked = {subset.removeprefix("code=") for _run, subset, _measure in values if subset.startswith("code=")}
    order = {category: place for place, category in enumerate((*CATEGORIES, OWN))}
    found = {code: known.get(code, (OWN, 0)) for code in asked}
    return [
        Code(code, found[code][0])
        for code in sorted(
            found, key=lambda code: (order.get(found[code][0], len(order)), found[code][1], code)
        )
    ]


def _order_runs(asked: Sequence[AskedRun], values: Values) -> list[AskedRun]:
    """By corpus; in each the most robust first, then those without that score."""

    def place(run: AskedRun) -> tuple[str, float, int]:
        score = values.get((run.run_id, "all", ROBUSTNESS))
        return run.corpus, -score.value if score else 1.0, run.run_id

    return sorted(asked, key=place)


def _list_warnings(asked: Sequence[AskedRun], values: Values, left_out: int) -> list[str]:
    said: list[str] = []
    for run in asked:
        said += warn_of_run(run, values, "queries")
        pooled = values.get((run.run_id, "all", "MRR"))
        if pooled is not None and pooled.answered < pooled.expected:
            missing = f"{pooled.expected - pooled.answered:,} of {pooled.expected:,} neighbours"
            said.append(f"{run.name} has no representation of {missing}; each counts as zero.")
    return [*said, *warn_of_choice(asked, left_out)]
