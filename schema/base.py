"""The one `MetaData` that every table belongs to, and the column shorthands that the areas share.

A column says which row of another table it names as a foreign key would (`reference`), but no database gets
one: docs/decisions/0002 says why. From what is declared, `pinakes status --check` counts what a foreign key
would have refused, and a deletion of papers finds the rows that go with them.
"""

from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

from pinakes.database import Session

BULK: Final = {"bulk": True}
"""`info` of a table whose keys DuckDB does not index: docs/decisions/0010 says why.

The loaders keep its rows apart by construction, and `pinakes status --check` counts those that are not.
"""

metadata: Final = sa.MetaData()

FACETS: Final = ("background", "method", "result", "other")


def key_column(name: str, comment: str, type_: Any = sa.BigInteger) -> sa.Column[Any]:
    """A primary key column whose values are ours, never the database's."""
    return sa.Column(name, _portable(type_), primary_key=True, autoincrement=False, comment=comment)


def next_id(session: Session, column: sa.Column[Any]) -> int:
    """The id after the greatest in the column; 1 in an empty table."""
    return 1 + int(session.scalar(sa.select(sa.func.coalesce(sa.func.max(column), 0))))


def reference(
    name: str,
    target: str,
    of: str = "",
    *,
    role: Literal["key", "required", "optional"] = "key",
    type_: Any = sa.BigInteger,
    on_delete: Literal["CASCADE", "SET NULL"] | None = None,
) -> sa.Column[Any]:
    """A column that names a row of another table, whose comment is the target (as papers.paper_id) and `of`.

    It is of the primary key, never null, or may be null. `on_delete` says what becomes of the row when the
    named one goes: it goes too, or names none; None: nothing.
    """
    return sa.Column(
        name,
        _portable(type_),
        sa.ForeignKey(target, ondelete=on_delete),
        primary_key=role == "key",
        autoincrement=False,
        nullable=role == "optional",
        comment=target + of,
    )


def index(name: str, *columns: str) -> sa.Index:
    """An index on columns of a table, on Postgres alone: docs/decisions/0010 says why DuckDB has none."""
    made: sa.Index = sa.Index(name, *columns).ddl_if(dialect="postgresql")
    return made


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


@compiles(sa.ForeignKeyConstraint)
def _leave_out_references(_constraint: sa.ForeignKeyConstraint, _compiler: Any, **_options: Any) -> None:
    return None


@compiles(sa.PrimaryKeyConstraint, "duckdb")
def _leave_out_bulk_keys(constraint: sa.PrimaryKeyConstraint, compiler: Any, **options: Any) -> str | None:
    if constraint.table.info.get("bulk"):
        return None
    text: str | None = compiler.visit_primary_key_constraint(constraint, **options)
    return text


@compiles(sa.UniqueConstraint, "duckdb")
def _leave_out_other_bulk_keys(constraint: sa.UniqueConstraint, compiler: Any, **options: Any) -> str | None:
    if constraint.table.info.get("bulk"):
        return None
    text: str | None = compiler.visit_unique_constraint(constraint, **options)
    return text
