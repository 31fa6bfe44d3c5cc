"""Records into chunks: repeated ids and values that no table can hold are rejected, the rest become Arrow.

Every record passes here from the file's first one on, also when a load goes on in the middle: so a repeated
id is found wherever the first one stood, and a resumed load gives what an uninterrupted one gives. The ids
seen take a few bytes each (`seen_ids`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

import pyarrow as pa

from pinakes.errors import LoadError
from pinakes.loaders import staging
from pinakes.loaders.base import InputFile, Options, ReadChunks
from pinakes.loaders.left_out import FieldNames
from pinakes.loaders.reading.breaks import place_break, until_broken
from pinakes.loaders.reading.omissions import build_left_out
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.reading.storable import build_column, find_unstorable
from pinakes.loaders.staging import REASONS, STAGED, Accepted, Chunk, Origin, Rejected, Rows, show_raw

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "papers": ("source_id",),
    "queries": ("query_id",),
    "judgments": ("query_id", "source_id", "assessor", "split"),
    "sentence_selections": ("query_id", "selection"),
}
"""Staged table -> the columns whose values may stand in one record of a file alone."""
_Key = tuple[str, ...]
_Seen = defaultdict[str, SeenIds]
"""staged table -> the keys that the file has brought so far"""
Read = Callable[[InputFile], Iterable[Accepted | Rejected]]
"""what gives the records of a file"""


def gather_by_role(read: Read | None = None, **readers: Read) -> ReadChunks:
    """A loader's `read_chunks`: a file's records by the reader of its role, or by `read`, in chunks."""

    def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
        return gather_chunks((read or readers[file.role])(file), first_row=first_row)

    return read_chunks


def gather_chunks(
    records: Iterable[Accepted | Rejected],
    *,
    first_row: int = 1,
    chunk_rows: int | None = None,
    last_counts: bool = False,
    fields: FieldNames | None = None,
) -> Iterator[Chunk]:
    """The records in chunks, leaving out those before `first_row`.

    Where the file breaks off, the records before that come first, then the error, with the last one's place.
    A chunk has at most `chunk_rows` (`CHUNK_ROWS`) records, and ends with the one that fills `CHUNK_BYTES`.
    A repeated id is rejected; with `last_counts`, as in formats that publish corrections so, it begins a new
    chunk instead, and so replaces the record before it. `fields` are those that are named of the file as left
    out, where the records are not all that it holds.

    >>> one = Accepted(1, {"papers": [{"source_id": "a", "title": "T"}]})
    >>> two = Rejected(2, "line 2", "not_json", "no JSON", "{")
    >>> [(chunk.rows_in, chunk.tables["papers"].num_rows) for chunk in gather_chunks([one, two])]
    [(2, 1)]
    """
    size = chunk_rows or staging.CHUNK_ROWS
    seen: _Seen = defaultdict(SeenIds)
    in_chunk: set[_Key] = set()
    named = fields or FieldNames()
    pending: list[Accepted | Rejected] = []
    held_bytes = 0
    broken: list[LoadError] = []
    place = ""
    for record in until_broken(records, broken):
        keys = _list_keys(record.rows) if last_counts and isinstance(record, Accepted) else []
        if pending and (
            len(pending) == size or held_bytes >= staging.CHUNK_BYTES or not in_chunk.isdisjoint(keys)
        ):
            yield from _settle(pending, defaultdict(SeenIds) if last_counts else seen, first_row, named)
            pending, held_bytes, in_chunk = [], 0, set()
        in_chunk.update(keys)
        pending.append(record)
        held_bytes += max(len(record.raw), record.size if isinstance(record, Accepted) else 0)
        place = record.location
    if pending:
        yield from _settle(pending, defaultdict(SeenIds) if last_counts else seen, first_row, named)
    if broken:
        raise place_break(broken[0], place)


def _settle(
    records: list[Accepted | Rejected], seen: _Seen, first_row: int, fields: FieldNames
) -> Iterator[Chunk]:
    """The records as a chunk, of which those before `first_row` are left out, or none."""
    tables = _build_tables(records)
    if tables is None:
        checked = [_check_values(record) for record in records]
    else:
        checked = [_show(record) if isinstance(record, Rejected) else record for record in records]
    checked = _check_keys(checked, seen)
    kept = [record for record in checked if record.row_number >= first_row]
    if not kept:
        return
    was_kept = len(kept) == len(records) and _count_accepted(kept) == _count_accepted(records)
    if tables is None or not was_kept:
        tables = _build_tables(kept)
    if tables is None:
        raise AssertionError("every value was looked at, and yet a column does not hold one")
    noted = ((one.row_number, one.rows.get("left_out", ())) for one in kept if isinstance(one, Accepted))
    left_out = build_left_out(noted, fields)
    if left_out is not None:
        tables["left_out"] = left_out
    yield _build_chunk(kept, tables)


def _count_accepted(records: list[Accepted | Rejected]) -> int:
    return sum(isinstance(record, Accepted) for record in records)


def _show(record: Rejected) -> Rejected:
    texts = (record.location, record.message, record.raw)
    location, message, raw = (show_raw(text) for text in texts)
    return replace(record, location=location, message=message, raw=raw)


def _check_values(record: Accepted | Rejected) -> Accepted | Rejected:
    if isinstance(record, Rejected):
        return _show(record)
    fault = find_unstorable(record.rows)
    return record if fault is None else reject_record(record, "invalid_value", fault)


def _check_keys(records: list[Accepted | Rejected], seen: _Seen) -> list[Accepted | Rejected]:
    """The records, those rejected that repeat a key; the keys of the others are now seen."""
    keyed = [_list_keys(record.rows) if isinstance(record, Accepted) else [] for record in records]
    known = _find_seen((key for keys in keyed for key in keys), seen)
    taken: set[_Key] = set()
    checked: list[Accepted | Rejected] = []
    for record, keys in zip(records, keyed, strict=True):
        repeated = {key for key in keys if key in known or key in taken}
        if repeated and isinstance(record, Accepted):
            message = f"{REASONS['duplicate_id']}: {' '.join(min(repeated)[1:])}"
            checked.append(reject_record(record, "duplicate_id", message))
        else:
            taken.update(keys)
            checked.append(record)
    for table, texts in _spell_keys(taken).items():
        seen[table].add(pa.array(texts.values(), pa.string()))
    return checked


def _find_seen(keys: Iterable[_Key], seen: _Seen) -> set[_Key]:
    """Those of the keys that earlier chunks have brought."""
    known: set[_Key] = set()
    for table, texts in _spell_keys(keys).items():
        is_known = seen[table].find(pa.array(texts.values(), pa.string()))
        known.update(key for key, was_seen in zip(texts, is_known.tolist(), strict=True) if was_seen)
    return known


def _spell_keys(keys: Iterable[_Key]) -> dict[str, dict[_Key, str]]:
    """Staged table -> key -> its text; no staged text holds a NUL character."""
    spelled: dict[str, dict[_Key, str]] = {}
    for key in keys:
        spelled.setdefault(key[0], {})[key] = "\x00".join(key[1:])
    return spelled


def reject_record(record: Accepted, reason: staging.Reason, message: str) -> Rejected:
    """The record as a rejected one."""
    location = record.location or f"record {record.row_number}"
    raw = record.raw or repr(dict(record.rows))
    shown = [show_raw(text) for text in (location, message, raw)]
    return Rejected(
        record.row_number, shown[0], reason, shown[1], shown[2], record.first_byte, record.end_byte
    )


def _list_keys(rows: Rows) -> list[_Key]:
    return [
        (table, *[row[column] for column in KEYS[table]])
        for table, members in rows.items()
        if table in KEYS
        for row in members
    ]


def _build_chunk(records: list[Accepted | Rejected], tables: dict[str, pa.Table]) -> Chunk:
    accepted = [record for record in records if isinstance(record, Accepted)]
    rejected = [record for record in records if isinstance(record, Rejected)]
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


def _build_tables(records: list[Accepted | Rejected]) -> dict[str, pa.Table] | None:
    """The rows of the accepted records; None where a column cannot hold one of them."""
    accepted = [record for record in records if isinstance(record, Accepted)]
    tables = {}
    for name in dict.fromkeys(name for record in accepted for name in record.rows if name != "left_out"):
        table = _build_table(name, accepted)
        if table is None:
            return None
        tables[name] = table
    return tables


def _build_table(name: str, records: list[Accepted]) -> pa.Table | None:
    # Column by column: `Table.from_pylist` takes four times as long.
    rows = [row for record in records for row in record.rows.get(name, ())]
    numbers = [record.row_number for record in records for _ in record.rows.get(name, ())]
    schema = STAGED[name]
    columns = [pa.array(numbers, type=pa.int64())]
    for field in list(schema)[1:]:
        column = build_column(field, [row.get(field.name) for row in rows])
        if column is None:
            return None
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)
