"""Blocks of whole lines: a file's decompressed bytes in pieces of many lines, with numbers and offsets."""

import codecs
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any, Final, cast

import numpy as np

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.breaks import BrokenStreamError, explain_break
from pinakes.loaders.reading.streams import MAX_LINE_BYTES, RAW_BYTES, CutLine, open_stream
from pinakes.loaders.staging import Accepted

BLOCK_BYTES: Final = 64 << 20

_NEWLINE: Final = 10
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Block:
    """Consecutive lines of a file.

    Attributes:
        data: the lines with their ends; of a cut line the first bytes.
        first_line: the number of the first line, from 1.
        first_byte: where the block begins among the file's decompressed bytes.
        is_cut: whether the block is one line beyond `MAX_LINE_BYTES`.
        length: the bytes of the file that the block stands for.
    """

    data: memoryview
    first_line: int
    first_byte: int
    is_cut: bool
    length: int

    @cached_property
    def ends(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The offset behind each line's end."""
        data = np.frombuffer(self.data, np.uint8)
        # In pieces, so that what is compared stays in the processor's cache.
        places = range(0, len(data), _PIECE_BYTES)
        parts = [np.flatnonzero(data[at : at + _PIECE_BYTES] == _NEWLINE) + (at + 1) for at in places]
        if len(data) and data[-1] != _NEWLINE:
            parts.append(np.array([len(data)]))
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return 1 if self.is_cut else len(self.ends)

    @property
    def last_line(self) -> int:
        """The number of the last line."""
        return self.first_line + len(self) - 1

    @property
    def end_byte(self) -> int:
        """Where the next block begins."""
        return self.first_byte + self.length

    def get_line(self, index: int) -> bytes:
        """The line at that index from 0, without its end and a byte order mark."""
        if self.is_cut:
            return CutLine(bytes(self.data))
        line = bytes(self.data[self.find_start(index) : int(self.ends[index])])
        if len(line) > MAX_LINE_BYTES - (not line.endswith(b"\n")):
            return CutLine(line[:RAW_BYTES])
        line = line.rstrip(b"\r\n")
        return line.removeprefix(codecs.BOM_UTF8) if self.first_line + index == 1 else line

    def find_start(self, index: int) -> int:
        """The offset of the line at that index from 0."""
        return int(self.ends[index - 1]) if index else 0

    def list_lines(self) -> Iterator[tuple[int, int, bytes]]:
        """The lines that are not blank, with their numbers and where they begin in the file."""
        for index in range(len(self)):
            line = self.get_line(index)
            if line.strip():
                yield self.first_line + index, self.first_byte + self.find_start(index), line

    def split(self, lines: int) -> tuple["Block", "Block"]:
        """The first lines, at least one and not all, and the rest."""
        cut = int(self.ends[lines - 1])
        first = Block(self.data[:cut], self.first_line, self.first_byte, False, cut)
        rest = self.data[cut:]
        return first, Block(rest, self.first_line + lines, self.first_byte + cut, False, len(rest))


class LineOrigins(Mapping[int, Accepted]):
    """Line number -> where it stands and its bytes, cut out of the block only when asked for."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def __getitem__(self, number: int) -> Accepted:
        index = number - self._block.first_line
        if not 0 <= index < len(self._block):
            raise KeyError(number)
        line, start = self._block.get_line(index), self._block.find_start(index)
        return Accepted(number, {}, f"line {number}", line, self._block.first_byte + start)

    def __len__(self) -> int:
        return len(self._block)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._block.first_line, self._block.first_line + len(self._block)))


def read_blocks(file: InputFile, block_bytes: int | None = None) -> Iterator[Block]:
    """The file in blocks of about `block_bytes` (`BLOCK_BYTES`), each of whole lines.

    A line beyond `MAX_LINE_BYTES` is a block of its own, cut.

    Raises:
        InputError: there is no such file, or it cannot be read.
        LoadError: the stream ends too early or is damaged; the whole lines before that come first.
    """
    cutter = _Cutter(block_bytes or BLOCK_BYTES)
    try:
        with open_stream(file) as stream:
            yield from cutter.read(stream)
    except BrokenStreamError as error:
        raise explain_break(error, f"after line {cutter.count_lines()}", file.name) from error
    except OSError as error:
        raise InputError(f"{file.name} cannot be read: {error.strerror or error}.") from error


def _find_last_end(view: memoryview) -> int:
    """The offset behind the last line end; 0 where there is none."""
    for end in range(len(view), 0, -_PIECE_BYTES):
        start = max(0, end - _PIECE_BYTES)
        if (place := bytes(view[start:end]).rfind(b"\n")) >= 0:
            return start + place + 1
    return 0


class _Cutter:
    """Bytes that have been read and not handed out yet, and where they stand."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._held = memoryview(b"")
        self._first_byte = 0
        self.first_line = 1

    def read(self, stream: IO[bytes]) -> Iterator[Block]:
        is_end = False
        while not is_end:
            try:
                is_end = self._fill(stream)
            except BrokenStreamError:
                if cut := _find_last_end(self._held):
                    yield self._take(cut)
                raise
            if cut := _find_last_end(self._held):
                yield self._take(cut)
            if len(self._held) >= MAX_LINE_BYTES:
                yield self._take_cut_line(stream)
        if self._held:
            yield self._take(len(self._held))

    def _fill(self, stream: IO[bytes]) -> bool:
        """Read one block more behind what is held; whether the stream has ended."""
        size = len(self._held)
        view = np.empty(size + self._block_bytes, dtype=np.uint8).data
        view[:size] = self._held
        try:
            while size < len(view):
                # Not `read`, which does not say how far a damaged stream is whole.
                count = cast(io.BufferedIOBase, stream).readinto1(view[size:])
                if not count:
                    return True
                size += count
            return False
        finally:
            self._held = view[:size]

    def count_lines(self) -> int:
        """How many whole lines have been read."""
        return self.first_line - 1 + bytes(self._held).count(b"\n")

    def _take(self, size: int) -> Block:
        block = Block(self._held[:size], self.first_line, self._first_byte, False, size)
        self._held = self._held[size:]
        self._advance(block)
        return block

    def _take_cut_line(self, stream: IO[bytes]) -> Block:
        kept, length = self._held[:RAW_BYTES], len(self._held)
        self._held = memoryview(b"")
        while data := stream.read(_PIECE_BYTES):
            end = data.find(b"\n") + 1
            length += end or len(data)
            if end:
                self._held = memoryview(data)[end:]
                break
        block = Block(kept, self.first_line, self._first_byte, True, length)
        self._advance(block)
        return block

    def _advance(self, block: Block) -> None:
        self.first_line += len(block)
        self._first_byte += block.length
