"""Records of CSV and JSON Lines files in batches, as `input` has them.

They come line by line from our own readers, which know where a bad line ends: Arrow's CSV reader takes a
quote that is never closed for a value that reaches to the file's end; every record behind it would be lost.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import orjson
import pyarrow as pa

from pinakes.errors import LoadError
from pinakes.loaders import staging
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import FieldNames, collect_left_out, leave_fields
from pinakes.loaders.mapped.syntax import RECORD
from pinakes.loaders.reading.blocks import LineOrigins, read_blocks
from pinakes.loaders.reading.breaks import until_broken
from pinakes.loaders.reading.columnar import cut_block
from pinakes.loaders.reading.columns import clean_texts
from pinakes.loaders.reading.gathering import reject_record
from pinakes.loaders.reading.json_records import is_json_array, parse_json_object, read_json_array
from pinakes.loaders.reading.omissions import build_left_out
from pinakes.loaders.reading.storable import is_unicode
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_PLAIN: Final = (str, type(None))
_NO_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive records of a file.

    Attributes:
        input: the records that could be read, with their numbers.
        origins: at least these records with their raw texts, for CSV and JSON Lines.
        is_json: whether the texts of `input` may be JSON of lists and objects.
        left_out: the columns of these records that no SELECT names, as the staged table.
    """

    input: pa.Table
    last_row: int
    rows_in: int
    rejected: list[Rejected] = field(default_factory=list)
    origins: Mapping[int, Accepted] = field(default_factory=dict)
    is_json: bool = False
    first_byte: int | None = None
    end_byte: int | None = None
    left_out: pa.Table | None = None


def read_partitions(name: str) -> dict[str, str | None]:
    """The columns that the folders of a partitioned file say.

    >>> read_partitions("year=2019/venue=ACL%202019/part-0.parquet")
    {'year': '2019', 'venue': 'ACL 2019'}
    """
    parts = (part.partition("=") for part in name.split("/")[:-1] if "=" in part)
    return {key: None if value == _NO_PARTITION else unquote(value) for key, _, value in parts}


def list_constants(file: InputFile, defaults: pa.Table | None) -> pa.Table:
    """What the folders of a file say, and the defaults of a mapping: columns of one row each."""
    said = {key: pa.array([value], pa.string()) for key, value in read_partitions(file.name).items()}
    others = {} if defaults is None else dict(zip(defaults.column_names, defaults.columns, strict=True))
    return pa.table({**others, **said})


def read_csv_columns(file: InputFile, csv: Mapping[str, Any]) -> list[str]:
    """The names of a CSV file's columns: the mapping's, or those of its header.

    Raises:
        InputError: the file has no header.
    """
    if "columns" in csv:
        return list(csv["columns"])
    columns: list[str] = []

    def take_columns(row: dict[str, str]) -> Rows:
        columns.extend(row)
        return {}

    # A header without rows names its columns nowhere else.
    any(isinstance(record, Accepted) for record in _read_table(file, csv, take_columns))
    return columns


def _read_table(
    file: InputFile, csv: Mapping[str, Any], parse: Callable[[dict[str, str]], Rows]
) -> Iterator[Accepted | Rejected]:
    is_tsv = ".tsv" in file.name or ".tab" in file.name
    return read_table(
        file,
        parse,
        delimiter=csv.get("delimiter", "\t" if is_tsv else ","),
        columns=csv.get("columns"),
        quoted=csv.get("quoted", not is_tsv),
        encoding=csv.get("encoding", "utf-8"),
    )


class _Taker:
    """Takes the texts of the named columns out of each record that is read."""

    def __init__(self, columns: Sequence[str], constants: pa.Table) -> None:
        texts = constants.cast(pa.schema([(name, pa.string()) for name in constants.column_names]))
        others = texts.to_pylist()[0] if constants.num_columns else {}
        self._columns = [(name, others.get(name)) for name in columns]
        self._rows: list[tuple[str | None, ...]] = []
        self._read = frozenset(columns)
        self._named = FieldNames()

    def take_cells(self, record: dict[str, str]) -> Rows:
        """Take a row of a table."""
        row = tuple([record.get(name, other) for name, other in self._columns])
        if not all(text is None or text.isascii() or is_unicode(text) for text in row):
            raise RecordError("invalid_value", "a cell holds half of a surrogate pair")
        self._rows.append(row)
        leave_fields(record, self._read)
        return {}

    def take_values(self, record: dict[str, Any]) -> Rows:
        """Take an object: a text is itself, any other value its JSON."""
        values = [record.get(name, other) for name, other in self._columns]
        try:
            self._rows.append(
                tuple([v if v.__class__ in _PLAIN else orjson.dumps(v).decode() for v in values])
            )
        except orjson.JSONEncodeError as error:
            raise RecordError("invalid_value", f"nested too deeply: {error}") from error
        leave_fields(record, self._read)
        return {}

    def name_left_out(self, records: Iterable[tuple[int, Rows]]) -> pa.Table | None:
        """What the records, by their numbers, leave out; the first fields of the file are named."""
        return build_left_out(((number, rows.get("left_out", ())) for number, rows in records), self._named)

    def drain(self, numbers: Iterable[int]) -> pa.Table:
        """What was taken since the last time, under the numbers of the records."""
        taken, self._rows = self._rows, []
        columns = zip(*taken, strict=True) if taken else [()] * len(self._columns)
        arrays = [pa.array(values, pa.string()) for values in columns]
        names = [RECORD, *(name for name, _ in self._columns)]
        return pa.table([pa.array(numbers, pa.int64()), *arrays], names=names)


def read_csv(
    file: InputFile, csv: Mapping[str, Any], columns: Sequence[str], constants: pa.Table, first_row: int
) -> Iterator[Batch]:
    """The rows of a CSV file; a cell is a text without surrounding white space, a blank one is null."""
    taker = _Taker(columns, constants)
    for records in _gather(_read_table(file, csv, taker.take_cells), first_row):
        accepted = {record.row_number: record for record in records if isinstance(record, Accepted)}
        rejected = [record for record in records if isinstance(record, Rejected)]
        table = taker.drain(accepted)
        for place, name in enumerate(columns, start=1):
            table = table.set_column(place, name, clean_texts(table[name].chunk(0)))
        ends = (records[0].first_byte, records[-1].end_byte)
        left_out = taker.name_left_out((number, one.rows) for number, one in accepted.items())
        yield Batch(table, records[-1].row_number, len(records), rejected, accepted, False, *ends, left_out)


def _gather(records: Iterator[Accepted | Rejected], first_row: int) -> Iterator[list[Accepted | Rejected]]:
    """Records some at a time; none from before `first_row` together with one behind it."""
    pending: list[Accepted | Rejected] = []
    held = 0
    broken: list[LoadError] = []
    for record in until_broken(records, broken):
        pending.append(record)
        held += len(record.raw)
        is_cut = record.row_number == first_row - 1
        if is_cut or len(pending) == staging.CHUNK_ROWS or held >= staging.CHUNK_BYTES:
            yield pending
            pending, held = [], 0
    if pending:
        yield pending
    if broken:
        raise broken[0]


def read_lines(
    file: InputFile, columns: Sequence[str], constants: pa.Table, first_row: int
) -> Iterator[Batch]:
    """The objects of a JSON Lines file; a value is a text: a string itself, anything else as JSON.

    Those of a file that is one JSON array are read too.
    """
    taker = _Taker(columns, constants)
    if is_json_array(file):
        yield from _read_array(file, taker, first_row)
        return
    for block in (part for whole in read_blocks(file) for part in cut_block(whole, first_row)):
        origins = LineOrigins(block)
        taken: dict[int, Rows] = {}
        rejected: list[Rejected] = []
        for number, _, line in block.list_lines():
            try:
                taken[number] = collect_left_out(partial(taker.take_values, parse_json_object(line)))
            except RecordError as error:
                rejected.append(reject_record(origins[number], error.reason, str(error)))
        rows_in = len(taken) + len(rejected)
        if rows_in:
            ends = (block.first_byte, block.end_byte)
            table, left_out = taker.drain(taken), taker.name_left_out(taken.items())
            yield Batch(table, block.last_line, rows_in, rejected, origins, True, *ends, left_out)


def _read_array(file: InputFile, taker: _Taker, first_row: int) -> Iterator[Batch]:
    for records in _gather(read_json_array(file, taker.take_values), first_row):
        accepted = {record.row_number: record for record in records if isinstance(record, Accepted)}
        rejected = [record for record in records if isinstance(record, Rejected)]
        ends = (records[0].first_byte, records[-1].end_byte)
        table = taker.drain(accepted)
        left_out = taker.name_left_out((number, one.rows) for number, one in accepted.items())
        yield Batch(table, records[-1].row_number, len(records), rejected, accepted, True, *ends, left_out)
