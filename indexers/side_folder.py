"""The folder of a side index: whole under its name, or not there at all, sealed with a digest of each file.

A file that changed after the build is found when the index is opened, so that a damaged one is never
searched.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError
from pinakes.faults import explain_fault, told_as

PARAMETERS_FILE: Final = "parameters.json"
SEAL_FILE: Final = "files.json"
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
            shutil.rmtree(building, ignore_errors=True)
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
    """The settings that `write_parameters` wrote, after every file was compared with its digest.

    Raises IndexingError unless `folder` holds an index of `kind` whose files are as they were built. Reads
    the files once, at about the speed of the disk.
    """
    check_seal(folder, kind)
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


def check_seal(folder: Path, kind: str = "side") -> None:
    """Raise IndexingError unless each file of the folder has the bytes that it was sealed with."""
    try:
        sealed = json.loads((folder / SEAL_FILE).read_text(encoding="utf-8"))
        damaged = sorted(name for name, seal in sealed.items() if describe_file(folder / name) != seal)
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
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": os.fstat(file.fileno()).st_size, "sha256": digest}


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _take_name(building: Path, folder: Path) -> None:
    replaced = folder.with_name(f".{folder.name}.replaced")
    if replaced.exists():
        shutil.rmtree(replaced)
    if folder.exists():
        folder.rename(replaced)
    building.rename(folder)
    shutil.rmtree(replaced, ignore_errors=True)
