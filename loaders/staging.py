"""What a loader hands over: chunks of staged rows in the source's own ids, and the rows it rejected.

Every staged row carries `row_number`, the 1-based number of the source record that it came from, so that
a record and its child rows stand or fall together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.errors import MAX_MESSAGE
from pinakes.loaders.left_out import collect_left_out
from pinakes.schema.batches import Reason as Reason
from pinakes.schema.batches import UnreadReason as UnreadReason

REASONS: Final[dict[str, str]] = {
    "invalid_utf8": "the bytes are not UTF-8",
    "not_json": "the line is not JSON",
    "not_an_object": "the line is JSON, but not an object",
    "not_xml": "the document is not well-formed XML, or declares entities",
    "malformed_line": "the line has not the columns or the markers of its format",
    "too_large": "the record is larger than any record of its format",
    "missing_field": "a field that the format requires is missing or empty",
    "invalid_value": "a field holds a value of the wrong type or out of range",
    "duplicate_id": "an earlier record of the same file has the same id",
    "unknown_paper": "the row names a paper that the corpus does not hold",
    "unknown_query": "the row names a query that the corpus does not hold",
    "unknown_sentence": "the row names a sentence that the abstract of its query's paper does not have",
}

UNREAD: Final[dict[str, str]] = {
    "unknown_name": "the loader reads no file of that name or kind",
    "other_content": "the content is of another format",
    "copy": "a better copy of it is read",
    "empty": "it is empty",
    "hidden": "it is a hidden file, or of the system",
}
"""Why a file that was handed in is not read."""

LEFT_OUT: Final[dict[str, str]] = {
    "no_reference": "it names no entry of the paper's bibliography",
    "no_column": "no table has a column for it",
    "no_value": "it is empty, or lacks what makes a row",
    "invalid": "its value cannot be read",
    "repeated": "the record says it twice",
    "not_asked": "another file of the source is read for it, or no option asks for it",
}
"""Why no row is made of an item of an accepted record."""

_PAPER: Final = "source_id! title abstract year:int venue citation_count:int"
_COLUMNS: Final = {
    "papers": _PAPER,
    "mentioned_papers": _PAPER,
    "identifiers": "source_id! scheme! identifier!",
    "fields": "source_id! field! assigned_by!",
    "authorships": "source_id! position:int! author_source_id! author_name! block",
    "signatures": (
        "source_id! dataset! signature_id! number:int! position:int! first_name middle_name last_name "
        "name_suffix email affiliations block given_block split cluster"
    ),
    "sections": "source_id! section_number:int! title text!",
    "sentences": "source_id! section_number:int! position:int! text! facet source_label",
    "variants": "source_id! code! title abstract",
    "review_scores": "source_id! review_id! aspect! score:real!",
    "labels": "task! source_id! split! label! value:real quality!",
    "references": "reference_key! title abstract year:int",
    "reference_identifiers": "reference_key! scheme! identifier!",
    "citations": (
        "citing_source_id! reference_key! source_reference_id context context_start:int context_end:int "
        "intents is_influential:bool"
    ),
    "queries": "query_id! paper_source_id text description narrative facet field fold",
    "judgments": "query_id! source_id! assessor! split! grade:int!",
    "pool_sources": "query_id! source_id! source!",
    "sentence_selections": "query_id! selection! position:int!",
    "deletions": "kind! key!",
    "left_out": "kind! reason! items:int!",
}
"""staged table -> its columns; texts unless a type follows, `!` where null is not allowed"""
_TYPES: Final = {"": pa.string(), "int": pa.int32(), "real": pa.float64(), "bool": pa.bool_()}


def _build_schema(columns: str) -> pa.Schema:
    fields = [pa.field("row_number", pa.int64(), nullable=False)]
    for column in columns.split():
        name, _, type_ = column.removesuffix("!").partition(":")
        fields.append(pa.field(name, _TYPES[type_], nullable=not column.endswith("!")))
    return pa.schema(fields)


STAGED: Final = {name: _build_schema(columns) for name, columns in _COLUMNS.items()}
"""Staged table -> its columns; ids are the source's.

`mentioned_papers` are papers that a record describes in passing: added where the corpus lacks them, and
their gaps filled, but nothing of them replaced. `intents` are the source's words, sorted, joined by a comma.
`kind` of a deletion is `papers` (the key is a source_id) or `citations` (the key is a source_reference_id).
`left_out` counts the items of a record that no row is made of: their kind (the table that their row would
belong to, or `field NAME` of the source) and why (a key of `LEFT_OUT`).
"""

CHUNK_ROWS: Final = 100_000
CHUNK_BYTES: Final = 64 << 20
"""A chunk ends with either of these: so many records, or so many bytes of raw text."""
TRANSACTION_ROWS: Final = 250_000
TRANSACTION_BYTES: Final = 1 << 30
"""Chunks are merged in one transaction until it has so many records, or so many bytes (`Chunk.nbytes`)."""
BULK_CHUNK_ROWS: Final = 1_000_000
"""A chunk that was read as columns, not record by record, has at most so many."""

Rows = Mapping[str, list[dict[str, Any]]]
"""What one source record says: staged table -> rows, without `row_number`."""


class RecordError(Exception):
    """A parser's word that a record cannot be accepted; the load goes on, the record is rejected."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message[:MAX_MESSAGE])
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Accepted:
    """One source record that was understood: its rows, where it stands, and its raw text.

    Without a raw text, a record that the database refuses is shown as its staged rows. `size` is that of the
    whole record in bytes, where `raw` is only its beginning.
    """

    row_number: int
    rows: Rows
    location: str = ""
    raw: bytes | str = ""
    first_byte: int | None = None
    size: int = field(default=0, compare=False)

    @property
    def end_byte(self) -> int | None:
        """Where the record ends in the decompressed file; None where its beginning is not known."""
        return None if self.first_byte is None else self.first_byte + len(self.raw)


@dataclass(frozen=True, slots=True)
class Rejected:
    """One source record that was not accepted: where it stands, why, and its raw text."""

    row_number: int
    location: str
    reason: Reason
    message: str
    raw: str
    first_byte: int | None = None
    end_byte: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an accepted record stands in its file, and its raw text."""

    location: str
    raw: bytes | str


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file of the source that is not read, by its name below the source, and why."""

    name: str
    reason: UnreadReason
    message: str = ""


@dataclass(slots=True)
class Chunk:
    """Consecutive source records of one file: what was accepted, as Arrow tables, and what was rejected.

    `rows_in` = records in the chunk = accepted + rejected. `last_row` is the number of the last record.
    `origins`: row number -> origin of an accepted record, where the loader knows it. `first_byte` and
    `end_byte` say where the records stand in the decompressed file, where the loader knows it.
    `skipped` counts accepted records of which a mapping makes no row. `unread` are entries of the archive
    that were passed over.
    """

    last_row: int
    rows_in: int
    tables: dict[str, pa.Table] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    origins: Mapping[int, Origin | Accepted] = field(default_factory=dict)
    first_byte: int | None = None
    end_byte: int | None = None
    skipped: int = 0
    unread: list[UnreadFile] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """The bytes that the chunk holds: of its tables, and of the records as they stand in the file."""
        staged = sum(int(rows.nbytes) for rows in self.tables.values())
        if self.first_byte is not None and self.end_byte is not None:
            return staged + self.end_byte - self.first_byte
        return 2 * staged


def cut_chunk(chunk: Chunk, last_row: int) -> Chunk:
    """The chunk without the records behind `last_row`."""
    if chunk.last_row <= last_row:
        return chunk
    tables = {
        name: rows.filter(pc.less_equal(rows["row_number"], last_row)) for name, rows in chunk.tables.items()
    }
    rejected = [row for row in chunk.rejected if row.row_number <= last_row]
    staged = {number for rows in tables.values() for number in rows["row_number"].to_pylist()}
    accepted = staged | {number for number in chunk.origins if number <= last_row}  # one may stage no row
    skipped = len(accepted) - len(staged) if chunk.skipped else 0
    rows_in = len(accepted) + len(rejected)
    return Chunk(last_row, rows_in, tables, rejected, chunk.origins, skipped=skipped)


def take_record(
    number: int,
    location: str,
    raw: bytes | str,
    parse: Callable[[], Rows],
    first_byte: int | None = None,
) -> Accepted | Rejected:
    """The record accepted with the rows that `parse` gives, or rejected with the error that it raises.

    What it leaves out (`left_out.leave_out`) is among the rows.

    >>> take_record(7, "line 7", "x", lambda: {"papers": [{"source_id": "x"}]}).row_number
    7
    """
    try:
        return Accepted(number, collect_left_out(parse), location, raw, first_byte)
    except RecordError as error:
        end_byte = None if first_byte is None else first_byte + len(raw)
        return Rejected(number, location, error.reason, str(error), show_raw(raw), first_byte, end_byte)


def show_raw(raw: bytes | str) -> str:
    """A raw record as text that every database can hold: what is no UTF-8, and NUL, is escaped.

    >>> show_raw(b"caf\\xe9\\x00")
    'caf\\\\xe9\\\\x00'
    """
    data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace").replace("\x00", "\\x00")
