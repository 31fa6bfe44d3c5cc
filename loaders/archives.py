"""Entries of tar archives, read in place and never unpacked to disk.

Nothing is trusted: entries with absolute or `..` paths, links, devices, and entries that grow beyond a
limit are refused. Leaves out: other archive formats.
"""

import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

from pinakes.errors import InputError, LoadError

MAX_ENTRY_BYTES: Final = 256 << 20


def list_members(path: Path) -> list[str]:
    """The names of the archive's files, in its order.

    Raises:
        InputError: there is no such archive, or one of its entries is not to be trusted.
        LoadError: the archive is damaged or cut short.
    """
    with _open_archive(path) as archive:
        return [entry.name for entry in archive if _is_trusted_file(path, entry)]


def open_member(path: Path, name: str) -> IO[bytes]:
    """The bytes of one entry.

    Raises:
        InputError: there is no such entry, or it is not to be trusted.
        LoadError: the archive is damaged or cut short.
    """
    with _open_archive(path) as archive:
        for entry in archive:
            if entry.name == name and _is_trusted_file(path, entry):
                stream = archive.extractfile(entry)
                if stream is not None:
                    return io.BytesIO(stream.read())
    raise InputError(f"{path.name} has no entry {name!r}.")


@contextmanager
def _open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        archive = tarfile.open(path, mode="r:*")  # noqa: SIM115 (closed below; opening has errors of its own)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} is not a tar archive, or is damaged: {error}.") from error
    with archive:
        try:
            yield archive
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise LoadError(f"{path.name} is damaged or cut short: {error}. Fetch it again.") from error


def _is_trusted_file(path: Path, entry: tarfile.TarInfo) -> bool:
    if entry.isdir():
        return False
    name = PurePosixPath(entry.name)
    if name.is_absolute() or ".." in name.parts:
        raise InputError(f"{path.name}: the entry {entry.name!r} points outside the archive; it is refused.")
    if not entry.isreg():
        raise InputError(f"{path.name}: the entry {entry.name!r} is a link or a device; it is refused.")
    if entry.size > MAX_ENTRY_BYTES:
        raise InputError(
            f"{path.name}: the entry {entry.name!r} has {entry.size} bytes; "
            f"at most {MAX_ENTRY_BYTES} are read."
        )
    return True
