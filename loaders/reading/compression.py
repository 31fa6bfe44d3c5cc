"""Decompressed bytes of `.gz`, `.bz2`, `.xz`, `.zst` and `.Z` streams, strict about how they end.

A stream that is cut short, damaged, or followed by anything but zeros raises, after what came before was
handed out; one that grows beyond all measure is refused. TREC's disks call what `compress` wrote `.Z`, `.z`,
and parts of a file `.0z`, `.1z`, …
"""

import bz2
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, Protocol, cast

import pyarrow as pa
from zlib_ng import zlib_ng

from pinakes.errors import InputError
from pinakes.loaders.reading.breaks import BrokenStreamError
from pinakes.loaders.reading.lzw import LzwDecompressor

BOMB_BYTES: Final = 1 << 30
BOMB_RATIO: Final = 1_000
"""A stream of more than `BOMB_BYTES` that is more than `BOMB_RATIO` times its compressed size is refused."""

_READ_BYTES: Final = 1 << 18
_PART_BYTES: Final = 1 << 20
"""What is decompressed at once: more would be fresh memory each time."""
_XZ_MEMORY_BYTES: Final = 1 << 30


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _GzipDecompressor:
    """zlib-ng's object, three times as fast as zlib's, with the members that bz2's and lzma's have."""

    def __init__(self) -> None:
        self._inner = zlib_ng.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(0, max_length))


def _start_xz() -> _Decompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES)


_DECOMPRESSORS: Final[dict[str, Callable[[], _Decompressor]]] = {
    ".gz": _GzipDecompressor,
    ".bz2": bz2.BZ2Decompressor,
    ".xz": _start_xz,
}
_LZW: Final = (".Z", ".z")
COMPRESSIONS: Final = (*_DECOMPRESSORS, ".zst", *_LZW)
_SUFFIX: Final = re.compile(r"\.(?:gz|bz2|xz|zst|[0-9]?[zZ])$")


def find_compression(name: str) -> str:
    """Which of `COMPRESSIONS` the end of a file's name says; empty where it says none.

    >>> find_compression("corpus.jsonl.zst"), find_compression("fr940104.0z"), find_compression("a.json")
    ('.zst', '.z', '')
    """
    found = _SUFFIX.search(name)
    return "" if found is None else re.sub("[0-9](?=[zZ])", "", found[0])


def strip_compression(name: str) -> str:
    """A file's name without the suffix that says how it is compressed.

    >>> strip_compression("corpus.jsonl.zst"), strip_compression("corpus.jsonl")
    ('corpus.jsonl', 'corpus.jsonl')
    """
    return _SUFFIX.sub("", name)


def decompress(source: IO[bytes], name: str, suffix: str | None = None) -> IO[bytes]:
    """The source itself, or its decompressed bytes where its name ends in one of `COMPRESSIONS`.

    Closing the result closes the source.

    Args:
        source: what to read.
        name: what messages call it.
        suffix: how it is compressed, where its name does not say so.

    Raises:
        BrokenStreamError: while reading, when the stream ends too early or is damaged; an empty file is.
        InputError: while reading, when the stream is a decompression bomb.
        OtherContentError: while reading, where the name ends in `.Z` and `compress` did not write the stream.
    """
    said = find_compression(name) if suffix is None else suffix
    if said in _DECOMPRESSORS:
        return buffer(_Decompressed(source, name, _DECOMPRESSORS[said]))
    if said in _LZW:
        return buffer(_Decompressed(source, name, partial(LzwDecompressor, name)))
    return buffer(_ZstdDecompressed(source, name)) if said == ".zst" else source


def explain_unreadable(path: Path, error: OSError) -> InputError:
    """What is said where a file cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {path}.")
    return InputError(f"{path} cannot be read: {error.strerror or error}.")


def buffer(raw: io.RawIOBase) -> IO[bytes]:
    """The raw stream with a buffer of a size that suits long lines."""
    return cast(IO[bytes], io.BufferedReader(raw, _READ_BYTES))


class _Growing(io.RawIOBase):
    """A decompressed stream that watches how it grows."""

    def __init__(self, source: IO[bytes], name: str) -> None:
        super().__init__()
        self._source = source
        self._name = name
        self._bytes_in = 0
        self._bytes_out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        with translate_damage(self._name):
            data = self._read_some(min(len(target), _PART_BYTES))
        target[: len(data)] = data
        self._bytes_out += len(data)
        if self._bytes_out > max(BOMB_BYTES, BOMB_RATIO * self._bytes_in):
            raise InputError(
                f"{self._name} grows to more than {BOMB_RATIO} times its size; it is refused as a "
                "decompression bomb. Decompress it by hand if you trust it."
            )
        return len(data)

    def read_source(self, size: int = _READ_BYTES) -> bytes:
        """The next compressed bytes."""
        data = cast(io.BufferedIOBase, self._source).read1(size)
        self._bytes_in += len(data)
        return data

    def _read_some(self, size: int) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class _Decompressed(_Growing):
    """One or more compressed streams in a row; zeros after them are padding."""

    def __init__(self, source: IO[bytes], name: str, start: Callable[[], _Decompressor]) -> None:
        super().__init__(source, name)
        self._start = start
        self._current = start()
        self._rest = b""

    def _read_some(self, size: int) -> bytes:
        while True:
            if self._current.eof and not self._start_next():
                return b""
            is_hungry = self._current.needs_input
            data = (self._rest or self.read_source()) if is_hungry else b""
            if is_hungry:
                self._rest = b""
            is_end = is_hungry and not data
            found = self._current.decompress(data, size)
            if found:
                return found
            if is_end and not self._current.eof:
                raise EOFError("its compressed stream ends too early")

    def _start_next(self) -> bool:
        """Whether another compressed stream follows; the first of its bytes are kept for it."""
        rest = self._current.unused_data.lstrip(b"\0")
        while not rest:
            more = self.read_source()
            if not more:
                return False
            rest = more.lstrip(b"\0")
        self._current, self._rest = self._start(), rest
        return True


class _ZstdDecompressed(_Growing):
    """Zstandard frames, by Arrow."""

    def __init__(self, source: IO[bytes], name: str) -> None:
        super().__init__(source, name)
        self._inner: Any = None

        self._broken: Exception | None = None

    def _read_some(self, size: int) -> bytes:
        if self._broken is not None:
            raise self._broken
        self._inner = self._inner or self._start()
        try:
            found: bytes = self._inner.read(size)
        except OSError as error:
            is_cut = "Truncated" in str(error)
            self._broken = EOFError("its compressed stream ends too early") if is_cut else error
            found = self._salvage()
            if not found:
                raise self._broken from error
        if not found and not self._bytes_in:
            raise EOFError("it is empty, and should be compressed")
        return found

    def _start(self) -> Any:
        return pa.CompressedInputStream(pa.PythonFile(_Counted(self), mode="r"), "zstd")

    def _salvage(self) -> bytes:
        """What stands before the damage and was not handed out, which Arrow then throws away.

        Nothing where the source cannot be read again, as an entry of an archive cannot.
        """
        if not self._source.seekable():
            return b""
        self._source.seek(0)
        again = self._start()
        left = self._bytes_out
        while left:
            left -= len(again.read(min(left, _PART_BYTES)))
        rest = bytearray()
        with suppress(OSError):
            while byte := again.read(1):
                rest += byte
        return bytes(rest)


class _Counted:
    """What Arrow reads a compressed source through, so that its bytes are counted."""

    closed = False

    def __init__(self, stream: _ZstdDecompressed) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """The next compressed bytes."""
        return self._stream.read_source(size)

    def close(self) -> None:
        """Do nothing: the source is closed by the stream that owns it."""


_DAMAGE: Final[tuple[type[Exception], ...]] = (
    EOFError,
    zlib.error,  # of archives' own readers
    cast(type[Exception], zlib_ng.error),
    lzma.LZMAError,
    OSError,
    ValueError,
)


@contextmanager
def translate_damage(name: str) -> Iterator[None]:
    """Turn what decompressors say of damaged bytes into `BrokenStreamError`."""
    try:
        yield
    except _DAMAGE as error:
        raise BrokenStreamError(name, error) from error
