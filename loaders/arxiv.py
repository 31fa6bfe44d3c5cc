"""arXiv's metadata snapshot: one JSON object a line, as arXiv's OAI interface gives it (Kaggle's dump).

The id is the `source_id`. Titles, abstracts and journal references are printed with hard line breaks; white
space in them is collapsed. The year is that of the first version, since `update_date` moves with every edit.
Leaves out: submitter, comments, report number, licence, the printed author line (`authors_parsed` says the
same, split), affiliations, and the versions after the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from email.utils import parsedate
from pathlib import Path
from typing import Any, Final

from pinakes.loaders import arxiv_columns
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.archives import is_archive, list_members
from pinakes.loaders.reading.rows import list_authorships, list_fields, list_identifiers
from pinakes.loaders.reading.values import take_objects
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.rows import normalise_identifier
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.reading.json_records import read_json_line_files
from pinakes.loaders.reading.values import take_list, take_text
from pinakes.loaders.staging import Chunk, RecordError, Rows

ARXIV_COLUMNS: Final = frozenset(
    {"title", "abstract", "year", "venue", "identifiers", "fields", "authorships"}
)
"""what the snapshot says of a paper"""

_DOI: Final = "10.48550/arxiv."


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus arxiv."""
    return CorpusDescription(
        name="arxiv",
        title="arXiv metadata snapshot",
        licence="CC0 1.0",
        source="https://www.kaggle.com/datasets/Cornell-University/arxiv",
    )


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The snapshot: a file, the archive that it comes in, or a folder with either."""
    return [_open_single(file) for file in find_line_files(source)]


def _open_single(file: InputFile) -> InputFile:
    """The one entry of an archive that holds nothing else, since an entry is read faster than an archive."""
    members = list_members(file.path) if file.path is not None and is_archive(file.path) else []
    return replace(file, member=members[0]) if len(members) == 1 else file


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of the snapshot."""
    if file.path is not None and is_archive(file.path) and file.member is None:
        return gather_chunks(read_json_line_files(file, _parse_record), first_row=first_row)
    layout = Layout((arxiv_columns.SCHEMA,), arxiv_columns.project, _parse_record)
    return read_columnar(file, first_row, layout)


def find_arxiv_id(doi: str) -> str | None:
    """The arXiv id in a normalised DOI that arXiv gave; None for any other.

    >>> find_arxiv_id("10.48550/arxiv.2103.00020"), find_arxiv_id("10.18653/v1/n18-3011")
    ('2103.00020', None)
    """
    return normalise_identifier("arxiv", doi.removeprefix(_DOI)) if doi.startswith(_DOI) else None


def parse_metadata(
    record: Mapping[str, Any], source_id: str | None = None
) -> dict[str, list[dict[str, Any]]]:
    """What a record of the snapshot says of its paper, under `source_id` or the record's own id."""
    arxiv_id = take_text(record, "id")
    source_id = source_id or arxiv_id
    if source_id is None:
        raise RecordError("missing_field", "no id")
    # Authors enter several DOIs, of a paper and its erratum, with a blank between them.
    dois = [("doi", doi) for doi in (take_text(record, "doi") or "").split()]
    paper = {
        "source_id": source_id,
        "title": collapse_text(record, "title"),
        "abstract": collapse_text(record, "abstract"),
        "year": _find_first_year(record),
        "venue": collapse_text(record, "journal-ref"),
    }
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("arxiv", arxiv_id or source_id), *dois]),
        "fields": list_fields(source_id, (take_text(record, "categories") or "").split(), "arxiv"),
        "authorships": list_authorships(source_id, _list_authors(record)),
    }


def collapse_text(record: Mapping[str, Any], key: str) -> str | None:
    """A text on one line; None where there is none.

    >>> collapse_text({"title": "Zeros of polynomials with\\n  independent roots"}, "title")
    'Zeros of polynomials with independent roots'
    """
    return " ".join((take_text(record, key) or "").split()) or None


def _find_first_year(record: Mapping[str, Any]) -> int | None:
    """The year of version 1: of `created` in "Thu, 22 Dec 2022 17:01:56 GMT", 2022."""
    versions = take_objects(record, "versions")
    created = take_text(versions[0], "created") if versions else None
    if created is None:
        return None
    try:
        parsed = parsedate(created)
    except (ValueError, IndexError, OverflowError):
        parsed = None
    if parsed is None:
        raise RecordError("invalid_value", f"versions: {created!r:.80} is no date")
    return parsed[0]


def _list_authors(record: Mapping[str, Any]) -> Iterator[tuple[None, str]]:
    """The names of the authors, from [last, first, suffix, affiliation …]."""
    for author in take_list(record, "authors_parsed") or []:
        if not isinstance(author, list) or not all(isinstance(part, str) for part in author):
            raise RecordError("invalid_value", "authors_parsed: expected a list of lists of texts")
        last, first, suffix = (*author, "", "", "")[:3]
        name = " ".join(" ".join((first, last, suffix)).split())
        if name:
            yield None, name


def _parse_record(record: dict[str, Any]) -> Rows:
    return parse_metadata(record)


LOADER: Final = Loader(
    name="arxiv",
    summary="arXiv's metadata snapshot: JSON lines, plain, compressed or in its archive",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    describes=lambda _role: ARXIV_COLUMNS,
)
