"""The files of a sealed folder on storage that all machines share, and a copy of them on each machine.

An index that is searched as mapped files has to lie on a local disk. Its files are sent once, their list
last; a machine copies them once, and compares each with the list.
"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pinakes.cache_folder import find_cache_folder
from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import SEAL_FILE, check_seal, describe_file
from pinakes.writing.folders import Folder, open_folder

CACHE: Final = "copies"
COPY_BYTES: Final = 1 << 22


def send_folder(folder: Path, place: str) -> str:
    """Have the files of a sealed folder below a place; the address of the folder that they are in.

    Raises IndexingError where a file is not as it was sealed.
    """
    seal = (folder / SEAL_FILE).read_bytes()
    target = open_folder(place).below(f"{folder.name}-{hashlib.sha256(seal).hexdigest()[:16]}")
    with told_as(IndexingError, f"{target.address} cannot be written"):
        target.prepare()
        sealed: dict[str, Any] = json.loads(seal)
        if _is_whole(target, seal, sealed):
            return target.address
        check_seal(folder, again=False)
        found = target.list_files()
        for name, described in sealed.items():
            if found.get(name) != described["bytes"]:
                with target.make_file(name) as made:
                    _link_or_copy(folder / name, made)
                    target.put(made, name)
                target.sync(name)
        target.write_file(SEAL_FILE, seal)
    return target.address


def copy_folder(address: str, cache: Path | None = None) -> Path:
    """A copy of a sent folder on this machine, made by the first who asks; the others wait for it.

    Raises IndexingError where the folder is not there whole, or a file is not as it was sealed.
    """
    source = open_folder(address)
    try:
        seal = source.read_file(SEAL_FILE)
        sealed: dict[str, Any] = json.loads(seal)
    except (FileNotFoundError, ValueError) as error:
        raise IndexingError(f"{address} is not there whole; start the same command again") from error
    root = cache or find_cache_folder(CACHE) or Path(tempfile.gettempdir()) / f"pinakes-copies-{os.getuid()}"
    copied = root / hashlib.sha256(address.encode() + seal).hexdigest()[:32]
    with told_as(IndexingError, f"the index cannot be copied to {copied}"), _wait_for(root, copied.name):
        if copied.is_dir():
            check_seal(copied, again=False)
            return copied
        building = copied.with_name(f".{copied.name}.building")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        for name, described in sealed.items():
            _copy_file(source, name, building / name, described)
        (building / SEAL_FILE).write_bytes(seal)
        building.rename(copied)
    return copied


def _copy_file(source: Folder, name: str, target: Path, described: dict[str, Any]) -> None:
    try:
        with source.telling(), source.open_file(name) as stream, target.open("wb") as file:
            while content := stream.read(COPY_BYTES):
                file.write(content)
    except FileNotFoundError as error:
        raise IndexingError(f"{source.address} has lost {name}; start the same command again") from error
    if describe_file(target) != described:
        # So that the next start sends it again.
        source.remove(name)
        raise IndexingError(f"{name} in {source.address} is damaged; start the same command again")


def _is_whole(target: Folder, seal: bytes, sealed: dict[str, Any]) -> bool:
    try:
        if target.read_file(SEAL_FILE) != seal:
            return False
    except FileNotFoundError:
        return False
    found = target.list_files()
    return all(found.get(name) == described["bytes"] for name, described in sealed.items())


def _link_or_copy(path: Path, made: Path) -> None:
    try:
        os.link(path, made)
    except OSError:  # another file system
        shutil.copyfile(path, made)


@contextmanager
def _wait_for(root: Path, name: str) -> Iterator[None]:
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(root / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
