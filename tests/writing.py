"""Files that tests load: texts, bytes, JSON documents, JSON Lines, compressed as their names say."""

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import orjson
import pyarrow as pa

COMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    ".Z": lambda data: compress_lzw(data),
    ".z": lambda data: compress_lzw(data),
}


def compress_lzw(data: bytes, bits: int = 16, *, can_clear: bool = True) -> bytes:
    """What `compress` makes of the data, without ever emptying its table.

    Without `can_clear`, the oldest form of the format, whose first entry is 256.
    """
    out = bytearray((0x1F, 0x9D, bits | (0x80 if can_clear else 0)))
    table = {bytes((value,)): value for value in range(256)}
    following = size = 257 if can_clear else 256  # the reader is one entry behind
    width, group, held = 9, 0, 0
    entry = b""
    for byte in (*data, None):
        longer = entry if byte is None else entry + bytes((byte,))
        if byte is not None and longer in table:
            entry = longer
            continue
        if not entry:
            break
        held |= table[entry] << width * group
        group += 1
        is_wider = following >= 1 << width and width < bits
        if group == 8 or is_wider or byte is None:
            out += held.to_bytes(width if byte is not None else -(-width * group // 8), "little")
            group = held = 0
        width += is_wider
        following += size < 1 << bits
        if byte is not None and size < 1 << bits:
            table[longer] = size
            size += 1
        entry = b"" if byte is None else bytes((byte,))
    return bytes(out)


def write_file(path: Path, content: object) -> Path:
    """The file with the content: bytes as they are, text as UTF-8, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    data = data if isinstance(data, bytes) else orjson.dumps(data)
    path.write_bytes(COMPRESS[path.suffix](data) if path.suffix in COMPRESS else data)
    return path


def write_files(folder: Path, files: Mapping[str, object]) -> Path:
    """The folder, with a file of each name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_file(folder / name, content)
    return folder


def write_zip(path: Path, entries: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    """An archive with an entry of each name."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def write_lines(path: Path, *records: object) -> Path:
    """The file with a line of JSON for each record; bytes are a line as they are."""
    lines = [record if isinstance(record, bytes) else orjson.dumps(record) for record in records]
    return write_file(path, b"".join(line + b"\n" for line in lines))
