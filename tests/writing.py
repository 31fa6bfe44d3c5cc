"""Files that tests load: texts, bytes, JSON documents, JSON Lines, compressed as their names say."""

import bz2
import gzip
import lzma
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
}


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


def write_lines(path: Path, *records: object) -> Path:
    """The file with a line of JSON for each record; bytes are a line as they are."""
    lines = [record if isinstance(record, bytes) else orjson.dumps(record) for record in records]
    return write_file(path, b"".join(line + b"\n" for line in lines))
