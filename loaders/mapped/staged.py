"""What the SELECTs give for a batch of records, as a chunk of staged tables; whole records are rejected.

Leaves out: running the SELECTs (`plan`).
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.mapped.conversions import EXPECTED
from pinakes.loaders.mapped.mapping import DEFAULTS, NUMBERED, OWN_ID, RECORDS
from pinakes.loaders.mapped.plan import RECORD, ROW, Faults, Plan, Select, list_required
from pinakes.loaders.mapped.records import Batch
from pinakes.loaders.mapped.sandbox import MISSING, normalise_by_scheme
from pinakes.loaders.reading.columns import clean_texts, holds_nul
from pinakes.loaders.reading.gathering import KEYS
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.staging import REASONS, STAGED, Accepted, Chunk, Rejected, show_raw

_IDENTIFIED: Final = frozenset({"identifiers", "reference_identifiers"})

Columns = dict[str, pa.Array]
Seen = dict[str, SeenIds]
"""Staged table -> the keys that the file has brought so far"""


def stage_batch(plan: Plan, batch: Batch, seen: Seen) -> Chunk:
    """The chunk of a batch: a record with a fault in any of its rows is rejected as a whole."""
    faults: Faults = {}
    parts: dict[str, list[pa.Table]] = {}
    owners: pa.Table | None = None
    for select in plan.selects:
        columns = _run(plan, select, batch, faults)
        if columns is not None:
            table = _complete(select, columns, owners, faults)
            parts.setdefault(select.table, []).append(table)
            if select.table in ("papers", "mentioned_papers") and owners is None:
                owners = table
    tables = {name: _join(name, listed) for name, listed in parts.items()}
    tables = _drop_records(tables, faults)
    repeated = _find_repeated(tables, seen)
    faults.update(repeated)
    tables = _drop_records(tables, repeated)
    rejected = sorted([*batch.rejected, *_reject(plan, batch, faults)], key=lambda row: row.row_number)
    bare = _find_bare(batch, tables, faults)
    origins = batch.accepted
    if not origins:  # of Parquet, the records alone that have no row to show them
        origins = {number: Accepted(number, {}, f"row {number}", f"row {number}") for number in bare.tolist()}
    elif faults:
        origins = Without(origins, faults)
    return Chunk(
        batch.last_row,
        batch.rows_in,
        tables,
        rejected,
        origins,
        batch.first_byte,
        batch.end_byte,
        skipped=len(bare),
    )


class Without(Mapping[int, Accepted]):
    """Records but for some, without looking at each."""

    def __init__(self, records: Mapping[int, Accepted], without: Container[int]) -> None:
        self._records = records
        self._without = without

    def __getitem__(self, number: int) -> Accepted:
        if number in self._without:
            raise KeyError(number)
        return self._records[number]

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._records if number not in self._without)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _find_bare(batch: Batch, tables: dict[str, pa.Table], faults: Faults) -> npt.NDArray[np.int64]:
    """The accepted records of which no SELECT makes a row."""
    numbers = batch.input[RECORD].to_numpy()
    is_bare = np.ones(len(numbers), dtype=np.bool_)
    for table in tables.values():
        is_bare[np.searchsorted(numbers, table["row_number"].to_numpy())] = False
    is_bare[np.searchsorted(numbers, list(faults))] = False
    bare: npt.NDArray[np.int64] = numbers[is_bare]
    return bare


def _run(plan: Plan, select: Select, batch: Batch, faults: Faults) -> Columns | None:
    """The columns of a SELECT, in the order of the records; values that they cannot hold are faults."""
    found = plan.run(select, batch.input, faults)
    if found is None:
        return None
    numbers = found[ROW].to_numpy()
    if np.any(numbers[1:] < numbers[:-1]):
        found = found.take(np.argsort(numbers, kind="stable"))
    columns = {name: _combine(found[name]) for name in found.column_names}
    rows = columns.pop(ROW)
    for name in select.names:
        type_ = STAGED[select.table].field(name).type
        if pa.types.is_string(type_):
            columns[name] = clean_texts(columns[name].cast(pa.string()))
            if holds_nul(columns[name]):
                _note(faults, rows, columns[name], pc.match_substring(columns[name], "\x00"), name, None)
            if batch.is_json:
                _find_containers(batch, faults, rows, name, columns[name])
        else:
            columns[name] = columns[name].cast(type_)
            wrong = columns.pop(f"{name}?")
            _note(faults, rows, wrong, wrong.is_valid(), name, EXPECTED[type_])
    return {"row_number": rows, **columns}


def _combine(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _note(
    faults: Faults, rows: pa.Array, values: pa.Array, mask: pa.Array, name: str, expected: str | None
) -> None:
    """Make faults of the records of the rows where the mask is true."""
    if not pc.any(mask).as_py():
        return
    for number, value in zip(rows.filter(mask).to_pylist(), values.filter(mask).to_pylist(), strict=True):
        if expected is None:
            message = f"{name} holds a NUL character"
        else:
            message = f"{'a year' if name == 'year' else expected}, found {value!r:.80}"
            message = f"{name}: expected {message}"
        faults.setdefault(number, ("invalid_value", message))


def _find_containers(batch: Batch, faults: Faults, rows: pa.Array, name: str, texts: pa.Array) -> None:
    """A list or an object of a record is no text; a string that only looks like one is."""
    mask = pa.array(_begin_with_bracket(texts))
    if not pc.any(mask).as_py():
        return
    for number, text in zip(rows.filter(mask).to_pylist(), texts.filter(mask).to_pylist(), strict=True):
        record = orjson.loads(batch.accepted[number].raw)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            continue
        held = list(_walk(record))
        if value in (item for item in held if isinstance(item, list | dict)) and not any(
            isinstance(item, str) and item.strip() == text for item in held
        ):
            message = f"{name}: expected a text, found {text!r:.80}; reach into it with ->> or unnest"
            faults.setdefault(number, ("invalid_value", message))


def _begin_with_bracket(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Which texts begin as a list or an object in JSON; one byte of each is looked at."""
    _, offsets, data = texts.buffers()
    if data is None or not data.size:
        return np.zeros(len(texts), dtype=np.bool_)
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first = np.frombuffer(data, np.uint8)[np.minimum(starts[:-1], data.size - 1)]
    is_bracket = (first == ord("[")) | (first == ord("{"))
    return np.asarray(is_bracket & (starts[1:] > starts[:-1]) & np.asarray(texts.is_valid()))


def _walk(value: Any) -> Iterator[Any]:
    yield value
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        yield from _walk(member)


def _complete(select: Select, columns: Columns, owners: pa.Table | None, faults: Faults) -> pa.Table:
    """The staged table with what follows from the rest filled in, without rows that lack what is required."""
    table, rows = select.table, columns["row_number"]
    _fill(table, columns, owners)
    required = list_required(table)
    keep = np.ones(len(rows), dtype=np.bool_)
    for name in required:
        column = columns[name]
        if not column.null_count:
            continue
        if table in RECORDS:
            for number in rows.filter(column.is_null()).to_pylist():
                faults.setdefault(number, ("missing_field", f"{table}.{name}: {MISSING}"))
        keep &= np.asarray(column.is_valid())
    schema = STAGED[table]
    arrays = [columns.get(field.name, pa.nulls(len(rows), field.type)) for field in schema]
    if not keep.all():  # rows of records that are rejected go with their records
        arrays = [array.filter(pa.array(keep)) for array in arrays]
    return pa.Table.from_arrays(arrays, schema=schema)


def _fill(table: str, columns: Columns, owners: pa.Table | None) -> None:
    rows = columns["row_number"]
    own, number = OWN_ID[table], NUMBERED.get(table)
    if own in STAGED[table].names and own not in columns:
        columns[own] = _find_owners(rows, owners)
    if number is not None and number not in columns:
        type_ = STAGED[table].field(number).type
        columns[number] = _number(rows.to_numpy()).cast(type_)
    for name, default in DEFAULTS.get(table, {}).items():
        if name in columns:
            continue
        filled = pa.repeat(pa.scalar(default), len(rows)).cast(STAGED[table].field(name).type)
        columns[name] = pc.if_else(columns["value"].is_valid(), filled, None) if name == "label" else filled
    if table == "authorships":
        names = pc.binary_join_element_wise("name:", columns["author_name"], "")
        ids = columns.get("author_source_id")
        columns["author_source_id"] = names if ids is None else pc.coalesce(ids, names)
    if table in _IDENTIFIED:
        columns["identifier"] = normalise_by_scheme(columns["scheme"], columns["identifier"])


def _find_owners(rows: pa.Array, owners: pa.Table | None) -> pa.Array:
    """Of each row the id of the first paper of its record; null where it has none."""
    if owners is None or not owners.num_rows or not len(rows):
        return pa.nulls(len(rows), pa.string())
    numbers, firsts = np.unique(owners["row_number"].to_numpy(), return_index=True)
    wanted = rows.to_numpy()
    places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    is_known = numbers[places] == wanted
    return _combine(owners["source_id"]).take(pa.array(firsts[places], mask=~is_known))


def _number(rows: npt.NDArray[np.int64]) -> pa.Array:
    """The number of each row among those of its record, from 1; the rows are in the order of the records."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    lengths = np.diff(starts, append=len(rows))
    return pa.array(np.arange(len(rows)) - np.repeat(starts, lengths) + 1)


def _join(name: str, parts: list[pa.Table]) -> pa.Table:
    if len(parts) == 1:
        return parts[0]
    joined = pa.concat_tables(parts)
    return joined.take(np.argsort(joined["row_number"].to_numpy(), kind="stable")).cast(STAGED[name])


def _drop_records(tables: dict[str, pa.Table], faults: Faults) -> dict[str, pa.Table]:
    if not faults:
        return tables
    numbers = pa.array(faults.keys(), pa.int64())
    return {
        name: table.filter(pc.invert(pc.is_in(table["row_number"], value_set=numbers)))
        for name, table in tables.items()
    }


def _find_repeated(tables: dict[str, pa.Table], seen: Seen) -> Faults:
    """The records with a key that an earlier record of the file has; the keys of the others are now seen."""
    keyed = {name: _build_keys(name, tables[name]) for name in KEYS if name in tables}
    known = {name: seen.setdefault(name, SeenIds()).find(keys) for name, keys in keyed.items()}
    faults: Faults = {}
    if any(found.any() for found in known.values()) or any(
        pc.count_distinct(keys).as_py() < len(keys) for keys in keyed.values()
    ):
        faults = _find_repeated_exactly(tables, keyed, known)
    for name, keys in keyed.items():
        if faults:
            keys = keys.filter(pa.array(~np.isin(tables[name]["row_number"].to_numpy(), list(faults))))
        seen[name].add(keys)
    return faults


def _build_keys(name: str, table: pa.Table) -> pa.Array:
    columns = [_combine(table[column]) for column in KEYS[name]]
    # No staged text holds a NUL character.
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "\x00")


def _find_repeated_exactly(
    tables: dict[str, pa.Table], keyed: Columns, known: dict[str, npt.NDArray[np.bool_]]
) -> Faults:
    """Record by record: the keys of one that is rejected are free for the next."""
    held: dict[int, list[tuple[str, str, bool]]] = {}
    for name, keys in keyed.items():
        numbers = tables[name]["row_number"].to_pylist()
        for number, key, is_known in zip(numbers, keys.to_pylist(), known[name].tolist(), strict=True):
            held.setdefault(number, []).append((name, key, is_known))
    taken: set[tuple[str, str]] = set()
    faults: Faults = {}
    for number in sorted(held):
        again = [key for name, key, is_known in held[number] if is_known or (name, key) in taken]
        if again:
            shown = min(again).replace("\x00", " ")
            faults[number] = ("duplicate_id", f"{REASONS['duplicate_id']}: {shown}")
        else:
            taken.update((name, key) for name, key, _ in held[number])
    return faults


def _reject(plan: Plan, batch: Batch, faults: Faults) -> Iterator[Rejected]:
    """The rejected records with where they stand and what they hold."""
    if batch.accepted:
        for number, (reason, message) in faults.items():
            record = batch.accepted[number]
            shown = [show_raw(text) for text in (record.location, message, record.raw)]
            yield Rejected(number, shown[0], reason, shown[1], shown[2], record.first_byte, record.end_byte)
        return
    is_fault = pc.is_in(batch.input[RECORD], value_set=pa.array(faults.keys(), pa.int64()))
    wrong = batch.input.filter(is_fault)
    for number, raw in zip(wrong[RECORD].to_pylist(), plan.show_json(wrong), strict=True):
        reason, message = faults[number]
        yield Rejected(number, f"row {number}", reason, show_raw(message), show_raw(raw))
