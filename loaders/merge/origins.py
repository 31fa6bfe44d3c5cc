"""Which file a row is of: its `batch_id`; and which other files say it too: `repeated_rows`.

A row is of the file that wrote it last. A newer version of that file that says it takes it over, changed or
not, so that the rows that are left to the older version are those that the newer one lacks. Another file
that says the row is noted, so that it stays when its own file drops it.

A paper has many mentions, and all of a file are taken over together: that is a row of `restated_citations`
for the paper, and the mentions are left alone (docs/decisions/0030).
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.loaders.merge.context import Ids, MergeContext, fetch_ids
from pinakes.schema import citations, load_batches, pending_citations, repeated_rows, restated_citations

_CALLED: Final = {pending_citations.name: "citations"}
"""table -> what `repeated_rows` calls it, where that is another table: a pending mention keeps its id"""
_RESTATED: Final = ("citing_paper_id", "batch_id")
"""what tells mentions that are taken over together: columns of `citations` and of `restated_citations`"""


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
    batches = set(np.unique(held).tolist())
    taken = context.older if takes_over else frozenset[int]()
    older = sorted(taken & batches)
    if notes and (others := _list_others(session, batches - taken, context)):
        source, of_others = sa.join(table, staged, same), table.c.batch_id.in_(others)
        _note(session, table, source, of_others, context, is_changed)
    if older:
        of_older = table.c.batch_id.in_(older)
        session.execute(sa.update(table).values(batch_id=context.batch_id).where(same, of_older))


def restate_mentions(
    session: Session, staged: sa.FromClause, same: sa.ColumnElement[bool], context: MergeContext
) -> None:
    """As `restate`, of all mentions that files of the role have brought of staged papers: a row a paper."""
    joined, batch = join_batches(citations)
    source = sa.join(joined, staged, same)
    columns = (citations.c.citing_paper_id, citations.c.batch_id, batch.label("said_by"))
    citing, brought, said = session.fetch_numbers(sa.select(*columns).distinct().select_from(source))
    if others := _list_others(session, set(np.unique(said).tolist()) - context.older, context):
        _note(session, citations, source, batch.in_(others), context)
    is_older = np.isin(said, list(context.older))
    for is_known in (False, True):
        chosen = is_older & ((said != brought) == is_known)
        _take_over(
            session, pa.table([citing[chosen], brought[chosen]], _RESTATED), context, is_known=is_known
        )


def _take_over(session: Session, rows: pa.Table, context: MergeContext, *, is_known: bool) -> None:
    """Have the mentions of each paper and batch be the file's; `is_known`: they were taken over before."""
    if not rows.num_rows:
        return
    if not is_known:
        now = pa.repeat(pa.scalar(context.batch_id, pa.int64()), rows.num_rows)
        session.insert(restated_citations, rows.append_column("newer_batch_id", now))
        return
    staged = sa.table("staged_mentions", *(sa.column(name, sa.BigInteger) for name in _RESTATED))
    same = [restated_citations.c[name] == staged.c[name] for name in _RESTATED]
    with session.staged({staged.name: rows}):
        newer = sa.update(restated_citations).values(newer_batch_id=context.batch_id)
        session.execute(newer.where(*same))


def join_batches(table: sa.Table) -> tuple[sa.FromClause, sa.ColumnElement[int]]:
    """A table with what says whose its rows are, and the batch that a row is of, newer versions counted."""
    if table is not citations:
        return table, table.c.batch_id
    batch = sa.func.coalesce(restated_citations.c.newer_batch_id, citations.c.batch_id)
    return citations.outerjoin(restated_citations, _match_restated()), batch


def _match_restated() -> sa.ColumnElement[bool]:
    return sa.and_(*(citations.c[name] == restated_citations.c[name] for name in _RESTATED))


def is_restated(batches: sa.Select[Any]) -> sa.ColumnElement[bool]:
    """Whether a mention is of one of the batches since that says it unchanged."""
    said = restated_citations.c.newer_batch_id.in_(batches)
    return sa.exists().where(_match_restated(), said).correlate(citations)


def names_mentions() -> sa.ColumnElement[bool]:
    """Whether a row of `restated_citations` has a mention that it says something of."""
    return sa.exists().where(_match_restated()).correlate(restated_citations)


def settle_mentions(session: Session, papers: sa.Select[Any]) -> None:
    """Give the mentions of papers the batch that they are of, so that each can be another file's."""
    settled = sa.update(citations).values(batch_id=restated_citations.c.newer_batch_id)
    session.execute(settled.where(_match_restated(), citations.c.citing_paper_id.in_(papers)))
    known = restated_citations.c.citing_paper_id
    session.execute(sa.delete(restated_citations).where(known.in_(papers)))


def _list_others(session: Session, batches: Iterable[int], context: MergeContext) -> list[int]:
    """Those of the batches that are not the file's."""
    others = set(batches) - {context.batch_id}
    return sorted(others - set(_list_own(session, context))) if others else []


def _list_own(session: Session, context: MergeContext) -> list[int]:
    """The batches of the file that are in."""
    same = [load_batches.c[name] == value for name, value in context.file.items()]
    own: list[int] = fetch_ids(session, sa.select(load_batches.c.batch_id).where(*same)).tolist()
    return own


def _note(
    session: Session,
    table: sa.Table,
    source: sa.FromClause,
    condition: sa.ColumnElement[bool],
    context: MergeContext,
    is_changed: sa.ColumnElement[bool] | None = None,
) -> None:
    own = {*_list_own(session, context), context.batch_id}
    now = sa.literal(context.batch_id, sa.BigInteger)
    batch = now if is_changed is None else sa.case((is_changed, table.c.batch_id), else_=now)
    rows = (
        sa.select(batch.label("batch_id"), digest_row(table).label("row_digest"))
        .distinct()
        .select_from(source)
        .where(condition)
        .subquery("rows_to_note")
    )
    name = call_table(table)
    noted = repeated_rows.c.batch_id
    is_noted: sa.ColumnElement[bool] = noted.in_(sorted(own))  # so that no other file's notes are read
    if is_changed is not None:
        is_noted = sa.or_(noted == rows.c.batch_id, sa.and_(rows.c.batch_id == now, is_noted))
    known = sa.exists().where(
        is_noted,
        repeated_rows.c.table_name == name,
        repeated_rows.c.row_digest == rows.c.row_digest,
    )
    new = sa.select(rows.c.batch_id, sa.literal(name, sa.Text), rows.c.row_digest).where(~known)
    # In the order of the key: each page of Postgres' index is then written once.
    new = new.order_by(rows.c.batch_id, rows.c.row_digest)
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
