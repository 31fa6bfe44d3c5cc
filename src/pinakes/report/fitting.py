"""How a table is laid out on so many characters: which columns, how wide, and what is left out.

This is the one place that decides it. Numbers are never broken; texts are folded between words, and within
a word only where it is longer than a third of the width. Columns come in by their importance: those that the
table leads with, then the others in their order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.cells import cell_len, chop_cells

from pinakes.report.layout import Cell, Table

GAP: Final = 2
"""characters between columns"""
_TOGETHER: Final = 16
"""a text of at most so many characters is not folded"""
_NUMBER_TOGETHER: Final = 20
"""nor is a number with its unit, or an interval"""
_SHORT_TITLE: Final = 8
"""a title of at most so many characters is not folded"""
_TITLE: Final = 16
"""characters of a longer one that are kept together"""
_BREAKS: Final = re.compile(r"[^\s_./:,;=|&?-]*(?:[_./:,;=|&?-]+|$)|\S+")

Notes = Literal["beside", "below", "none"]
"""where what is in parentheses goes: behind its value, on the next line, or nowhere"""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A layout.

    Attributes:
        places: the columns that are shown, as numbers from 0, in the table's order.
        widths: of each of them, in characters of the terminal.
        notes: where what is in parentheses goes.
        left_out: the titles of the columns that are not shown.
    """

    places: tuple[int, ...]
    widths: tuple[int, ...]
    notes: Notes = "beside"
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Size:
    """The least and the most characters that a column can use."""

    least: int
    most: int


def fit(table: Table, width: int) -> Fitted:
    """The layout of a table on a terminal of this width; the most important column is always shown.

    >>> from pinakes.report.layout import make_columns, make_row
    >>> columns = make_columns(["system"], ["nDCG@10", "P@10"])
    >>> table = Table("", columns, [make_row("bm25", "0.6763", "0.7210")])
    >>> fit(table, 80)
    Fitted(places=(0, 1, 2), widths=(6, 7, 6), notes='beside', left_out=())
    >>> fit(table, 16)
    Fitted(places=(0, 1), widths=(6, 7), notes='beside', left_out=('P@10',))
    """
    everything = tuple(range(len(table.columns)))
    sizes: list[_Size] = []
    notes: Notes = "beside"
    for notes in _list_note_places(table):
        sizes = [_measure(table, place, notes, width) for place in everything]
        if _sum([size.least for size in sizes]) <= width:
            return Fitted(everything, _widen(sizes, width), notes)
    places = _choose(table, sizes, width)
    titles = table.full_titles()
    left_out = tuple(titles[place] for place in everything if place not in places)
    return Fitted(places, _widen([sizes[place] for place in places], width), notes, left_out)


def fit_unfolded(table: Table) -> Fitted:
    """The layout where a line may be as long as it needs to be."""
    places = tuple(range(len(table.columns)))
    widths = (
        max([*_title_widths(table, place), *(cell_len(row.cells[place].full_text) for row in table.rows)])
        for place in places
    )
    return Fitted(places, tuple(widths))


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most so many characters: between words, else behind a mark, else anywhere.

    >>> wrap("a paper about graphs", 10), wrap("sentence-transformers/all-MiniLM", 23)
    (['a paper', 'about', 'graphs'], ['sentence-transformers/', 'all-MiniLM'])
    >>> wrap("日本語", 4), wrap("", 4)
    (['日本', '語'], [''])
    """
    lines = [""]
    for number, word in enumerate(text.split(" ")):
        parts = [word] if cell_len(word) <= width else _divide(word, width)
        for inner, part in enumerate(parts):
            joined = f"{lines[-1]} {part}" if number and not inner else f"{lines[-1]}{part}"
            if cell_len(joined) <= width:
                lines[-1] = joined
            elif lines[-1]:
                lines.append(part)
            else:
                lines[-1] = part
    return lines


def cell_lines(cell: Cell, notes: Notes) -> list[str]:
    """A cell's text as the lines that it has before any of them is folded."""
    if not cell.note or notes == "beside":
        return [cell.full_text]
    if notes == "none" and cell.kind != "warning":
        return [cell.text]
    return [cell.text, f"({cell.note})"]


def title_lines(table: Table, place: int) -> tuple[str, str]:
    """What stands above a column and others, and the column's own title."""
    above = [heading.title for heading in table.headings for _column in range(heading.span)]
    return (above[place] if above else "", table.columns[place].title)


def _list_note_places(table: Table) -> tuple[Notes, ...]:
    has_notes = any(cell.note for row in table.rows for cell in row.cells)
    return ("beside", "below", "none") if has_notes else ("beside",)


def _measure(table: Table, place: int, notes: Notes, width: int) -> _Size:
    is_number = table.columns[place].is_number
    together = _NUMBER_TOGETHER if is_number else _TOGETHER
    longest_word = width if is_number else width // 3
    least, most = _measure_title(table, place)
    for row in table.rows:
        cell = row.cells[place]
        limit = width if is_number and notes == "beside" and cell.note else together
        for line in cell_lines(cell, notes):
            length = cell_len(line)
            most = max(most, length)
            if length > least:
                whole = length <= limit
                least = max(least, length if whole else min(longest_word, _longest(line.split())))
    return _Size(least, most)


def _measure_title(table: Table, place: int) -> tuple[int, int]:
    parts = [
        part
        for title in title_lines(table, place)
        for part in ([title] if cell_len(title) <= _SHORT_TITLE else _split(title))
    ]
    return max(1, min(_TITLE, _longest(parts))), max([1, *_title_widths(table, place)])


def _title_widths(table: Table, place: int) -> list[int]:
    return [cell_len(title) for title in title_lines(table, place)]


def _split(text: str) -> list[str]:
    """The parts that a text can be broken into, each with the mark behind it."""
    return [part for word in text.split() for part in _BREAKS.findall(word) if part]


def _divide(word: str, width: int) -> list[str]:
    parts: list[str] = []
    for part in _BREAKS.findall(word):
        parts += [part] if cell_len(part) <= width else chop_cells(part, width)
    return [part for part in parts if part]


def _longest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _choose(table: Table, sizes: Sequence[_Size], width: int) -> tuple[int, ...]:
    """The columns that there is room for, by importance."""
    titles = [column.title for column in table.columns]
    led = [titles.index(title) for title in table.lead if title in titles]
    chosen: list[int] = []
    for place in [*led, *(place for place in range(len(titles)) if place not in led)]:
        if not chosen or _sum([sizes[one].least for one in (*chosen, place)]) <= width:
            chosen.append(place)
    return tuple(sorted(chosen))


def _widen(sizes: Sequence[_Size], width: int) -> tuple[int, ...]:
    """Each column's least width and what it can use of the room that is left."""
    widths = [min(size.least, width) for size in sizes]
    left = width - _sum(widths)
    while left > 0 and (short := [place for place, size in enumerate(sizes) if widths[place] < size.most]):
        share = max(1, left // len(short))
        for place in short[:left]:
            more = min(share, sizes[place].most - widths[place])
            widths[place] += more
            left -= more
    return tuple(widths)
