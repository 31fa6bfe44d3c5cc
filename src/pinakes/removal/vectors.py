"""Stored vectors whose text nothing asks for, and encoders that have none left."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.removal.texts import asked_texts, list_prefixes, list_texts, select_contexts
from pinakes.schema import encoders, runs, sentence_vectors_table, vectors_table
from pinakes.vectors.stored import select_distinct_texts

_UNUSED: Final = sa.Table(
    "unused_texts", sa.MetaData(), sa.Column("text_digest", sa.Uuid), prefixes=["TEMPORARY"]
)
_TABLES: Final = "SELECT table_name FROM information_schema.tables WHERE table_schema = CURRENT_SCHEMA()"


def remove_vectors(session: Session, unread: list[str]) -> dict[str, int]:
    """Delete the vectors of texts that nothing asks for: table -> rows; and tables that are empty then.

    To `unread` go the benchmarks whose queries could not be read.
    """
    tables = _list_tables(session)
    if not tables:
        return {}
    _UNUSED.create(session.connection)
    digests = (sa.select(table.c.text_digest) for of_encoder in tables.values() for table in of_encoder)
    session.execute(sa.insert(_UNUSED).from_select(["text_digest"], sa.union(*digests)))
    _keep_used(session, unread)
    unused = sa.select(_UNUSED.c.text_digest)
    removed = {}
    for of_encoder in tables.values():
        for table in of_encoder:
            count = session.execute(sa.delete(table).where(table.c.text_digest.in_(unused)))
            if count:
                removed[f"rows of {table.name}"] = count
    session.execute(DropTable(_UNUSED))
    return {**removed, **_remove_encoders(session, tables)}


def _keep_used(session: Session, unread: list[str]) -> None:
    """Take from the digests those of every text that is asked for, until none is left."""
    _keep(session, sa.select(select_contexts().subquery("contexts").c.text_digest))
    prefixes = list_prefixes(session)
    for texts in list_texts():
        _keep_texts(session, texts, prefixes)
    if _count(session, [_UNUSED]):
        with asked_texts(session, unread) as asked:
            _keep_texts(session, [asked], prefixes)


def _keep_texts(session: Session, texts: Sequence[sa.Select[Any]], prefixes: Sequence[str]) -> None:
    for prefix in prefixes:
        if not _count(session, [_UNUSED]):
            return
        asked = select_distinct_texts(*texts, prefix=prefix).subquery("asked_for")
        _keep(session, sa.select(asked.c.text_digest))


def _keep(session: Session, digests: sa.Select[Any]) -> None:
    session.execute(sa.delete(_UNUSED).where(_UNUSED.c.text_digest.in_(digests)))


def _list_tables(session: Session) -> dict[str, list[sa.Table]]:
    """Encoder -> its tables of vectors."""
    known = session.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = CURRENT_SCHEMA()"
    )
    names = {row["table_name"] for row in known}
    rows = session.rows(sa.select(encoders.c.name, encoders.c.dimensions).order_by(encoders.c.name))
    found: dict[str, list[sa.Table]] = {}
    for row in rows:
        made = [make(row["name"], row["dimensions"]) for make in (vectors_table, sentence_vectors_table)]
        found[row["name"]] = [table for table in made if table.name in names]
    return found


def _remove_encoders(session: Session, tables: dict[str, list[sa.Table]]) -> dict[str, int]:
    """Drop the encoders without a vector that no run names."""
    removed = 0
    for name, of_encoder in tables.items():
        of_name = encoders.c.name == name
        ids = sa.select(encoders.c.encoder_id).where(of_name)
        is_named = session.scalar(sa.select(sa.func.count()).where(runs.c.encoder_id.in_(ids)))
        if is_named or _count(session, of_encoder):
            continue
        for table in of_encoder:
            session.execute(DropTable(table))
        removed += session.execute(sa.delete(encoders).where(of_name))
    return {"encoders": removed} if removed else {}


def _count(session: Session, tables: Iterable[sa.Table]) -> int:
    return sum(int(session.scalar(sa.select(sa.func.count()).select_from(table))) for table in tables)
