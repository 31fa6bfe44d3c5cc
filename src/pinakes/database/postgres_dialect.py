"""SQLAlchemy's dialect for psycopg, whose compiled statements serve every database of equal servers."""

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from pinakes.database.compiled import COMPILED

_DRIVER: Final = "postgresql+pinakes"

registry.register("postgresql.pinakes", __name__, "SharingDialect")


class SharingDialect(PGDialect_psycopg):
    """Equal to each other one that has met a server of the same version and settings."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharingDialect) and self._traits == other._traits

    def __hash__(self) -> int:
        return hash(type(self))  # the first connection changes the rest

    @property
    def _traits(self) -> tuple[Any, ...]:
        """All that a connection tells it and that SQL may depend on."""
        names = ("server_version_info", "default_schema_name", "_backslash_escapes", "max_identifier_length")
        return tuple(getattr(self, name, None) for name in names)


def make_postgres_engine(url: sa.URL, arguments: dict[str, Any], options: dict[str, Any]) -> sa.Engine:
    """An engine for a URL of Postgres: `arguments` go to the driver, `options` to each execution."""
    options = {"compiled_cache": COMPILED, **options}
    return sa.create_engine(url.set(drivername=_DRIVER), connect_args=arguments, execution_options=options)
