"""The folder of a side index: whole under its name, or not there at all, with its settings beside its files.

Leaves out: what the files are, and the row of the database that says what an index was built from.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError

PARAMETERS_FILE: Final = "parameters.json"


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes the name `folder` only when the block ends without an error.

    The work lies in a hidden sibling; one that a killed build left is emptied by the next build. A folder
    that had the name is replaced. Raises IndexingError if the same folder is being built by another process.
    """
    building = folder.with_name(f".{folder.name}.building")
    building.mkdir(parents=True, exist_ok=True)
    lock = os.open(building, os.O_RDONLY)
    try:
        _lock(lock, folder)
        _empty(building)
        try:
            yield building
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        _take_name(building, folder)
    finally:
        os.close(lock)


def write_parameters(folder: Path, saved: Mapping[str, Any]) -> None:
    """Write the settings that reading the index needs, beside its files."""
    text = json.dumps(saved, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / PARAMETERS_FILE).write_text(text + "\n", encoding="utf-8")


def read_parameters(folder: Path, kind: str) -> dict[str, Any]:
    """The settings that `write_parameters` wrote; IndexingError unless `folder` holds an index of `kind`."""
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


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        raise IndexingError(
            f"{folder} is being built by another process; wait for it to end, then start again"
        ) from problem


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
