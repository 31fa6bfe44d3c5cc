"""Connections: the only package that knows Postgres from DuckDB.

`connect(url)` gives a `Database`; `begin` and `read` give a `Session` with bulk insert and Arrow results.
"""

from pinakes.database.connect import connect, connect_read_only
from pinakes.database.core import Database, Session, Statement

__all__ = ["Database", "Session", "Statement", "connect", "connect_read_only"]
