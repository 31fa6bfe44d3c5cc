"""What the SELECTs give for a batch of records, as a chunk of staged tables; whole records are rejected."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.mapped.conversions import EXPECTED
from pinakes.loaders.mapped.mapping import DEFAULTS, NUMBERED, OWN_ID, PAPERS, RECORDS, list_required
from pinakes.loaders.mapped.plan import Faults, Plan, Select
from pinakes.loaders.mapped.records import Batch
from pinakes.loaders.mapped.sandbox import MISSING, normalise_by_scheme, walk
from pinakes.loaders.mapped.syntax import RECORD, ROW
from pinakes.loaders.reading.columns import (
    build_left_out_table,
    clean_texts,
    gather_left_out,
    holds_nul,
)
from pinakes.loaders.reading.gathering import KEYS, reject_record
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.staging import REASONS, STAGED, Accepted, Chunk, Rejected

_IDENTIFIED: Final = frozenset({"identifiers", "reference_identifiers"})

Columns = dict[str, pa.Array]
Seen = defaultdict[str, SeenIds]
"""Staged table -> the keys that the file has brought so far"""


def stage_batch(plan: Plan, batch: Batch, seen: Seen) -> Chunk:
    """The chunk of a batch: a record with a fault in any of its rows is rejected as a whole."""
    faults: Faults = {}
    parts: dict[str, list[pa.Table]] = {}
    owners: pa.Table | None = None
    left_out = [] if batch.left_out is None else [batch.left_out]
    for select in plan.selects:
        columns = _run(plan, select, batch, faults)
        if columns is not None:
            table = _complete(select, columns, owners, faults)
            left_out.append(_count_dropped(select.table, columns["row_number"], table))
            parts.setdefault(select.table, []).append(table)
            if select.table in PAPERS and owners is None:
                owners = table
    joined = {name: _join(name, listed) for name, listed in parts.items()}
    tables = _drop_records(joined | gather_left_out(left_out), faults)
    repeated = _find_repeated(tables, seen)
    faults.update(repeated)
    tables = _drop_records(tables, repeated)
    rejected = sorted([*batch.rejected, *_reject(plan, batch, faults)], key=lambda row: row.row_number)

    numbers = batch.input[RECORD].to_numpy()
    accepted = numbers[~np.isin(numbers, list(faults))] if faults else numbers
    staged = [table["row_number"].to_numpy() for name, table in tables.items() if name != "left_out"]
    bare = accepted[~np.isin(accepted, np.concatenate(staged))] if staged else accepted
    origins = batch.origins
    if not origins:  # of Parquet, the records alone that have no row to show them
        origins = {number: Accepted(number, {}, f"row {number}", f"row {number}") for number in bare.tolist()}
    elif len(origins) > len(accepted):
        origins = {number: origins[number] for number in accepted.tolist()}
    place = (batch.first_byte, batch.end_byte, len(bare))
    return Chunk(batch.last_row, batch.rows_in, tables, rejected, origins, *place)


def _run(plan: Plan, select: Select, batch: Batch, faults: Faults) -> Columns | None:
    """The columns of a SELECT, in the order of the records; values that they cannot hold are faults."""
    found = plan.run(select, batch.input, faults)
    if found is None:
        return None
    numbers = found[ROW].to_numpy()
    if np.any(numbers[1:] < numbers[:-1]):
        found = found.take(np.argsort(numbers, kind="stable"))
    columns = {name: found[name].combine_chunks() for name in found.column_names}
    rows = columns.pop(ROW)
    for name in select.names:
        type_ = STAGED[select.table].field(name).type
        if not pa.types.is_string(type_):
            columns[name] = columns[name].cast(type_)
            wrong = columns.pop(f"{name}?")
            expected = "a year" if name == "year" else EXPECTED[type_]
            for number, value in _filter(wrong.is_valid(), rows, wrong):
                _note(faults, number, f"{name}: expected {expected}, found {value!r:.80}")
            continue
        texts = columns[name] = clean_texts(columns[name].cast(pa.string()))
        if holds_nul(texts):
            for number, _ in _filter(pc.match_substring(texts, "\x00"), rows, texts):
                _note(faults, number, f"{name} holds a NUL character")
        if batch.is_json:
            is_json = pc.or_(pc.starts_with(texts, "["), pc.starts_with(texts, "{"))
            for number, text in _filter(is_json, rows, texts):
                if _is_container(text, batch.origins[number].raw):
                    message = f"expected a text, found {text!r:.80}; reach into it with ->> or unnest"
                    _note(faults, number, f"{name}: {message}")
    return {"row_number": rows, **columns}


def _filter(mask: pa.Array, *columns: pa.Array) -> Iterator[tuple[Any, ...]]:
    """The values of the rows where the mask is true."""
    return zip(*(column.filter(mask).to_pylist() for column in columns), strict=True)


def _note(faults: Faults, number: int, message: str) -> None:
    faults.setdefault(number, ("invalid_value", message))


def _is_container(text: str, raw: bytes | str) -> bool:
    """Whether a text is a list or an object of the record; a string that only looks like one is none."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    held = list(walk(orjson.loads(raw)))
    return value in held and text not in [item.strip() for item in held if isinstance(item, str)]


def _complete(select: Select, columns: Columns, owners: pa.Table | None, faults: Faults) -> pa.Table:
    """The staged table with what follows from the rest filled in, without rows that lack what is required."""
    table, rows = select.table, columns["row_number"]
    _fill(table, columns, owners)
    keep = np.ones(len(rows), dtype=np.bool_)
    for name in list_required(table):
        column = columns[name]
        if table in RECORDS and column.null_count:
            for number in rows.filter(column.is_null()).to_pylist():
                faults.setdefault(number, ("missing_field", f"{table}.{name}: {MISSING}"))
        keep &= np.asarray(column.is_valid())
    schema = STAGED[table]
    arrays = [columns.get(field.name, pa.nulls(len(rows), field.type)) for field in schema]
    if not keep.all():  # rows of records that are rejected go with their records
        arrays = [array.filter(pa.array(keep)) for array in arrays]
    return pa.Table.from_arrays(arrays, schema=schema)


def _count_dropped(kind: str, rows: pa.Array, staged: pa.Table) -> pa.Table:
    """The rows of a SELECT that lack what is required, by their records."""
    numbers, given = np.unique(rows.to_numpy(), return_counts=True)
    kept = np.searchsorted(np.sort(staged["row_number"].to_numpy()), [numbers, numbers + 1])
    missing = given - (kept[1] - kept[0])
    is_short = missing > 0
    return build_left_out_table(pa.array(numbers[is_short]), kind, "no_value", pa.array(missing[is_short]))


def _fill(table: str, columns: Columns, owners: pa.Table | None) -> None:
    rows = columns["row_number"]
    own, number = OWN_ID[table], NUMBERED.get(table)
    if own in STAGED[table].names and own not in columns:
        columns[own] = _find_owners(rows, owners)
    if number is not None and number not in columns:
        columns[number] = _number(rows).cast(STAGED[table].field(number).type)
    for name, default in DEFAULTS.get(table, {}).items():
        if name not in columns:
            filled = pa.repeat(default, len(rows)).cast(STAGED[table].field(name).type)
            columns[name] = (
                pc.if_else(columns["value"].is_valid(), filled, None) if name == "label" else filled
            )
    if table == "authorships":
        names = pc.binary_join_element_wise("name:", columns["author_name"], "")
        columns["author_source_id"] = pc.coalesce(columns.get("author_source_id", names), names)
    if table in _IDENTIFIED:
        columns["identifier"] = normalise_by_scheme(columns["scheme"], columns["identifier"])


def _find_owners(rows: pa.Array, owners: pa.Table | None) -> pa.Array:
    """Of each row the id of the first paper of its record; null where it has none."""
    if owners is None:
        return pa.nulls(len(rows), pa.string())
    return owners["source_id"].combine_chunks().take(pc.index_in(rows, owners["row_number"].combine_chunks()))


def _number(rows: pa.Array) -> pa.Array:
    """The number of each row among those of its record, from 1; the rows are in the order of the records."""
    numbers = rows.to_numpy()
    return pa.array(np.arange(1, len(numbers) + 1) - np.searchsorted(numbers, numbers))


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
    known = {name: seen[name].find(keys) for name, keys in keyed.items()}
    faults: Faults = {}
    if any(known[name].any() or pc.count_distinct(keyed[name]).as_py() < len(keyed[name]) for name in keyed):
        rows = [
            (number, (name, key), is_known)
            for name, keys in keyed.items()
            for number, key, is_known in zip(
                tables[name]["row_number"].to_pylist(), keys.to_pylist(), known[name].tolist(), strict=True
            )
        ]
        taken: set[tuple[str, str]] = set()
        # Record by record: the keys of one that is rejected are free for the next.
        for number, members in groupby(sorted(rows), itemgetter(0)):
            held = {key: is_known for _, key, is_known in members}
            again = [key for key, is_known in held.items() if is_known or key in taken]
            if again:
                shown = min(again)[1].replace("\x00", " ")
                faults[number] = ("duplicate_id", f"{REASONS['duplicate_id']}: {shown}")
            else:
                taken.update(held)
    for name, keys in keyed.items():
        is_kept = ~np.isin(tables[name]["row_number"].to_numpy(), list(faults))
        seen[name].add(keys.filter(pa.array(is_kept)) if faults else keys)
    return faults


def _build_keys(name: str, table: pa.Table) -> pa.Array:
    columns = [table[column].combine_chunks() for column in KEYS[name]]
    # No staged text holds a NUL character.
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "\x00")


def _reject(plan: Plan, batch: Batch, faults: Faults) -> list[Rejected]:
    """The rejected records with where they stand and what they hold."""
    records = batch.origins
    if not records:
        wrong = batch.input.filter(pc.is_in(batch.input[RECORD], value_set=pa.array(faults, pa.int64())))
        shown = zip(wrong[RECORD].to_pylist(), plan.show_json(wrong), strict=True)
        records = {number: Accepted(number, {}, f"row {number}", raw) for number, raw in shown}
    return [reject_record(records[number], *fault) for number, fault in faults.items()]
