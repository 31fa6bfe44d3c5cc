"""Files of a load read by the workers of a cluster, into parts that the driver takes in the files' order.

A worker reads a file as one process would, so its chunks are the same, wherever it is begun again.
"""

import os
import shutil
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from pinakes.cluster import needs
from pinakes.cluster.connect import connect_cluster
from pinakes.cluster.parts import (
    Part,
    chain_parts,
    clear_parts,
    empty_part,
    has_end,
    list_parts,
    mark_end,
    read_part,
    write_part,
)
from pinakes.cluster.workers import Call, Workers
from pinakes.errors import IndexingError, LoadError, PinakesError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import hold_folder
from pinakes.loaders import staging
from pinakes.loaders.base import InputFile, Loader
from pinakes.loaders.merge.preparing import prepare_chunk
from pinakes.loaders.reading.parallel import make_error, name_kind
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk
from pinakes.progress import say_nothing

FILES_AHEAD: Final = 3
"""files that may be staged, or in hand, for each worker before the driver takes them"""
POLL_S: Final = 0.05
LATE_S: Final = 60.0
"""how long a part that a worker has named may take to be seen: file systems of networks remember listings"""

State = tuple[tuple[int, int], ...]
"""of each file on disk: its size in bytes, and when it was changed, in ns; -1 where there is none"""
Sizes = tuple[int, int, int]
"""`staging.CHUNK_ROWS`, `CHUNK_BYTES` and `BULK_CHUNK_ROWS`, which decide where a chunk ends"""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A file to be staged.

    Attributes:
        folder: where its parts go.
        digest: the sha256 of the file itself; None where what is read is not one file.
        state: what the files on disk that are read looked like (`look_at`).
        first_row: the number of the first record that is wanted.
    """

    file: InputFile
    folder: str
    digest: str | None
    state: State
    first_row: int


@dataclass(frozen=True, slots=True)
class Staged:
    """How the staging of a file ended: before the record `row`, and with which error."""

    row: int
    error: tuple[str, str] | None = None


def look_at(file: InputFile) -> State:
    """What each file on disk that is read for an input file looks like."""
    paths = list(file.beside)
    if file.path is not None:
        is_bundle = file.documents and file.path.is_dir()
        paths += [file.path / name for name in file.documents] if is_bundle else [file.path]
    found = []
    for path in paths:
        try:
            state = path.stat()
        except OSError:
            found.append((-1, -1))
        else:
            found.append((state.st_size, state.st_mtime_ns))
    return tuple(found)


class ReadWorker:
    """A process of the cluster that reads files of one loader, in the folder where the command was given."""

    def __init__(self, loader: str, options: Mapping[str, str], here: str, sizes: Sizes) -> None:
        with suppress(OSError):  # paths may be absolute; where they are not, the file is missed below
            os.chdir(here)
        staging.CHUNK_ROWS, staging.CHUNK_BYTES, staging.BULK_CHUNK_ROWS = sizes  # type: ignore[misc]
        self._loader, self._options = find_loader(loader), options

    def ready(self) -> None:
        """There is nothing to load."""

    def stage(self, task: ReadTask) -> Staged:
        """Stage what is not there yet of the file."""
        row = task.first_row
        try:
            folder = Path(task.folder)
            if not folder.is_dir():
                raise LoadError(f"{folder} is not there; expected a folder that all machines share.")
            _require_same(task)
            if task.digest is not None and digest_file(task.file.expect_path()) != task.digest:
                raise _explain_change(task.file)
            for part in self._write(task, folder):
                row = part.last_row + 1
            mark_end(folder, row)
        except PinakesError as error:
            return Staged(row, (name_kind(error), str(error)))
        return Staged(row)

    def _write(self, task: ReadTask, folder: Path) -> Iterator[Part]:
        """The parts, each when it is there."""
        held = {part.first_row: part for part in chain_parts(list_parts(folder), task.first_row)}
        row = task.first_row
        for chunk in self._loader.read_chunks(task.file, self._options, task.first_row):
            if chunk.last_row < row:
                raise LoadError(f"{task.file.name}: chunks without a record; please report it.")
            part = held.get(row)
            if part is not None and part.last_row != chunk.last_row:
                # An earlier load began elsewhere, and so cut otherwise: behind its parts as a load goes on.
                end = max(one.last_row for one in held.values()) + 1
                yield from self._write(_begin_at(task, end), folder)
                return
            if part is None:
                _require_same(task)
                part = write_part(folder, row, prepare_chunk(chunk, self._loader, task.file.role))
            yield part
            row = chunk.last_row + 1
        _require_same(task)


def _begin_at(task: ReadTask, row: int) -> ReadTask:
    return ReadTask(task.file, task.folder, task.digest, task.state, row)


def _require_same(task: ReadTask) -> None:
    if look_at(task.file) != task.state:
        raise _explain_change(task.file)


def _explain_change(file: InputFile) -> LoadError:
    return LoadError(
        f"{file.name} is not what it was when the load began, or another file has its place on a machine of "
        "the cluster; expected one file on storage that all machines share. Start the load again when it no "
        "longer changes."
    )


class StagedFiles:
    """The files of a load, staged by workers; made by `stage_files`."""

    def __init__(self, workers: Workers, tasks: Sequence[ReadTask], ahead: int) -> None:
        self._workers, self._tasks, self._ahead = workers, tasks, ahead
        self._ended: dict[int, Staged] = {}
        self._given = self._taken = 0
        self._changed = threading.Condition()
        self._pumping: Future[None] | None = None
        self._stopped = False

    def start(self, pool: Executor) -> None:
        """Have workers stage the files, in their order, while a thread looks after them."""
        self._pumping = pool.submit(self._pump)

    def stop(self) -> None:
        """Have no file staged any more, and who waits for a chunk go on without."""
        self._stopped = True
        self._workers.stop()

    def take(self, number: int) -> Iterator[Chunk]:
        """The chunks of a task's file, in its order, as they are there.

        Raises what reading it raised, and `LoadError` where the workers fail.
        """
        task = self._tasks[number]
        folder, row, late_s = Path(task.folder), task.first_row, 0.0
        ended: Staged | None = None
        while not self._stopped:
            failed = self._find_failure()
            with self._changed:
                ended = self._ended.get(number)
            if part := next(iter(chain_parts(list_parts(folder), row)), None):
                yield read_part(part)
                row, late_s = part.last_row + 1, 0.0
            elif ended is not None and row >= ended.row:
                break
            elif ended is None and failed is not None:
                raise failed
            else:
                late_s = _wait_for(folder, row, late_s) if ended is not None else 0.0
                with self._changed:
                    self._changed.wait(POLL_S)
        if ended is None or self._stopped:  # nobody may take this for the file's end
            raise LoadError(f"the reading of {task.file.name} was stopped.")
        with self._changed:
            self._taken += 1
        if ended.error is not None:
            raise make_error(*ended.error)

    def release(self, number: int, row: int) -> None:
        """Say that the records before `row` of a task's file are stored."""
        for part in list_parts(Path(self._tasks[number].folder)):
            if part.last_row < row and part.size:
                empty_part(part)

    def _find_failure(self) -> BaseException | None:
        """Why no file is staged any more."""
        if self._pumping is None or not self._pumping.done():
            return None
        failed = self._pumping.exception()
        return LoadError(str(failed)) if isinstance(failed, IndexingError) else failed

    def _pump(self) -> None:
        for call, staged in self._workers.map(self._cut(), self._has_room):
            self._end(call.key, staged)

    def _end(self, number: int, staged: Staged) -> None:
        with self._changed:
            self._ended[number] = staged
            self._changed.notify_all()

    def _cut(self) -> Iterator[Call]:
        for number, task in enumerate(self._tasks):
            folder = Path(task.folder)
            chain = chain_parts(list_parts(folder), task.first_row)
            end = chain[-1].last_row + 1 if chain else task.first_row
            self._given += 1
            if has_end(folder, end):
                self._end(number, Staged(end))
            else:
                yield Call(number, "stage", (task,))

    def _has_room(self) -> bool:
        return self._given - self._taken < self._ahead


def _wait_for(folder: Path, row: int, late_s: float) -> float:
    """Since when a part is waited for that a worker has written."""
    now = time.monotonic()
    if late_s and now - late_s > LATE_S:
        raise LoadError(
            f"{folder} lacks what a worker has written there, from record {row} on; expected a folder that "
            "all machines share. Start the same load again."
        )
    return late_s or now


@contextmanager
def stage_files(
    on: str,
    loader: Loader,
    options: Mapping[str, str],
    tasks: Sequence[ReadTask],
    tell: Any = say_nothing,
) -> Iterator[StagedFiles]:
    """The files of a loader staged on the cluster at an address; raises as `connect_cluster` does."""
    sizes = staging.CHUNK_ROWS, staging.CHUNK_BYTES, staging.BULK_CHUNK_ROWS
    memory = needs.read_files(staging.CHUNK_BYTES)
    settings = loader.name, dict(options), str(Path.cwd()), sizes
    for task in tasks:
        clear_parts(Path(task.folder), task.first_row)
    with (
        connect_cluster(on, "cpu", tell) as cluster,
        Workers(cluster, ReadWorker, *settings, most=len(tasks), memory=memory) as workers,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        staged = StagedFiles(workers, tasks, FILES_AHEAD * max(1, cluster.count_places(ceil(memory))))
        staged.start(pool)
        try:
            yield staged
        finally:
            staged.stop()


@contextmanager
def hold_staging(folder: Path) -> Iterator[None]:
    """The folder of a load's parts, held by this load alone; LoadError where another holds it."""
    with told_as(LoadError, f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with hold_folder(folder, f"{folder} is being filled"):
            yield
    except IndexingError as error:
        raise LoadError(str(error)) from error


def remove_staging(folder: Path, keep: Collection[str] = ()) -> None:
    """Remove the parts of a load, but those of the files whose folders are named."""
    with told_as(LoadError, f"{folder} cannot be written"):
        for path in folder.iterdir():
            if path.name not in keep:
                shutil.rmtree(path, ignore_errors=True)
        if not keep:
            with suppress(OSError):  # the next load of the same source may have made it its own
                folder.rmdir()
