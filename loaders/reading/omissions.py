"""What many records leave out, as one staged table."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from pinakes.loaders.left_out import FieldNames
from pinakes.loaders.staging import STAGED, Accepted


def build_left_out(records: Iterable[Accepted], fields: FieldNames) -> pa.Table | None:
    """The rows of `left_out` of all records, the first fields of the file named; None where there are none.

    Records that leave out the same share one list of rows: each list is taken apart once.
    """
    names = ("kind", "reason", "items")
    columns: dict[str, list[Any]] = {"row_number": [], **{name: [] for name in names}}
    parts: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}
    for record in records:
        rows = record.rows.get("left_out")
        if not rows:
            continue
        known = parts.get(id(rows))
        if known is None:
            kinds = [fields.name(row["kind"]) for row in rows]
            known = (kinds, [row["reason"] for row in rows], [row["items"] for row in rows])
            parts[id(rows)] = known
        columns["row_number"].extend([record.row_number] * len(rows))
        for name, values in zip(names, known, strict=True):
            columns[name].extend(values)
    return pa.table(columns, schema=STAGED["left_out"]) if parts else None
