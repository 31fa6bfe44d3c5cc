"""SMART collections (Cranfield, ADI, …): `.I .T .A .B .W` documents and queries, and their relevance lists.

The source is the published `.tar.gz`, read in place, or a folder. A query's id is its ordinal, since the
relevance lists count the queries and Cranfield's own `.I` numbers do not; grades are the source's codes.
Boolean query files and read-me files are passed over.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.archives import list_members
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.streams import decode_utf8, digest_file, read_lines
from pinakes.loaders.reading.tables import read_qrels
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_ROLES: Final = (
    ("papers", re.compile(r"\.all(\.\d+)?$", re.IGNORECASE)),
    ("queries", re.compile(r"\.qry$", re.IGNORECASE)),
    ("judgments", re.compile(r"(qrel|\.rel)$", re.IGNORECASE)),
)
_NAMES: Final = {"cran": "cranfield"}
_BEGINNING: Final = re.compile(rb"\.I(\s|$)")
_MARK: Final = re.compile(r"\.([A-Z])(?:\s+(\d+))?\s*")


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus, named after the archive or folder; `cran` is called cranfield."""
    stem = "" if source is None else source.resolve().name.split(".")[0].lower()
    name = _NAMES.get(stem, stem)
    return CorpusDescription(name=name, title=name.title(), licence="none stated", source="SMART")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The documents, the queries and the relevance list, in that order."""
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected a SMART archive as cran.tar.gz.")
    found = _list_files(source)
    files = [
        replace(file, role=role)
        for role, pattern in _ROLES
        for file in found
        if pattern.search(strip_compression(file.name))
    ]
    if {file.role for file in files} != {"papers", "queries", "judgments"}:
        raise InputError(
            f"{source} is no SMART collection; expected documents, queries and a relevance list."
        )
    return files


def _list_files(source: Path) -> list[InputFile]:
    if source.is_dir():
        return [InputFile(path, path.name, "") for path in sorted(source.iterdir()) if path.is_file()]
    digest = digest_file(source)
    return [InputFile(source, name, "", name, digest=f"{digest}:{name}") for name in list_members(source)]


def _read_records(
    file: InputFile, parse: Callable[[int, list[bytes]], Rows]
) -> Iterator[Accepted | Rejected]:
    for number, lines in enumerate(_split_records(file), start=1):
        yield take_record(number, f"record {number}", b"\n".join(lines), partial(parse, number, lines))


def _parse_paper(_number: int, lines: list[bytes]) -> Rows:
    record = _parse_record(lines)
    paper = {
        "source_id": record["I"],
        "title": clean_text(record.get("T")),
        "abstract": clean_text(record.get("W")),
        "venue": clean_text(record.get("B")),
    }
    return {"papers": [paper]}


def _parse_query(number: int, lines: list[bytes]) -> Rows:
    text = clean_text(_parse_record(lines).get("W"))
    if text is None:
        raise RecordError("missing_field", "a query without .W")
    return {"queries": [{"query_id": str(number), "text": text}]}


def _split_records(file: InputFile) -> Iterator[list[bytes]]:
    record: list[bytes] = []
    for _, line in read_lines(file):
        if record and _BEGINNING.match(line):
            yield record
            record = []
        record.append(line)
    if record:
        yield record


def _parse_record(lines: list[bytes]) -> dict[str, str]:
    record: dict[str, str] = {}
    mark = ""
    for line in lines:
        text = decode_utf8(line)
        found = _MARK.fullmatch(text)
        if found:
            mark = found[1]
            text = found[2] or ""
        record[mark] = f"{record.get(mark, '')} {text.strip()}".strip()
    if not record.get("I"):
        raise RecordError("malformed_line", "the record does not begin with .I and a number")
    return record


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    # ADI's list has no grades: the pairs that it names are relevant. Its last two columns are always zero.
    has_grades = not strip_compression(file.name).lower().endswith(".rel")
    columns = ("query_id", "source_id", "grade") if has_grades else ("query_id", "source_id", "_", "_")
    return read_qrels(file, columns=columns, split="test")


LOADER: Final = Loader(
    name="smart",
    summary="a SMART collection (Cranfield, ADI, …), as .tar.gz or folder",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=gather_by_role(
        papers=partial(_read_records, parse=_parse_paper),
        queries=partial(_read_records, parse=_parse_query),
        judgments=_read_judgments,
    ),
    may_lack_text=True,
)
