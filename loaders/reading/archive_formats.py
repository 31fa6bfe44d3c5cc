"""The entries of a tar or zip archive, each opened in place; what is not trusted is refused."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

from pinakes.errors import InputError, OtherContentError
from pinakes.loaders.reading.breaks import BrokenStreamError, Salvaged
from pinakes.loaders.reading.compression import (
    BOMB_BYTES,
    BOMB_RATIO,
    buffer,
    decompress,
    explain_unreadable,
    translate_damage,
)

ZIP: Final = (".zip",)
TAR: Final = {
    ".tar": ".tar",
    ".tgz": ".gz",
    ".tbz2": ".bz2",
    ".txz": ".xz",
    ".tzst": ".zst",
    ".taz": ".Z",
    **{f".tar{suffix.lower()}": suffix for suffix in (".gz", ".bz2", ".xz", ".zst", ".Z")},
}
"""How a tar archive's name ends -> the suffix that says how it is compressed."""

_BLOCK_BYTES: Final = 1 << 18
_MAX_HEADER_BYTES: Final = 1 << 20
_LONG_HEADERS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, which can be opened until the next one is asked for."""

    name: str
    open: Callable[[], IO[bytes]]
    size: int

    @property
    def stream(self) -> IO[bytes]:
        """The file's bytes from the first one on; of a tar, to be asked for once."""
        return self.open()


def refuse(path: Path, name: str, why: str) -> None:
    """Raise `InputError` for an entry."""
    raise InputError(f"{path.name}: the entry {name!r} {why}; it is refused.")


def iterate_tar(path: Path) -> Generator[Member, None, None]:
    """The files of a tar archive, in its order."""
    with _open_file(path) as source, decompress(source, path.name, _name_compression(path)) as stream:
        bytes_ = _Whole(stream)
        with _open_tar(path, bytes_) as archive:
            while (entry := _next_entry(path, archive, bytes_)) is not None:
                cast(Any, archive).members.clear()  # the list would grow with every entry
                if _is_trusted_file(path, entry):
                    yield Member(entry.name, partial(_open_entry, path, archive, entry, bytes_), entry.size)
        with translate_damage(path.name):
            while bytes_.read(_BLOCK_BYTES):  # so that the checksum at the stream's end is checked
                pass
        bytes_.check()


class _Whole:
    """What a tar archive is read from: where it breaks off it ends, and `check` says so.

    The standard library throws away what it has read of an entry when the next bytes are damaged.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = Salvaged(stream)
        self.broken: BrokenStreamError | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the stream ended too early."""
        return self.broken is not None and isinstance(self.broken.__cause__, EOFError)

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end or the damage."""
        if self.broken is not None:
            return b""
        try:
            return self._stream.read(size)
        except BrokenStreamError as error:
            self.broken = error
            return b""

    def check(self) -> None:
        """Raise what was wrong with the stream."""
        if self.broken is not None:
            raise self.broken


def _name_compression(path: Path) -> str:
    suffixes = [suffix for suffix in TAR if path.name.lower().endswith(suffix)]
    return TAR[suffixes[-1]] if suffixes else ""


def _open_file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise explain_unreadable(path, error) from error


def _open_tar(path: Path, stream: _Whole) -> tarfile.TarFile:
    try:
        readable = cast(IO[bytes], stream)
        return tarfile.open(fileobj=readable, mode="r|", bufsize=_BLOCK_BYTES, tarinfo=_StrictEntry)
    except (tarfile.TarError, ValueError) as error:
        if stream.is_cut:
            stream.check()
        fault = stream.broken or error
        raise OtherContentError(f"{path.name} is not a tar archive, or is damaged: {fault}.") from error


class _StrictEntry(tarfile.TarInfo):
    """A tar header that must be whole: the standard library takes a damaged one for the archive's end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_StrictEntry":
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # the end mark; typeshed does not know the class
                raise
            raise tarfile.ReadError(f"{error}, where an entry or the end mark was expected") from error

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_StrictEntry":
        entry = super().frombuf(buf, encoding, errors)
        if entry.size < 0 or (entry.type in _LONG_HEADERS and entry.size > _MAX_HEADER_BYTES):
            raise tarfile.ReadError(f"a header of {entry.size} bytes")
        return entry


def _next_entry(path: Path, archive: tarfile.TarFile, stream: _Whole) -> tarfile.TarInfo | None:
    try:
        entry = archive.next()
    except (tarfile.TarError, ValueError, EOFError) as error:
        stream.check()
        raise BrokenStreamError(path.name, error) from error
    if entry is None:
        stream.check()
    return entry


def _open_entry(path: Path, archive: tarfile.TarFile, entry: tarfile.TarInfo, stream: _Whole) -> IO[bytes]:
    return buffer(_TarEntry(path.name, archive, entry.size, stream))


class _TarEntry(io.RawIOBase):
    """An entry's bytes, up to where the archive breaks off."""

    def __init__(self, name: str, archive: tarfile.TarFile, size: int, stream: _Whole) -> None:
        super().__init__()
        self._name = name
        self._blocks = cast(IO[bytes], archive.fileobj)
        self._left = size
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        wanted = min(len(target), self._left)
        data = self._blocks.read(wanted) if wanted else b""
        if wanted and not data:
            self._stream.check()
            raise BrokenStreamError(self._name, "it ends within an entry")
        target[: len(data)] = data
        self._left -= len(data)
        return len(data)


def _is_trusted_file(path: Path, entry: tarfile.TarInfo) -> bool:
    if entry.isdir():
        return False
    if not entry.isreg():
        refuse(path, entry.name, "is a link or a device")
    if entry.issparse():
        refuse(path, entry.name, "is a sparse file")
    return True


def iterate_zip(path: Path) -> Generator[Member, None, None]:
    """The files of a zip archive, in its order."""
    with _open_file(path) as source, _open_zip(path, source) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        size = sum(entry.file_size for entry in entries)
        if size > max(BOMB_BYTES, BOMB_RATIO * path.stat().st_size):
            raise InputError(
                f"{path.name} grows to more than {BOMB_RATIO} times its size; it is refused as a "
                "decompression bomb. Unpack it by hand if you trust it."
            )
        for entry in entries:
            _check_zip_entry(path, entry)
            yield Member(entry.filename, partial(_open_zip_entry, path, archive, entry), entry.file_size)


def _open_zip(path: Path, source: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, NotImplementedError) as error:
        source.seek(0)
        if source.read(2) == b"PK":  # the list of its entries stands at its end
            raise BrokenStreamError(path.name, error) from error
        raise OtherContentError(f"{path.name} is not a zip archive, or is damaged: {error}.") from error


def _check_zip_entry(path: Path, entry: zipfile.ZipInfo) -> None:
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        refuse(path, entry.filename, "is a link or a device")
    if entry.filename != entry.orig_filename:
        refuse(path, entry.orig_filename, "points outside the archive")
    if entry.flag_bits & 1:
        refuse(path, entry.filename, "is encrypted")


def _open_zip_entry(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    try:
        stream = archive.open(entry)
    except NotImplementedError as error:
        raise InputError(f"{path.name}: the entry {entry.filename!r} cannot be read: {error}.") from error
    except (zipfile.BadZipFile, RuntimeError, ValueError, EOFError, OSError) as error:
        raise BrokenStreamError(path.name, error) from error
    return buffer(Guarded(stream, path.name, stream.close))


class Guarded(io.RawIOBase):
    """An entry's stream whose damage is told as ours; closing it closes what it came from."""

    def __init__(self, source: IO[bytes], name: str, close: Callable[[], None]) -> None:
        super().__init__()
        self._source = source
        self._name = name
        self._close = close

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, target: Any) -> int:
        """Read up to so many bytes; damage is told as ours."""
        try:
            with translate_damage(self._name):
                data = cast(io.BufferedIOBase, self._source).read1(len(target))
        except zipfile.BadZipFile as error:
            raise BrokenStreamError(self._name, error) from error
        target[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close what it came from."""
        if not self.closed:
            self._close()
        super().close()
