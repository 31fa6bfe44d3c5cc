"""What `agreement` and `compare` have to say: agreement beside what was printed, subsets not compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from pinakes.evaluate.agreement import MEASURES, AgreementRow
from pinakes.queries.definition import Benchmark
from pinakes.report.formatting import format_field
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_row, number_columns, text_columns
from pinakes.report.present import print_records
from pinakes.report.terminal import print_tables

Printed = Mapping[tuple[str, str], Mapping[str, str]]
"""(group, stage) -> measure -> figure as printed"""


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


def print_agreement(rows: Sequence[AgreementRow], published: Printed, *, as_json: bool) -> None:
    """The agreement of each group and stage, published figures beside ours: a table, or a JSON array."""
    if as_json:
        print_records(
            [{**asdict(row), "published": published.get((row.group, row.stage))} for row in rows],
            as_json=True,
        )
    else:
        print_tables([_make_table(rows, published)])


def describe_not_compared(not_compared: Mapping[str, int]) -> Iterator[str]:
    """A line for each subset that is too small for a test."""
    for subset, queries in not_compared.items():
        yield f"{subset} has {queries} query, and a test needs two; not compared"


def _make_table(rows: Sequence[AgreementRow], published: Printed) -> Table:
    columns = (
        *text_columns("group", "stage"),
        *number_columns(["queries", *MEASURES]),
        *text_columns("without a value"),
    )
    note = "Medians over the queries; before: annotators with each other, after: with the adjudicated grade."
    if published:
        note += " In parentheses what was published, with ≠ where ours does not round to it."
    return Table("Agreement", columns, tuple(_make_row(row, published) for row in rows), note)


def _make_row(row: AgreementRow, published: Printed) -> Row:
    printed = published.get((row.group, row.stage), {})
    cells = [_make_cell(name, getattr(row, name), printed.get(name)) for name in MEASURES]
    missing = ", ".join(f"{name} {count}" for name, count in row.undefined.items() if count)
    return make_row(row.group, row.stage, f"{row.queries:,}", *cells, missing)


def _make_cell(name: str, value: float | None, printed: str | None) -> Cell:
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
