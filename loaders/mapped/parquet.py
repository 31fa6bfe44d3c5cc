"""The records of a Parquet file in batches, as `input` has them, with the file's own types."""

import io
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.errors import InputError, OtherContentError
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import FieldNames, name_field
from pinakes.loaders.mapped.plan import run_apart
from pinakes.loaders.mapped.records import Batch
from pinakes.loaders.mapped.syntax import RECORD
from pinakes.loaders.reading.omissions import build_left_out
from pinakes.loaders.reading.streams import is_parquet, open_stream
from pinakes.loaders.staging import Rejected, Rows

BATCH_ROWS: Final = 20_000
MAX_MEMORY_BYTES: Final = 1 << 30


def open_parquet(file: InputFile) -> pq.ParquetFile:
    """The open file.

    Raises:
        InputError: it is no Parquet file.
    """
    try:
        if file.member is None and file.path is not None:
            return pq.ParquetFile(file.path, pre_buffer=False)
        with open_stream(file) as stream:
            held = stream.read(MAX_MEMORY_BYTES + 1)
        if len(held) > MAX_MEMORY_BYTES:
            raise InputError(f"{file.name} is too large to be read out of an archive; unpack it.")
        return pq.ParquetFile(io.BytesIO(held), pre_buffer=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a column's name is not UTF-8
        kind = InputError if is_parquet(file) else OtherContentError
        raise kind(f"{file.name} is no Parquet file, or is damaged: {_shorten(error)}.") from error


def read_parquet(
    file: InputFile, columns: Sequence[str], constants: pa.Table, first_row: int
) -> Iterator[Batch]:
    """The rows of a Parquet file with the file's own types.

    Raises:
        InputError: it is no Parquet file, or is damaged.
    """
    opened = open_parquet(file)
    read = [name for name in opened.schema_arrow.names if name in columns]
    unread = _list_unread(opened, columns)
    number = 1
    try:
        for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=read, use_threads=False):
            # Cut where a load goes on, so that no chunk holds records from before.
            cut = first_row - number if number < first_row < number + batch.num_rows else 0
            for part in (batch.slice(0, cut), batch.slice(cut)):
                if part.num_rows:
                    yield _number_rows(part, number, columns, constants, unread)
                    number += part.num_rows
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.name} is damaged: {_shorten(error)}. Fetch it again.") from error


def _list_unread(opened: pq.ParquetFile, columns: Sequence[str]) -> Rows:
    """The columns that no SELECT names, as each record leaves them out: they are not read, empty or not."""
    names = [name for name in opened.schema_arrow.names if name not in columns]
    return {"left_out": [{"kind": name_field(name), "reason": "no_column", "items": 1} for name in names]}


def _number_rows(
    batch: pa.RecordBatch, first: int, columns: Sequence[str], constants: pa.Table, unread: Rows
) -> Batch:
    table = pa.table({RECORD: np.arange(first, first + batch.num_rows)})
    for name in columns:
        own = name in batch.schema.names
        table = table.append_column(name, batch[name] if own else pa.repeat(constants[name][0], len(batch)))
    rejected: list[Rejected] = []

    def reject(number: int, error: Exception) -> None:
        fault = f"a value that cannot be read: {_shorten(error)}"
        rejected.append(Rejected(number, f"row {number}", "invalid_value", fault, f"row {number}"))

    readable = run_apart(table, _validate, (pa.ArrowInvalid,), reject)
    whole = pa.concat_tables([table.slice(0, 0), *readable])
    last = first + batch.num_rows - 1
    noted = ((number, unread["left_out"]) for number in range(first, last + 1))
    left_out = build_left_out(noted, FieldNames())
    return Batch(whole, last, batch.num_rows, rejected, left_out=left_out)


def _validate(table: pa.Table) -> pa.Table:
    """The rows, whose values are what their types say: texts in UTF-8, above all."""
    for column in table.columns:
        column.validate(full=True)
    return table


def _shorten(error: BaseException) -> str:
    return str(error).strip().rstrip(".")[:200]
