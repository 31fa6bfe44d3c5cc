"""Which file a row is of: its `batch_id`; and which other files say it too: `repeated_rows`.

A row is of the file that wrote it last. A newer version of that file that says it takes it over, changed or
not, so that the rows that are left to the older version are those that the newer one lacks. Another file
that says the row is noted, so that it stays when its own file drops it.
"""

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.loaders.merge.context import Ids, MergeContext, fetch_ids
from pinakes.schema import load_batches, pending_citations, repeated_rows

_CALLED: Final = {pending_citations.name: "citations"}
"""table -> what `repeated_rows` calls it, where that is another table: a pending mention keeps its id"""


def restate(
    session: Session,
    table: sa.Table,
    staged: sa.FromClause,
    same: sa.ColumnElement[bool],
    context: MergeContext,
    *,
    held: Ids | None = None,
    is_changed: sa.ColumnElement[bool] | None = None,
    notes: bool = True,
    takes_over: bool = True,
) -> None:
    """Have the rows of the table that staged ones say be the file's, or be noted as said by it too.

    Args:
        same: which row of the table a staged one is.
        held: the batches of those rows, where they are known already.
        is_changed: which of them the file changes: those will be its own, and are noted of the file before.
        notes: whether the file counts as saying the rows of other files.
        takes_over: whether the rows of older versions become the file's; else they are noted too.
    """
    if held is None:
        of_staged = sa.select(table.c.batch_id).distinct().join_from(table, staged, same)
        held = fetch_ids(session, of_staged.where(table.c.batch_id.is_not(None)))
    batches = np.unique(held)
    taken = context.older if takes_over else frozenset[int]()
    older = sorted(taken.intersection(batches.tolist()))
    unknown = set(batches.tolist()) - taken - {context.batch_id} if notes else set()
    if unknown:
        own = {*_list_own(session, context), context.batch_id}
        if others := sorted(unknown - own):
            of_others = sa.and_(same, table.c.batch_id.in_(others))
            _note(session, table, staged, of_others, context, own, is_changed)
    if older:
        of_older = table.c.batch_id.in_(older)
        session.execute(sa.update(table).values(batch_id=context.batch_id).where(same, of_older))


def _list_own(session: Session, context: MergeContext) -> list[int]:
    """The batches of the file that are in."""
    same = [load_batches.c[name] == value for name, value in context.file.items()]
    own: list[int] = fetch_ids(session, sa.select(load_batches.c.batch_id).where(*same)).tolist()
    return own


def _note(
    session: Session,
    table: sa.Table,
    staged: sa.FromClause,
    condition: sa.ColumnElement[bool],
    context: MergeContext,
    own: Collection[int],
    is_changed: sa.ColumnElement[bool] | None,
) -> None:
    now = sa.literal(context.batch_id, sa.BigInteger)
    batch = now if is_changed is None else sa.case((is_changed, table.c.batch_id), else_=now)
    rows = (
        sa.select(batch.label("batch_id"), digest_row(table).label("row_digest"))
        .distinct()
        .join_from(table, staged, condition)
        .subquery("rows_to_note")
    )
    name = call_table(table)
    noted = repeated_rows.c.batch_id
    by_file = sa.and_(rows.c.batch_id == now, noted.in_(sorted(own)))
    known = sa.exists().where(
        sa.or_(noted == rows.c.batch_id, by_file),
        repeated_rows.c.table_name == name,
        repeated_rows.c.row_digest == rows.c.row_digest,
    )
    new = sa.select(rows.c.batch_id, sa.literal(name, sa.Text), rows.c.row_digest).where(~known)
    session.execute(sa.insert(repeated_rows).from_select(["batch_id", "table_name", "row_digest"], new))


def call_table(table: sa.Table) -> str:
    """What `repeated_rows` calls a table."""
    return _CALLED.get(table.name, str(table.name))


def digest_row(table: sa.Table) -> sa.ColumnElement[Any]:
    """What `repeated_rows` knows a row by: the digest of its key."""
    keys = [sa.cast(column, sa.Text) for column in table.primary_key]
    text: sa.ColumnElement[Any] = keys[0]
    for key in keys[1:]:
        text = text + sa.func.chr(31, type_=sa.Text) + key
    return sa.cast(sa.func.md5(text), sa.Uuid)
