"""The SQL files of this folder at work: statements that share their values, and their own tables."""

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.schema.create import read_view


class BoundBlocks:
    """The blocks of a file in one session, each given those of the values that it names.

    The block `make_links` of sampling.sql makes the table `sampling_links`, which is to be dropped.
    """

    def __init__(self, session: Session, file: str, values: Mapping[str, Any]) -> None:
        self._session, self._prefix, self._values = session, file, values
        self._scratch = session.name_scratch()
        self._blocks = read_blocks("pinakes.sample", "sql", f"{file}.sql")

    def run(self, block: str, **values: Any) -> None:
        """Run a block that gives no rows."""
        self._session.execute(self._blocks[block], self._bind(self._blocks[block], values))

    def rows(self, block: str, **values: Any) -> list[dict[str, Any]]:
        """The rows of a block, each a dict by column name."""
        return self._session.rows(self._blocks[block], self._bind(self._blocks[block], values))

    def make(self, table: str, *, offered: str = "", **values: Any) -> None:
        """Make a table; the block named by `offered` takes the place of `{offered}` in its own.

        `{scratch}` is what such a table is on this database. `{prefiltered_papers}` is the query of that
        view, over the links that `make_links` has made.
        """
        statement = self._blocks[f"make_{table}"].replace("{scratch}", self._scratch)
        if offered:
            statement = statement.replace("{offered}", self._blocks[offered])
        statement = statement.replace("{prefiltered_papers}", self._read_prefilter())
        self._session.execute(statement, self._bind(statement, values))
        self.count_rows(f"{self._prefix}_{table}")

    def count_rows(self, *tables: str) -> None:
        """Count the rows of tables for the query planner, which otherwise takes new ones to be few."""
        for table in tables:
            self._session.execute(f"ANALYZE {table}")

    def _read_prefilter(self) -> str:
        """The view's query over links that are told apart already: the view would do that again."""
        _, _, query = read_view("prefiltered_papers").partition(" AS\n")
        return query.replace("citation_links", f"{self._prefix}_links")

    def drop(self, *tables: str) -> None:
        """Drop those of the tables that exist."""
        for table in tables:
            self._session.execute(
                DropTable(sa.Table(f"{self._prefix}_{table}", sa.MetaData()), if_exists=True)
            )

    def delete_rows(self, tables: Iterable[sa.Table]) -> None:
        """Delete the benchmark's rows."""
        for table in tables:
            self._session.execute(sa.delete(table).where(table.c.benchmark == self._values["benchmark"]))

    def _bind(self, statement: str, values: Mapping[str, Any]) -> dict[str, Any]:
        existing = {**self._values, **values}
        return {name: existing[name] for name in sa.text(statement).compile().params}
