"""A table drawn for a terminal: its columns beside each other, or one below another row by row."""

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len
from rich.text import Text

from pinakes.report.escapes import escape_controls
from pinakes.report.fitting import GAP, Fitted, cell_lines, title_lines, wrap
from pinakes.report.layout import Cell, Row, Table

_STYLES = {
    "plain": "",
    "best": "bold",
    "second": "underline",
    "warning": "bold yellow",
    "absent": "dim",
}


def draw_columns(table: Table, fitted: Fitted) -> Iterator[Text]:
    """The lines of a layout's columns beside each other, one drawn below their titles.

    The table's texts hold no control characters: see `escape_table`.
    """
    numbers = [table.columns[place].is_number for place in fitted.places]
    yield from _lay_side_by_side([(title, "bold") for title in _write_titles(table, fitted)], fitted, numbers)
    yield Text("─" * (sum(fitted.widths) + GAP * (len(fitted.widths) - 1)))
    for row in table.rows:
        cells = [
            (_fold(row.cells[place], fitted, width), _style(row.cells[place], row))
            for place, width in zip(fitted.places, fitted.widths, strict=True)
        ]
        yield from _lay_side_by_side(cells, fitted, numbers)


def _lay_side_by_side(
    cells: list[tuple[list[str], str]], fitted: Fitted, numbers: list[bool]
) -> Iterator[Text]:
    """The lines of cells that are as wide as their columns; numbers stand at the right."""
    for number in range(max(len(lines) for lines, _style in cells)):
        drawn, blanks = Text(), 0
        for (lines, style), width, is_number in zip(cells, fitted.widths, numbers, strict=True):
            text = lines[number] if number < len(lines) else ""
            fill = width - cell_len(text)
            if text:
                drawn.append(" " * (blanks + (fill if is_number else 0)))
                drawn.append(text, style)
                blanks = 0 if is_number else fill
            else:
                blanks += width
            blanks += GAP
        yield drawn


def draw_expanded(table: Table, width: int) -> Iterator[Text]:
    """The lines of a table with each column on its own, row by row; rows are numbered if they are several."""
    titles = table.full_titles()
    named = min(max(map(cell_len, titles), default=0), max(1, width // 2 - GAP))
    for number, row in enumerate(table.rows, start=1):
        if len(table.rows) > 1:
            yield Text(f"── {number} of {len(table.rows)}", style="dim")
        for title, cell in zip(titles, row.cells, strict=True):
            yield from _pair(wrap(title, named), named, cell, _style(cell, row), width)


def tallest(table: Table, fitted: Fitted) -> int:
    """The lines that the longest cell of a layout takes."""
    return max(
        (
            len(_fold(row.cells[place], fitted, width))
            for row in table.rows
            for place, width in zip(fitted.places, fitted.widths, strict=True)
            if cell_len(row.cells[place].full_text) > width
        ),
        default=1,
    )


def _fold(cell: Cell, fitted: Fitted, width: int) -> list[str]:
    return [part for line in cell_lines(cell, fitted.notes) for part in wrap(line, width)]


def _pair(title: list[str], named: int, cell: Cell, style: str, width: int) -> Iterator[Text]:
    """The lines of a column's title and, beside them, of its cell."""
    value = wrap(cell.full_text, max(1, width - named - GAP))
    for place in range(max(len(title), len(value))):
        left = title[place] if place < len(title) else ""
        right = value[place] if place < len(value) else ""
        blank = " " * (named - cell_len(left) + GAP) if right else ""
        yield Text.assemble((left, "bold"), blank, (right, style))


def _write_titles(table: Table, fitted: Fitted) -> list[list[str]]:
    """The folded titles, all as high as the highest, so that they stand on the line below."""
    folded = []
    for place, width in zip(fitted.places, fitted.widths, strict=True):
        above, own = title_lines(table, place)
        folded.append((wrap(above, width) if table.headings else [], wrap(own, width)))
    upper = max((len(above) for above, _own in folded), default=0)
    lower = max((len(own) for _above, own in folded), default=0)
    return [[*above, *[""] * (upper - len(above)), *[""] * (lower - len(own)), *own] for above, own in folded]


def _style(cell: Cell, row: Row) -> str:
    return _STYLES[cell.kind] if row.is_ours or cell.kind != "plain" else "italic dim"


def escape_table(table: Table) -> Table:
    """The table with the control characters of all its texts written out."""
    return replace(
        table,
        title=escape_controls(table.title),
        columns=tuple(replace(one, title=escape_controls(one.title)) for one in table.columns),
        rows=[replace(row, cells=tuple(map(_escape_cell, row.cells))) for row in table.rows],
        note=escape_controls(table.note),
        headings=tuple(replace(one, title=escape_controls(one.title)) for one in table.headings),
        lead=tuple(map(escape_controls, table.lead)),
    )


def _escape_cell(cell: Cell) -> Cell:
    return Cell(escape_controls(cell.text), cell.kind, escape_controls(cell.note))
