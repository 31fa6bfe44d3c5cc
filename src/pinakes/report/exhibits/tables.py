"""A benchmark's exhibits as tables: heat maps as counts, papers under two groups."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.exhibits.data import (
    Exhibit,
    GroupPair,
    GroupPairsExhibit,
    HeatMapExhibit,
    HeatMapPanel,
    TableExhibit,
    Value,
)
from pinakes.report.formatting import format_difference
from pinakes.report.layout import (
    Cell,
    Column,
    Heading,
    Row,
    Table,
    absent_cell,
    make_columns,
    make_row,
    value_cell,
)
from pinakes.report.tables.scores import scale_note


def exhibit_tables(report: BenchmarkReport, exhibit: Exhibit) -> list[Table]:
    """The tables of one exhibit; of pairs of groups that of the best run.

    Where many rows of a view were not printed and some were, those that were not are a table of their own.
    """
    if isinstance(exhibit, TableExhibit):
        return [view_table(part) for part in split_printed(exhibit)]
    if isinstance(exhibit, HeatMapExhibit):
        return [count_table(exhibit, panel) for panel in exhibit.panels]
    return [pair_table(report, exhibit, run) for run in list_paired_runs(report, exhibit)[:1]]


def count_table(exhibit: HeatMapExhibit, panel: HeatMapPanel) -> Table:
    """The counts of a panel: a row for each grade in the first group, a column for each in the other."""
    rows = [
        make_row(str(grade), *(f"{panel.counts.get((grade, other), 0):,}" for other in exhibit.grades))
        for grade in exhibit.grades
    ]
    columns = make_columns([panel.group_a], [str(grade) for grade in exhibit.grades])
    headings = (Heading("", 1), Heading(panel.group_b, len(exhibit.grades)))
    total = sum(panel.counts.values())
    title = f"{exhibit.title}: {panel.group_a} and {panel.group_b}, {total:,} candidates"
    return Table(title, columns, rows, exhibit.note, headings)


def list_paired_runs(report: BenchmarkReport, exhibit: GroupPairsExhibit) -> list[RunRow]:
    """The runs that have a value of some pair's both queries, best first."""
    return [run for run in report.rank_runs() if list_pair_values(report, exhibit, run)]


def list_pair_values(
    report: BenchmarkReport, exhibit: GroupPairsExhibit, run: RunRow
) -> list[tuple[GroupPair, float, float]]:
    """Each pair with a run's values in both groups, the largest distance first."""
    values = report.query_values.get(run.run_id, {})
    found = [
        (pair, values[pair.query_a], values[pair.query_b])
        for pair in exhibit.pairs
        if pair.query_a in values and pair.query_b in values
    ]
    return sorted(found, key=lambda one: (-abs(one[1] - one[2]), one[0].paper, one[0].group_a))


def pair_table(report: BenchmarkReport, exhibit: GroupPairsExhibit, run: RunRow) -> Table:
    """A run's values of papers that are queries in two groups, a row for each paper."""
    found = list_pair_values(report, exhibit, run)
    groups = sorted({group for pair, *_values in found for group in (pair.group_a, pair.group_b)})
    rows = []
    for pair, value_a, value_b in found:
        values = {pair.group_a: value_a, pair.group_b: value_b}
        cells = [value_cell(values.get(group), report.scale, report.headline_measure) for group in groups]
        distance = format_difference(abs(value_a - value_b), report.scale, report.headline_measure)
        rows.append(make_row(pair.paper, *cells, distance.removeprefix("+")))
    columns = make_columns(["paper"], [*groups, "distance"])
    note = " ".join(filter(None, (exhibit.note, scale_note(report))))
    return Table(f"{exhibit.title}: {run.label}", columns, rows, note)


MOST_UNPRINTED: Final = 10
"""rows that were not printed and stand below those that were"""


def split_printed(exhibit: TableExhibit) -> list[TableExhibit]:
    """The exhibit, cut into what was printed of it and the rest where that is long."""
    rest = tuple(row for row in exhibit.rows if _row_name(exhibit, row) not in exhibit.published)
    if len(rest) <= MOST_UNPRINTED or not exhibit.published:
        return [exhibit]
    printed = tuple(row for row in exhibit.rows if row not in rest)
    title = f"{exhibit.title}: what was not printed"
    return [
        replace(exhibit, rows=printed, left_out=0),
        replace(exhibit, title=title, rows=rest, published={}, note=""),
    ]


def view_table(exhibit: TableExhibit) -> Table:
    """The rows of a view; where something was printed, here, printed and difference in each measure.

    A row that was printed and that the view lacks stands below.
    """
    beside = [name for name in exhibit.measures if exhibit.published]
    plain = [name for name in exhibit.columns if name not in beside]
    ordered = [*exhibit.key, *(name for name in plain if name not in exhibit.key)]
    columns = [Column(_name(name), _is_number(exhibit, name)) for name in ordered]
    columns += make_columns((), ["here", "printed", "diff."] * len(beside))
    headings = (Heading("", len(ordered)), *(Heading(_name(name), 3) for name in beside))
    rows = [_view_row(exhibit, row, ordered, beside) for row in exhibit.rows]
    shown = {_row_name(exhibit, row) for row in exhibit.rows}
    rows += [_printed_row(exhibit, name, ordered) for name in exhibit.published if name not in shown]
    return Table(exhibit.title, tuple(columns), rows, _write_note(exhibit), headings if beside else ())


def _name(column: str) -> str:
    return column.replace("_", " ")


def _is_number(exhibit: TableExhibit, column: str) -> bool:
    place = exhibit.columns.index(column)
    values = [row[place] for row in exhibit.rows if row[place] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _row_name(exhibit: TableExhibit, row: Sequence[Value]) -> str:
    """What `published` calls a row."""
    return " / ".join(str(row[exhibit.columns.index(name)]) for name in exhibit.key)


def _view_row(
    exhibit: TableExhibit, row: Sequence[Value], plain: Sequence[str], beside: Sequence[str]
) -> Row:
    values = dict(zip(exhibit.columns, row, strict=True))
    printed = exhibit.published.get(_row_name(exhibit, row), ())
    cells = [_write(values[name]) for name in plain]
    for place, name in enumerate(beside):
        cells += _compare(values[name], printed[place] if printed else "")
    return make_row(*cells)


def _printed_row(exhibit: TableExhibit, name: str, plain: Sequence[str]) -> Row:
    """A row that was printed and that the view lacks."""
    parts = name.split(" / ") if name.count(" / ") == len(exhibit.key) - 1 else [name]
    empty = [absent_cell()] * (len(plain) - len(parts))
    cells = [part for text in exhibit.published[name] for part in (absent_cell(), Cell(text), absent_cell())]
    return make_row(*parts, *empty, *cells, is_ours=False)


def _write(value: Value) -> Cell:
    """A value as it is: a whole number with thousands apart, a fraction with two decimals.

    >>> _write(6244.0).text, _write(124.88).text, _write("cited").text, _write(None).kind
    ('6,244', '124.88', 'cited', 'absent')
    """
    if value is None:
        return absent_cell()
    if isinstance(value, str):
        return Cell(value)
    return Cell(f"{value:,.{0 if float(value).is_integer() else 2}f}")


def _compare(value: Value, printed: str) -> list[Cell]:
    """What is counted here, what was printed, and the difference where both are numbers.

    Ours is rounded as it was printed; where it then differs, it has one decimal more, to show by how much.

    >>> [cell.text for cell in _compare(124.88, "124.9")], [cell.text for cell in _compare(9.92, "9.8")]
    (['124.9', '124.9', '0.0'], ['9.92', '9.8', '+0.12'])
    >>> [cell.text for cell in _compare(50, "")]
    ['50', '–', '–']
    """
    number = _read_number(printed)
    if not isinstance(value, int | float) or number is None:
        return [_write(value), Cell(printed) if printed else absent_cell(), absent_cell()]
    decimals = len(printed.partition(".")[2])
    if float(f"{value:.{decimals}f}") == number:
        return [Cell(f"{value:,.{decimals}f}"), Cell(printed), Cell(f"{0:.{decimals}f}")]
    decimals += 0 if float(value).is_integer() else 1
    difference = f"{value - number:+,.{decimals}f}"
    return [Cell(f"{value:,.{decimals}f}"), Cell(printed), Cell(difference)]


def _read_number(printed: str) -> float | None:
    """The number that was printed, if it is one.

    >>> _read_number("6,244"), _read_number("07.99"), _read_number("n/a")
    (6244.0, 7.99, None)
    """
    try:
        return float(printed.replace(",", ""))
    except ValueError:
        return None


def _write_note(exhibit: TableExhibit) -> str:
    said = [
        exhibit.note,
        f"Printed in {exhibit.source}; the difference is ours minus that." if exhibit.published else "",
        f"{exhibit.left_out:,} more rows are in the view." if exhibit.left_out else "",
    ]
    return " ".join(filter(None, said))
