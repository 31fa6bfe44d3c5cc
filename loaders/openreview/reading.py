"""Records of a JSON file of OpenReview: JSON Lines, an array, or an answer of the API (`{"notes": […]}`).

Leaves out: what a record means (`notes`, `dumps`).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.json_records import read_json, read_json_array, read_json_lines
from pinakes.loaders.reading.streams import read_lines
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

Parse = Callable[[dict[str, Any]], Rows]


def read_records(file: InputFile, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The file's records, each parsed or rejected.

    Raises:
        InputError: a file that is one JSON document is none, or neither an array nor an answer of the API.
    """
    if ".jsonl" in file.name or ".ndjson" in file.name:
        return read_json_lines(file, parse)
    first = read_first_line(file).lstrip()
    if first.startswith(b"["):
        return read_json_array(file, parse)
    return read_json_lines(file, parse) if _is_whole_object(first) else _read_answer(file, parse)


def read_first_line(file: InputFile) -> bytes:
    """The first line that holds anything; empty where there is none."""
    return next((line for _, line in read_lines(file)), b"")


def _is_whole_object(line: bytes) -> bool:
    """Whether a line is a record by itself: an object, and no answer of the API."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and not isinstance(value.get("notes"), list)


def _read_answer(file: InputFile, parse: Parse) -> Iterator[Accepted | Rejected]:
    document = read_json(file)
    notes = document.get("notes")
    if not isinstance(notes, list):
        notes = [document]
    for number, note in enumerate(notes, start=1):
        yield take_record(
            number, f"notes[{number - 1}]", orjson.dumps(note), partial(_parse_member, note, parse)
        )


def _parse_member(note: object, parse: Parse) -> Rows:
    if not isinstance(note, dict):
        raise RecordError("not_an_object", f"a JSON {type(note).__name__}, expected an object")
    return parse(note)
