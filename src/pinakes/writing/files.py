"""Files and folders that take their name when they are whole; what was there before stays until then."""

import bz2
import gzip
import lzma
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from pinakes.errors import InputError
from pinakes.faults import told_as

_COMPRESSORS: Final[dict[str, Callable[[Any], Any]]] = {
    ".gz": lambda stream: gzip.GzipFile("", "wb", 6, stream, mtime=0),
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    ".xz": lambda stream: lzma.LZMAFile(stream, "wb"),  # noqa: SIM115 (`open_whole` enters it)
    ".zst": lambda stream: pa.CompressedOutputStream(stream, "zstd"),
}
COMPRESSIONS: Final = tuple(_COMPRESSORS)


def find_kind(path: Path) -> str:
    """What a file's name says that it is: the suffix before that of a compression, in small letters.

    >>> find_kind(Path("run.JSON.gz")), find_kind(Path("run.gz")), find_kind(Path("a/run"))
    ('.json', '', '')
    """
    name = path.name.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return Path(name).suffix


@contextmanager
def open_whole(path: Path, *, compress: bool = True) -> Iterator[IO[bytes]]:
    """A stream to a file that takes its name, replacing the old one, when the block ends without an error.

    What is written is compressed where the name ends in one of `COMPRESSIONS`, unless `compress` is False.

    Raises:
        InputError: it cannot be written, or the name is that of a folder or a device.
    """
    with told_as(InputError, f"{path} cannot be written, and is as it was"):
        target = _require_file(path)
        building = target.with_name(f".{target.name}.part")
        try:
            with ExitStack() as opened:
                stream: Any = opened.enter_context(building.open("wb"))
                suffix = target.suffix.lower()
                if compress and suffix in _COMPRESSORS:
                    stream = opened.enter_context(_COMPRESSORS[suffix](stream))
                yield stream
            building.replace(target)
        finally:
            with suppress(OSError):  # what stopped the writing says more
                building.unlink()


def _require_file(path: Path) -> Path:
    """The file that a link leads to; a folder or a device is never replaced."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "no regular file"
        raise InputError(f"{path} cannot be written: it is {kind}; expected the name of a file.")
    return target


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a whole file, as `open_whole` does; the number of lines."""
    count = 0
    with open_whole(path) as stream:
        for line in lines:
            stream.write(line.encode() + b"\n")
            count += 1
    return count


@contextmanager
def make_whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes the name when the block ends without an error.

    Raises:
        InputError: there is something of that name already that is no empty folder, or it cannot be made.
    """
    with told_as(InputError, f"{folder} cannot be written"):
        target = folder.resolve()
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError(
                f"{folder} is there already and not empty; remove it first, or name another folder."
            )
        building = target.with_name(f".{target.name}.part")
        try:
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir(parents=True)
            yield building
            if target.exists():
                target.rmdir()
            building.replace(target)
        finally:
            shutil.rmtree(building, ignore_errors=True)
