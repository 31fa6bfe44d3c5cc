"""Compiled statements, kept for all databases that a process opens; of texts none is kept."""

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

COMPILED: Final[LRUCache[Any, Any]] = LRUCache(1_000)
"""statements by what decides their SQL, the dialect among it: one that is equal writes the same"""


class Text(sa.TextClause):
    """A text, alone or within a statement, that is compiled at each execution.

    SQLAlchemy keeps the columns of a result with the statement; those of `SELECT *` may change.
    """

    inherit_cache = False


EVERY_COLUMN: Final = Text("*")
"""what to select where the columns of a view are not known"""
