"""Rankings with named columns, as CSV, TSV or Parquet: PyTerrier's, ir_datasets', ir-measures' and alike.

Read are a query's id, a document's id, a score or a rank, and a system's name; other columns are passed over.
The score decides, then the rank; without a score the rank alone does, counted from 0, 1 or anything.
"""

import codecs
import io
import re
from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.run.files.rows import FileRows, open_ranking, show

NAMES: Final = {
    "query": ("qid", "query_id", "query-id", "q_id", "topic_id", "topic"),
    "document": ("docno", "doc_id", "corpus-id", "corpus_id", "document_id", "paper_id", "doc", "docid"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "tag": ("tag", "run_tag", "run_id", "run", "system"),
}
"""what a column is -> the names that it may have, the first that is there counts: PyTerrier's `docno` is the
document's own id, its `docid` a number of an index"""
_REQUIRED: Final = (
    "a column for the query (qid, query_id, …), for the document (docno, doc_id, …), and score or rank"
)
_DELIMITERS: Final = {"csv": (",", ";"), "tsv": ("\t",)}


def find_columns(columns: list[str]) -> dict[str, str]:
    """What each column that is read is -> its name; empty where they are no columns of a ranking.

    >>> find_columns(["qid", "docid", "docno", "rank", "score", "query"])
    {'query': 'qid', 'document': 'docno', 'score': 'score', 'rank': 'rank'}
    """
    by_name = {column.strip().lower(): column for column in reversed(columns)}
    found = {
        kind: by_name[name] for kind, names in NAMES.items() for name in reversed(names) if name in by_name
    }
    is_ranking = {"query", "document"} <= found.keys() and found.keys() & {"score", "rank"}
    return found if is_ranking else {}


def find_delimiter(header: str, kinds: Collection[str] = tuple(_DELIMITERS)) -> tuple[str, str] | None:
    """The format and the delimiter of a table whose first line this is; None where it names no ranking."""
    for kind in kinds:
        for delimiter in _DELIMITERS[kind]:
            if find_columns(_split_header(header, delimiter)):
                return kind, delimiter
    return None


def _split_header(header: str, delimiter: str) -> list[str]:
    return [cell.strip().strip('"') for cell in header.split(delimiter)]


def read_csv(file: InputFile, _query_ids: Collection[str], _facet: str | None) -> FileRows:
    """A table with commas or semicolons between its cells, which may be quoted."""
    return _read_delimited(file, "csv")


def read_tsv(file: InputFile, _query_ids: Collection[str], _facet: str | None) -> FileRows:
    """A table with tabs between its cells, which may be quoted."""
    return _read_delimited(file, "tsv")


def read_parquet(file: InputFile, _query_ids: Collection[str], _facet: str | None) -> FileRows:
    """A Parquet file; ids may be texts or whole numbers."""
    with open_ranking(file) as stream:
        content = stream.read()
    try:
        source = pq.ParquetFile(io.BytesIO(content))
        columns = _require_columns(file, list(source.schema_arrow.names))
        table = source.read(list(columns.values()))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.name} cannot be read as Parquet: {show(error)}.") from error
    return _take_rows(file, table, columns)


def _read_delimited(file: InputFile, kind: str) -> FileRows:
    with open_ranking(file) as stream:
        content = stream.read().removeprefix(codecs.BOM_UTF8)
    header = content.lstrip(b"\r\n").split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    found = find_delimiter(header, [kind])
    if found is None:
        raise InputError(
            f"{file.name} begins with {show(header)}; expected a line that names {_REQUIRED}, with "
            f"{' or '.join(map(repr, _DELIMITERS[kind]))} between them."
        )
    columns = _require_columns(file, _split_header(header, found[1]))
    types = {name: _TYPES[what] for what, name in columns.items()}
    try:
        table = _parse_delimited(content, found[1], types, use_threads=True)
    except pa.ArrowInvalid:
        table = _explain_delimited(file, content, found[1], types)
    return _take_rows(file, table, columns)


_TYPES: Final = {
    "query": pa.string(),
    "document": pa.string(),
    "score": pa.float64(),
    "rank": pa.float64(),
    "tag": pa.string(),
}


def _parse_delimited(
    content: bytes, delimiter: str, types: dict[str, pa.DataType], *, use_threads: bool
) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(content),
        read_options=csv.ReadOptions(use_threads=use_threads, block_size=8 << 20),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False
        ),
    )


def _explain_delimited(
    file: InputFile, content: bytes, delimiter: str, types: dict[str, pa.DataType]
) -> pa.Table:
    """Read again in one thread, which says the row that is wrong."""
    try:
        return _parse_delimited(content, delimiter, types, use_threads=False)
    except pa.ArrowInvalid as error:
        told = str(error)
        row = re.search(r"Row #(\d+)", told)
        place = f", row {row[1]}" if row else ""
        told = re.sub(r"^(In CSV column #\d+|CSV parse error)?:? ?(Row #\d+: )?(CSV )?", "", told)
        raise InputError(f"{file.name}{place}: {show(told)}; expected a ranking with {_REQUIRED}.") from error


def _require_columns(file: InputFile, columns: list[str]) -> dict[str, str]:
    found = find_columns(columns)
    if not found:
        raise InputError(f"{file.name} has the columns {show(', '.join(columns))}; expected {_REQUIRED}.")
    twice = sorted(name for name in found.values() if columns.count(name) > 1)
    if twice:
        raise InputError(f"{file.name} has the column {twice[0]} twice; expected it once.")
    return found


def _take_rows(file: InputFile, table: pa.Table, columns: dict[str, str]) -> FileRows:
    ids = [_take_ids(file, table, columns[kind]) for kind in ("query", "document")]
    ranks = _take_numbers(file, table, columns["rank"]) if "rank" in columns else np.zeros(len(table))
    scores = _take_numbers(file, table, columns["score"]) if "score" in columns else 0.0 - ranks
    tags = _take_ids(file, table, columns["tag"]) if "tag" in columns else None
    return FileRows(ids[0], ids[1], scores, ranks, tags)


def _take_ids(file: InputFile, table: pa.Table, name: str) -> pa.ChunkedArray:
    column = table[name]
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
        or pa.types.is_integer(type_)
    ):
        raise InputError(
            f"{file.name}: the column {name} is of {type_}; expected ids as texts or whole numbers."
        )
    _refuse_nulls(file, column, name)
    return column.cast(type_).cast(pa.string())


def _take_numbers(file: InputFile, table: pa.Table, name: str) -> NDArray[np.float64]:
    column: Any = table[name]
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
    ):
        raise InputError(f"{file.name}: the column {name} is of {column.type}; expected numbers.")
    _refuse_nulls(file, column, name)
    numbers: NDArray[np.float64] = pc.cast(column, pa.float64(), safe=False).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise InputError(
            f"{file.name}, record {wrong[0] + 1}: the {name} {numbers[wrong[0]]} is not a finite number."
        )
    return numbers


def _refuse_nulls(file: InputFile, column: pa.ChunkedArray, name: str) -> None:
    if column.null_count:
        place = pc.index(column.is_null(), value=True).as_py() + 1
        raise InputError(f"{file.name}, record {place}: the column {name} is null; expected a value.")
