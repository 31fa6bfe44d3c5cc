"""The SQL files of this room at work: statements that share their values and make tables of their own."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks


class Blocks:
    """The blocks of some files in one session, each given those of the values that it names.

    A block `make_links` makes the table `drawing_links`; `drop` drops what was made.
    """

    def __init__(self, session: Session, values: Mapping[str, Any], *files: str) -> None:
        """`files` are names of files of the folder `sql`, without their end."""
        self.session = session
        self._values = values
        self._scratch = session.name_scratch()
        self._made: list[str] = []
        self._blocks = {
            name: block
            for file in files
            for name, block in read_blocks("pinakes.train", "sql", f"{file}.sql").items()
        }

    def make(self, *tables: str, block: str = "") -> None:
        """Make tables, each by its own block or by the one that is named."""
        for table in tables:
            statement = self._blocks[f"make_{block or table}"].replace("{scratch}", self._scratch)
            self.session.execute(statement, self._bind(statement))
            self._note(table)

    def make_as(self, table: str, columns: Mapping[str, Any], rows: sa.Select[Any]) -> sa.Table:
        """Make a table of a select, whose columns stand in that order: name -> type."""
        made = sa.Table(
            f"drawing_{table}",
            sa.MetaData(),
            *(sa.Column(name, type_) for name, type_ in columns.items()),
            prefixes=[self._scratch],
        )
        made.create(self.session.connection)
        self.session.execute(sa.insert(made).from_select(list(columns), rows))
        self._note(table)
        return made

    def run(self, block: str) -> None:
        """Run a block that gives no rows."""
        self.session.execute(self._blocks[block], self._bind(self._blocks[block]))

    def rows(self, block: str) -> list[dict[str, Any]]:
        """The rows of a block, each a dict by column name."""
        return self.session.rows(self._blocks[block], self._bind(self._blocks[block]))

    def fetch(self, block: str) -> Any:
        """The rows of a block as an Arrow table."""
        return self.session.fetch_arrow(self._blocks[block], self._bind(self._blocks[block]))

    def drop(self) -> None:
        """Drop the tables that were made."""
        for table in reversed(self._made):
            self.session.execute(DropTable(sa.Table(f"drawing_{table}", sa.MetaData())))
        self._made.clear()

    def _note(self, table: str) -> None:
        self._made.append(table)
        self.session.execute(f"ANALYZE drawing_{table}")  # else the planner takes its rows to be few

    def _bind(self, statement: str) -> dict[str, Any]:
        return {name: self._values[name] for name in sa.text(statement).compile().params}
