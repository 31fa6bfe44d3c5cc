"""Databases that the tests of a module fill once, and of which each test has a copy."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest

from pinakes.database import Database, connect
from tests.postgres import PostgresServer

Fill = Callable[[Database, Path], object]
"""fills a database; files that it needs go into the folder"""

_NUMBERS = count(1)


class Templates:
    """The filled databases of a module."""

    def __init__(
        self, request: pytest.FixtureRequest, folder: Callable[[str], Path], closing: ExitStack
    ) -> None:
        """`folder` makes a new folder by a name; `closing` ends with the module."""
        self._request = request
        self._folder = folder
        self._closing = closing
        self._made: dict[tuple[str, str, Fill], str] = {}

    @contextmanager
    def copy(self, kind: str, fill: Fill, of: str = "benchmarks") -> Iterator[Database]:
        """A database of the test's own, `duckdb` or `postgresql`, as `fill` leaves one.

        `of` is what it fills: a database with the `tables` alone, the `benchmarks`, or `prepared`.
        """
        key = (kind, of, fill)
        if key not in self._made:
            base = str(self._request.getfixturevalue(f"{of}_{kind.removesuffix('ql')}"))
            url, self._made[key] = self._copy(kind, base, self._closing)
            with connect(url) as template:
                fill(template, self._folder("fill"))
        with ExitStack() as closing:
            url, _ = self._copy(kind, self._made[key], closing)
            yield closing.enter_context(connect(url))

    def _copy(self, kind: str, base: str, closing: ExitStack) -> tuple[str, str]:
        """The URL of a copy, and what a further copy is made of."""
        if kind == "duckdb":
            file = self._folder("copy") / "test.duckdb"
            shutil.copy(base, file)
            closing.callback(file.unlink, missing_ok=True)
            return f"duckdb:///{file}", str(file)
        server: PostgresServer = self._request.getfixturevalue("postgres_server")
        name = f"{base}_copy{next(_NUMBERS)}"
        return closing.enter_context(server.create(name, base)), name
