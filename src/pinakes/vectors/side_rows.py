"""The rows of `side_indexes`, and the folders that they name."""

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.schema import next_id, side_indexes


def identify(kind: str, scope: str, paper_template: str, encoder: str = "") -> dict[str, str]:
    """What a side index is known by.

    >>> identify("bm25", "corpus:c", "title")["scope"]
    'corpus:c'
    """
    return {"kind": kind, "scope": scope, "paper_template": paper_template, "encoder": encoder}


def find_row(session: Session, identity: Mapping[str, str]) -> dict[str, Any] | None:
    """The row of `side_indexes` of that kind, scope, template and encoder."""
    same = [side_indexes.c[name] == value for name, value in identity.items()]
    return session.first(sa.select(side_indexes).where(*same))


def store_row(session: Session, identity: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Insert the row of an index, or bring it up to date; the row as stored."""
    known = find_row(session, identity)
    row = {**identity, **values, "built_at": datetime.now(UTC)}
    row["parameters"] = orjson.dumps(row["parameters"], option=orjson.OPT_SORT_KEYS).decode()
    if known is None:
        row["side_index_id"] = next_id(session, side_indexes.c.side_index_id)
        session.execute(sa.insert(side_indexes).values(**row))
    else:
        row["side_index_id"] = known["side_index_id"]
        chosen = side_indexes.c.side_index_id == known["side_index_id"]
        session.execute(sa.update(side_indexes).where(chosen).values(**row))
    return row


def remove_replaced(folder: Path, known: Mapping[str, Any] | None, path: Path) -> None:
    """Remove the folder of the index that was there before, unless the new one has its name."""
    if known and known["path"] != str(path):
        shutil.rmtree(folder / known["path"], ignore_errors=True)
