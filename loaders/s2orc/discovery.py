"""Which files of a release are what, and in which order they are read.

A file is told by its first record; where that is no help (a list of deletions, a damaged file) by its name or
its folder's. In a folder of diffs, files below `update_files` or `delete_files` (or named `update…`,
`delete…`) are read release by release, by the dates in their paths: updates, then deletions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import orjson

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.archives import digest_member, is_archive, list_members
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import MAX_DOCUMENT_BYTES
from pinakes.loaders.reading.streams import CutLine, digest_file, open_stream, read_lines_at

_SHAPES: Final = (
    ("papers_2019", {"paper_id", "metadata", "grobid_parse"}),
    ("pdf_parses", {"paper_id", "body_text", "bib_entries"}),
    ("metadata_2020", {"paper_id", "title", "outbound_citations"}),
    ("citations", {"citingcorpusid", "citedcorpusid"}),
    ("papers", {"corpusid", "title", "externalids"}),
    ("abstracts", {"corpusid", "abstract"}),
    ("s2orc", {"corpusid", "content"}),
    ("s2orc", {"corpusid", "body"}),
    ("paper-ids", {"corpusid", "sha"}),
    ("tldrs", {"corpusid", "model", "text"}),
    ("embeddings", {"corpusid", "vector"}),
    ("authors", {"authorid", "name"}),
)
"""kind of file -> fields by which its records are known"""

_NAMED: Final = (
    "publication-venues", "metadata", "pdf_parses", "paper-ids", "papers", "abstracts", "authors",
    "citations", "s2orc", "tldrs", "embeddings",
)  # fmt: skip
"""kinds of files as they and their folders are called; `metadata` is that of 2020"""
_NAME: Final = re.compile(rf"({'|'.join(_NAMED)})(?:$|[-_.\d])")
_CHANGE: Final = re.compile(r"(update|delete)(?:d|s|_files)?(?:$|[-_.\d])")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATA: Final = frozenset({".jsonl", ".json", ".tsv", ".ndjson", ""})
_NOT_DATA: Final = re.compile(r"readme|license|licence|release_notes|manifest|sha256", re.IGNORECASE)
_ORDER: Final = (
    "metadata_2019", "metadata_2020", "papers", "abstracts", "papers_2019", "document_2019", "pdf_parses",
    "s2orc", "paper-ids", "citations",
)  # fmt: skip
_DIFFED: Final = frozenset({"papers", "abstracts", "s2orc", "citations"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a release: what it is, and for a diff, whether it updates or deletes."""

    file: InputFile
    kind: str
    change: str
    dates: tuple[str, ...]


def find_release(source: Path) -> list[Found]:
    """The files of a release that are read, in their order."""
    found = [file for file in map(_identify, _list_files(source)) if file.kind in _ORDER]
    if not found:
        raise InputError(
            f"{source} holds no file of S2ORC or the Semantic Scholar Academic Graph; expected metadata, "
            "pdf_parses, papers, abstracts, citations, paper-ids or s2orc."
        )
    return sorted(found, key=_rank)


def _rank(found: Found) -> tuple[tuple[str, ...], bool, int, str]:
    is_deletion = found.change == "delete"
    rank = _ORDER.index(found.kind)
    # What is left of a paper must not be deleted after the paper, which would bring it back.
    return found.dates if found.change else (), is_deletion, -rank if is_deletion else rank, found.file.name


def _list_files(source: Path) -> Iterator[InputFile]:
    if source.is_dir():
        for name, path in sorted(
            (path.relative_to(source).as_posix(), path) for path in source.rglob("*") if path.is_file()
        ):
            if is_archive(path) or _holds_data(name):
                yield from _list_entries(path, name)
    elif source.is_file():
        yield from _list_entries(source, source.name)
    else:
        raise InputError(f"there is no {source}; expected a release of S2ORC, or a file of one.")


def _list_entries(path: Path, name: str) -> Iterator[InputFile]:
    if not is_archive(path):
        yield InputFile(path, name, "")
        return
    digest = digest_file(path)
    for member in sorted(filter(_holds_data, list_members(path))):
        yield InputFile(path, f"{name}/{member}", "", member, digest=digest_member(digest, member))


def _holds_data(name: str) -> bool:
    """Whether a file of that name may hold records.

    >>> _holds_data("papers/20240101_071500_00022_abcde.gz"), _holds_data("LICENSE"), _holds_data("a/.b.json")
    (True, False, False)
    """
    path = PurePosixPath(strip_compression(name))
    is_hidden = any(part.startswith(".") for part in path.parts)
    return not is_hidden and path.suffix in _DATA and not _NOT_DATA.match(path.name)


def _identify(file: InputFile) -> Found:
    parts = [strip_compression(part) for part in reversed(PurePosixPath(file.name).parts)]
    if len(parts) == 1 and file.path is not None:
        parts.append(file.path.resolve().parent.name)
    change = next((match[1] for part in parts if (match := _CHANGE.match(part))), "")
    named = next((match[1] for part in parts if (match := _NAME.match(part))), "")
    is_table = PurePosixPath(parts[0]).suffix == ".tsv"
    named = "metadata_2020" if named == "metadata" else named
    kind = "metadata_2019" if is_table else _identify_by_content(file) or named
    return Found(file, kind, change if kind in _DIFFED else "", tuple(_DATE.findall(file.name)))


def _identify_by_content(file: InputFile) -> str:
    """The kind of file that the first record shows; empty where it shows none."""
    try:
        line = next((line for _, _, line in read_lines_at(file)), b"")
        if isinstance(line, CutLine) or line.lstrip()[:1] != b"{":
            return ""
        if kind := _identify_by_record(line):
            return kind
        with open_stream(file) as stream:
            is_paper = _identify_by_record(stream.read(MAX_DOCUMENT_BYTES)) == "papers_2019"
            return "document_2019" if is_paper else ""
    except (InputError, LoadError):
        return ""  # it is said again, and better, when the file is read


def _identify_by_record(raw: bytes) -> str:
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return ""
    fields = set(record) if isinstance(record, dict) else set()
    return next((kind for kind, known in _SHAPES if known <= fields), "")
