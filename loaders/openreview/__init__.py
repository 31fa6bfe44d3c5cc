"""OpenReview: notes of its API (versions 1 and 2), and the dumps that others made of it.

A file's dialect is told by its first record: a dump has `review_scores`, any other JSON is a note of the API;
a table with the columns title and abstract is a paper list, any other holds ratings. Several files that
describe parts of the same paper (a list, its ratings) may be loaded together or in turn, in any order.
Leaves out: the texts of reviews.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.openreview import dumps, notes
from pinakes.loaders.openreview.reading import read_first_line
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.staging import Chunk

_SUFFIXES: Final = (".tsv", ".jsonl", ".ndjson", ".json")

_READERS: Final = {
    "paper_list": dumps.read_paper_list,
    "ratings": dumps.read_ratings,
    "reviewed": dumps.read_reviewed,
    "notes": notes.read_notes,
}

_OWNED: Final = {
    "paper_list": frozenset({"title", "abstract", "year", "venue", "identifiers", "fields"}),
    "ratings": frozenset({"review_scores"}),
    "reviewed": notes.OWNED,
    "notes": notes.OWNED,
}
"""Role -> what its files say of a paper in full."""


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus openreview."""
    return CorpusDescription(name="openreview", title="OpenReview", source="https://openreview.net")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """One file, or all tables and JSON files of a folder by name."""
    if source is None or not source.exists():
        raise InputError(f"{source} is no file or folder; expected notes or dumps of OpenReview.")
    paths = [source] if source.is_file() else sorted(filter(_is_read, source.iterdir()))
    if not paths:
        raise InputError(f"{source} has no file that ends in {', '.join(_SUFFIXES)}, plain or compressed.")
    return [_describe_file(path) for path in paths]


def _is_read(path: Path) -> bool:
    return path.is_file() and _strip_compression(path.name).endswith(_SUFFIXES)


def _strip_compression(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")


def _describe_file(path: Path) -> InputFile:
    is_table = _strip_compression(path.name).endswith(".tsv")
    first = read_first_line(InputFile(path, path.name, ""))
    role = _tell_table(first) if is_table else _tell_json(first)
    states = dumps.find_states(path) if role == "ratings" else [path]
    digest = None
    if len(states) > 1:
        joined = ":".join(digest_file(state) for state in [path, *states])
        digest = hashlib.sha256(joined.encode()).hexdigest()
    return InputFile(path, path.name, role, digest=digest)


def _tell_table(header: bytes) -> str:
    return "paper_list" if {b"title", b"abstract"} & set(header.split(b"\t")) else "ratings"


def _tell_json(line: bytes) -> str:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        # A document of many lines: what its notes are called by decides.
        return "notes"
    record = value[0] if isinstance(value, list) and value else value
    return "reviewed" if isinstance(record, dict) and "review_scores" in record else "notes"


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file."""
    return gather_chunks(_READERS[file.role](file), first_row=first_row)


LOADER: Final = Loader(
    name="openreview",
    summary="OpenReview: notes of its API, paper lists, ratings and submissions with scores",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    describes=_OWNED.__getitem__,
)
