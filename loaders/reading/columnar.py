"""JSON Lines into chunks a block at a time, at the speed of Arrow's reader and kernels.

A block in which all is plain is parsed as columns. A block that holds anything out of the ordinary is halved
until the trouble is in few lines, and those are parsed one by one, exactly: the outcome is that of
`read_json_lines` and `gather_chunks`, only faster. One difference: what stands in fields that the format does
not read may be NaN, infinite or nested deeper than `orjson` allows, on both ways.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from pinakes.loaders import staging
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import OTHER_FIELDS, FieldNames, collect_left_out
from pinakes.loaders.reading.blocks import Block, LineOrigins, read_blocks
from pinakes.loaders.reading.columns import NotPlainError, gather_left_out
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import (
    is_json_array,
    parse_json_object,
    read_json_array,
)
from pinakes.loaders.reading.omissions import spread_left_out
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.reading.streams import MAX_LINE_BYTES, CutLine
from pinakes.loaders.reading.unread_fields import Codes, UnreadFields
from pinakes.loaders.staging import (
    REASONS,
    Accepted,
    Chunk,
    RecordError,
    Rejected,
    Rows,
    show_raw,
    take_record,
)

EXACT_LINES: Final = 2_000
"""Blocks of no more lines than this are parsed line by line when something in them is not plain."""

_PARSER_BYTES: Final = 4 << 20
_LEARNED_LINES: Final = 1_000
"""So many records of a file say first which fields it has."""
_MAY_BE_LENIENT: Final = ("depth limit", "recursion")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of one kind of JSON Lines become staged rows, as columns and one by one.

    Attributes:
        schemas: the fields that are read, with their types in JSON, in each of the ways that the format's
            files write them; others are passed over.
        project: name -> column of one of the schemas, and the records' numbers, to staged tables. It raises
            `NotPlainError` unless it gives exactly what `parse` gives.
        parse: one record to staged rows; a field that is null means the same as one that is missing.
        leave: notes which fields of a record that is accepted are not read.
        told_by: where what `leave` notes depends on nothing but which of the unread fields are empty, or 0 or
            false, and on some that are read: the columns to codes of 0 to 3 that tell these apart. None: on
            other things, so that each record is looked at.
        has_papers: whether each record is one paper, whose id may stand in a file once.
    """

    schemas: tuple[pa.Schema, ...]
    project: Callable[[Mapping[str, pa.Array], pa.Array], dict[str, pa.Table]]
    parse: Callable[[dict[str, Any]], Rows]
    leave: Callable[[dict[str, Any]], None]
    told_by: Callable[[Mapping[str, pa.Array]], Sequence[Codes]] | None = None
    has_papers: bool = True

    def parse_whole(self, record: dict[str, Any]) -> Rows:
        """The staged rows of a record; the fields that are not read are noted."""
        rows = self.parse(record)
        self.leave(record)
        return rows


def read_columnar(
    file: InputFile, first_row: int, layout: Layout, *, block_bytes: int | None = None
) -> Iterator[Chunk]:
    """The records of a JSON Lines file from the `first_row`-th line on, a chunk for each block of lines.

    A JSON array of objects is read record by record, in the time that this takes.
    """
    if is_json_array(file):
        yield from gather_chunks(read_json_array(file, layout.parse_whole), first_row=first_row)
        return
    seen, unread = SeenIds(), UnreadFields(layout.schemas)
    for block in read_blocks(file, block_bytes):
        if block.last_line < first_row and not layout.has_papers:
            continue
        for part in cut_block(block, first_row):
            for chunk in _read_block(part, layout, seen, unread):
                if chunk.last_row >= first_row:
                    yield chunk


def cut_block(block: Block, first_row: int) -> Iterator[Block]:
    """The block, cut where `first_row` is in it and where a chunk has its fill."""
    if block.first_line < first_row <= block.last_line:
        block, rest = block.split(first_row - block.first_line)
        yield block
        block = rest
    while len(block) > staging.BULK_CHUNK_ROWS:
        part, block = block.split(staging.BULK_CHUNK_ROWS)
        yield part
    yield block


def _read_block(block: Block, layout: Layout, seen: SeenIds, unread: UnreadFields) -> Iterator[Chunk]:
    try:
        yield _read_plain(block, layout, seen, unread)
    except (NotPlainError, pa.ArrowInvalid, pa.ArrowIndexError):  # the last: of lists of nothing but null
        if len(block) <= EXACT_LINES:
            yield from _read_exactly(block, layout, seen, unread.names)
            return
        for half in block.split(len(block) // 2):
            yield from _read_block(half, layout, seen, unread)


def _read_plain(block: Block, layout: Layout, seen: SeenIds, unread: UnreadFields) -> Chunk:
    """The block as columns."""
    _check_lines(block)
    whole = None if layout.told_by is None else _parse_whole(block, unread)
    table = _parse(block.data, layout.schemas) if whole is None else whole
    if table.num_rows != len(block):
        raise NotPlainError("not every line is one record")
    columns = {name: table[name].combine_chunks() for name in layout.schemas[0].names}
    numbers = np.arange(block.first_line, block.first_line + len(block))
    tables = layout.project(columns, pa.array(numbers))
    if whole is None or layout.told_by is None:
        noted = [_list_unread(block, index, layout, unread) for index in range(len(block))]
        places = np.arange(len(block))
    else:
        first, places = unread.tell_apart(whole, layout.told_by(columns))
        noted = [_list_unread(block, index, layout, unread) for index in first.tolist()]
    if layout.has_papers:
        _take_ids(tables["papers"]["source_id"].combine_chunks(), seen)
    left_out = spread_left_out(numbers, places, noted, unread.names)
    if left_out is not None:
        tables |= gather_left_out([*([tables["left_out"]] if "left_out" in tables else []), left_out])
    return Chunk(
        block.last_line, len(block), tables, [], LineOrigins(block), block.first_byte, block.end_byte
    )


def _parse_whole(block: Block, unread: UnreadFields) -> pa.Table | None:
    """The block with the fields that are not read; None where they are others than those that are known."""
    if unread.is_new:
        for index in range(min(len(block), _LEARNED_LINES)):
            unread.learn(_load_record(_cut_line(block, index)))
    try:
        return _parse(block.data, unread.schemas, others="error") if unread.schemas else None
    except pa.ArrowInvalid:
        return None


def _list_unread(
    block: Block, index: int, layout: Layout, unread: UnreadFields
) -> Sequence[Mapping[str, Any]]:
    """What is noted of the fields that are not read of the line at that index from 0."""

    def leave() -> Rows:
        record = _load_record(_cut_line(block, index))
        if layout.told_by is not None:
            unread.learn(record)
        layout.leave(record)
        return {}

    return collect_left_out(leave).get("left_out", ())


def _cut_line(block: Block, index: int) -> memoryview:
    return block.data[block.find_start(index) : int(block.ends[index])]


def _load_record(line: memoryview) -> dict[str, Any]:
    try:
        return dict(orjson.loads(line))
    except ValueError:
        return _parse_leniently(bytes(line))


def _check_lines(block: Block) -> None:
    """Raise `NotPlainError` unless each line begins and ends as an object does, and all is UTF-8."""
    data = np.frombuffer(block.data, np.uint8)
    starts, lasts = np.concatenate(([0], block.ends[:-1])), block.ends - 2
    lasts[-1] += data[-1] != ord("\n")
    if block.is_cut or lasts[0] < 1:
        raise NotPlainError("a line that is too large or blank")
    if (data[lasts] == ord("\r")).all():
        lasts -= 1
    # Between `}` and `{` no JSON goes on from line to line: so many records as lines are one in each.
    if not ((data[starts] == ord("{")).all() and (data[lasts] == ord("}")).all()):
        raise NotPlainError("not every line is an object")
    if len(data) > MAX_LINE_BYTES and np.diff(block.ends, prepend=0).max() > MAX_LINE_BYTES:
        raise NotPlainError("a line is too large")
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(block.data)).validate(full=True)


def _parse(
    data: bytes | memoryview, schemas: Sequence[pa.Schema], *, others: Literal["ignore", "error"] = "ignore"
) -> pa.Table:
    """The records as the first schema that they all fit; `others` says what becomes of other fields."""
    *earlier, last = schemas
    for schema in earlier:
        with suppress(pa.ArrowInvalid):
            return _parse_as(data, schema, others)
    return _parse_as(data, last, others)


def _parse_as(data: bytes | memoryview, schema: pa.Schema, others: str) -> pa.Table:
    return pyarrow.json.read_json(
        pa.BufferReader(pa.py_buffer(data)),
        read_options=pyarrow.json.ReadOptions(block_size=_PARSER_BYTES),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
    )


def _take_ids(ids: pa.Array, seen: SeenIds) -> None:
    if pc.count_distinct(ids).as_py() != len(ids) or seen.find(ids).any():
        raise NotPlainError("an id comes again")
    seen.add(ids)


def _read_exactly(block: Block, layout: Layout, seen: SeenIds, fields: FieldNames) -> list[Chunk]:
    """The block line by line; nothing where all lines are blank."""
    records = [
        take_record(number, f"line {number}", line, partial(_parse_line, line, layout), first_byte)
        for number, first_byte, line in block.list_lines()
    ]
    chunks = list(gather_chunks(records, fields=fields))
    if layout.has_papers:
        chunks = _refuse_seen(records, chunks, seen, fields)
    if chunks:
        chunks[0].first_byte, chunks[-1].end_byte = block.first_byte, block.end_byte
    return chunks


def _refuse_seen(
    records: list[Accepted | Rejected], chunks: list[Chunk], seen: SeenIds, fields: FieldNames
) -> list[Chunk]:
    """The chunks without the papers whose ids earlier blocks have brought; the others' ids are now seen."""
    columns = ["row_number", "source_id"]
    held = [chunk.tables["papers"].select(columns) for chunk in chunks if "papers" in chunk.tables]
    if not held:
        return chunks
    papers = pa.concat_tables(held)
    ids = papers["source_id"].combine_chunks()
    is_again = seen.find(ids)
    seen.add(ids.filter(pa.array(~is_again)))
    if not is_again.any():
        return chunks
    repeated = papers.filter(pa.array(is_again)).to_pydict()
    refused = {row.row_number: row for chunk in chunks for row in chunk.rejected}
    names = dict(zip(repeated["row_number"], repeated["source_id"], strict=True))
    refusing = (_refuse(record, names, refused) for record in records)
    return list(gather_chunks(refusing, fields=fields))


def _refuse(
    record: Accepted | Rejected, repeated: Mapping[int, str], refused: Mapping[int, Rejected]
) -> Accepted | Rejected:
    number = record.row_number
    if isinstance(record, Rejected) or number not in repeated:
        return refused.get(number, record)
    message = f"{REASONS['duplicate_id']}: {repeated[number]}"
    raw = show_raw(record.raw)
    return Rejected(number, record.location, "duplicate_id", message, raw, record.first_byte, record.end_byte)


def _parse_line(line: bytes, layout: Layout) -> Rows:
    try:
        record = parse_json_object(line)
    except RecordError as error:
        rows = layout.parse(_parse_read(line, layout, error))
        layout.leave(_parse_leniently(line))
        return rows
    return layout.parse_whole(record)


def _parse_read(line: bytes, layout: Layout, error: RecordError) -> dict[str, Any]:
    """What is read of a record as Arrow's reader takes it, which is less strict about the other fields."""
    may_pass = b"NaN" in line or b"Inf" in line or any(word in str(error) for word in _MAY_BE_LENIENT)
    if error.reason == "not_json" and may_pass and not isinstance(line, CutLine) and line[:1] == b"{":
        try:
            records = _parse(line + b"\n", layout.schemas).to_pylist()
        except pa.ArrowInvalid:
            records = []
        if len(records) == 1 and line.endswith(b"}"):
            return dict(records[0])
    raise error


def _parse_leniently(line: bytes) -> dict[str, Any]:
    """The fields of such a record, for their names; of one nested too deeply, that there are others."""
    try:
        return dict(json.loads(line, strict=False, parse_int=float))
    except (RecursionError, ValueError):
        return {OTHER_FIELDS.removeprefix("field "): True}
