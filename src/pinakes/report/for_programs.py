"""Data as CSV and JSON, unrounded, for programs."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TextIO

import orjson

from pinakes.database.read_only import number_repeated
from pinakes.report.escapes import escape_marks
from pinakes.report.output import Output
from pinakes.writing.formulas import guard_formula

Record = Mapping[str, object]


def write_value(value: object) -> str:
    """A value as text.

    >>> write_value(True), write_value(datetime(2026, 3, 1)), write_value(0.1)
    ('true', '2026-03-01T00:00:00', '0.1')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def write_csv(
    columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO, *, guard_formulas: bool
) -> None:
    """As CSV; line ends and tabs within a text stay, and other control characters are written out."""

    def write(value: object) -> str:
        text = "" if value is None else write_value(value)
        guarded = guard_formula(text) if guard_formulas and isinstance(value, str) else text
        return escape_marks(guarded).replace("\r", "\\r")  # a reader takes it for the end of the row

    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([write(title) for title in columns])
    for row in rows:
        writer.writerow([write(value) for value in row])


def write_json(columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO) -> None:
    """As one JSON array of objects; columns of one name get a number: `name`, `name_2`."""
    names = number_repeated(columns)
    dump([dict(zip(names, row, strict=True)) for row in rows], stream)


def dump(content: object, stream: TextIO) -> None:
    """As one JSON value."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    stream.write(orjson.dumps(content, default=str, option=options).decode())


def print_data(content: object, out: Output, rows: Sequence[Record] | None = None) -> None:
    """One JSON object, or an array of them; as CSV the same, or `rows` in its place."""
    if out.form == "json":
        dump(content, out.file)
        return
    listed = flatten(content) if rows is None else rows
    columns = list_columns(listed)
    if not columns:  # nothing, and nobody knows of what
        return
    values = ([row.get(name) for name in columns] for row in listed)
    write_csv(columns, values, out.file, guard_formulas=out.guard_formulas)


def list_columns(records: Iterable[Record]) -> list[str]:
    """The names of all records' fields, in the order in which they come."""
    return list(dict.fromkeys(name for record in records for name in record))


def flatten(content: object) -> list[dict[str, object]]:
    """The rows of CSV that say what a JSON value says.

    An array of objects is a row each. Of an object, what is no list of objects is in the first row; each
    list of objects follows as rows of its own, with `table` before to tell them apart. What is deeper is
    JSON.

    >>> flatten([{"a": 1, "b": [1]}])
    [{'a': 1, 'b': '[1]'}]
    >>> flatten({"corpus": "x", "files": [{"file": "a"}]})
    [{'table': 'summary', 'corpus': 'x'}, {'table': 'files', 'file': 'a'}]
    >>> flatten({"runs": [], "corpora": [{"corpus": "x"}]})
    [{'table': 'corpora', 'corpus': 'x'}]
    """
    plain = orjson.loads(orjson.dumps(content, default=str))
    if isinstance(plain, list):
        return [_flatten_record(one) for one in plain]
    lists = {name: value for name, value in plain.items() if _is_table(value)}
    alone = {name: value for name, value in plain.items() if name not in lists}
    rows = [{"table": "summary", **_flatten_record(alone)}] if alone else []
    rows += [
        {"table": name, **_flatten_record(record)} for name, records in lists.items() for record in records
    ]
    return rows


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _flatten_record(record: Any) -> dict[str, object]:
    found = record if isinstance(record, dict) else {"value": record}
    return {
        name: orjson.dumps(value).decode() if isinstance(value, dict | list) else value
        for name, value in found.items()
    }
