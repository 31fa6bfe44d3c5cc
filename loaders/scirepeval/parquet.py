"""Parquet files as records, one a row. Leaves out: what a record means (`records`)."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record
from pinakes.python_values import use_python_types

_BATCH_ROWS: Final = 1_000
_RAW_BYTES: Final = 100_000


def read_parquet(file: InputFile, parse: Callable[[dict[str, Any]], Rows]) -> Iterator[Accepted | Rejected]:
    """The records of a Parquet file: what `parse` makes of each row, column -> value.

    Raises:
        InputError: there is no such file, or it is no Parquet file.
        LoadError: the file is damaged; what came before stays.
    """
    if file.path is None or file.member is not None:
        raise InputError(f"{file.name} is not a file on disk, as a Parquet file has to be.")
    numbers = count(1)
    for batch in _read_batches(file):
        for row in _list_rows(file, batch):
            number = next(numbers)
            raw = orjson.dumps(row, default=str)[:_RAW_BYTES]
            yield take_record(number, f"row {number}", raw, partial(_parse, row, parse))


def _read_batches(file: InputFile) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(file.path) as table:
            batches = table.iter_batches(_BATCH_ROWS)
            while (batch := _take_batch(file, batches)) is not None:
                yield batch
    except FileNotFoundError as error:
        raise InputError(f"there is no file {file.path}.") from error
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.name} is not a Parquet file, or is damaged: {error}.") from error


def _take_batch(file: InputFile, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except (pa.ArrowException, OSError) as error:
        raise LoadError(f"{file.name} is damaged: {error}. Fetch it again.") from error


def _list_rows(file: InputFile, batch: pa.RecordBatch) -> list[dict[str, Any]]:
    try:
        return list(use_python_types(batch).to_pylist())
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise LoadError(f"{file.name} holds values that cannot be read: {error}. Fetch it again.") from error


def _parse(row: dict[str, Any], parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    if not row:
        raise RecordError("missing_field", "a row without columns")
    return parse(row)
