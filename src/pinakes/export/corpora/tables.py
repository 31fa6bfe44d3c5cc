"""Which tables have a corpus's rows, which rows those are, and what decides the bucket of each.

All is read from the references of the tables: a row is of the corpus that it names, or its paper, cited work
or batch. What runs, benchmarks, encoders and trainings make is no part of a corpus.
"""

from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.schema import (
    authors,
    benchmarks,
    cited_references,
    corpora,
    encoders,
    load_batches,
    metadata,
    papers,
    runs,
    side_indexes,
    suites,
    trainings,
)

_MADE_BY: Final = (runs, benchmarks, encoders, side_indexes, suites, trainings)
_OWNERS: Final = (papers, cited_references, load_batches)
"""what a row is of that does not name its corpus, the first that it names by its key or must name"""
_SPREAD_BY: Final = {papers: "paper_id", cited_references: "reference_id", authors: "author_id"}
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_ARROW: Final[dict[type[Any], pa.DataType]] = {
    sa.BigInteger: pa.int64(),
    sa.Integer: pa.int32(),
    sa.Double: pa.float64(),
    sa.Boolean: pa.bool_(),
    sa.Text: pa.string(),
    sa.Uuid: pa.string(),
    sa.DateTime: pa.timestamp("us", "UTC"),
}


@cache
def list_corpus_tables() -> tuple[sa.Table, ...]:
    """The tables with rows of corpora, those that others name first."""
    return tuple(
        table
        for table in metadata.sorted_tables
        if not _is_made(table) and (table is corpora or "corpus_id" in table.c or _find_owner(table))
    )


def select_rows(table: sa.Table, corpus_id: int) -> sa.Select[Any]:
    """A corpus's rows of a table, by their key; digests as texts."""
    columns = [
        sa.cast(column, sa.Text).label(column.name) if isinstance(column.type, sa.Uuid) else column
        for column in table.c
    ]
    return sa.select(*columns).where(is_of_corpus(table, corpus_id)).order_by(*table.primary_key)


def is_of_corpus(table: sa.Table, corpus_id: int) -> sa.ColumnElement[bool]:
    """Whether a row of the table is of the corpus."""
    if "corpus_id" in table.c:
        return table.c.corpus_id == corpus_id
    owner = _find_owner(table)
    if owner is None:
        raise ValueError(f"{table.name} has no rows of corpora")
    column, named = owner
    return column.in_(sa.select(named).where(named.table.c.corpus_id == corpus_id))


def find_bucket_column(table: sa.Table) -> str | None:
    """The column whose hash says the bucket: of the paper, cited work or author; None: all is in one file."""
    if table in _SPREAD_BY:
        return _SPREAD_BY[table]
    owner = _find_owner(table)
    return owner[0].name if owner is not None and owner[1].table in _SPREAD_BY else None


def number_buckets(ids: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """The bucket of each id: multiplied by an odd number of 64 bits, of which the upper 32 count.

    >>> number_buckets(np.array([1, 2, 3, 200_000_000]), 8).tolist()
    [1, 2, 4, 3]
    """
    spread = (ids.astype(np.uint64) * _ODD) >> np.uint64(32)
    return (spread % np.uint64(buckets)).astype(np.int64)


def make_schema(table: sa.Table) -> pa.Schema:
    """The columns of a table as its files have them."""
    return pa.schema(
        [pa.field(column.name, _find_type(column.type), nullable=bool(column.nullable)) for column in table.c]
    )


def _find_type(type_: sa.types.TypeEngine[Any]) -> pa.DataType:
    return next(found for kind, found in _ARROW.items() if isinstance(type_, kind))


def _find_owner(table: sa.Table) -> tuple[sa.Column[Any], sa.Column[Any]] | None:
    """The column that names what a row is of, and the key that it names."""
    for owner in _OWNERS:
        for column in sorted(table.c, key=lambda one: not one.primary_key):
            for key in column.foreign_keys:
                if key.column.table is owner and not column.nullable:
                    return column, key.column
    return None


@cache
def _is_made(table: sa.Table) -> bool:
    """Whether a table has rows of what is made from corpora."""
    named = [one.referred_table for one in table.foreign_key_constraints]
    return table in _MADE_BY or any(_is_made(one) for one in named if one is not table)
