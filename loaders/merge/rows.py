"""Staged rows as Arrow tables: each once, gaps filled, fitted to a table."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.loaders.merge.context import Ids, MergeContext

_MOST_KEYS: Final = 1 << 62
"""so many keys made of several columns fit into 64 bits"""
_MOST_NUMBERS: Final = 1 << 31
"""whole numbers that lie further apart are encoded as texts are, so that keys of several columns fit"""


def keep_first(rows: pa.Table, columns: Iterable[str]) -> pa.Table:
    """The rows without those whose values in the columns stood in an earlier row.

    >>> keep_first(pa.table({"a": [1, 1, 2], "b": [3, 4, 5]}), ["a"])["b"].to_pylist()
    [3, 5]
    """
    names = list(columns)
    if _are_distinct(rows, names):
        return rows
    numbered = rows.select(names).append_column("place", pa.array(np.arange(rows.num_rows)))
    first = numbered.group_by(names).aggregate([("place", "min")])["place_min"]
    return rows if len(first) == rows.num_rows else rows.take(pa.array(np.sort(first.to_numpy())))


def _are_distinct(rows: pa.Table, names: Iterable[str]) -> bool:
    """Whether the first columns already tell all rows apart: a sort of numbers, and mostly none of texts."""
    keys, most = np.zeros(rows.num_rows, dtype=np.int64), 1
    for name in names:
        codes, count = _number_values(rows[name].combine_chunks())
        most *= count
        if most > _MOST_KEYS:
            return False
        keys = keys * count + codes
        # Mostly in order: papers as they come, and a paper's children by their positions.
        if (keys[1:] > keys[:-1]).all():
            return True
        is_sorted = (keys[1:] >= keys[:-1]).all()  # with two alike side by side
        if not is_sorted:
            in_order = np.sort(keys)
            if (in_order[1:] > in_order[:-1]).all():
                return True
    return False


def _number_values(values: pa.Array) -> tuple[Ids, int]:
    """Each value as a number, the same for the same value, and what all are below."""
    if pa.types.is_signed_integer(values.type) and len(values) and not values.null_count:
        numbers = values.to_numpy()
        least, greatest = int(numbers.min()), int(numbers.max())
        if greatest - least < _MOST_NUMBERS:
            return numbers.astype(np.int64) - least, greatest - least + 1
    encoded = values.dictionary_encode(null_encoding="encode")
    codes: Ids = encoded.indices.to_numpy().astype(np.int64)
    return codes, max(1, len(encoded.dictionary))


def merge_gaps(rows: pa.Table, key: str, columns: Iterable[str]) -> pa.Table:
    """One row for each key in the order of first mention, each column's first value that is not null.

    >>> rows = pa.table({"k": ["x", "x"], "row_number": [4, 5], "a": [None, 2], "b": ["u", "v"]})
    >>> merge_gaps(rows, "k", ["a", "b"]).to_pylist()
    [{'k': 'x', 'row_number': 4, 'a': 2, 'b': 'u'}]
    """
    names = list(columns)
    if pc.count_distinct(rows[key]).as_py() == rows.num_rows:
        return rows.select([key, "row_number", *names])
    grouped = rows.group_by(key, use_threads=False)
    merged = grouped.aggregate([("row_number", "min"), *[(name, "first") for name in names]])
    renamed = [name.removesuffix("_first").removesuffix("_min") for name in merged.column_names]
    return merged.rename_columns(renamed).select([key, "row_number", *names])


def keep_papers(rows: pa.Table, paper_ids: Ids) -> pa.Table:
    """The child rows of the papers."""
    return rows.filter(pa.array(np.isin(rows["paper_id"].to_numpy(), paper_ids)))


def drop_papers(rows: pa.Table, paper_ids: Ids) -> pa.Table:
    """The rows of the other papers."""
    return rows.filter(pa.array(~np.isin(rows["paper_id"].to_numpy(), paper_ids)))


def fit_table(table: sa.Table, rows: pa.Table) -> pa.Table:
    """The columns of the rows that the table has; the database says where one is missing."""
    return rows.select([column.name for column in table.columns if column.name in rows.column_names])


def mark_rows(table: sa.Table, rows: pa.Table, context: MergeContext) -> pa.Table:
    """The rows with what the table asks of where they are from: corpus_id, batch_id, producer."""
    marks = {
        "corpus_id": pa.scalar(context.corpus_id, pa.int32()),
        "batch_id": pa.scalar(context.batch_id, pa.int64()),
        "producer": pa.scalar(context.producer),
    }
    for name in (name for name in marks if name in table.columns):
        rows = rows.append_column(name, pa.repeat(marks[name], rows.num_rows))
    return rows
