"""Tables and rows on standard output: drawn by rich on a terminal and in a pipe, or as CSV or JSON.

Where the output is no terminal nothing is cut or folded, however wide. Control characters in the data are
written out, so that no title of a paper can steer a terminal.
"""

import csv
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Final, TextIO

import orjson
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from pinakes.database.read_only import number_repeated
from pinakes.errors import InputError
from pinakes.report.escapes import escape_controls, escape_marks
from pinakes.report.formatting import format_field
from pinakes.report.layout import Cell, Column, Row, Table
from pinakes.writing.formulas import guard_formula

FORMATS: Final = ("table", "csv", "json")
UNFOLDED_WIDTH: Final = 100_000

_STYLES: Final = {
    "plain": "",
    "best": "bold",
    "second": "underline",
    "warning": "bold yellow",
    "absent": "dim",
}


def print_tables(tables: Iterable[Table], *, stream: TextIO | None = None) -> None:
    """Print tables one under another, an empty line between them."""
    for number, table in enumerate(tables):
        if number:
            make_console(stream).print()
        print_table(table, stream=stream)


def print_table(table: Table, *, stream: TextIO | None = None) -> None:
    """Print one table with its title above and its note below."""
    console = make_console(stream)
    console.print(Text(escape_controls(table.title), style="bold"))
    console.print(_draw(table))
    if table.note:
        console.print(Text(escape_controls(table.note), style="dim"))


def print_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    format: str = "table",
    *,
    guard_formulas: bool = False,
    stream: TextIO | None = None,
) -> None:
    """Print the rows of a query as a table, as CSV (lines end in `\\n`) or as one JSON array of objects.

    Null is NULL in a table, empty in CSV, null in JSON; a time is written as ISO 8601. Columns of one name
    get a number in JSON: `name`, `name_2`. `guard_formulas` is for CSV that a spreadsheet opens: see
    `writing.formulas`.

    Raises:
        InputError: there is no such format, or it is not CSV whose formulas are guarded.
    """
    if guard_formulas and format != "csv":
        raise InputError("--guard-formulas is for CSV; add --format csv, or leave it out.")
    writers: dict[str, Callable[[Sequence[str], Iterable[Sequence[object]], TextIO], None]] = {
        "table": _write_table,
        "csv": partial(_write_csv, guard_formulas=guard_formulas),
        "json": _write_json,
    }
    if format not in writers:
        raise InputError(f"there is no output format {format!r}; expected one of {', '.join(FORMATS)}.")
    writers[format](columns, rows, stream or sys.stdout)


def print_records(rows: Sequence[Mapping[str, object]], *, as_json: bool = False) -> None:
    """Records of one kind: a table, rounded, or a JSON array, unrounded."""
    columns = list(rows[0]) if rows else []
    if as_json:
        print_rows(columns, (tuple(row.values()) for row in rows), "json")
        return
    print_rows(columns, (tuple(format_field(name, value) for name, value in row.items()) for row in rows))


def print_object(content: object, *, stream: TextIO | None = None) -> None:
    """One JSON object, or an array of them."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    (stream or sys.stdout).write(orjson.dumps(content, default=str, option=options).decode())


def print_warning(text: str, *, stream: TextIO | None = None) -> None:
    """Print what a reader must know, marked as such."""
    make_console(stream).print(Text(f"! {escape_controls(text)}", style="bold yellow"))


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether the output is read on a screen, not from a pipe or a file."""
    return (stream or sys.stdout).isatty()


def make_console(stream: TextIO | None = None) -> Console:
    """What draws on the output; unfolded where that is no terminal."""
    target = stream or sys.stdout
    width = None if is_terminal(stream) else UNFOLDED_WIDTH
    return Console(file=target, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def _draw(table: Table) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title, column in zip(_list_titles(table), table.columns, strict=True):
        drawn.add_column(title, justify="right" if column.is_number else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_style(cell, row) for cell in row.cells))
    return drawn


def _list_titles(table: Table) -> list[Text]:
    """The columns' titles, with the heading of several of them in the line above."""
    above = [heading.title for heading in table.headings for _column in range(heading.span)]
    titles = [escape_controls(column.title) for column in table.columns]
    upper = [f"{escape_controls(title)}\n" for title in above] if above else [""] * len(titles)
    return [Text(f"{first}{second}") for first, second in zip(upper, titles, strict=True)]


def _style(cell: Cell, row: Row) -> Text:
    style = _STYLES[cell.kind] if row.is_ours or cell.kind != "plain" else "italic dim"
    return Text(escape_controls(cell.full_text), style=style)


def _write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO) -> None:
    listed = [list(row) for row in rows]
    kinds = [_is_number_column([row[place] for row in listed]) for place in range(len(columns))]
    headings = tuple(Column(title, kind) for title, kind in zip(columns, kinds, strict=True))
    null = Cell("NULL", "absent")
    cells = [
        Row(tuple(null if value is None else Cell(_write_value(value)) for value in row)) for row in listed
    ]
    make_console(stream).print(_draw(Table("", headings, cells)))


def _is_number_column(values: Sequence[object]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and value is not True for value in given)


def _write_value(value: object) -> str:
    """A value as text.

    >>> _write_value(True), _write_value(datetime(2026, 3, 1)), _write_value(0.1)
    ('true', '2026-03-01T00:00:00', '0.1')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def _write_csv(
    columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO, *, guard_formulas: bool
) -> None:
    """As CSV; line ends and tabs within a text stay, and other control characters are written out."""

    def write(value: object) -> str:
        text = "" if value is None else _write_value(value)
        guarded = guard_formula(text) if guard_formulas and isinstance(value, str) else text
        return escape_marks(guarded).replace("\r", "\\r")  # a reader takes it for the end of the row

    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([write(title) for title in columns])
    for row in rows:
        writer.writerow([write(value) for value in row])


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO) -> None:
    names = number_repeated(columns)
    print_object([dict(zip(names, row, strict=True)) for row in rows], stream=stream)
