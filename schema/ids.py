"""Ids of ours: each continues the greatest one of its column."""

from typing import Any

import sqlalchemy as sa

from pinakes.database import Session


def next_id(session: Session, column: sa.Column[Any]) -> int:
    """The id after the greatest in the column; 1 in an empty table."""
    return 1 + int(session.scalar(sa.select(sa.func.coalesce(sa.func.max(column), 0))))
