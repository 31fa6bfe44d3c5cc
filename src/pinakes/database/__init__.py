"""Connections: the only package that knows Postgres from DuckDB."""

from pinakes.database.connect import (
    connect,
    connect_alone,
    connect_read_only,
    connect_to_fill,
    connect_to_look,
)
from pinakes.database.core import Database, Session, Statement

__all__ = [
    "Database",
    "Session",
    "Statement",
    "connect",
    "connect_alone",
    "connect_read_only",
    "connect_to_fill",
    "connect_to_look",
]
