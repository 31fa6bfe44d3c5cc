"""Chunks read while others are merged: by a thread, or of several files by worker processes.

They come in the order of the files, as if read here.
"""

import multiprocessing
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final, cast

from pinakes import errors
from pinakes.errors import LoadError, PinakesError
from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.merge.preparing import prepare_chunk
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk

_CHUNKS_AHEAD: Final = 4
"""While a transaction commits, the thread reads on."""
_BYTES_AHEAD: Final = 256 << 20

Start = tuple[InputFile, int]
"""a file and the number of the first record to read"""


@dataclass(frozen=True, slots=True)
class _End:
    """Stands where a file ends, with the error it broke off with."""

    error: PinakesError | None = None


def read_in_thread(
    files: Sequence[Iterator[Chunk]], bytes_ahead: int = _BYTES_AHEAD
) -> Generator[Iterator[Chunk], None, None]:
    """For each file its chunks, of which a thread reads a few ahead, those of the next files too.

    Parsing and merging are C++ that lets other threads run: so two cores share the work. At least one chunk
    is read ahead, and no more than are within `bytes_ahead` where they are as large as the largest so far.
    A file's chunks must be used up before the next file's are asked for.

    Raises:
        InputError, LoadError: as the files raise them, when their turn comes.
    """
    with closing(_keep_ahead(_join(files), bytes_ahead)) as items:
        for _ in files:
            yield _take_file(items)


def _join(files: Sequence[Iterator[Chunk]]) -> Iterator[Chunk | _End]:
    for chunks in files:
        try:
            yield from chunks
        except PinakesError as error:
            yield _End(error)
        else:
            yield _End()


def _keep_ahead(items: Iterator[Chunk | _End], bytes_ahead: int) -> Generator[Chunk | _End, None, None]:
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = deque([pool.submit(next, items, None)])
        largest = 0
        try:
            while (item := waiting.popleft().result()) is not None:
                largest = max(largest, item.nbytes if isinstance(item, Chunk) else 0)
                waiting.append(pool.submit(next, items, None))
                while len(waiting) < _CHUNKS_AHEAD and (len(waiting) + 1) * largest <= bytes_ahead:
                    waiting.append(pool.submit(next, items, None))
                yield item
                del item  # else it is held while the next one is waited for
        finally:
            for future in waiting:
                future.cancel()


def _take_file(items: Iterator[Chunk | _End]) -> Iterator[Chunk]:
    while not isinstance(item := next(items), _End):
        yield item
        del item  # as above
    if item.error is not None:
        raise item.error


def read_ahead(
    loader: str, options: Options, starts: Sequence[Start], jobs: int
) -> Generator[Iterator[Chunk], None, None]:
    """For each file its chunks; worker `w` of `jobs` reads every `jobs`-th file from the `w`-th on.

    A file's chunks must be used up before the next file's are asked for. Each worker is at most one chunk
    ahead of what was used.

    Raises:
        InputError, LoadError: as the loader raises them, when the file's turn comes.
    """
    context = multiprocessing.get_context("spawn")
    workers: list[tuple[BaseProcess, Connection]] = []
    try:
        for number in range(jobs):
            ours, theirs = context.Pipe(duplex=False)
            task = (theirs, loader, dict(options), starts[number::jobs])
            process: BaseProcess = context.Process(target=_work, args=task, daemon=True)
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


def _work(connection: Connection, name: str, options: dict[str, str], starts: Sequence[Start]) -> None:
    loader = find_loader(name)
    for file, first_row in starts:
        try:
            for chunk in loader.read_chunks(file, options, first_row):
                connection.send(prepare_chunk(chunk, loader, file.role))
            connection.send(None)
        except PinakesError as error:
            connection.send((name_kind(error), str(error)))


def name_kind(error: PinakesError) -> str:
    """The error's class, or the nearest above it that another process finds by its name."""
    return next(kind.__name__ for kind in type(error).__mro__ if hasattr(errors, kind.__name__))


def make_error(kind: str, message: str) -> PinakesError:
    """The error of another process, by what `name_kind` says of it."""
    return cast(type[PinakesError], getattr(errors, kind))(message)


def _receive(file: InputFile, process: BaseProcess, connection: Connection) -> Iterator[Chunk]:
    while True:
        try:
            received = connection.recv()
        except EOFError as error:
            process.join()
            raise LoadError(
                f"the process that reads {file.name} ended with code {process.exitcode}. Start the load "
                "again; what is in already stays."
            ) from error
        if received is None:
            return
        if isinstance(received, tuple):
            raise make_error(*received)
        yield received
