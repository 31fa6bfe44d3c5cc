"""A terminal of some width for tests, and what every table on it must be. Leaves out: real terminals."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import pytest
from rich.cells import cell_len

import pinakes.report.terminal as printing
from pinakes.report.drawing import escape_table
from pinakes.report.layout import Table
from pinakes.report.output import Output

ESCAPES = re.compile(r"\x1b\[[\d;]*m")
LEFT_OUT = re.compile(r"left out: (.*?);\s+all\s+with\s+--wide\s+or\s+--expanded", re.DOTALL)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """What was written, without colours."""
        return ESCAPES.sub("", self.getvalue())


class Printed(NamedTuple):
    """A table, how it was to be printed, and the text that it was printed as."""

    table: Table
    out: Output
    settings: dict[str, bool]
    text: str

    def on(self, width: int) -> "Printed":
        """The same table on a terminal of another width."""
        stream = Terminal()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(width))
            printing._print_fitted(self.table, replace(self.out, stream=stream), **self.settings)
        return self._replace(text=stream.text)


@contextmanager
def watch_tables(stream: Terminal) -> Iterator[list[Printed]]:
    """The tables that are printed on a stream, each with its text."""
    found: list[Printed] = []
    draw = printing._print_fitted

    def watch(table: Table, out: Output, **settings: bool) -> None:
        before = len(stream.getvalue())
        draw(table, out, **settings)
        text = ESCAPES.sub("", stream.getvalue()[before:])
        found.append(Printed(escape_table(table), out, settings, text))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printing, "_print_fitted", watch)
        yield found


def check_lines(text: str, width: int) -> None:
    """No line is longer than the terminal."""
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


def check_table(printed: Printed, width: int) -> None:
    """No line is too long, no number broken, each column shown or named, each word of a shown cell there."""
    check_lines(printed.text, width)
    squashed = "".join(printed.text.split())
    named = LEFT_OUT.search(printed.text)
    left_out = "".join(named[1].split()).split(",") if named else []
    for place, title in enumerate(printed.table.full_titles()):
        name = "".join(title.split())
        if "," not in name and name in left_out:
            continue
        for part in re.findall(r"[^\W_]+", title):
            assert part[:8] in squashed, f"{title} is neither shown nor named"
        is_number = printed.table.columns[place].is_number
        for row in printed.table.rows:
            check_cell(row.cells[place].text, printed.text, width, is_number=is_number)


def check_cell(text: str, printed: str, width: int, *, is_number: bool) -> None:
    """A number, and a word that is no longer than a third of the width, stands whole in a line."""
    for word in text.split():
        if is_number or cell_len(word) <= width // 3:
            assert re.search(rf"(?<![\d.]){re.escape(word)}(?![\d]|\.\d)", printed), (
                f"{word} is broken or lost:\n{printed}"
            )
