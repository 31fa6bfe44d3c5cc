"""Named SQL statements that share their values: a long piece of work, one statement after the other."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from pinakes.database import Session


class BoundBlocks:
    """The blocks of a file in one session, each given those of the values that it names."""

    def __init__(self, session: Session, blocks: Mapping[str, str], values: Mapping[str, Any]) -> None:
        self._session, self._blocks, self._values = session, blocks, values

    def run(self, block: str, **values: Any) -> int:
        """Run a block that gives no rows; how many rows it changed, -1 if unknown."""
        return self._session.execute(self._blocks[block], self._bind(block, values))

    def rows(self, block: str) -> list[dict[str, Any]]:
        """The rows of a block, each a dict by column name."""
        return self._session.rows(self._blocks[block], self._bind(block, {}))

    def _bind(self, block: str, values: Mapping[str, Any]) -> dict[str, Any]:
        names = sa.text(self._blocks[block]).compile().params
        known = {**self._values, **values}
        return {name: known[name] for name in names}
