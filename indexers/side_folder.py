"""The folder of a side index: whole under its name, or not there at all, sealed with a digest of each file.

A file that changed after the build is found when the index is opened, so that a damaged one is never
searched. Its bytes are read for that where the file system does not show the file as it was when they were
last read: of the same size, times and number.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError
from pinakes.faults import explain_fault, told_as

PARAMETERS_FILE: Final = "parameters.json"
SEAL_FILE: Final = "files.json"
SEEN_FILE: Final = ".seen.json"
"""how the file system showed each sealed file when its digest was last compared; it can be removed"""
CLOCK_STEP_NS: Final = 2_000_000_000
"""file systems keep times in steps of two seconds or less"""
READ_BYTES: Final = 1 << 20
REMOVALS: Final = 10
BETWEEN_REMOVALS_S: Final = 0.01
LOCK_SUFFIX: Final = ".lock"  # tantivy makes and changes these whenever an index is opened


def folder_name(*parts: str) -> str:
    """A name for a folder that says what its index is of; nothing in it leads elsewhere.

    >>> folder_name("my corpus", "../{title}", "0a1b")
    'my_corpus-_title_-0a1b'
    """
    return "-".join(re.sub(r"[^A-Za-z0-9_-]+", "_", part) for part in parts)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes the name `folder` only when the block ends without an error.

    The work lies in a hidden sibling; one that a killed build left is emptied by the next build. A folder
    that had the name is replaced. Raises IndexingError if the same folder is being built by another process.
    """
    building = folder.with_name(f".{folder.name}.building")
    with (
        told_as(IndexingError, f"the index {folder} cannot be written; one that is there stays"),
        ExitStack() as held,
    ):
        building.mkdir(parents=True, exist_ok=True)
        held.enter_context(hold_folder(building, f"{folder} is being built"))
        _empty(building)
        try:
            yield building
            _seal(building)
        except BaseException:
            _remove(building)
            raise
        _take_name(building, folder)


@contextmanager
def hold_folder(folder: Path, what: str) -> Iterator[None]:
    """The folder, held by this process alone; IndexingError, which says `what`, where another holds it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise IndexingError(
                f"{what} by another process; wait for it to end, then start again"
            ) from problem
        yield
    finally:
        os.close(lock)


def write_parameters(folder: Path, saved: Mapping[str, Any]) -> None:
    """Write the settings that reading the index needs, beside its files."""
    text = json.dumps(saved, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / PARAMETERS_FILE).write_text(text + "\n", encoding="utf-8")


def read_parameters(folder: Path, kind: str) -> dict[str, Any]:
    """The settings that `write_parameters` wrote, of files that are as they were built.

    Raises IndexingError unless `folder` holds an index of `kind` of which this holds. A file that looks as it
    did when its digest was last compared is not read.
    """
    check_seal(folder, kind, again=False)
    path = folder / PARAMETERS_FILE
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise IndexingError(
            f"{folder} is not a finished {kind} index ({problem}); build the index again"
        ) from problem
    if not isinstance(saved, dict) or saved.get("kind") != kind:
        raise IndexingError(f"{path} does not describe a {kind} index; build the index again")
    return saved


def check_seal(folder: Path, kind: str = "side", *, again: bool = True) -> None:
    """Raise IndexingError unless each file of the folder has the bytes that it was sealed with.

    Reads the files at about the speed of the disk; unless `again`, not those that look as they did when they
    were last read.
    """
    seen = {} if again else _read_seen(folder)
    try:
        sealed = json.loads((folder / SEAL_FILE).read_text(encoding="utf-8"))
        looks = {name: _look_at(folder / name) for name in sealed}
        unread = [name for name, seal in sealed.items() if seen.get(name) != [seal, looks[name]]]
        damaged = sorted(name for name in unread if describe_file(folder / name) != sealed[name])
    except PermissionError as problem:
        raise IndexingError(f"the {kind} index cannot be read: {explain_fault(problem)}") from problem
    except (OSError, ValueError, AttributeError) as problem:
        raise IndexingError(
            f"{folder} is not a finished {kind} index ({problem}); build the index again"
        ) from problem
    if damaged:
        raise IndexingError(
            f"the {kind} index in {folder} is damaged: {', '.join(damaged)} changed after the build; build "
            "the index again"
        )
    if unread:
        _write_seen(folder, {name: [sealed[name], looks[name]] for name in sealed})


def _look_at(path: Path) -> list[int]:
    """What any change of a file changes, but for the clock's steps: the system sets the last by itself."""
    found = path.stat()
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _read_seen(folder: Path) -> dict[str, Any]:
    try:
        seen = json.loads((folder / SEEN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return seen if isinstance(seen, dict) else {}


def _write_seen(folder: Path, seen: Mapping[str, Any]) -> None:
    """Keep how the files looked before they were read; nothing of one that changed a moment ago.

    The clock that sets a file's times goes in steps: a change within the same one would not be seen.
    """
    if any(time.time_ns() - look[-1] < CLOCK_STEP_NS for _, look in seen.values()):
        return
    written = folder / f"{SEEN_FILE}.{os.getpid()}"
    with suppress(OSError):  # of a user who may only read
        written.write_text(json.dumps(seen) + "\n", encoding="utf-8")
        written.replace(folder / SEEN_FILE)


def is_whole(folder: Path) -> bool:
    """Whether the folder is there and each of its files has the bytes that it was sealed with."""
    try:
        check_seal(folder)
    except IndexingError:
        return False
    return True


def _seal(folder: Path) -> None:
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    sealed = {name: describe_file(folder / name) for name in names if not name.endswith(LOCK_SUFFIX)}
    (folder / SEAL_FILE).write_text(json.dumps(sealed, indent=1) + "\n", encoding="utf-8")
    mode = (folder / SEAL_FILE).stat().st_mode
    for name in names:  # tantivy and safetensors keep some from other users
        (folder / name).chmod(mode)


def describe_file(path: Path) -> dict[str, Any]:
    """What a file is sealed with: its size in bytes and the sha256 of these."""
    with path.open("rb") as file:
        return describe_stream(file)


def describe_stream(stream: Any) -> dict[str, Any]:
    """As `describe_file`, of a file that is open at its start."""
    digest = hashlib.sha256()
    count = 0
    while content := stream.read(READ_BYTES):
        digest.update(content)
        count += len(content)
    return {"bytes": count, "sha256": digest.hexdigest()}


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _remove(folder: Path) -> None:
    """Remove the folder of a build that failed, where a thread of tantivy's may still make a lock file."""
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(BETWEEN_REMOVALS_S)


def _take_name(building: Path, folder: Path) -> None:
    replaced = folder.with_name(f".{folder.name}.replaced")
    if replaced.exists():
        shutil.rmtree(replaced)
    if folder.exists():
        folder.rename(replaced)
    building.rename(folder)
    shutil.rmtree(replaced, ignore_errors=True)
