"""What a loader hands over: chunks of staged rows in the source's own ids, and the rows it rejected.

Every staged row carries `row_number`, the 1-based number of the source record that it came from, so that
a record and all that hangs on it stand or fall together. Leaves out: the database (`merge`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import pyarrow as pa

Reason = Literal[
    "invalid_utf8",
    "not_json",
    "not_an_object",
    "malformed_line",
    "missing_field",
    "invalid_value",
    "duplicate_id",
    "unknown_paper",
    "unknown_query",
]

REASONS: Final[dict[str, str]] = {
    "invalid_utf8": "the bytes are not UTF-8",
    "not_json": "the line is not JSON",
    "not_an_object": "the line is JSON, but not an object",
    "malformed_line": "the line has not the columns or the markers of its format",
    "missing_field": "a field that the format owes is missing or empty",
    "invalid_value": "a field holds a value of the wrong type or out of range",
    "duplicate_id": "an earlier record of the same file has the same id",
    "unknown_paper": "the row names a paper that the corpus does not hold",
    "unknown_query": "the row names a query that the corpus does not hold",
}

_TEXT: Final = pa.string()
_INTEGER: Final = pa.int32()
_NUMBER: Final = pa.int64()

STAGED: Final[dict[str, pa.Schema]] = {
    name: pa.schema([pa.field("row_number", _NUMBER, nullable=False), *columns])
    for name, columns in {
        "papers": [
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("title", _TEXT),
            pa.field("abstract", _TEXT),
            pa.field("year", _INTEGER),
            pa.field("venue", _TEXT),
            pa.field("citation_count", _INTEGER),
        ],
        "identifiers": [
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("scheme", _TEXT, nullable=False),
            pa.field("identifier", _TEXT, nullable=False),
        ],
        "fields": [
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("field", _TEXT, nullable=False),
            pa.field("assigned_by", _TEXT, nullable=False),
        ],
        "authorships": [
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("position", _INTEGER, nullable=False),
            pa.field("author_source_id", _TEXT, nullable=False),
            pa.field("author_name", _TEXT, nullable=False),
        ],
        "sentences": [
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("section_number", _INTEGER, nullable=False),
            pa.field("position", _INTEGER, nullable=False),
            pa.field("text", _TEXT, nullable=False),
            pa.field("facet", _TEXT),
            pa.field("source_label", _TEXT),
        ],
        "citations": [
            pa.field("citing_source_id", _TEXT, nullable=False),
            pa.field("cited_source_id", _TEXT, nullable=False),
            pa.field("source_reference_id", _TEXT),
            pa.field("context", _TEXT),
            pa.field("context_start", _INTEGER),
            pa.field("context_end", _INTEGER),
        ],
        "queries": [
            pa.field("query_id", _TEXT, nullable=False),
            pa.field("paper_source_id", _TEXT),
            pa.field("text", _TEXT),
            pa.field("description", _TEXT),
            pa.field("narrative", _TEXT),
            pa.field("facet", _TEXT),
            pa.field("field", _TEXT),
            pa.field("fold", _TEXT),
        ],
        "judgments": [
            pa.field("query_id", _TEXT, nullable=False),
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("assessor", _TEXT, nullable=False),
            pa.field("split", _TEXT, nullable=False),
            pa.field("grade", _INTEGER, nullable=False),
        ],
        "pool_sources": [
            pa.field("query_id", _TEXT, nullable=False),
            pa.field("source_id", _TEXT, nullable=False),
            pa.field("source", _TEXT, nullable=False),
        ],
    }.items()
}
"""Staged table -> its columns; ids are the source's."""

CHUNK_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Accepted:
    """One source record that was understood: its rows, by staged table, without `row_number`."""

    row_number: int
    rows: Mapping[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Rejected:
    """One source record that was not accepted: where it stands, why, and its raw text."""

    row_number: int
    location: str
    reason: Reason
    message: str
    raw: str


@dataclass(slots=True)
class Chunk:
    """Consecutive source records of one file: what was accepted, as Arrow tables, and what was rejected.

    `rows_in` = records in the chunk = accepted + rejected. `last_row` is the number of the last record.
    """

    last_row: int
    rows_in: int
    tables: dict[str, pa.Table] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)


def gather_chunks(
    records: Iterable[Accepted | Rejected], *, first_row: int = 1, chunk_rows: int = CHUNK_ROWS
) -> Iterator[Chunk]:
    """The records in chunks of at most `chunk_rows`, leaving out those before `first_row`.

    >>> one = Accepted(1, {"papers": [{"source_id": "a", "title": "T"}]})
    >>> two = Rejected(2, "line 2", "not_json", "no JSON", "{")
    >>> [(chunk.rows_in, chunk.tables["papers"].num_rows) for chunk in gather_chunks([one, two])]
    [(2, 1)]
    """
    pending: list[Accepted | Rejected] = []
    for record in records:
        if record.row_number < first_row:
            continue
        pending.append(_refuse_nul(record))
        if len(pending) == chunk_rows:
            yield _build_chunk(pending)
            pending = []
    if pending:
        yield _build_chunk(pending)


def _refuse_nul(record: Accepted | Rejected) -> Accepted | Rejected:
    # Postgres has no NUL character in a text, and both databases hold the same rows.
    if isinstance(record, Accepted):
        for row in (row for rows in record.rows.values() for row in rows):
            for column, value in row.items():
                if isinstance(value, str) and "\x00" in value:
                    location = f"record {record.row_number}"
                    message = f"{column} holds a NUL character"
                    raw = repr(row)
                    return Rejected(record.row_number, location, "invalid_value", message, raw)
        return record
    return replace(record, raw=record.raw.replace("\x00", "\\x00"))


def _build_chunk(records: list[Accepted | Rejected]) -> Chunk:
    rows: dict[str, list[dict[str, Any]]] = {}
    rejected = []
    for record in records:
        if isinstance(record, Rejected):
            rejected.append(record)
            continue
        for table, members in record.rows.items():
            rows.setdefault(table, []).extend({"row_number": record.row_number, **row} for row in members)
    tables = {table: pa.Table.from_pylist(members, schema=STAGED[table]) for table, members in rows.items()}
    return Chunk(records[-1].row_number, len(records), tables, rejected)
