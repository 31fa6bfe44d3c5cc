"""Records into chunks: repeated ids and values that no table can hold are rejected, the rest become Arrow.

Every record passes here from the file's first one on, also when a load goes on in the middle: so a repeated
id is found wherever the first one stood, and a resumed load gives what an uninterrupted one gives. The ids
seen take about 100 bytes each. Leaves out: reading (`reading`) and the database (`merge`).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from pinakes.loaders import staging
from pinakes.loaders.staging import REASONS, STAGED, Accepted, Chunk, Origin, Rejected, Rows, show_raw

_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "papers": ("source_id",),
    "queries": ("query_id",),
    "judgments": ("query_id", "source_id", "assessor", "split"),
}
"""Staged table -> the columns whose values may stand in a file once."""

_TYPES: Final = {
    table: {column.name: column.type for column in schema if not pa.types.is_string(column.type)}
    for table, schema in STAGED.items()
}
"""Staged table -> column that holds no text -> its type."""

_Key = tuple[str, ...]


def gather_chunks(
    records: Iterable[Accepted | Rejected], *, first_row: int = 1, chunk_rows: int | None = None
) -> Iterator[Chunk]:
    """The records in chunks, leaving out those before `first_row`.

    A chunk has at most `chunk_rows` (`CHUNK_ROWS`) records, and ends with the one that fills `CHUNK_BYTES`.

    >>> one = Accepted(1, {"papers": [{"source_id": "a", "title": "T"}]})
    >>> two = Rejected(2, "line 2", "not_json", "no JSON", "{")
    >>> [(chunk.rows_in, chunk.tables["papers"].num_rows) for chunk in gather_chunks([one, two])]
    [(2, 1)]
    """
    size = chunk_rows or staging.CHUNK_ROWS
    seen: set[_Key] = set()
    pending: list[Accepted | Rejected] = []
    held_bytes = 0
    for record in records:
        checked = _check_record(record, seen)
        if record.row_number < first_row:
            continue
        pending.append(checked)
        held_bytes += max(len(record.raw), record.size if isinstance(record, Accepted) else 0)
        if len(pending) == size or held_bytes >= staging.CHUNK_BYTES:
            yield _build_chunk(pending)
            pending, held_bytes = [], 0
    if pending:
        yield _build_chunk(pending)


def _check_record(record: Accepted | Rejected, seen: set[_Key]) -> Accepted | Rejected:
    if isinstance(record, Rejected):
        texts = (record.location, record.message, record.raw)
        location, message, raw = (show_raw(text) for text in texts)
        return replace(record, location=location, message=message, raw=raw)
    fault = _find_unstorable(record.rows)
    if fault is not None:
        return _reject(record, "invalid_value", fault)
    keys = _list_keys(record.rows)
    repeated = seen.intersection(keys)
    if repeated:
        message = f"{REASONS['duplicate_id']}: {' '.join(min(repeated)[1:])}"
        return _reject(record, "duplicate_id", message)
    seen.update(keys)
    return record


def _reject(record: Accepted, reason: staging.Reason, message: str) -> Rejected:
    location = record.location or f"record {record.row_number}"
    raw = record.raw or repr(dict(record.rows))
    shown = [show_raw(text) for text in (location, message, raw)]
    return Rejected(
        record.row_number, shown[0], reason, shown[1], shown[2], record.first_byte, record.end_byte
    )


def _list_keys(rows: Rows) -> list[_Key]:
    return [
        (table, *[row[column] for column in _KEYS[table]])
        for table, members in rows.items()
        if table in _KEYS
        for row in members
    ]


def _find_unstorable(rows: Rows) -> str | None:
    """What is wrong with the first value that its column cannot hold; None when all is well."""
    for table, members in rows.items():
        types = _TYPES[table]
        for row in members:
            for column, value in row.items():
                fault = None if value is None else _find_fault(value, types.get(column))
                if fault is not None:
                    return f"{column} {fault}"
    return None


def _find_fault(value: Any, type_: pa.DataType | None) -> str | None:
    """Why a column of that type, or of texts (None), cannot hold the value.

    >>> _find_fault("a\\x00b", None), _find_fault(2**31, pa.int32()), _find_fault(7, pa.int32())
    ('holds a NUL character', 'is out of range: 2147483648', None)
    """
    if type_ is not None:
        return _find_number_fault(value, type_)
    if not isinstance(value, str):
        return f"is no text: {value!r}"
    # Postgres has no NUL character in a text, and both databases hold the same rows.
    if "\x00" in value:
        return "holds a NUL character"
    return None if value.isascii() or _is_unicode(value) else "holds half of a surrogate pair"


def _find_number_fault(value: Any, type_: pa.DataType) -> str | None:
    """Why a column of whole numbers, numbers or truth values cannot hold the value.

    >>> _find_number_fault(True, pa.int32()), _find_number_fault(float("nan"), pa.float64())
    ('is no whole number: True', 'is no finite number: nan')
    """
    if pa.types.is_boolean(type_):
        return None if isinstance(value, bool) else f"is neither true nor false: {value!r}"
    if pa.types.is_floating(type_):
        is_finite = type(value) in (int, float) and math.isfinite(value)
        return None if is_finite else f"is no finite number: {value!r}"
    if type(value) is not int:
        return f"is no whole number: {value!r}"
    limit = 1 << type_.bit_width - 1
    return None if -limit <= value < limit else f"is out of range: {value}"


def _is_unicode(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _build_chunk(records: list[Accepted | Rejected]) -> Chunk:
    accepted = [record for record in records if isinstance(record, Accepted)]
    rejected = [record for record in records if isinstance(record, Rejected)]
    names = dict.fromkeys(name for record in accepted for name in record.rows)
    tables = {name: _build_table(name, accepted) for name in names}
    origins = {record.row_number: Origin(record.location, record.raw) for record in accepted if record.raw}
    return Chunk(
        records[-1].row_number,
        len(records),
        tables,
        rejected,
        origins,
        records[0].first_byte,
        records[-1].end_byte,
    )


def _build_table(name: str, records: list[Accepted]) -> pa.Table:
    # Column by column: `Table.from_pylist` takes four times as long.
    numbered = [(record.row_number, row) for record in records for row in record.rows.get(name, ())]
    schema = STAGED[name]
    numbers = pa.array([number for number, _ in numbered], type=pa.int64())
    columns = [
        pa.array([row.get(column.name) for _, row in numbered], type=column.type)
        for column in list(schema)[1:]
    ]
    return pa.Table.from_arrays([numbers, *columns], schema=schema)
