"""Indexes that a first load on Postgres builds when its rows are in: kept up row by row they cost it most.

They are dropped where their table is empty, and built after the last file, also where a load that was killed
has left them out. No load looks anything up by them, nor does an import of corpora.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import DatabaseError, InputError, LoadError
from pinakes.schema import citations, cited_references

_NAMES: Final = ("citations_reference_index", "cited_references_paper_index")
_LATE: Final = [
    (table, index)
    for table in (citations, cited_references)
    for index in table.indexes
    if index.name in _NAMES
]
_ROOM: Final = {
    "cited_references_paper_index": (
        "ALTER TABLE cited_references SET (fillfactor = 45)",
        "ALTER TABLE cited_references RESET (fillfactor)",
    )
}
"""index -> what is said when it is dropped, and when it is built

The load ends by giving nearly every cited work its paper. A row that changes on its own page, in no indexed
column, leaves the other indexes alone; that takes no more room than the rows it replaces.
"""
_FIND: Final = """
SELECT
    pg_has_role(relowner, 'USAGE') AS is_own,
    to_regclass(own.schema || '.' || :index) IS NOT NULL AS is_there
FROM pg_class
CROSS JOIN (SELECT quote_ident(CURRENT_SCHEMA()) AS schema) AS own
WHERE pg_class.oid = to_regclass(own.schema || '.' || :table)
"""
_RAISE_MEMORY: Final = """
SELECT SET_CONFIG(name, GREATEST(:kib, CAST(setting AS BIGINT)) || 'kB', TRUE)
FROM pg_settings
WHERE name = 'maintenance_work_mem'
"""
_PATIENCE_MS: Final = 1_000
"""so long a load waits for those who read an empty table; then it keeps the index"""
_MOST_MEMORY: Final = 1 << 30


@contextmanager
def build_late(database: Database, memory: int, *, gives_papers: bool = True) -> Iterator[None]:
    """Leave the indexes of empty tables out meanwhile, and build afterwards those that are missing.

    Args:
        memory: bytes that the server may take to sort an index; it takes more where its settings say more.
        gives_papers: whether cited works get their papers when they are in, and need room for that.
    """
    if database.name != "postgresql":
        yield
        return
    with database.begin() as session:
        for table, index in _LATE:
            _drop(session, table, index, gives_papers=gives_papers)
    try:
        yield
    except (InputError, LoadError):  # a file breaks off: what is in is there to be read
        _build(database, memory)
        raise
    _build(database, memory)


def _drop(session: Session, table: sa.Table, index: sa.Index, *, gives_papers: bool) -> None:
    held = _find(session, table, index)
    is_empty = session.first(sa.select(sa.literal(1)).select_from(table).limit(1)) is None
    if held is None or not held["is_there"] or not is_empty:
        return
    with suppress(DatabaseError), session.connection.begin_nested():
        session.execute(sa.text(f"SET LOCAL lock_timeout = {_PATIENCE_MS}"))
        session.execute(sa.schema.DropIndex(index))
        if gives_papers and index.name in _ROOM:
            session.execute(_ROOM[index.name][0])


def _build(database: Database, memory: int) -> None:
    with database.begin() as session:
        missing = [
            index
            for table, index in _LATE
            if (held := _find(session, table, index)) is not None and not held["is_there"]
        ]
        if not missing:
            return
        session.scalar(_RAISE_MEMORY, {"kib": min(memory, _MOST_MEMORY) // 1024})
        for index in missing:
            session.execute(sa.schema.CreateIndex(index))
            if index.name in _ROOM:
                session.execute(_ROOM[index.name][1])


def _find(session: Session, table: sa.Table, index: sa.Index) -> dict[str, bool] | None:
    """Whether the index is there; None where its table is another user's, who alone may drop or build it."""
    found = session.first(_FIND, {"index": index.name, "table": table.name})
    return found if found is not None and found["is_own"] else None
