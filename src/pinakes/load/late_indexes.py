"""Indexes that a first load on Postgres builds when its rows are in: kept up row by row they cost it most.

They are dropped where their table is empty, and built after the last file, also where a load that was killed
has left them out. No load looks anything up by them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import DatabaseError, InputError, LoadError


@dataclass(frozen=True, slots=True)
class _Late:
    """An index: its table, and the statements that drop and build it."""

    name: str
    table: str
    drop: tuple[str, ...]
    build: tuple[str, ...]


_LATE: Final = (
    _Late(
        "citations_reference_index",
        "citations",
        ("DROP INDEX citations_reference_index",),
        ("CREATE INDEX citations_reference_index ON citations (reference_id, citing_paper_id)",),
    ),
    # The load ends by giving nearly every cited work its paper. A row that changes on its own page, in no
    # indexed column, leaves the other indexes alone; that takes no more room than the rows it replaces.
    _Late(
        "cited_references_paper_index",
        "cited_references",
        (
            "DROP INDEX cited_references_paper_index",
            "ALTER TABLE cited_references SET (fillfactor = 45)",
        ),
        (
            "CREATE INDEX cited_references_paper_index ON cited_references (paper_id)",
            "ALTER TABLE cited_references RESET (fillfactor)",
        ),
    ),
)
_FIND: Final = """
SELECT
    pg_has_role(relowner, 'USAGE') AS is_own,
    to_regclass(own.schema || '.' || :index) IS NOT NULL AS is_there
FROM pg_class
CROSS JOIN (SELECT quote_ident(CURRENT_SCHEMA()) AS schema) AS own
WHERE pg_class.oid = to_regclass(own.schema || '.' || :table)
"""
_IS_FILLED: Final = {
    "citations": "SELECT 1 FROM citations LIMIT 1",
    "cited_references": "SELECT 1 FROM cited_references LIMIT 1",
}
_RAISE_MEMORY: Final = """
SELECT SET_CONFIG(name, GREATEST(:kib, CAST(setting AS BIGINT)) || 'kB', TRUE)
FROM pg_settings
WHERE name = 'maintenance_work_mem'
"""
_PATIENCE_MS: Final = 1_000
"""so long a load waits for those who read an empty table; then it keeps the index"""
_MOST_MEMORY: Final = 1 << 30


@contextmanager
def build_late(database: Database, memory: int) -> Iterator[None]:
    """Leave the indexes of empty tables out meanwhile, and build afterwards those that are missing.

    Args:
        memory: bytes that the server may take to sort an index; it takes more where its settings say more.
    """
    if database.name != "postgresql":
        yield
        return
    with database.begin() as session:
        for late in _LATE:
            _drop(session, late)
    try:
        yield
    except (InputError, LoadError):  # a file breaks off: what is in is there to be read
        _build(database, memory)
        raise
    _build(database, memory)


def _drop(session: Session, late: _Late) -> None:
    is_empty = session.first(_IS_FILLED[late.table]) is None
    if _is_there(session, late) is not True or not is_empty:
        return
    with suppress(DatabaseError), session.connection.begin_nested():
        session.execute(sa.text(f"SET LOCAL lock_timeout = {_PATIENCE_MS}"))
        for statement in late.drop:
            session.execute(statement)


def _build(database: Database, memory: int) -> None:
    with database.begin() as session:
        missing = [late for late in _LATE if _is_there(session, late) is False]
        if not missing:
            return
        session.scalar(_RAISE_MEMORY, {"kib": min(memory, _MOST_MEMORY) // 1024})
        for late in missing:
            for statement in late.build:
                session.execute(statement)


def _is_there(session: Session, late: _Late) -> bool | None:
    """Whether the index is there; None where its table is another user's, who alone may drop or build it."""
    found = session.first(_FIND, {"index": late.name, "table": late.table})
    return bool(found["is_there"]) if found is not None and found["is_own"] else None
