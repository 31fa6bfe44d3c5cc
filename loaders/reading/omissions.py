"""What many records leave out, as one staged table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pinakes.loaders.left_out import FieldNames
from pinakes.loaders.staging import STAGED

Numbers = np.ndarray[Any, np.dtype[np.int64]]

_COLUMNS = ("kind", "reason", "items")


def build_left_out(
    records: Iterable[tuple[int, Sequence[Mapping[str, Any]]]], fields: FieldNames
) -> pa.Table | None:
    """The rows of `left_out` of records; None where there are none.

    Records that leave out the same share one list of rows: each list is taken apart once.

    Args:
        records: the number of each, and its rows.
        fields: those that are named of the file; the first fields are.
    """
    lists: dict[int, tuple[int, Sequence[Mapping[str, Any]]]] = {}
    numbers, places = [], []
    for number, rows in records:
        if rows:
            numbers.append(number)
            places.append(lists.setdefault(id(rows), (len(lists), rows))[0])
    distinct = [rows for _, rows in lists.values()]
    return spread_left_out(np.array(numbers, np.int64), np.array(places, np.int64), distinct, fields)


def spread_left_out(
    numbers: Numbers, places: Numbers, lists: Sequence[Sequence[Mapping[str, Any]]], fields: FieldNames
) -> pa.Table | None:
    """As `build_left_out`, of records whose rows stand in lists: of each its number, and the list's place."""
    flat = [row for rows in lists for row in rows]
    if not flat:
        return None
    columns: dict[str, list[Any]] = {name: [row[name] for row in flat] for name in _COLUMNS}
    columns["kind"] = [fields.name(kind) for kind in columns["kind"]]
    sizes = np.array([len(rows) for rows in lists])
    starts = np.cumsum(sizes) - sizes
    held = sizes[places]
    first = np.repeat(starts[places] - (np.cumsum(held) - held), held)
    chosen = pa.array(first + np.arange(len(first)))
    schema = STAGED["left_out"]
    distinct = pa.table({name: pa.array(columns[name], schema.field(name).type) for name in _COLUMNS})
    table = distinct.take(chosen).combine_chunks()
    return table.add_column(0, "row_number", pa.array(np.repeat(numbers, held))).cast(schema)
