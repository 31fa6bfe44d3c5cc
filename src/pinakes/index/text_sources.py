"""Ids and texts from Parquet files or from a query over a database, a block of rows at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pinakes.database import Database
from pinakes.database.read_only import ask_arrow
from pinakes.errors import InputError
from pinakes.python_values import use_python_types
from pinakes.writing.table_file import TableFile, open_table_file

BLOCK_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A query over a database that was opened read-only; order its rows, or a second start may not go on."""

    database: Database
    text: str


Source = Path | QuerySource


def read_texts(
    source: Source, id_column: str, text_columns: Sequence[str], separator: str
) -> Iterator[tuple[Any, str]]:
    """Yield each row's id and its text columns, joined by `separator` where they are not blank.

    A path is a Parquet file, or a folder whose Parquet files are read in the order of their names. Raises
    `InputError` for a source without the columns, for ids that are null, and for texts that are no texts.
    """
    wanted = [id_column, *text_columns]
    blocks = _read_parquet(source, wanted) if isinstance(source, Path) else _read_query(source, wanted)
    for block in blocks:
        for row in block:
            if row[0] is None:
                raise InputError(
                    f"a row has no {id_column}; expected an id in each. Leave such rows out of the source"
                )
            try:
                yield row[0], separator.join(part for part in row[1:] if part and not str.isspace(part))
            except TypeError as error:
                raise InputError(
                    f"the row with {id_column} {row[0]!r} has a value that is no text ({error}); expected "
                    f"texts in {', '.join(text_columns)}. Name other columns, or cast them in a query"
                ) from error


def _read_parquet(source: Path, wanted: list[str]) -> Iterator[Iterator[tuple[Any, ...]]]:
    paths = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    if not paths or not paths[0].is_file():
        raise InputError(f"{source} is no Parquet file and no folder of them; give one, or a query")
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                _require_columns(str(path), file.schema_arrow.names, wanted)
                for read in file.iter_batches(BLOCK_ROWS, columns=wanted):
                    batch = use_python_types(read)
                    columns = [batch.column(name).to_pylist() for name in wanted]
                    yield zip(*columns, strict=True)
        except (ValueError, OverflowError, OSError) as error:
            raise InputError(
                f"{path} cannot be read as Parquet ({error}); write or fetch it again"
            ) from error


def _read_query(source: QuerySource, wanted: list[str]) -> Iterator[Iterator[tuple[Any, ...]]]:
    """By way of a temporary file, so that others can use the database while texts are encoded."""
    with open_table_file() as file:
        kept = TableFile(file)
        with ask_arrow(source.database, source.text) as result:
            _require_columns("the query", result.schema.names, wanted)
            for part in result.parts:
                kept.write(part.select(wanted))
        source.database.release()
        for rows in kept.read():
            yield zip(*(column.to_pylist() for column in rows.columns), strict=True)


def _require_columns(source: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in found]
    if missing:
        raise InputError(
            f"{source} has no column {', '.join(missing)}; it has {', '.join(found)}. Name its columns for "
            "the id and the text"
        )
