"""Temporary tables of the SQL in this folder: made, counted for the query planner, dropped."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.load.resolve import MAX_YEARS_APART, MIN_TITLE_CHARACTERS

PAIR_TABLES: Final = ("citing", "works", "contexts", "pairs", "queries")
"""what is made first: pairs of papers and cited works, and the works' abstracts"""


class Making:
    """The blocks of pairs.sql in one session, each given those of the values that it names."""

    def __init__(self, session: Session, values: Mapping[str, Any]) -> None:
        self._session = session
        self._blocks = read_blocks("pinakes.texts.summaries", "sql", "pairs.sql")
        limits = {"min_characters": MIN_TITLE_CHARACTERS, "years_apart": MAX_YEARS_APART}
        self._values = {**limits, **values}
        self._made: list[str] = []

    def run(self, block: str) -> int:
        """Run a block that gives no rows; how many rows it changed."""
        return self._session.execute(*self._bind(block))

    def fetch(self, block: str) -> Any:
        """The rows of a block as an Arrow table."""
        return self._session.fetch_arrow(*self._bind(block))

    def make(self, *tables: str) -> None:
        """Make temporary tables, `making_` before their names, each by its block `make_`."""
        for table in tables:
            self.make_as(table, f"make_{table}")

    def make_as(self, table: str, block: str) -> None:
        """Make a temporary table by a block of another name."""
        self.run(block)
        self._made.append(table)
        self._session.execute(f"ANALYZE making_{table}")

    def drop(self) -> None:
        """Drop what was made."""
        for table in self._made:
            named = sa.Table(f"making_{table}", sa.MetaData())
            self._session.execute(DropTable(named, if_exists=True))

    def _bind(self, block: str) -> tuple[str, dict[str, Any]]:
        statement = self._blocks[block]
        named = sa.text(statement).compile().params
        return statement, {name: self._values[name] for name in named}


@contextmanager
def making(session: Session, values: Mapping[str, Any]) -> Iterator[Making]:
    """The blocks at work; at the end the temporary tables go, after an error with the transaction."""
    blocks = Making(session, values)
    yield blocks
    blocks.drop()
