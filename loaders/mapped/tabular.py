"""Records of CSV and Parquet files, and whether the files have what the mapping names.

Parquet comes from Arrow in batches of rows, of the mapped columns alone. CSV comes from `tables`: Arrow's
CSV reader takes a quote that is never closed for a value that reaches to the file's end, without a word, and
every record behind it would be lost. Leaves out: what becomes of a record (`rows`).
"""

import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.mapped.mapping import Mapping as ColumnMap
from pinakes.loaders.mapped.mapping_file import suggest
from pinakes.loaders.mapped.values import Path
from pinakes.loaders.reading.streams import open_stream
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.staging import Accepted, Rejected, Rows, take_record

BATCH_ROWS: Final = 10_000
MAX_MEMORY_BYTES: Final = 1 << 30
_NO_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"

Parse = Callable[[dict[str, Any]], Rows]


def read_partitions(name: str) -> dict[str, str | None]:
    """The columns that the folders of a partitioned file say.

    >>> read_partitions("year=2019/venue=ACL%202019/part-0.parquet")
    {'year': '2019', 'venue': 'ACL 2019'}
    """
    parts = (part.partition("=") for part in name.split("/")[:-1] if "=" in part)
    return {key: None if value == _NO_PARTITION else unquote(value) for key, _, value in parts}


def with_partitions(file: InputFile, parse: Parse) -> Parse:
    """The parser, given the columns of the file's folders beside those of the record, which come first."""
    partitions = read_partitions(file.name)
    return parse if not partitions else lambda record: parse({**partitions, **record})


def check_columns(file: InputFile, mapping: ColumnMap, columns: list[str]) -> None:
    """Compare what the mapping names with what the file has.

    Raises:
        InputError: a column of the file feeds a column of ours, may not be absent, and is.
    """
    known = [*columns, *read_partitions(file.name)]
    for source in mapping.list_sources():
        if source.is_optional or any(_find_column(path, known) is not None for path in source.paths):
            continue
        name = source.paths[0].keys[0]
        raise InputError(
            f"{file.name} has no column {name!r}, which feeds {source.place}{suggest(name, known)}; "
            f"its columns are {', '.join(known)}. A column that some files lack takes optional = true."
        )


def _find_column(path: Path, columns: list[str]) -> str | None:
    """The file's column that a path starts at; of the path to the record itself, any."""
    names = (path.text, path.keys[0]) if path.keys else columns[:1]
    return next((name for name in names if name in columns), None)


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
    for record in read_table(file, take_columns, **_choose_dialect(file, csv)):
        if isinstance(record, Accepted):
            return columns
    return []


def read_csv(file: InputFile, mapping: ColumnMap, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The records of a CSV file, a row each.

    Raises:
        InputError: there is no header, or a column that the mapping names is missing.
    """
    columns = read_csv_columns(file, mapping.csv)
    if columns:
        check_columns(file, mapping, columns)
    yield from read_table(
        file,
        with_partitions(file, parse),
        columns=mapping.csv.get("columns"),
        **_choose_dialect(file, mapping.csv),
    )


def _choose_dialect(file: InputFile, csv: Mapping[str, Any]) -> dict[str, Any]:
    is_tsv = ".tsv" in file.name or ".tab" in file.name
    return {
        "delimiter": csv.get("delimiter", "\t" if is_tsv else ","),
        "quoted": csv.get("quoted", not is_tsv),
        "encoding": csv.get("encoding", "utf-8"),
    }


def read_parquet_columns(file: InputFile) -> list[str]:
    """The names of a Parquet file's columns.

    Raises:
        InputError: it is no Parquet file.
    """
    return list(_open_parquet(file).schema_arrow.names)


def read_parquet(file: InputFile, mapping: ColumnMap, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The records of a Parquet file, a row each; `raw` is the mapped columns as JSON.

    Raises:
        InputError: it is no Parquet file, it is damaged, or a column that the mapping names is missing.
    """
    number = 1
    for batch in iterate_batches(file, mapping):
        yield from read_batch(batch, number, parse)
        number += batch.num_rows


def iterate_batches(file: InputFile, mapping: ColumnMap) -> Iterator[pa.RecordBatch]:
    """The mapped columns of a Parquet file, and those of its folders, some rows at a time.

    Raises:
        InputError: it is no Parquet file, it is damaged, or a column that the mapping names is missing.
    """
    opened = _open_parquet(file)
    columns = list(opened.schema_arrow.names)
    check_columns(file, mapping, columns)
    paths = [path for source in mapping.list_sources() for path in source.paths]
    found = {_find_column(path, columns) for path in paths}
    read = columns if any(not path.keys for path in paths) else [name for name in columns if name in found]
    partitions = [(name, text) for name, text in read_partitions(file.name).items() if name not in columns]
    try:
        for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=read, use_threads=False):
            for name, text in partitions:
                batch = batch.append_column(name, pa.repeat(pa.scalar(text, pa.string()), batch.num_rows))
            yield batch
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.name} is damaged: {_shorten(error)}. Fetch it again.") from error


def read_batch(batch: pa.RecordBatch, first: int, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The records of a batch, whose first has the number `first`."""
    for number, row in enumerate(_list_rows(batch), start=first):
        if isinstance(row, str):
            yield Rejected(number, f"row {number}", "invalid_value", row, f"row {number}")
        else:
            raw = orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS)
            yield take_record(number, f"row {number}", raw, partial(parse, row))


def _open_parquet(file: InputFile) -> pq.ParquetFile:
    try:
        if file.member is None and file.path is not None:
            return pq.ParquetFile(file.path, pre_buffer=False)
        with open_stream(file) as stream:
            held = stream.read(MAX_MEMORY_BYTES + 1)
        if len(held) > MAX_MEMORY_BYTES:
            raise InputError(f"{file.name} is too large to be read out of an archive; unpack it.")
        return pq.ParquetFile(io.BytesIO(held), pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.name} is no Parquet file, or is damaged: {_shorten(error)}.") from error


def _list_rows(batch: pa.RecordBatch) -> list[dict[str, Any] | str]:
    # Of texts that are not UTF-8 and times beyond the year 9999, Python learns only when it asks for them.
    try:
        rows: list[dict[str, Any] | str] = batch.to_pylist(maps_as_pydicts="lossy")
    except (ValueError, OverflowError) as error:
        if batch.num_rows == 1:
            return [f"a value that cannot be read: {error}"]
        half = batch.num_rows // 2
        return _list_rows(batch.slice(0, half)) + _list_rows(batch.slice(half))
    return rows


def _shorten(error: BaseException) -> str:
    return str(error).strip().rstrip(".")[:200]
