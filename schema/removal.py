"""Rows removed with all that hangs on them: what that is, is read from the references of the tables.

No database has foreign keys (docs/decisions/0002), so this does what they would do, table by table: the keys
of what goes are gathered from the named rows down, then the rows go from the leaves up.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.schema.base import metadata
from pinakes.schema.history import paper_removals
from pinakes.schema.papers import papers

_CLEARED_WITH: Final = {("cited_references", "paper_id"): ("resolved_by",)}
"""table, column -> columns that say something of the row that it names, and are null where it names none"""
_LOST_WITH: Final = {("benchmark_queries", "paper_id"): ("sentence_selections",)}
"""table, column -> tables whose rows go when the row that they name loses what it names: a query's paper"""


@dataclass(slots=True)
class Removed:
    """Rows by table: how many are gone, and how many named a row that is gone and name none now."""

    deleted: Counter[str] = field(default_factory=Counter)
    cleared: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Removed") -> None:
        """Count the rows of another removal too."""
        self.deleted += other.deleted
        self.cleared += other.cleared


def remove_rows(
    session: Session, keys: Mapping[sa.Table, pa.Table], *, declared_alone: bool = False
) -> Removed:
    """Delete rows by their primary keys, with all rows that name them, and those that name these, and so on.

    A row that may name none stays and names none. With `declared_alone` only the references that say what
    becomes of the row (`on_delete`) are followed, and others are left as they are: as history.
    """
    removal = _Removal(session, declared_alone)
    for table, rows in keys.items():
        removal.name(table, rows)
    return removal.finish()


def list_references(table: sa.Table, *, declared_alone: bool = False) -> list[sa.ForeignKeyConstraint]:
    """The references of a table that a removal follows, each table's name first, then its columns'."""
    followed = (one for one in table.foreign_key_constraints if one.ondelete or not declared_alone)
    return sorted(followed, key=lambda one: (one.referred_table.name, one.column_keys))


def is_cleared(constraint: sa.ForeignKeyConstraint) -> bool:
    """Whether a row stays when the row that it names goes."""
    return constraint.ondelete != "CASCADE" and all(column.nullable for column in constraint.columns)


class _Removal:
    """Temporary tables of the keys that go, one for each table that others name."""

    def __init__(self, session: Session, declared_alone: bool) -> None:
        self._session, self._declared_alone = session, declared_alone
        self._tables = list(metadata.sorted_tables)  # what is named stands before what names it
        self._gone: dict[sa.Table, sa.Table] = {}
        self._roots: set[sa.Table] = set()
        self._named = {one.referred_table for table in self._tables for one in list_references(table)}

    def name(self, table: sa.Table, rows: pa.Table) -> None:
        """Have the rows of those keys go."""
        keys = list(table.primary_key)
        staged = sa.table("staged_removed", *(sa.column(key.name, key.type) for key in keys))
        same = sa.and_(*(key == staged.c[key.name] for key in keys))
        self._gather(table, sa.exists().where(same).correlate(table), {staged.name: rows})
        self._roots.add(table)

    def finish(self) -> Removed:
        for table in self._tables:
            if table in self._named or table in self._gone:
                for constraint in self._follow(table):
                    if not is_cleared(constraint):
                        self._gather(table, self._names_gone(constraint))
        self._note_papers()
        removed = Removed()
        for table in reversed(self._tables):
            self._delete(table, removed)
        for gone in self._gone.values():
            self._session.execute(DropTable(gone))
        removed.deleted, removed.cleared = +removed.deleted, +removed.cleared
        return removed

    def _note_papers(self) -> None:
        """Count the papers that go of each corpus: stored runs may have ranked them."""
        if papers not in self._gone:
            return
        gone = self._gone[papers]
        counted = (
            sa.select(papers.c.corpus_id, sa.func.count().label("papers"))
            .join_from(papers, gone, papers.c.paper_id == gone.c.paper_id)
            .group_by(papers.c.corpus_id)
        )
        table = paper_removals
        for row in self._session.rows(counted):
            of_corpus = table.c.corpus_id == row["corpus_id"]
            more = sa.update(table).values(papers=table.c.papers + row["papers"]).where(of_corpus)
            if not self._session.execute(more):
                self._session.execute(sa.insert(table).values(**row))

    def _follow(self, table: sa.Table) -> Iterator[sa.ForeignKeyConstraint]:
        """The references of a table to rows that go."""
        for constraint in list_references(table, declared_alone=self._declared_alone):
            if constraint.referred_table in self._gone and constraint.referred_table is not table:
                yield constraint

    def _gather(
        self,
        table: sa.Table,
        condition: sa.ColumnElement[bool],
        staged: Mapping[str, pa.Table] | None = None,
    ) -> None:
        if table not in self._gone:
            columns = [sa.Column(one.name, one.type) for one in _list_named_columns(table)]
            made = sa.Table(f"removed_{table.name}", sa.MetaData(), *columns, prefixes=["TEMPORARY"])
            made.create(self._session.connection)
            self._gone[table] = made
        gone = self._gone[table]
        held = gone.alias("held")
        is_new = ~sa.exists().where(*(held.c[key.name] == key for key in table.primary_key)).correlate(table)
        columns = _list_named_columns(table)
        rows = sa.select(*columns).where(condition, is_new)
        with self._session.staged(staged or {}):
            self._session.execute(sa.insert(gone).from_select([one.name for one in columns], rows))
        self._session.execute(f"ANALYZE {gone.name}")  # nothing else counts its rows for the planner

    def _names_gone(self, constraint: sa.ForeignKeyConstraint) -> sa.ColumnElement[bool]:
        gone = self._gone[constraint.referred_table]
        pairs = [(key.parent, gone.c[key.column.name]) for key in constraint.elements]
        if len(pairs) == 1:
            return pairs[0][0].in_(sa.select(pairs[0][1]))
        return sa.exists().where(*(column == other for column, other in pairs)).correlate(constraint.table)

    def _delete(self, table: sa.Table, removed: Removed) -> None:
        execute, followed = self._session.execute, list(self._follow(table))
        name = str(table.name)  # SQLAlchemy's own kind of text is no key of a JSON object
        for constraint in followed:
            if table not in self._gone and not is_cleared(constraint):
                removed.deleted[name] += execute(sa.delete(table).where(self._names_gone(constraint)))
        if table in self._gone:
            gone = self._gone[table]
            same = sa.exists().where(*(gone.c[key.name] == key for key in table.primary_key))
            removed.deleted[name] += execute(sa.delete(table).where(same.correlate(table)))
        for constraint in followed:  # what is left of the table names none
            if is_cleared(constraint):
                self._lose(constraint, removed)
                removed.cleared[name] += execute(_clear(constraint).where(self._names_gone(constraint)))

    def _lose(self, cleared: sa.ForeignKeyConstraint, removed: Removed) -> None:
        """Delete what makes no sense of rows that name none any more."""
        table = cleared.table
        for name in _LOST_WITH.get((table.name, cleared.column_keys[0]), ()):
            lost = metadata.tables[name]
            same = [lost.c[key.name] == key for key in table.primary_key]
            of_cleared = sa.exists().where(*same, self._names_gone(cleared)).correlate(lost)
            removed.deleted[name] += self._session.execute(sa.delete(lost).where(of_cleared))


def _list_named_columns(table: sa.Table) -> list[sa.Column[Any]]:
    """The columns of a table that other tables name its rows by, and its key."""
    named = {
        element.column.name
        for other in metadata.tables.values()
        for constraint in other.foreign_key_constraints
        for element in constraint.elements
        if element.column.table is table
    }
    return [column for column in table.columns if column.primary_key or column.name in named]


def _clear(constraint: sa.ForeignKeyConstraint) -> sa.Update:
    (column,) = constraint.columns
    table = constraint.table
    names = (column.name, *_CLEARED_WITH.get((table.name, column.name), ()))
    return sa.update(table).values(dict.fromkeys(names, None))
