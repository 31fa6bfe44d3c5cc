"""A table drawn for a terminal: its columns beside each other, or one below another row by row."""

from collections.abc import Iterator
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table as RichTable
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


def draw_columns(table: Table, fitted: Fitted) -> RenderableType:
    """The columns of a layout beside each other, a line below their titles.

    The table's texts hold no control characters: see `escape_table`.
    """
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    titles = _write_titles(table, fitted)
    for title, place, width in zip(titles, fitted.places, fitted.widths, strict=True):
        is_number = table.columns[place].is_number
        drawn.add_column(title, justify="right" if is_number else "left", width=width, no_wrap=True)
    for row in table.rows:
        drawn.add_row(
            *(
                Text("\n".join(_fold(row.cells[place], fitted, width)), style=_style(row.cells[place], row))
                for place, width in zip(fitted.places, fitted.widths, strict=True)
            )
        )
    return _Stripped(drawn)


def draw_expanded(table: Table, width: int) -> RenderableType:
    """Each column on a line of its own, row by row; rows are numbered where there are several."""
    titles = table.full_titles()
    named = min(max(map(cell_len, titles), default=0), max(1, width // 2 - GAP))
    lines: list[Text] = []
    for number, row in enumerate(table.rows, start=1):
        if len(table.rows) > 1:
            lines.append(Text(f"── {number} of {len(table.rows)}", style="dim"))
        for title, cell in zip(titles, row.cells, strict=True):
            lines += _pair(wrap(title, named), named, cell, _style(cell, row), width)
    return Group(*lines)


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


class _Stripped:
    """What another draws, without the blanks that it fills its lines up with."""

    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segments]:
        for line in console.render_lines(self._drawn, options, pad=False):
            kept = list(line)
            while kept and not kept[-1].text.strip(" "):
                kept.pop()
            if kept:
                last = kept.pop()
                kept.append(Segment(last.text.rstrip(" "), last.style))
            yield Segments([*kept, Segment.line()])


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


def _write_titles(table: Table, fitted: Fitted) -> list[Text]:
    """The folded titles, all as high as the highest, so that they stand on the line below."""
    folded = []
    for place, width in zip(fitted.places, fitted.widths, strict=True):
        above, own = title_lines(table, place)
        folded.append((wrap(above, width) if table.headings else [], wrap(own, width)))
    upper = max((len(above) for above, _own in folded), default=0)
    lower = max((len(own) for _above, own in folded), default=0)
    return [
        Text("\n".join([*above, *[""] * (upper - len(above)), *[""] * (lower - len(own)), *own]))
        for above, own in folded
    ]


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
