"""What commands print: tables that fit the terminal, or the same data as CSV or JSON.

Where the output is no terminal nothing is left out or folded, however wide. Control characters in the data
are written out, so that no title of a paper can steer a terminal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from pinakes.database.read_only import number_repeated
from pinakes.report.drawing import draw_columns, draw_expanded, escape_table, tallest
from pinakes.report.escapes import escape_controls
from pinakes.report.fitting import Fitted, fit, fit_unfolded
from pinakes.report.for_programs import print_data, write_csv, write_json, write_value
from pinakes.report.formatting import format_field
from pinakes.report.layout import Cell, Column, Row, Table
from pinakes.report.output import Output

STANDARD: Final = Output()
_TALLEST: Final = 6
"""lines of a row of a query's result; longer texts are read better with each column on its own line"""
_LINES: Final = 1000
"""that are printed together"""
_NOTES: Final = "what is in parentheses"


def print_tables(tables: Iterable[Table], out: Output = STANDARD, *, warnings: Sequence[str] = ()) -> None:
    """Print tables one under another, an empty line between them, and warnings below.

    For programs it is the same, as it would be printed: a row a table's row, with the table's title.
    """
    listed = list(tables)
    if out.is_for_programs:
        content = {"tables": [_describe(table) for table in listed], "warnings": list(warnings)}
        rows = [{"table": table.title, **row} for table in listed for row in _list_records(table)] + [
            {"table": "warnings", "warning": warning} for warning in warnings
        ]
        print_data(content, out, rows)
        return
    for number, table in enumerate(listed):
        if number:
            out.file.write("\n")
        _print_fitted(table, out)
    for warning in warnings:
        print_warning(warning, out)


def print_table(table: Table, out: Output = STANDARD) -> None:
    """Print one table with its title above and its note below."""
    print_tables([table], out)


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], out: Output = STANDARD) -> None:
    """Print the rows of a query as a table, as CSV (lines end in `\\n`) or as one JSON array of objects.

    Null is NULL in a table, empty in CSV, null in JSON; a time is written as ISO 8601. Columns of one name
    get a number in JSON: `name`, `name_2`. No column is left out: a table that is too wide, or too high, for
    the terminal is expanded.
    """
    if out.form == "csv":
        write_csv(columns, rows, out.file, guard_formulas=out.guard_formulas)
    elif out.form == "json":
        write_json(columns, rows, out.file)
    else:
        _print_fitted(_make_table(columns, rows), out, keeps_all=True)


def print_records(
    rows: Sequence[Mapping[str, object]], out: Output = STANDARD, *, lead: Sequence[str] = (), title: str = ""
) -> None:
    """Records of one kind: a table, rounded, or unrounded CSV or JSON.

    Args:
        rows: the records; what the first one lacks is no column of the table.
        out: where, and in which form.
        lead: the columns that come first where there is not room for all.
        title: above the table.
    """
    if out.is_for_programs:
        print_data(list(rows), out)
    else:
        print_tables([make_record_table(rows, lead=lead, title=title)], out)


def make_record_table(
    rows: Sequence[Mapping[str, Any]], *, lead: Sequence[str] = (), title: str = ""
) -> Table:
    """Records of one kind as a table, rounded."""
    columns = list(rows[0]) if rows else []
    made = _make_table(columns, ([row[name] for name in columns] for row in rows), rounded=True)
    return replace(made, title=title, lead=tuple(lead))


def print_warning(text: str, out: Output = STANDARD) -> None:
    """Print what a reader must know, marked as such."""
    make_console(out).print(Text(f"! {escape_controls(text)}", style="bold yellow"))


def make_console(out: Output = STANDARD) -> Console:
    """What draws on the output; unfolded where that is no terminal."""
    return Console(
        file=out.file, width=out.width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


def _print_fitted(table: Table, out: Output, *, keeps_all: bool = False) -> None:
    """Draw a table as the output has room for it, and name what is left out."""
    console = make_console(out)
    shown = escape_table(table)
    if shown.title:
        console.print(Text(shown.title, style="bold"))
    if not shown.columns:
        if not shown.title:
            console.print(Text("no rows", style="dim"))
        return
    fitted = fit(shown, out.width) if out.is_terminal else fit_unfolded(shown)
    if out.layout == "wide":
        fitted = fit_unfolded(shown)
    is_expanded = out.layout == "expanded" or (
        out.layout == "fitted" and _is_better_expanded(shown, fitted, keeps_all)
    )
    if is_expanded and shown.rows:
        lines, fitted = draw_expanded(shown, out.width), fit_unfolded(shown)
    else:
        lines = draw_columns(shown, fitted)
    while some := list(islice(lines, _LINES)):
        console.print(Text("\n").join(some), soft_wrap=True)
    hidden = [*([_NOTES] if fitted.notes == "none" else []), *fitted.left_out]
    if hidden:
        console.print(Text(f"left out: {', '.join(hidden)}; all with --wide or --expanded", style="dim"))
    if shown.note:
        console.print(Text(shown.note, style="dim"))


def _is_better_expanded(table: Table, fitted: Fitted, keeps_all: bool) -> bool:
    """Whether a row is one record with more columns than there is room for, or nothing may be left out."""
    if fitted.left_out and (keeps_all or len(table.rows) == 1):
        return True
    return keeps_all and tallest(table, fitted) > _TALLEST


def _make_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, rounded: bool = False) -> Table:
    listed = [list(row) for row in rows]
    kinds = [_is_number_column([row[place] for row in listed]) for place in range(len(columns))]
    headings = tuple(Column(title, kind) for title, kind in zip(columns, kinds, strict=True))
    return Table("", headings, [_make_row(columns, row, rounded=rounded) for row in listed])


def _make_row(columns: Sequence[str], values: Sequence[object], *, rounded: bool) -> Row:
    null = Cell("NULL", "absent")
    shown = [
        format_field(name, value) if rounded else value for name, value in zip(columns, values, strict=True)
    ]
    return Row(tuple(null if value is None else Cell(write_value(value)) for value in shown))


def _is_number_column(values: Sequence[object]) -> bool:
    given = [value for value in values if value is not None]
    numbers = (isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in given)
    return bool(given) and all(numbers)


def _describe(table: Table) -> dict[str, object]:
    return {"title": table.title, "rows": _list_records(table), "note": table.note}


def _list_records(table: Table) -> list[dict[str, object]]:
    titles = number_repeated(table.full_titles())
    return [
        {title: cell.full_text for title, cell in zip(titles, row.cells, strict=True)} for row in table.rows
    ]
