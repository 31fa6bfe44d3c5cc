"""A prompt for questions to a database: each is asked as `pinakes sql` asks it, and can change nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, TextIO

from pinakes.database import Database
from pinakes.database.read_only import ask
from pinakes.database.shell import split_statements
from pinakes.errors import PinakesError
from pinakes.report.output import Output
from pinakes.report.terminal import print_rows

_FIRST: Final = "pinakes> "
_MORE: Final = "    ...> "
_ENDS: Final = (".quit", ".exit")


def answer_questions(
    database: Database, output: Output, tell: Callable[[str], None], source: TextIO | None = None
) -> None:
    """Answer queries, each up to its semicolon, until the source ends or says `.quit`.

    Args:
        database: one that was opened to be read.
        output: how answers are printed.
        tell: takes what a person at a terminal is told of a query that is refused or interrupted.
        source: of the queries; None: standard input.

    Raises:
        PinakesError: a query is refused or fails, where no person is at a terminal.
    """
    given = source or sys.stdin
    if not given.isatty():
        for query in _read_queries(given):
            _answer(database, query, output)
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - lines can be edited, and those of before called back

    typed = ""
    while True:
        try:
            line = _read_line(_MORE if typed else _FIRST)
            if line is None:
                return
            queries, typed = split_statements(f"{typed}{line}\n")
            for query in queries:
                _answer(database, query, output)
        except PinakesError as error:
            tell(str(error))
        except KeyboardInterrupt:
            tell("interrupted.")
            typed = ""


def _read_line(prompt: str) -> str | None:
    """The next line of a person; None at the end."""
    try:
        line = input(prompt)
    except EOFError:
        return None
    return None if line.strip() in _ENDS else line


def _read_queries(source: TextIO) -> Iterator[str]:
    """The queries of a text, also a last one without a semicolon."""
    left = ""
    for line in source:
        if not left and line.strip() in _ENDS:
            return
        queries, left = split_statements(f"{left}{line}")
        yield from queries
    queries, unfinished = split_statements(f"{left}\n;")
    yield from queries
    if unfinished:  # a text or a comment that has no end, as DuckDB says then
        yield unfinished


def _answer(database: Database, query: str, output: Output) -> None:
    with ask(database, query) as result:
        print_rows(result.columns, result.rows, output)
    output.file.flush()
