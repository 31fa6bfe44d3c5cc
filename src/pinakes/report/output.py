"""How a command prints its data: in which form, how laid out, and where."""

import sys
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Final, Literal, TextIO

from pinakes.errors import InputError

Form = Literal["table", "csv", "json"]
Layout = Literal["fitted", "wide", "expanded"]
FORMS: Final = ("table", "csv", "json")
UNFOLDED_WIDTH: Final = 100_000
"""characters; the width of what is no terminal"""


@dataclass(frozen=True, slots=True)
class Output:
    """Where data go, and how.

    Attributes:
        form: a table for people, or CSV or JSON for programs.
        layout: of tables. Fitted: as wide as the terminal, what does not fit is named below; where the output
            is no terminal that is as wide. Wide: each row on one line, however long. Expanded: each column
            on a line of its own.
        guard_formulas: of CSV that a spreadsheet opens: see `writing.formulas`.
        stream: standard output where it is None.
    """

    form: Form = "table"
    layout: Layout = "fitted"
    guard_formulas: bool = False
    stream: TextIO | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InputError(f"there is no output format {self.form!r}; expected one of {', '.join(FORMS)}.")
        if self.guard_formulas and self.form != "csv":
            raise InputError("--guard-formulas is for CSV; add --csv, or leave it out.")

    @property
    def is_for_programs(self) -> bool:
        """Whether unrounded records are wanted, not tables to look at."""
        return self.form != "table"

    @property
    def file(self) -> TextIO:
        """What is written to."""
        return self.stream or sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Whether it is read on a screen, not from a pipe or a file."""
        return self.file.isatty()

    @property
    def width(self) -> int:
        """How many characters a line holds: the terminal's (`COLUMNS` where it is set), else any number."""
        if not self.is_terminal:
            return UNFOLDED_WIDTH
        return get_terminal_size().columns
