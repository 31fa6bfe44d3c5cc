"""What `compare`, `agreement` and `tune` have to say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from pinakes.evaluate.agreement import MEASURES, AgreementRow
from pinakes.evaluate.compare import PairComparison, ResampledPair
from pinakes.queries.definition import Benchmark
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_field
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_records, print_tables
from pinakes.systems.tuned import TuneSummary

LEAD: Final = (
    "a",
    "b",
    "mean_difference",
    "difference",
    "interval_low",
    "interval_high",
    "holm_randomisation_p",
    "holm_bootstrap_p",
    "subset",
)
"""the columns of a comparison that come first"""
Printed = Mapping[tuple[str, str], Mapping[str, str]]
"""(group, stage) -> measure -> figure as printed"""


def print_tuning(summary: TuneSummary, out: Output, *, say: Callable[[str], None]) -> None:
    """Every pair of k1 and b with its mean, the chosen one marked; or one JSON object.

    `say` takes what is no data.
    """
    if out.is_for_programs:
        print_data(asdict(summary), out)
        return
    rows = [{**asdict(point), "chosen": "yes" if point == summary.chosen else ""} for point in summary.points]
    print_records(rows, out)
    chosen = f"{summary.measure} over {summary.query_count} queries ({summary.validation})"
    say(f"{chosen}: k1 {summary.chosen.k1:g}, b {summary.chosen.b:g}")


def comparison_rows(pairs: Sequence[PairComparison]) -> list[Mapping[str, object]]:
    """Comparisons as rows: b against a."""
    return [
        {
            "measure": pair.measure,
            "subset": pair.subset,
            "a": f"{pair.system_a} (run {pair.run_a})",
            "b": f"{pair.system_b} (run {pair.run_b})",
            "queries": pair.comparison.queries,
            "mean_difference": pair.comparison.mean_difference,
            "interval_low": pair.comparison.interval[0],
            "interval_high": pair.comparison.interval[1],
            "wins": pair.comparison.wins,
            "ties": pair.comparison.ties,
            "losses": pair.comparison.losses,
            "t_test_p": pair.comparison.t_test_p,
            "wilcoxon_p": pair.comparison.wilcoxon_p,
            "randomisation_p": pair.comparison.randomisation_p,
            "holm_t_test_p": pair.holm_t_test,
            "holm_wilcoxon_p": pair.holm_wilcoxon,
            "holm_randomisation_p": pair.holm_randomisation,
        }
        for pair in pairs
    ]


def resampled_rows(pairs: Sequence[ResampledPair]) -> list[Mapping[str, object]]:
    """Comparisons by the paired bootstrap as rows: b against a."""
    return [
        {
            "measure": pair.measure,
            "subset": pair.subset,
            "a": f"{pair.system_a} (run {pair.run_a})",
            "b": f"{pair.system_b} (run {pair.run_b})",
            "difference": pair.difference.difference,
            "interval_low": pair.difference.interval[0],
            "interval_high": pair.difference.interval[1],
            "bootstrap_p": pair.difference.p,
            "holm_bootstrap_p": pair.difference.holm_p,
        }
        for pair in pairs
    ]


def choose_agreement_column(benchmark: Benchmark) -> str | None:
    """The column by which a paper reported agreement, else the first that the benchmark groups by."""
    reported = [exhibit.column for exhibit in benchmark.exhibits if exhibit.kind == "agreement"]
    return next(iter([*reported, *benchmark.group_by]), None)


def find_published_agreement(
    benchmark: Benchmark, column: str | None
) -> dict[tuple[str, str], dict[str, str]]:
    """(Group, stage) -> measure -> the figure as a paper printed it; empty where none did by that column."""
    return {
        (group, stage): dict(zip(exhibit.measures, figures, strict=True))
        for exhibit in benchmark.exhibits
        if exhibit.kind == "agreement" and exhibit.column == column
        for row, figures in (exhibit.published or {}).items()
        for group, _, stage in [row.rpartition(" / ")]
    }


def print_agreement(rows: Sequence[AgreementRow], published: Printed, out: Output) -> None:
    """The agreement of each group and stage, published figures beside ours: a table, or a JSON array."""
    if out.is_for_programs:
        print_records(
            [{**asdict(row), "published": published.get((row.group, row.stage))} for row in rows], out
        )
    else:
        print_tables([_agreement_table(rows, published)], out)


def describe_not_compared(not_compared: Mapping[str, int]) -> Iterator[str]:
    """A line for each subset that is too small for a test."""
    for subset, queries in not_compared.items():
        counted = "1 query" if queries == 1 else f"{queries} queries"
        yield f"{subset} has {counted}, and a test needs two; not compared"


def _agreement_table(rows: Sequence[AgreementRow], published: Printed) -> Table:
    columns = make_columns(["group", "stage"], ["queries", *MEASURES], ["without a value"])
    note = "Medians over the queries; before: annotators with each other, after: with the adjudicated grade."
    if published:
        note += " In parentheses what was published, with ≠ where ours does not round to it."
    return Table("Agreement", columns, [_agreement_row(row, published) for row in rows], note)


def _agreement_row(row: AgreementRow, published: Printed) -> Row:
    printed = published.get((row.group, row.stage), {})
    cells = [_agreement_cell(name, getattr(row, name), printed.get(name)) for name in MEASURES]
    missing = ", ".join(f"{name} {count}" for name, count in row.undefined.items() if count)
    return make_row(row.group, row.stage, f"{row.queries:,}", *cells, missing)


def _agreement_cell(name: str, value: float | None, printed: str | None) -> Cell:
    if value is None:
        return absent_cell()
    text = str(format_field(name, value))
    if printed is None or rounds_to(value, printed):
        return Cell(text, note=printed or "")
    return Cell(text, "warning", f"≠ {printed}")


def rounds_to(value: float, printed: str) -> bool:
    """Whether a value, rounded to as many decimals, is the printed figure.

    >>> rounds_to(0.4198, ".42"), rounds_to(0.4553, ".45"), rounds_to(69.6, "69.60")
    (True, False, True)
    """
    decimals = len(printed.partition(".")[2])
    return f"{value:.{decimals}f}" == f"{float(printed):.{decimals}f}"
