"""From the database to a report: what was scored, what was published, what differs, and files of it."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.compare import Comparisons, PairComparison, compare_subsets, group_comparable
from pinakes.evaluate.query_groups import average_pools, read_requested_queries
from pinakes.queries.definition import Benchmark, PublishedScore
from pinakes.report.data import (
    BenchmarkReport,
    PairTest,
    PublishedFigure,
    RunRow,
    Scale,
    SubsetScore,
    in_order,
)
from pinakes.report.exhibits.gather import gather_exhibits
from pinakes.report.history import gather_history
from pinakes.report.present.compare import describe_not_compared
from pinakes.report.runs import choose_runs
from pinakes.report.subsets import is_shown, measure_spreads, order_groups, order_sizes, order_types
from pinakes.run.stored_runs import find_runs
from pinakes.schema import published_scores, scores
from pinakes.tasks.base import describe_unjudged, find_task, find_unjudged
from pinakes.workload.benchmark import open_benchmark

MOST_COMPARED_GROUPS: Final = 6
"""with more groups than these, pairs of runs are compared over all queries alone"""


def gather_report(
    database: Database,
    benchmark_name: str,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    measure: str | None = None,
    mode: str | None = None,
) -> BenchmarkReport:
    """All that a report says of a benchmark's runs, from their stored scores; one record, a field a line.

    Args:
        run_ids: which runs; none: the newest of each system with the same settings.
        all_runs: the older ones too.
        measure: the measure to lead with and to compare by; None: the benchmark's headline.
        mode: whose runs; None: `corrected`, or the one that all runs have. Two modes are never in one table.

    Raises:
        EvaluationError: there is no such run, or none was evaluated by that measure.
    """
    report = gather_untested(database, benchmark_name, run_ids, all_runs=all_runs, measure=measure, mode=mode)
    return test_runs(database, report)


def gather_untested(
    database: Database,
    benchmark_name: str,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    measure: str | None = None,
    mode: str | None = None,
) -> BenchmarkReport:
    """`gather_report` without the tests of pairs of runs, which follow from what it has and take long."""
    benchmark = open_benchmark(database, benchmark_name)
    runs, left_out = choose_runs(database, benchmark, run_ids, all_runs=all_runs, mode=mode)
    name_measure = find_task(benchmark).name_measure
    headline = name_measure(measure or benchmark.headline_measure)
    stored, published = _read_scores(database, runs), _read_published(database, benchmark)
    scored = _find_scored(benchmark, stored, headline)
    values = _read_values(database, benchmark_name, headline, runs)
    found = [score for score in stored if is_shown(score.subset)]
    names = {one.subset for one in found} | {one.subset for one in published}
    subsets = order_groups(names, _order_splits(benchmark, published))
    # in the order in which the benchmark's folder has them, which is the papers'
    printed = dict.fromkeys(name_measure(score.measure) for score in benchmark.published)
    headline_subset = _choose_subset(headline, subsets, published)
    return BenchmarkReport(
        name=benchmark.name,
        title=benchmark.title,
        citation=benchmark.citation,
        licence=benchmark.licence,
        headline_measure=headline,
        headline_subset=headline_subset,
        measures=_order_measures(benchmark, found, published),
        subsets=subsets,
        sizes=order_sizes(names),
        types=order_types(names),
        scale=choose_scale(published),
        grades=dict(benchmark.grades),
        notes=tuple(benchmark.notes),
        runs=runs,
        scores=found,
        spreads=measure_spreads(stored),
        published=published,
        query_values=values,
        warnings=[
            *_list_unjudged(database, benchmark),
            *_list_warnings(runs, scored, headline, left_out),
        ],
        published_measures=tuple(printed),
        exhibits=gather_exhibits(database, benchmark),
        history=gather_history(database, benchmark_name, runs, headline, headline_subset),
    )


def test_runs(database: Database, report: BenchmarkReport) -> BenchmarkReport:
    """The report with the tests of its pairs of runs, and with a warning for what cannot be tested."""
    benchmark = open_benchmark(database, report.name)
    scored = _find_scored(benchmark, report.scores, report.headline_measure)
    compared, uncompared = _compare(database, benchmark, scored, report.headline_measure, report.scores)
    return replace(
        report,
        comparisons=[_flatten(pair) for pair in compared.pairs],
        resampled=compared.resampled,
        warnings=[*report.warnings, *uncompared],
    )


def _read_scores(database: Database, runs: Iterable[RunRow]) -> list[SubsetScore]:
    """The scores of subsets, in the order of run, subset and measure."""
    chosen = scores.c.run_id.in_([run.run_id for run in runs])
    query = sa.select(*(scores.c[one.name] for one in fields(SubsetScore)))
    with database.read() as session:
        rows = session.rows(query.where(chosen, scores.c.query_id.is_(None)))
    # sorted here, since the databases sort text by different collations
    return sorted((SubsetScore(**row) for row in rows), key=lambda one: (one.run_id, one.subset, one.measure))


def _find_scored(benchmark: Benchmark, stored: Iterable[SubsetScore], measure: str) -> list[int]:
    """The runs that were scored by a measure, oldest first."""
    found = sorted({score.run_id for score in stored if score.measure == measure})
    if not found:
        command = f"`pinakes evaluate {benchmark.name}`"
        raise EvaluationError(
            f"no run of {benchmark.name} has scores by {measure}; make them with {command}."
        )
    return found


def _read_values(
    database: Database, benchmark: str, measure: str, runs: Iterable[RunRow]
) -> dict[int, dict[str, float]]:
    """Run id -> query (one of several pools once) -> value; without runs that lack the measure."""
    run_ids = [run.run_id for run in runs]
    chosen = (scores.c.run_id.in_(run_ids), scores.c.measure == measure, scores.c.subset == "all")
    query = sa.select(scores.c.run_id, scores.c.query_id, scores.c.value)
    query = query.where(*chosen, scores.c.query_id.is_not(None)).order_by(scores.c.run_id, scores.c.query_id)
    values: dict[int, dict[str, float]] = {}
    with database.read() as session:
        for row in session.rows(query):
            values.setdefault(row["run_id"], {})[row["query_id"]] = row["value"]
    requested = read_requested_queries(database, benchmark)
    return {run_id: average_pools(found, requested) for run_id, found in values.items()}


def _read_published(database: Database, benchmark: Benchmark) -> list[PublishedFigure]:
    name_measure = find_task(benchmark).name_measure
    columns = [published_scores.c[one.name] for one in fields(PublishedFigure)]
    query = sa.select(*columns).where(published_scores.c.benchmark == benchmark.name)
    with database.read() as session:
        rows = session.rows(query.order_by(*columns))
    figures = [PublishedFigure(**{**row, "measure": name_measure(row["measure"])}) for row in rows]
    return sorted(figures, key=lambda one: (one.system, one.subset, one.measure, one.source))


def _order_measures(
    benchmark: Benchmark, found: Iterable[SubsetScore], published: Iterable[PublishedFigure]
) -> tuple[str, ...]:
    order = list(map(find_task(benchmark).name_measure, benchmark.measures))
    return tuple(in_order(order, {one.measure for one in found} | {one.measure for one in published}))


def _order_splits(benchmark: Benchmark, published: Iterable[PublishedFigure]) -> list[str]:
    """The splits in which papers report first; "" is no split."""
    reported = {one.subset.partition("/")[2] for one in published}
    return sorted(("", *benchmark.splits), key=lambda split: split not in reported)


def _choose_subset(measure: str, subsets: Iterable[str], published: Iterable[PublishedFigure]) -> str:
    """All queries, in the split in which papers report the measure, if they do."""
    reported = {one.subset for one in published if one.measure == measure}
    whole = [subset for subset in subsets if subset.partition("/")[0] == "all"]
    return next((subset for subset in whole if subset in reported), "all")


def choose_scale(published: Iterable[PublishedFigure | PublishedScore]) -> Scale:
    """Per cent where every published figure is printed as one."""
    printed = [one for one in published if one.value]
    is_percent = [abs(float(one.printed) - 100 * one.value) < 1e-6 for one in printed]
    return "percent" if printed and all(is_percent) else "share"


def _compare(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int],
    measure: str,
    stored: Iterable[SubsetScore],
) -> tuple[Comparisons, list[str]]:
    """Every pair of runs that can be compared: over all queries, and in groups where these are few.

    The second is what cannot be compared, in words.
    """
    rows = find_runs(database, benchmark.name, run_ids)
    if all(len(group) < 2 for group in group_comparable(rows)):
        return Comparisons([], {}), []
    column = _choose_column(benchmark, {one.subset for one in stored})
    try:
        found = compare_subsets(database, benchmark.name, run_ids=run_ids, measure=measure, by=column)
    except EvaluationError as error:
        return Comparisons([], {}), [f"The runs are not compared. {str(error).removesuffix('.')}."]
    return found, [f"{line}." for line in describe_not_compared(found.not_compared)]


def _choose_column(benchmark: Benchmark, subsets: Iterable[str]) -> str | None:
    """The first grouping column, if its groups are few enough for a table of pairs each."""
    column = next(iter(benchmark.group_by), None)
    groups = [name for name in subsets if name.startswith(f"{column}=") and "/" not in name]
    return column if 2 <= len(groups) <= MOST_COMPARED_GROUPS else None


def _flatten(pair: PairComparison) -> PairTest:
    names = ("queries", "mean_difference", "interval", "confidence", "wins", "ties", "losses", "effect_size")
    return PairTest(
        run_a=pair.run_a,
        run_b=pair.run_b,
        t_test_p=pair.holm_t_test,
        wilcoxon_p=pair.holm_wilcoxon,
        randomisation_p=pair.holm_randomisation,
        subset=pair.subset,
        **{name: getattr(pair.comparison, name) for name in names},
    )


def _differ_in_data(runs: Iterable[RunRow]) -> bool:
    """Whether runs of the same text templates read other texts or pools; other templates are other texts."""
    digests: dict[tuple[str | None, str | None], set[str]] = {}
    for run in runs:
        digests.setdefault((run.query_template, run.paper_template), set()).add(run.dataset_digest)
    return any(len(found) > 1 for found in digests.values())


def _list_unjudged(database: Database, benchmark: Benchmark) -> list[str]:
    found = find_unjudged(database, benchmark)
    return [f"{describe_unjudged(found)}; they are left out of every score."] if found.query_ids else []


def _list_warnings(runs: Sequence[RunRow], scored: Sequence[int], measure: str, left_out: int) -> list[str]:
    """What a reader must know before comparing the runs."""
    said = [f"{run.label} was not evaluated by {measure}." for run in runs if run.run_id not in scored]
    for run in runs:
        if run.queries_missing:
            missing = f"{run.queries_missing} of {run.queries_expected} queries"
            said.append(f"{run.label} has no answer to {missing}; each counts as zero.")
        if not run.is_current:
            said.append(f"{run.label} was made when the benchmark was defined otherwise than today.")
    if _differ_in_data(runs):
        said.append("The runs did not all rank the same rows of the benchmark; compare them with care.")
    if left_out:
        said.append(f"Older runs of the same systems with the same settings are left out: {left_out}.")
    return said
