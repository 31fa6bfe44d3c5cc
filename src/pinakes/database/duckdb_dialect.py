"""duckdb-engine's dialect, by which SQLAlchemy compiles a statement once, not at each execution."""

from typing import Any, Final

import duckdb_engine
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from pinakes.database.compiled import COMPILED

_DRIVER: Final = "duckdb+pinakes"

registry.register("duckdb.pinakes", __name__, "CachingDialect")


class CachingDialect(duckdb_engine.Dialect):
    """Equal to each other one: all write the same SQL.

    duckdb-engine forbids the cache. It may be allowed where no construct of one's own is in a statement
    that does not tell its key; the same statements are kept on Postgres.
    """

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


def make_duckdb_engine(url: sa.URL, **arguments: Any) -> sa.Engine:
    """An engine for a URL of DuckDB; `arguments` go to the driver."""
    options = {"compiled_cache": COMPILED}
    return sa.create_engine(url.set(drivername=_DRIVER), connect_args=arguments, execution_options=options)
