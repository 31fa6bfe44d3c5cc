"""A table as text in cells, which terminal, Markdown and HTML draw each in their way."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from pinakes.report.formatting import ABSENT, format_value

if TYPE_CHECKING:  # who prints records knows of no measure
    from pinakes.report.data import Scale

Kind = Literal["plain", "best", "second", "warning", "absent"]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; numbers stand at the right."""

    title: str
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, what stands small beside it, whether it is to be seen first, and where it leads.

    `link` is of pages alone, as in `href`.
    """

    text: str
    kind: Kind = "plain"
    note: str = ""
    link: str = ""

    @property
    def number(self) -> str:
        """What a number is sorted by: the first one in the text; empty where there is none.

        >>> Cell("1,203 s", note="+1").number, Cell("–", "absent").number, Cell("<0.0001").number
        ('1203', '', '0.0001')
        """
        found = re.search(r"[-+]?\d[\d,]*(\.\d+)?", self.text)
        return found[0].replace(",", "") if found else ""

    @property
    def full_text(self) -> str:
        """The text with the note in parentheses.

        >>> Cell("53.28", note="+0.01").full_text
        '53.28 (+0.01)'
        """
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row; the first one names it. A row that is not ours is a published figure.

    A row that follows stands with the one above it, as a published figure below ours, and no line between.
    """

    cells: tuple[Cell, ...]
    is_ours: bool = True
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above several columns beside each other; without a title it is a place left empty."""

    title: str
    span: int


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns, rows, and a sentence that says how to read it.

    `headings` are the upper level of the columns' headings, from the first column to the last; () is none.
    `lead` are titles of columns: where there is not room for all, these come first, then the others in their
    order.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    note: str = ""
    headings: tuple[Heading, ...] = ()
    lead: tuple[str, ...] = ()

    @property
    def is_sortable(self) -> bool:
        """Whether rows stand for themselves below one level of headings."""
        return not self.headings and not any(row.follows for row in self.rows)

    def list_starts(self) -> set[int]:
        """The columns that begin below a heading of several, where a reader looks for a gap.

        >>> table = Table("", (), (), headings=(Heading("", 1), Heading("a", 2), Heading("b", 2)))
        >>> sorted(table.list_starts())
        [1, 3]
        """
        ends = accumulate(heading.span for heading in self.headings)
        return {end - heading.span for end, heading in zip(ends, self.headings, strict=True) if heading.title}

    def full_titles(self) -> list[str]:
        """Each column's title with what stands above it, for those who draw one level of headings.

        >>> columns = make_columns(["system"], ["P@10", "RR"])
        >>> Table("", columns, (), headings=(Heading("", 1), Heading("method", 2))).full_titles()
        ['system', 'method P@10', 'method RR']
        """
        above = [heading.title for heading in self.headings for _column in range(heading.span)]
        return [
            " ".join(filter(None, (upper, column.title)))
            for upper, column in zip(above or [""] * len(self.columns), self.columns, strict=True)
        ]


def make_columns(
    words: Iterable[str], numbers: Iterable[str] = (), more_words: Iterable[str] = ()
) -> tuple[Column, ...]:
    """Columns of words, then of numbers, then of words again, from their titles."""
    first, last = ([Column(title, is_number=False) for title in titles] for titles in (words, more_words))
    return (*first, *map(Column, numbers), *last)


def make_row(*cells: Cell | str, is_ours: bool = True, follows: bool = False) -> Row:
    """A row of cells; text stands for a plain cell."""
    return Row(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), is_ours, follows)


def absent_cell() -> Cell:
    """The cell of a value that there is not."""
    return Cell(ABSENT, "absent")


def flag_count(count: int) -> Cell:
    """The cell of a count that should be zero."""
    return Cell(f"{count:,}", "warning" if count else "plain")


def value_cell(value: float | None, scale: "Scale", measure: str) -> Cell:
    """The cell of a measure's value, as a report prints it; None is absent.

    >>> value_cell(0.53279, "percent", "AP").text, value_cell(None, "share", "AP").kind
    ('53.28', 'absent')
    """
    return absent_cell() if value is None else Cell(format_value(value, scale, measure))


def mark_best(values: Sequence[float | None], scale: "Scale", measure: str) -> list[Cell]:
    """The cell of each value, the highest marked.

    Values that are printed alike are best together. A single value is not marked.

    >>> [cell.kind for cell in mark_best([0.50001, None, 0.49999, 0.4], "share", "AP")]
    ['best', 'absent', 'best', 'plain']
    """
    cells = [value_cell(value, scale, measure) for value in values]
    given = [value for value in values if value is not None]
    best = format_value(max(given), scale, measure) if len(given) > 1 else None
    return [replace(cell, kind="best") if cell.text == best else cell for cell in cells]
