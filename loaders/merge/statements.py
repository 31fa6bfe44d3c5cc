"""The SQL of merging, made from the declared tables: staged rows compared, added, replaced and deleted.

Staged rows stand under `staged_<name>` with the columns of their table; `staged_papers` are the papers whose
child rows are meant. Rows of a file are its loader's: where a table has a `producer`, those of others stay.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.loaders.base import PAPER_CHILDREN, PAPER_COLUMNS
from pinakes.loaders.merge.context import MergeContext
from pinakes.schema import author_signatures, citations, load_batches, papers

_NOT_SAID: Final = frozenset({"citation_id", "batch_id", "producer", "text_digest"})
"""columns that tell where a row is from, and not what it says"""


def stage(name: str, table: sa.Table) -> sa.TableClause:
    """The rows that are staged under a name, with the columns of a table and those that staging adds."""
    columns: list[sa.ColumnClause[Any]] = [sa.column(column.name, column.type) for column in table.columns]
    added = {"paper_id": sa.BigInteger(), "place": sa.BigInteger()}
    columns += [sa.column(name, type_) for name, type_ in added.items() if name not in table.columns]
    return sa.table(f"staged_{name}", *columns)


def match(
    table: sa.FromClause,
    staged: sa.FromClause,
    names: Iterable[str],
    constants: Mapping[str, Any] | None = None,
) -> sa.ColumnElement[bool]:
    """Rows with the same values in the columns; `constants` are values that all staged rows have."""
    said = constants or {}
    return sa.and_(*(table.c[name] == (said[name] if name in said else staged.c[name]) for name in names))


def differ(table: sa.FromClause, staged: sa.FromClause, names: Iterable[str]) -> sa.ColumnElement[bool]:
    """Rows of which a column has another value."""
    return sa.or_(sa.false(), *(table.c[name].is_distinct_from(staged.c[name]) for name in names))


def list_said(table: sa.Table) -> list[str]:
    """The columns that say something and are not of the key."""
    return [
        column.name
        for column in table.columns
        if column.name not in {*table.primary_key.columns.keys(), *_NOT_SAID}
    ]


def add_missing(session: Session, table: sa.Table, rows: pa.Table) -> None:
    """Insert the rows, of which no two have one key, whose key the table does not have."""
    names = [column.name for column in table.columns if column.name in rows.column_names]
    staged, held = stage("rows_to_add", table), table.alias("held")
    key = [column.name for column in table.primary_key]
    new = sa.select(*(sa.cast(staged.c[name], table.c[name].type) for name in names)).where(
        ~sa.exists().where(match(held, staged, key))
    )
    with session.staged({staged.name: rows.select(names)}):
        session.execute(sa.insert(table).from_select(names, new))


def fill_gaps(session: Session, table: sa.Table, name: str, columns: Iterable[str]) -> None:
    """Set columns that are null to what is staged under the name."""
    staged, names = stage(name, table), list(columns)
    is_gap = [table.c[name].is_(None) & staged.c[name].is_not(None) for name in names]
    filled = {name: sa.func.coalesce(table.c[name], staged.c[name]) for name in names}
    same = match(table, staged, table.primary_key.columns.keys())
    session.execute(sa.update(table).values(filled).where(same, sa.or_(*is_gap)))


def select_changed_papers(context: MergeContext) -> sa.Select[Any]:
    """The ids of staged papers of which a described column says something else."""
    staged, same = match_papers(context)
    tests = [
        papers.c[name].is_distinct_from(staged.c[name])
        & (staged.c[name].is_not(None) if context.gaps_say_nothing else sa.true())
        for name in _list_described(context)
    ]
    return sa.select(papers.c.paper_id).join_from(papers, staged, same).where(sa.or_(sa.false(), *tests))


def update_papers(context: MergeContext) -> sa.Update:
    """Give staged papers their described columns."""
    staged, same = match_papers(context)
    values: dict[str, Any] = {"batch_id": context.batch_id if context.says_papers else papers.c.batch_id}
    for name in _list_described(context):
        said = staged.c[name]
        values[name] = sa.func.coalesce(said, papers.c[name]) if context.gaps_say_nothing else said
    return sa.update(papers).values(values).where(same)


def _list_described(context: MergeContext) -> list[str]:
    return [name for name in PAPER_COLUMNS if name in context.describes]


def select_changed_owners(name: str, unsaid: Collection[str], context: MergeContext) -> sa.Select[Any]:
    """The ids of staged papers whose child rows of a kind are others than the staged ones.

    `unsaid` are columns that are null in all staged rows: a row that has a value there is another one.
    """
    table = PAPER_CHILDREN[name]
    staged, owners, owner = stage(name, table), stage("papers", papers), find_owner(table)
    columns = [column for column in table.columns if column is not owner and column.name not in _NOT_SAID]
    names = [column.name for column in columns if column.name not in unsaid]
    more = sa.or_(sa.false(), *(column.is_not(None) for column in columns if column.name in unsaid))
    said = sa.select(
        staged.c.paper_id,
        *(staged.c[name] for name in names),
        sa.false().label("has_more"),
        sa.literal_column("1").label("side"),
    )
    held = (
        sa.select(
            owner.label("paper_id"),
            *(table.c[name] for name in names),
            more.label("has_more"),
            sa.literal_column("-1").label("side"),
        )
        .join_from(table, owners, owner == owners.c.paper_id)
        .where(*_own_rows(table, context), *_in_span(owner, context))
    )
    if context.gaps_say_nothing:
        held = held.where(owner.in_(sa.select(staged.c.paper_id)))
    both = sa.union_all(said, held).subquery("both_sides")
    grouped = [column for column in both.c if column.name != "side"]
    return sa.select(both.c.paper_id).group_by(*grouped).having(sa.func.sum(both.c.side) != 0)


def delete_rows(name: str, context: MergeContext) -> sa.Delete:
    """Delete the child rows of a kind that the loader has brought of the staged papers."""
    table = PAPER_CHILDREN[name]
    owner = find_owner(table)
    of_papers = owner.in_(sa.select(stage("papers", papers).c.paper_id))
    return sa.delete(table).where(of_papers, *_own_rows(table, context), *_in_span(owner, context))


def match_children(table: sa.Table, context: MergeContext) -> tuple[sa.FromClause, sa.ColumnElement[bool]]:
    """The staged papers, and which child rows of theirs the loader has brought."""
    owners, owner = stage("papers", papers), find_owner(table)
    return owners, sa.and_(owner == owners.c.paper_id, *_own_rows(table, context), *_in_span(owner, context))


def match_papers(context: MergeContext) -> tuple[sa.FromClause, sa.ColumnElement[bool]]:
    """The staged papers, and which paper each is."""
    staged, held = stage("papers", papers), papers.c.paper_id
    return staged, sa.and_(held == staged.c.paper_id, *_in_span(held, context))


def find_owner(table: sa.Table) -> sa.Column[Any]:
    """The column of a child table that names the paper."""
    return table.c["citing_paper_id" if table is citations else "paper_id"]


def _own_rows(table: sa.Table, context: MergeContext) -> list[sa.ColumnElement[bool]]:
    """What holds of rows that are the file's to replace."""
    if "producer" in table.c:
        return [table.c.producer == context.producer]
    if table is citations:
        # The mentions that files of this role have brought: a full text's are not the metadata's to replace.
        return [citations.c.batch_id.in_(_select_batches(context))]
    if table is author_signatures:
        # Signatures of another dataset, on a paper that both have, are not this dataset's to replace.
        of_file = _select_batches(context).where(load_batches.c.file == context.file_name)
        return [author_signatures.c.batch_id.in_(of_file)]
    return []


def _in_span(owner: sa.Column[Any], context: MergeContext) -> list[sa.ColumnElement[bool]]:
    """What Postgres finds a chunk's papers by in an index; by the staged ones alone it reads whole tables."""
    return [] if context.span is None else [owner.between(*context.span)]


def _select_batches(context: MergeContext) -> sa.Select[Any]:
    """The batches of files of the same role, of the same loader and corpus."""
    same = [load_batches.c[name] == context.file[name] for name in ("corpus_id", "loader", "role")]
    return sa.select(load_batches.c.batch_id).where(*same)
