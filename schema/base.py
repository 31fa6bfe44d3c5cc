"""The one `MetaData` that every table belongs to, and the column shorthands that the areas share.

There are no foreign keys between tables: docs/decisions/0002 says why, and `pinakes status --check`
reports what a foreign key would have refused.
"""

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

BULK: Final = {"bulk": True}
"""`info` of a table whose key DuckDB does not index: docs/decisions/0010 says why.

The loaders keep its rows apart by construction, and `pinakes status --check` counts those that are not.
"""

metadata: Final = sa.MetaData()

FACETS: Final = ("background", "method", "result", "other")


def key_column(name: str, comment: str, type_: Any = sa.BigInteger) -> sa.Column[Any]:
    """A primary key column whose values are ours, never the database's."""
    return sa.Column(name, _portable(type_), primary_key=True, autoincrement=False, comment=comment)


def required(name: str, type_: Any, comment: str) -> sa.Column[Any]:
    """A column that is never null."""
    return sa.Column(name, _portable(type_), nullable=False, comment=comment)


def optional(name: str, type_: Any, comment: str) -> sa.Column[Any]:
    """A column that is null where the source does not say."""
    return sa.Column(name, _portable(type_), nullable=True, comment=comment)


def _portable(type_: Any) -> Any:
    # Text is ordered byte by byte on both databases, whatever the server's locale: trec_eval's tie rule.
    return sa.Text(collation="C") if type_ is sa.Text else type_


def one_of(column: str, values: tuple[str, ...], name: str) -> sa.CheckConstraint:
    """A check that a text column holds one of the listed values (or null, where the column allows it)."""
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=name)


@compiles(sa.PrimaryKeyConstraint, "duckdb")
def _leave_out_bulk_keys(constraint: sa.PrimaryKeyConstraint, compiler: Any, **options: Any) -> str | None:
    if constraint.table.info.get("bulk"):
        return None
    text: str | None = compiler.visit_primary_key_constraint(constraint, **options)
    return text
