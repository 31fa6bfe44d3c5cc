"""Tables as text: tab- or comma-separated rows under a header, plain or quoted after RFC 4180."""

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from pinakes.errors import OtherContentError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import (
    RAW_BYTES,
    CutLine,
    decode_utf8,
    read_lines_at,
    split_lines,
)
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

MAX_CELL_CHARACTERS: Final = 64 << 20


def read_table(
    file: InputFile,
    parse: Callable[[dict[str, str]], Rows],
    *,
    delimiter: str = "\t",
    columns: Sequence[str] | None = None,
    quoted: bool = False,
    encoding: str = "utf-8",
    required: Sequence[str] = (),
) -> Iterator[Accepted | Rejected]:
    """The records of a table: what `parse` makes of each row, column -> cell.

    A row with more or fewer cells than columns is rejected; empty lines are left out.

    Args:
        file: what to read.
        parse: makes the rows of a record.
        delimiter: what stands between two cells.
        columns: the columns' names; without them, the first row says them.
        quoted: whether cells may stand in double quotes, and then hold delimiters and line ends.
        encoding: how the text is encoded.
        required: the columns that the table must have.
    """
    rows = _split_quoted(file, delimiter, encoding) if quoted else _split_plain(file, delimiter, encoding)
    if columns is None:
        columns = _take_header(file, rows)
    _check_columns(file, columns, required)
    for record, (number, first_byte, raw, split) in enumerate(rows, start=1):
        make = partial(_parse_row, split, columns, parse)
        yield take_record(record, f"line {number}", raw, make, first_byte)


_Row = tuple[int, int, bytes, Callable[[], list[str]]]
"""A row: number and first byte of its first line, its bytes, what gives its cells or says what is amiss."""


def _take_header(file: InputFile, rows: Iterator[_Row]) -> list[str]:
    for *_, split in rows:
        try:
            return [cell.strip() for cell in split()]
        except RecordError as error:
            raise OtherContentError(f"{file.name}: the header is unreadable: {error}.") from error
    raise OtherContentError(f"{file.name} is empty; expected a line that names the columns.")


def _check_columns(file: InputFile, columns: Sequence[str], required: Sequence[str]) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        found = ", ".join(columns)[:RAW_BYTES]
        raise OtherContentError(f"{file.name} has no column {', '.join(missing)}; its columns are {found}.")
    if len(set(columns)) < len(columns):
        raise OtherContentError(f"{file.name} names a column twice: {', '.join(columns)[:RAW_BYTES]}.")


def _parse_row(
    split: Callable[[], list[str]], columns: Sequence[str], parse: Callable[[dict[str, str]], Rows]
) -> Rows:
    cells = split()
    if len(cells) != len(columns):
        raise RecordError("malformed_line", f"{len(cells)} cells, expected {len(columns)}")
    return parse(dict(zip(columns, cells, strict=True)))


def _decode(raw: bytes, encoding: str) -> str:
    if encoding == "utf-8" or isinstance(raw, CutLine):
        return decode_utf8(raw)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise RecordError("invalid_utf8", f"byte {error.start + 1} is not {encoding}") from error


def _split_plain(file: InputFile, delimiter: str, encoding: str) -> Iterator[_Row]:
    for number, first_byte, line in read_lines_at(file):
        yield number, first_byte, line, partial(_split_line, line, delimiter, encoding)


def _split_line(line: bytes, delimiter: str, encoding: str) -> list[str]:
    return _decode(line, encoding).split(delimiter)


def _split_quoted(file: InputFile, delimiter: str, encoding: str) -> Iterator[_Row]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)  # the library's own limit is below a long abstract
    lines = _Lines(file, encoding)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.taken = []
        fault = ""
        cells: list[str] = []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = str(error)
        raw = lines.join()
        if raw.strip():
            yield *lines.first, raw, partial(_give_cells, raw, encoding, cells, fault)


def _give_cells(raw: bytes, encoding: str, cells: list[str], fault: str) -> list[str]:
    _decode(raw, encoding)
    if fault:
        raise RecordError("malformed_line", fault)
    return cells


class _Lines:
    """The file's lines as text for the csv reader, and those that it took for the current row."""

    def __init__(self, file: InputFile, encoding: str) -> None:
        self._lines = split_lines(file)
        self._encoding = encoding
        self.taken: list[bytes] = []
        self.first = (0, 0)  # of the lines taken: number, first byte

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        number, first_byte, line = next(self._lines)
        if not self.taken:
            self.first = (number, first_byte)
        if number == 1 and self._encoding == "utf-8":
            line = line.removeprefix(b"\xef\xbb\xbf")
        self.taken.append(line)
        return line.decode(self._encoding, "replace")

    def join(self) -> bytes:
        """The bytes of the row; a `CutLine` where one of its lines was cut."""
        cut = [line for line in self.taken if isinstance(line, CutLine)]
        return cut[0] if cut else b"".join(self.taken).rstrip(b"\r\n")
