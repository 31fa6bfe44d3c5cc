"""Arrow tables, one after the other, as a file: Parquet, Arrow IPC, CSV, TSV, JSON Lines or LaTeX.

Numbers are written so that reading gives the same ones. In CSV and TSV a null is nothing and an empty text is
`""`; in JSON Lines and LaTeX what has no place (NaN, bytes, lists) is refused or written as text, as said.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from pinakes.errors import InputError, UnknownNameError
from pinakes.python_values import use_python_types
from pinakes.writing.files import find_kind, open_whole
from pinakes.writing.latex import write_latex


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows that come in parts, tables with the columns of the schema, whose types may differ from its own."""

    schema: pa.Schema
    parts: Iterable[pa.Table]


def write_table(path: Path, rows: Rows, format_: str | None = None) -> int:
    """Write rows to a file that takes its name when it is whole; the number of rows.

    Args:
        path: its suffix says the format where none is named, and a further one how it is compressed; Parquet
            compresses itself.
        rows: what is written, a part at a time.
        format_: a name of `FORMATS`.

    Raises:
        UnknownNameError: there is no such format.
        InputError: the suffix says none, the file cannot be written, or the format cannot hold a column.
    """
    named = choose_format(path, format_)
    count = 0

    def pass_on() -> Iterator[pa.Table]:
        nonlocal count
        for part in rows.parts:
            count += part.num_rows
            yield part if part.schema.equals(rows.schema) else part.cast(rows.schema)

    with open_whole(path, compress=named != "parquet") as stream:
        try:
            FORMATS[named](stream, rows.schema, pass_on())
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid) as error:
            raise InputError(
                f"{named} cannot hold a column of these: {str(error)[:200]}; CAST it to TEXT in a query with "
                "--sql, or choose another format."
            ) from error
    return count


def choose_format(path: Path, format_: str | None) -> str:
    """The format that is named, or that the file's name shows."""
    if format_ is not None and format_ not in FORMATS:
        raise UnknownNameError("format of tables", format_, list(FORMATS))
    named = format_ or SUFFIXES.get(find_kind(path))
    if named is None:
        raise InputError(
            f"{path.name} shows no format by its name; expected one that ends in "
            f"{', '.join(SUFFIXES)}, or --format: {', '.join(FORMATS)}."
        )
    return named


_Parts = Iterator[pa.Table]


def _write_parquet(stream: IO[bytes], schema: pa.Schema, parts: _Parts) -> None:
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(part)


def _write_arrow(stream: IO[bytes], schema: pa.Schema, parts: _Parts) -> None:
    with pa.ipc.new_file(pa.PythonFile(stream, mode="w"), schema) as writer:
        for part in parts:
            writer.write_table(part)


def _write_delimited(delimiter: str, stream: IO[bytes], schema: pa.Schema, parts: _Parts) -> None:
    options = csv.WriteOptions(delimiter=delimiter)
    flat = pa.schema([pa.field(field.name, _flatten_type(field.type)) for field in schema])
    with csv.CSVWriter(pa.PythonFile(stream, mode="w"), flat, write_options=options) as writer:
        for part in parts:
            writer.write_table(_flatten(part, flat))


def _flatten_type(type_: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_nested(type_) else type_


def _flatten(part: pa.Table, flat: pa.Schema) -> pa.Table:
    """The table with lists and structs as JSON texts."""
    columns = [
        column
        if column.type.equals(field.type)
        else pa.array(map(_dump_nested, column.to_pylist()), pa.string())
        for column, field in zip(part.columns, flat, strict=True)
    ]
    return pa.table(columns, schema=flat)


def _dump_nested(value: object) -> str | None:
    return None if value is None else orjson.dumps(value, default=str).decode()


def _write_json_lines(stream: IO[bytes], schema: pa.Schema, parts: _Parts) -> None:
    for part in parts:
        _refuse_no_json(part)
        for row in use_python_types(part).to_pylist():
            stream.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))


def _refuse_no_json(part: pa.Table) -> None:
    """Refuse what orjson would write as null."""
    for name, column in zip(part.column_names, part.columns, strict=True):
        if pa.types.is_floating(column.type) and pc.any(pc.invert(pc.is_finite(column))).as_py():
            raise InputError(
                f"the column {name} holds NaN or an infinity, which JSON cannot hold; choose another format, "
                "as Parquet or CSV."
            )
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            raise InputError(
                f"the column {name} holds bytes, which JSON cannot hold; choose Parquet or Arrow."
            )


FORMATS: Final[dict[str, Callable[[IO[bytes], pa.Schema, _Parts], None]]] = {
    "parquet": _write_parquet,
    "csv": partial(_write_delimited, ","),
    "tsv": partial(_write_delimited, "\t"),
    "jsonl": _write_json_lines,
    "arrow": _write_arrow,
    "latex": write_latex,
}
SUFFIXES: Final = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".tex": "latex",
}
"""the suffix of a file's name -> its format"""
