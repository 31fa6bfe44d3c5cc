"""OpenReview: notes of its API (versions 1 and 2), and the dumps that others made of it.

A file's dialect is told by its first record: a dump has `review_scores`, any other JSON is a note of the API;
a table with the columns title and abstract is a paper list, any other holds ratings. Several files that
describe parts of the same paper (a list, its ratings) may be loaded together or in turn, in any order.
"""

from pathlib import Path
from typing import Final

import orjson

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.openreview import dumps, notes
from pinakes.loaders.openreview.records import read_first_line
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.streams import digest_files

_SUFFIXES: Final = (".tsv", ".jsonl", ".ndjson", ".json")

_OWNED: Final = {
    "paper_list": frozenset({"title", "abstract", "year", "venue", "identifiers", "fields"}),
    "ratings": frozenset({"review_scores"}),
    "reviewed": notes.OWNED,
    "notes": notes.OWNED,
}
"""Role -> what its files say of a paper in full."""


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """One file, or all tables and JSON files of a folder by name."""
    if source is None or not source.exists():
        raise InputError(f"{source} is no file or folder; expected notes or dumps of OpenReview.")
    paths = [source] if source.is_file() else sorted(filter(_is_read, source.iterdir()))
    if not paths:
        raise InputError(f"{source} has no file that ends in {', '.join(_SUFFIXES)}, plain or compressed.")
    return [_describe_file(path) for path in paths]


def _is_read(path: Path) -> bool:
    return path.is_file() and strip_compression(path.name).endswith(_SUFFIXES)


def _describe_file(path: Path) -> InputFile:
    is_table = strip_compression(path.name).endswith(".tsv")
    first = read_first_line(InputFile(path, path.name, ""))
    role = _identify_table(first) if is_table else _identify_json(first)
    states = dumps.find_states(path) if role == "ratings" else [path]
    digest = digest_files(path, *states) if len(states) > 1 else None
    return InputFile(path, path.name, role, digest=digest)


def _identify_table(header: bytes) -> str:
    return "paper_list" if {b"title", b"abstract"} & set(header.split(b"\t")) else "ratings"


def _identify_json(line: bytes) -> str:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        # A document of many lines: what its notes are called by decides.
        return "notes"
    record = value[0] if isinstance(value, list) and value else value
    return "reviewed" if isinstance(record, dict) and "review_scores" in record else "notes"


LOADER: Final = Loader(
    name="openreview",
    summary="OpenReview: notes of its API, paper lists, ratings and submissions with scores",
    describe_corpus=describe_as(name="openreview", title="OpenReview", source="https://openreview.net"),
    find_files=find_files,
    read_chunks=gather_by_role(
        paper_list=dumps.read_paper_list,
        ratings=dumps.read_ratings,
        reviewed=dumps.read_reviewed,
        notes=notes.read_notes,
    ),
    describes=_OWNED.__getitem__,
)
