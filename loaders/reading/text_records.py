"""Records of several lines, each of which begins with a line of its own kind."""

import codecs
import re
from collections.abc import Iterator
from typing import IO

from pinakes.loaders.reading.documents import MAX_DOCUMENT_BYTES
from pinakes.loaders.reading.streams import RAW_BYTES, CutLine, split_stream


def split_records(
    stream: IO[bytes], begins: re.Pattern[bytes], behind_blank: re.Pattern[bytes] | None = None
) -> Iterator[bytes]:
    """The records of a stream without blank lines; one of more than `MAX_DOCUMENT_BYTES` as a `CutLine`.

    Args:
        stream: what is read.
        begins: what a record's first line begins with.
        behind_blank: what it may begin with besides, where an empty line stands before it.
    """
    record, size, is_behind_blank = bytearray(), 0, False
    for number, _, whole in split_stream(stream):
        line = whole.removeprefix(codecs.BOM_UTF8) if number == 1 else whole
        if not line.strip():
            is_behind_blank = True
            continue
        may_begin = behind_blank is not None and is_behind_blank and behind_blank.match(line)
        if record and (begins.match(line) or may_begin):
            yield _show(record, size)
            record, size = bytearray(), 0
        is_behind_blank = False
        size += MAX_DOCUMENT_BYTES + 1 if isinstance(whole, CutLine) else len(line)
        if size <= MAX_DOCUMENT_BYTES or not record:
            record += line
    if record:
        yield _show(record, size)


def _show(record: bytearray, size: int) -> bytes:
    return CutLine(record[:RAW_BYTES]) if size > MAX_DOCUMENT_BYTES else bytes(record)
