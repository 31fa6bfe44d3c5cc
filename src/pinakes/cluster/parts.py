"""Chunks of a file as files of their own on storage that all machines share: staged by one, taken by another.

A part takes its name, with the records that it has and its sha256, when it is whole. One that is taken, and
stored, is emptied: its name still says that nobody has to stage it again.
"""

import hashlib
import os
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.ipc

from pinakes.errors import LoadError
from pinakes.faults import told_as
from pinakes.loaders.staging import Chunk, Origin, Rejected, UnreadFile

_SUFFIX: Final = ".arrows"
_NAME: Final = re.compile(rf"(\d+)-(\d+)-[0-9a-f]{{64}}{re.escape(_SUFFIX)}")
_END: Final = "end"
_WRITING: Final = ".writing"
_META: Final = b"pinakes"
_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="lz4")
_ORIGINS: Final = pa.schema({"row_number": pa.int64(), "location": pa.string(), "raw": pa.string()})
_REJECTED: Final = pa.schema(
    {
        "row_number": pa.int64(),
        "location": pa.string(),
        "reason": pa.string(),
        "message": pa.string(),
        "raw": pa.string(),
        "first_byte": pa.int64(),
        "end_byte": pa.int64(),
    }
)
_UNREAD: Final = pa.schema({"name": pa.string(), "reason": pa.string(), "message": pa.string()})


@dataclass(frozen=True, slots=True)
class Part:
    """A file that holds a chunk: its records, from `first_row` to `last_row`; `size` 0: it was taken."""

    path: Path
    first_row: int
    last_row: int
    size: int


def write_part(folder: Path, first_row: int, chunk: Chunk) -> Part:
    """Write the chunk of which `first_row` is the first record that it may have."""
    writing = folder / f".{uuid.uuid4().hex}{_WRITING}"
    with told_as(LoadError, f"{folder} cannot be written"):
        try:
            with writing.open("wb") as file:
                _write(file, chunk)
                file.flush()
                os.fsync(file.fileno())
            with writing.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = writing.stat().st_size
            path = folder / f"{first_row:012}-{chunk.last_row:012}-{digest}{_SUFFIX}"
            writing.rename(path)
        finally:
            writing.unlink(missing_ok=True)
    return Part(path, first_row, chunk.last_row, size)


def read_part(part: Part) -> Chunk:
    """The chunk; LoadError where the file is not as it was written, and then it is removed."""
    with told_as(LoadError, f"{part.path} cannot be read"):
        data = part.path.read_bytes()
        if hashlib.sha256(data).hexdigest() != part.path.stem.rpartition("-")[2]:
            part.path.unlink()
            raise LoadError(f"{part.path} was damaged, and is removed. Start the same load again.")
    return _read(data)


def empty_part(part: Part) -> None:
    """Say that the part is stored."""
    with suppress(FileNotFoundError):
        os.truncate(part.path, 0)


def list_parts(folder: Path) -> list[Part]:
    """The parts of a folder, by their first records; those that were taken have no bytes."""
    found = []
    with told_as(LoadError, f"{folder} cannot be read"), os.scandir(folder) as entries:
        for entry in entries:
            if named := _NAME.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    size = entry.stat().st_size
                    found.append(Part(Path(entry.path), int(named[1]), int(named[2]), size))
    return sorted(found, key=lambda part: (part.first_row, part.last_row))


def chain_parts(parts: list[Part], first_row: int) -> list[Part]:
    """Those of the parts that follow each other from a record on, without a gap."""
    by_first = {part.first_row: part for part in parts}
    chain = []
    while (part := by_first.get(first_row)) is not None:
        chain.append(part)
        first_row = part.last_row + 1
    return chain


def mark_end(folder: Path, row: int) -> None:
    """Say that the file ends before the record of that number."""
    with told_as(LoadError, f"{folder} cannot be written"):
        (folder / f"{_END}-{row}").touch()


def has_end(folder: Path, row: int) -> bool:
    """Whether the file is known to end before that record."""
    return (folder / f"{_END}-{row}").exists()


def clear_parts(folder: Path, first_row: int) -> None:
    """Make the folder, or remove from it what is half written, and what cannot be of use from a record on."""
    with told_as(LoadError, f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.name.endswith(_WRITING):
                path.unlink(missing_ok=True)
        for part in list_parts(folder):
            if part.first_row < first_row or part.size == 0:
                part.path.unlink(missing_ok=True)


def _write(file: Any, chunk: Chunk) -> None:
    """The chunk's tables as streams of Arrow, one behind the other; the first says the rest."""
    names = ("last_row", "rows_in", "first_byte", "end_byte", "skipped")
    meta = {**{name: getattr(chunk, name) for name in names}, "tables": list(chunk.tables)}
    rejected = [asdict(row) for row in chunk.rejected]
    unread = [asdict(one) for one in chunk.unread]
    _write_table(file, pa.Table.from_pylist(rejected, _REJECTED.with_metadata({_META: orjson.dumps(meta)})))
    _write_table(file, pa.Table.from_pylist(unread, _UNREAD))
    _write_table(file, _list_origins(chunk.origins))
    for rows in chunk.tables.values():
        _write_table(file, rows)


def _list_origins(origins: Mapping[int, Any]) -> pa.Table:
    rows = list(origins.items())
    columns = [
        [number for number, _ in rows],
        [one.location for _, one in rows],
        [one.raw for _, one in rows],
    ]
    return pa.table(dict(zip(_ORIGINS.names, columns, strict=True)), schema=_ORIGINS)


def _write_table(file: Any, rows: pa.Table) -> None:
    with pa.ipc.new_stream(file, rows.schema, options=_OPTIONS) as stream:
        stream.write_table(rows)


def _read(data: bytes) -> Chunk:
    source = pa.BufferReader(data)
    rejected, unread, origins = (_read_table(source) for _ in range(3))
    meta: dict[str, Any] = orjson.loads((rejected.schema.metadata or {})[_META])
    tables = {name: _read_table(source) for name in meta.pop("tables")}
    return Chunk(
        tables=tables,
        rejected=[Rejected(**row) for row in rejected.to_pylist()],
        origins={row.pop("row_number"): Origin(**row) for row in origins.to_pylist()},
        unread=[UnreadFile(**one) for one in unread.to_pylist()],
        **meta,
    )


def _read_table(source: Any) -> pa.Table:
    with pa.ipc.open_stream(source) as stream:
        return stream.read_all()
