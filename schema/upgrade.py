"""A database of an older version brought to this one: numbered steps (`upgrades/`), then views and comments.

A step is a file `0012-what-for.sql` that ends with version 12: SQL blocks in their order, each one statement,
named `both`, or `duckdb` or `postgresql` where only one database has it. It changes tables and rows. Views
and comments are in no step: all are made as `schema/` has them now.

All steps are one transaction, so a database is of the old version or of the new one, whatever happens.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.driver_errors import driver_errors
from pinakes.database.lock_wait import explain_lock, limit_lock_wait
from pinakes.database.sql_blocks import list_blocks
from pinakes.errors import DatabaseError
from pinakes.schema.base import metadata
from pinakes.schema.benchmarks import benchmarks
from pinakes.schema.create import VIEWS, comment_on_view, read_version, read_view

STEP_FILE: Final = re.compile(r"(?P<version>\d{4})-[a-z0-9-]+\.sql")
_OTHER_COLUMNS: Final = "42P16"
"""what Postgres says where a view that others read would lose a column, or have one of another type"""
_VIEWS_THAT_READ: Final = """
WITH RECURSIVE readers AS (
    SELECT CAST(to_regclass(quote_ident(CURRENT_SCHEMA()) || '.' || :view) AS oid) AS oid
    UNION
    SELECT rules.ev_class
    FROM readers
    INNER JOIN pg_depend AS named
        ON readers.oid = named.refobjid AND named.refclassid = CAST('pg_class' AS regclass)
    INNER JOIN pg_rewrite AS rules
        ON named.objid = rules.oid AND named.classid = CAST('pg_rewrite' AS regclass)
)
SELECT schemas.nspname AS schema_name, views.relname AS name, schemas.nspname = CURRENT_SCHEMA() AS is_beside
FROM readers
INNER JOIN pg_class AS views ON readers.oid = views.oid
INNER JOIN pg_namespace AS schemas ON views.relnamespace = schemas.oid
ORDER BY schemas.nspname, views.relname
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What brings a database from the version before to `version`."""

    version: int
    name: str
    reason: str
    blocks: tuple[tuple[str, str], ...]

    def list_statements(self, database: str) -> list[str]:
        """The statements for `duckdb` or `postgresql`, the last of which raises the version."""
        chosen = [statement for block, statement in self.blocks if block in ("both", database)]
        return [*chosen, f"UPDATE schema_version SET version = {int(self.version)}"]  # noqa: S608 (a number)


def list_steps(folder: Traversable | None = None) -> list[Step]:
    """The steps of a folder, by default the schema's own, in their order."""
    found = []
    for file in (folder or files("pinakes.schema").joinpath("upgrades")).iterdir():
        if named := STEP_FILE.fullmatch(file.name):
            head, blocks = list_blocks(file.read_text(encoding="utf-8"))
            reason = " ".join(line.removeprefix("--").strip() for line in head.splitlines())
            name = file.name.removesuffix(".sql")
            found.append(Step(int(named["version"]), name, reason, tuple(blocks)))
    return sorted(found, key=lambda step: step.version)


def list_missing_steps(database: Database, steps: Iterable[Step] | None = None) -> list[Step]:
    """The steps from the database's version to this one; none where it has this one.

    Raises:
        SchemaVersionError: the database has no tables, newer ones, or ones too old for an upgrade.
    """
    with database.read() as session:
        return _choose(session, steps)


def upgrade(database: Database, steps: Iterable[Step] | None = None, *, wait_s: float = 0.0) -> list[Step]:
    """Bring the tables and views to this version, and keep all rows; the steps that were missing.

    Args:
        steps: by default those of `upgrades/`.
        wait_s: on Postgres, how long to wait for others who read or write what is changed.

    Raises:
        SchemaVersionError: the database has no tables, newer ones, or ones too old for an upgrade.
        DatabaseBusyError: others held a table or view for longer.
        DatabaseError: something that a user has made depends on what is changed.
    """
    if not list_missing_steps(database, steps):
        return []
    with explain_lock(database), database.begin() as session:
        limit_lock_wait(session, wait_s)
        missing = _choose(session, steps)  # another process may have done it meanwhile
        for step in missing:
            for statement in step.list_statements(database.name):
                with _told(f"the step {step.name}"):
                    session.execute_as_written(statement)
        if missing:
            for view, comment in VIEWS.items():
                with _told(f"the view {view}"):
                    _renew_view(session, view)
                comment_on_view(session, view, comment)
            _renew_comments(session)
    return missing


def list_benchmarks_without_views(database: Database) -> list[str]:
    """Benchmarks whose views an upgrade has dropped, and that were not renewed since: no folder has them."""
    with database.read() as session:
        lost = sa.select(benchmarks.c.name).where(benchmarks.c.definition_digest == "")
        return [row["name"] for row in session.rows(lost.order_by(benchmarks.c.name))]


def _choose(session: Session, steps: Iterable[Step] | None) -> list[Step]:
    version = read_version(session)
    return [step for step in (list_steps() if steps is None else steps) if step.version > version]


@contextmanager
def _told(what: str) -> Iterator[None]:
    """A refusal by the database in words: it has something that a user has made."""
    try:
        yield
    except driver_errors() as error:
        original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        raise DatabaseError(
            f"{what} cannot be made: {str(original).strip()}. Nothing was changed. If something of your own "
            "depends on it (an index, a view), drop that, upgrade, and make it again."
        ) from error


def _renew_view(session: Session, view: str) -> None:
    """Make a view as it is now; what reads it stays, where its columns are still there."""
    renewed = re.sub(r"^CREATE VIEW", "CREATE OR REPLACE VIEW", read_view(view), count=1, flags=re.MULTILINE)
    if session.backend.name == "duckdb":  # whose views look up what they read when they are asked
        session.execute(renewed)
        return
    try:
        with session.connection.begin_nested():
            session.execute(renewed)
    except sa.exc.DBAPIError as error:
        if getattr(error.orig, "sqlstate", "") != _OTHER_COLUMNS:
            raise
        _drop_with_readers(session, view)
        session.execute(renewed)


def _drop_with_readers(session: Session, view: str) -> None:
    """Drop a view with our views that read it, which come after it, and those of benchmarks.

    A benchmark whose view is dropped has no digest any more: it is renewed when it is next used.
    """
    known = {row["name"] for row in session.rows(sa.select(benchmarks.c.name))}
    dropped = [
        row
        for row in session.rows(_VIEWS_THAT_READ, {"view": view})
        if (row["name"] in VIEWS if row["is_beside"] else row["schema_name"] in known)
    ]
    quote = session.connection.dialect.identifier_preparer.quote
    listed = ", ".join(f"{quote(row['schema_name'])}.{quote(row['name'])}" for row in dropped)
    session.execute_as_written(f"DROP VIEW {listed}")  # together, since they read each other
    lost = benchmarks.c.name.in_([row["schema_name"] for row in dropped])
    session.execute(sa.update(benchmarks).where(lost).values(definition_digest=""))


def _renew_comments(session: Session) -> None:
    for table in metadata.sorted_tables:
        session.execute(sa.schema.SetTableComment(table))
        for column in table.columns:
            session.execute(sa.schema.SetColumnComment(column))
