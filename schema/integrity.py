"""What keys would refuse, as queries that count it: made from the references and keys of the tables."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.schema.base import metadata
from pinakes.schema.benchmarks import benchmark_queries, sentence_selections
from pinakes.schema.papers import distinct_sentences


def list_filled_tables(session: Session) -> set[str]:
    """The names of the tables that have rows: in one of the others no check counts any."""
    return {str(row["name"]) for row in session.rows(_select_filled())}


@cache
def _select_filled() -> sa.CompoundSelect[tuple[str]]:
    has_rows = [
        sa.select(sa.literal(table.name).label("name")).where(sa.exists().select_from(table))
        for table in metadata.sorted_tables
    ]
    return sa.union_all(*has_rows)


@cache
def list_integrity_checks() -> Mapping[str, sa.Select[Any]]:
    """table.column -> a query that counts rows whose value names a row that is not there.

    table.key -> one that counts keys of more than one row, where DuckDB does not look itself.
    """
    checks = {}
    for table in metadata.sorted_tables:
        for constraint in table.foreign_key_constraints:
            checks[f"{table.name}.{constraint.column_keys[-1]}"] = _count_orphans(table, constraint)
        if table.info.get("bulk"):
            checks[f"{table.name}.key"] = _count_repeated(table.primary_key.columns)
            for unique in table.constraints:
                if isinstance(unique, sa.UniqueConstraint):
                    checks[f"{table.name}.{unique.columns.keys()[-1]}"] = _count_repeated(unique.columns)
    return MappingProxyType({**checks, "sentence_selections.position": _count_unknown_sentences()})


def _count_orphans(table: sa.Table, constraint: sa.ForeignKeyConstraint) -> sa.Select[Any]:
    child, named = table.alias("child"), constraint.referred_table.alias("named")
    pairs = [(child.c[key.parent.name], named.c[key.column.name]) for key in constraint.elements]
    is_there = sa.exists().where(*(column == other for column, other in pairs))
    is_said = [column.is_not(None) for column, _ in pairs if column.nullable]
    return sa.select(sa.func.count()).select_from(child).where(*is_said, ~is_there)


def _count_repeated(key: Iterable[sa.Column[Any]]) -> sa.Select[Any]:
    key = list(key)
    repeated = sa.select(*key).group_by(*key).having(sa.func.count() > 1).subquery("repeated")
    return sa.select(sa.func.count()).select_from(repeated)


def _count_unknown_sentences() -> sa.Select[Any]:
    """Selected sentences that the abstract (section 0) of the query's paper has not."""
    selected, queries, sentences = (
        sentence_selections.alias("selected"),
        benchmark_queries,
        distinct_sentences,
    )
    is_there = sa.exists().where(
        queries.c.corpus_id == selected.c.corpus_id,
        queries.c.query_id == selected.c.query_id,
        queries.c.paper_id == sentences.c.paper_id,
        sentences.c.section_number == 0,
        sentences.c.position == selected.c.position,
    )
    return sa.select(sa.func.count()).select_from(selected).where(~is_there)
