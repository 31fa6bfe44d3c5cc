"""arXiv's metadata snapshot: one JSON object a line, as arXiv's OAI interface gives it (Kaggle's dump).

The id is the `source_id`. Titles, abstracts and journal references are printed with hard line breaks; white
space in them is collapsed. The year is that of the first version, since `update_date` moves with every edit.
Left out and counted are all other fields, such as submitter, comments, licence and the printed author line
(`authors_parsed` says the same, split), affiliations, and the versions after the first, one by one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from email.utils import parsedate
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields, leave_inner_fields, leave_out
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.columns import (
    LIST_OF_TEXTS,
    Members,
    NotPlainError,
    build_authorships,
    build_children,
    build_table,
    clean_ids,
    clean_texts,
    explode,
    extract_texts,
    normalise_identifiers,
)
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_line_files
from pinakes.loaders.reading.rows import list_authorships, list_fields, list_identifiers, normalise_identifier
from pinakes.loaders.reading.values import take_id, take_list, take_objects, take_text
from pinakes.loaders.staging import Chunk, RecordError

ARXIV_COLUMNS: Final = frozenset(
    {"title", "abstract", "year", "venue", "identifiers", "fields", "authorships"}
)
"""what the snapshot says of a paper"""

_DOI: Final = "10.48550/arxiv."
_TEXTS: Final = ("id", "title", "abstract", "journal-ref", "doi", "categories")
_SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in _TEXTS),
        pa.field("versions", pa.list_(pa.struct([pa.field("created", pa.string())]))),
        pa.field("authors_parsed", pa.list_(LIST_OF_TEXTS)),
    ]
)
_CREATED: Final = (
    "^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    "(?P<found>[12][0-9]{3}) [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$"
)
_ODD: Final = r"[\t-\r\x1c-\x1f]|  "


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The snapshot: a file, the archive that it comes in, or a folder with either."""
    return [_open_single(file) for file in find_line_files(source)]


def _open_single(file: InputFile) -> InputFile:
    """The one entry of an archive with lines, since an entry is read faster than an archive."""
    return replace(file, member=file.documents[0], documents=()) if len(file.documents) == 1 else file


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
    source_id = source_id or take_id(record, "id")
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
    for author in take_list(record, "authors_parsed"):
        if not isinstance(author, list) or not all(isinstance(part, str) for part in author):
            raise RecordError("invalid_value", "authors_parsed: expected a list of lists of texts")
        last, first, suffix = (*author, "", "", "")[:3]
        name = " ".join(" ".join((first, last, suffix)).split())
        if name:
            yield None, name
        else:
            leave_out("authorships", "no_value")


def _project(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    """The staged tables of records that are plain."""
    ids = clean_ids(columns["id"])
    categories = _split(columns["categories"])
    _refuse_repeated(categories)
    papers = {
        "row_number": numbers,
        "source_id": ids,
        "title": _collapse(columns["title"]),
        "abstract": _collapse(columns["abstract"]),
        "year": _find_years(columns["versions"]),
        "venue": _collapse(columns["journal-ref"]),
    }
    return {
        "papers": build_table("papers", papers),
        "identifiers": _project_identifiers(columns["doi"], ids, numbers),
        "fields": build_children(
            "fields",
            categories.parents,
            ids,
            numbers,
            field=categories.values,
            assigned_by=pa.scalar("arxiv"),
        ),
        "authorships": _project_authorships(columns["authors_parsed"], ids, numbers),
    }


def _collapse(column: pa.Array) -> pa.Array:
    """Texts on one line, null where nothing is left.

    >>> _collapse(pa.array([" a\\n  b ", "\\u2003", None, "ä\\u00a0b"])).to_pylist()
    ['a b', None, None, 'ä b']
    """
    collapsed = pc.replace_substring(clean_texts(column), "\n", " ")
    # Blanks beyond ASCII are Python's to tell, and it collapses blanks faster than a pattern does.
    is_odd = pc.or_(pc.match_substring_regex(collapsed, _ODD), pc.invert(pc.string_is_ascii(collapsed)))
    is_odd = pc.fill_null(is_odd, False)
    if not pc.any(is_odd).as_py():
        return collapsed
    odd = [" ".join(text.split()) for text in collapsed.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(collapsed, is_odd, pa.array(odd, pa.string()))


def _find_years(column: pa.Array) -> pa.Array:
    """The year of each paper's first version, null where none is told."""
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("a version is no object")
    is_first = members.positions == 1
    created = clean_texts(pc.struct_field(members.values, "created").filter(pa.array(is_first)))
    found = extract_texts(_CREATED, created)
    if found.null_count > created.null_count:
        raise NotPlainError("a date in another form")
    years = np.zeros(len(column), np.int32)
    years[members.parents[is_first]] = pc.fill_null(pc.cast(found, pa.int32()), 0).to_numpy()
    return pa.array(years, mask=years == 0)


def _project_identifiers(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    dois = _split(column)
    normal = normalise_identifiers("doi", dois.values)
    if normal.null_count > dois.values.null_count:
        raise NotPlainError("an identifier is none")
    dois = Members(normal, dois.parents, dois.positions).filter(normal.is_valid())
    _refuse_repeated(dois)
    arxiv_ids = normalise_identifiers("arxiv", ids)
    rows = np.flatnonzero(arxiv_ids.is_valid())
    parents = np.concatenate((rows, dois.parents))
    schemes = pa.concat_arrays([pa.repeat("arxiv", len(rows)), pa.repeat("doi", len(dois.values))])
    identifiers = pa.concat_arrays([arxiv_ids.drop_null(), dois.values])
    return build_children("identifiers", parents, ids, numbers, scheme=schemes, identifier=identifiers)


def _split(column: pa.Array) -> Members:
    """The words of each text."""
    collapsed = _collapse(column)
    return explode(pc.split_pattern(collapsed, " "))


def _refuse_repeated(members: Members) -> None:
    pairs = pa.table({"parent": members.parents, "value": members.values})
    if pairs.group_by(["parent", "value"]).aggregate([]).num_rows < pairs.num_rows:
        raise NotPlainError("a value comes again")


def _project_authorships(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    authors = explode(column)
    if authors.values.null_count or pc.list_flatten(authors.values).null_count:
        raise NotPlainError("a part of a name is no text")
    shortest = pc.min(pc.list_value_length(authors.values)).as_py()
    if shortest is not None and shortest < 3:
        raise NotPlainError("a name without all of its parts")
    last, first, suffix = (pc.list_element(authors.values, part) for part in range(3))
    names = _collapse(pc.binary_join_element_wise(first, last, suffix, " "))
    if names.null_count:
        raise NotPlainError("an author without a name")
    return build_authorships(Members(names, authors.parents, authors.positions), ids, numbers)


def _leave(record: Mapping[str, Any]) -> None:
    """Note what is not read of a record: fields, versions after the first, affiliations of authors."""
    leave_fields(record, _READ)
    leave_out("field authors", "repeated", bool(record.get("authors")))
    versions, authors = record.get("versions") or (), record.get("authors_parsed") or ()
    leave_out("field versions", "no_column", max(0, len(versions) - 1))
    leave_inner_fields(record, "versions", {"created"})
    others = sum(any(author[3:]) for author in authors if isinstance(author, list))
    leave_out("field authors_parsed.affiliation", "no_column", others)


_READ: Final = frozenset({*_SCHEMA.names, "authors"})
_LAYOUT: Final = Layout((_SCHEMA,), _project, parse_metadata, _leave)


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of the snapshot."""
    if file.documents:
        return gather_chunks(read_json_line_files(file, _LAYOUT.parse_whole), first_row=first_row)
    return read_columnar(file, first_row, _LAYOUT)


LOADER: Final = Loader(
    name="arxiv",
    summary="arXiv's metadata snapshot: JSON lines, plain, compressed or in its archive",
    describe_corpus=describe_as(
        name="arxiv",
        title="arXiv metadata snapshot",
        licence="CC0 1.0",
        source="https://www.kaggle.com/datasets/Cornell-University/arxiv",
    ),
    find_files=find_files,
    read_chunks=read_chunks,
    describes=lambda _role: ARXIV_COLUMNS,
)
