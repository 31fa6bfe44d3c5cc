"""Chunks read while others are merged: by a thread, or of several files by worker processes.

They come in the order of the files, as if read here. What passes between processes is JSON and Arrow's IPC
format.
"""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, cast

import orjson
import pyarrow as pa

from pinakes import errors
from pinakes.errors import LoadError, PinakesError
from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk, Origin, Rejected, show_raw

_NAMES: Final = frozenset({"queries", "judgments", "labels", "pool_sources", "sentence_selections"})
"""staged tables whose records the database may refuse, and which are then shown as they stood"""

_CHUNKS_AHEAD: Final = 4
"""While a transaction commits, the thread reads on."""

Start = tuple[InputFile, int]
"""a file and the number of the first record to read"""


def read_in_thread(chunks: Iterator[Chunk]) -> Generator[Chunk, None, None]:
    """The chunks, of which a thread reads a few ahead while others are in use.

    Parsing and merging are C++ that lets other threads run: so two cores share the work.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = deque(pool.submit(next, chunks, None) for _ in range(_CHUNKS_AHEAD))
        try:
            while (chunk := waiting.popleft().result()) is not None:
                waiting.append(pool.submit(next, chunks, None))
                yield chunk
        finally:
            for future in waiting:
                future.cancel()


def read_ahead(
    loader: str, options: Options, starts: Sequence[Start], jobs: int
) -> Generator[Iterator[Chunk], None, None]:
    """For each file its chunks; worker `w` of `jobs` reads every `jobs`-th file from the `w`-th on.

    A file's chunks must be used up before the next file's are asked for. Each worker is at most one chunk
    ahead of what was used.

    Raises:
        InputError, LoadError: as the loader raises them, when the file's turn comes.
    """
    context = get_context("spawn")
    workers: list[tuple[BaseProcess, Connection]] = []
    try:
        for number in range(jobs):
            ours, theirs = context.Pipe(duplex=False)
            task = _pack_task(loader, options, starts[number::jobs])
            process: BaseProcess = context.Process(target=_work, args=(theirs, task), daemon=True)
            process.start()
            theirs.close()
            workers.append((process, ours))
        for number, (file, _) in enumerate(starts):
            yield _receive(file, *workers[number % jobs])
    finally:
        for process, ours in workers:
            process.terminate()
            process.join()
            ours.close()


def _pack_task(loader: str, options: Options, starts: Sequence[Start]) -> bytes:
    files = [{**asdict(file), "path": str(file.path) if file.path else None} for file, _ in starts]
    first_rows = [first_row for _, first_row in starts]
    return orjson.dumps(
        {"loader": loader, "options": dict(options), "files": files, "first_rows": first_rows}
    )


def _work(connection: Connection, packed: bytes) -> None:
    task = orjson.loads(packed)
    loader = find_loader(task["loader"])
    for fields, first_row in zip(task["files"], task["first_rows"], strict=True):
        path = Path(fields["path"]) if fields["path"] else None
        file = InputFile(**{**fields, "path": path, "documents": tuple(fields["documents"])})
        try:
            for chunk in loader.read_chunks(file, task["options"], first_row):
                _send_chunk(connection, chunk)
            connection.send_bytes(orjson.dumps({"end": True}))
        except PinakesError as error:
            told = {"error": type(error).__name__, "message": str(error)}
            connection.send_bytes(orjson.dumps(told))


def _send_chunk(connection: Connection, chunk: Chunk) -> None:
    origins = chunk.origins if chunk.tables.keys() & _NAMES else {}
    header = {
        "last_row": chunk.last_row,
        "rows_in": chunk.rows_in,
        "first_byte": chunk.first_byte,
        "end_byte": chunk.end_byte,
        "skipped": chunk.skipped,
        "tables": list(chunk.tables),
        "rejected": [asdict(row) for row in chunk.rejected],
        "origins": [(number, origin.location, show_raw(origin.raw)) for number, origin in origins.items()],
    }
    connection.send_bytes(orjson.dumps(header))
    for table in chunk.tables.values():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        connection.send_bytes(sink.getvalue())


def _receive(file: InputFile, process: BaseProcess, connection: Connection) -> Iterator[Chunk]:
    while True:
        try:
            header = orjson.loads(connection.recv_bytes())
            if "tables" in header:
                tables = {name: _read_table(connection) for name in header["tables"]}
        except EOFError as error:
            process.join()
            raise LoadError(
                f"the process that reads {file.name} ended with code {process.exitcode}. Start the load "
                "again; what is in already stays."
            ) from error
        if "end" in header:
            return
        if "error" in header:
            kind = cast(type[PinakesError], getattr(errors, header["error"]))
            raise kind(header["message"])
        yield _build_chunk(header, tables)


def _read_table(connection: Connection) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(connection.recv_bytes())) as reader:
        return reader.read_all()


def _build_chunk(header: dict[str, Any], tables: dict[str, pa.Table]) -> Chunk:
    origins = {number: Origin(location, raw) for number, location, raw in header["origins"]}
    rejected = [Rejected(**row) for row in header["rejected"]]
    return Chunk(
        header["last_row"],
        header["rows_in"],
        tables,
        rejected,
        origins,
        header["first_byte"],
        header["end_byte"],
        header["skipped"],
    )
