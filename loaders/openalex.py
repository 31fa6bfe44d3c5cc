"""OpenAlex's works: a snapshot's JSON lines, or pages of its API.

A snapshot has folders `updated_date=…` of gzipped shards. A page is a file as the
API answers (`{"meta": …, "results": […]}`), or a line of one.

The `source_id` is the short id (W2741809807). The abstract is put together from its inverted index, whose
words stand at their positions; what that index lost (line ends, a gap) is a blank. `referenced_works` become
citations without a context, since OpenAlex knows links alone.

Fields: `openalex` is the field of each topic (26 there are), `openalex_topic`, `openalex_subfield` and
`openalex_domain` the other levels, `openalex_concept` the concepts of older snapshots with a score above 0,
`openalex_type` the kind of work, `mesh` and `mesh_major` MeSH. Retracted works and paratext (covers, indexes)
are loaded like any other, and carry the field `retracted` or `paratext` of `openalex_status`.

`merged_ids/works/*.csv` names works that were merged into another; they are deleted. Leaves out, and counts:
authors, sources and the other entities, institutions, locations beyond the first, open access, funding,
related works.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from pinakes.errors import InputError
from pinakes.loaders.arxiv import find_arxiv_id
from pinakes.loaders.base import PAPER_COLUMNS, InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import keep_distinct, leave_fields, leave_out
from pinakes.loaders.reading.compression import COMPRESSIONS
from pinakes.loaders.reading.finding import LINES, find_line_files
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import begins_with_key, read_json_answers, read_json_line_files
from pinakes.loaders.reading.rows import list_authorships, list_identifiers, list_links, normalise_identifiers
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import (
    take_flag,
    take_int,
    take_list,
    take_object,
    take_objects,
    take_text,
    take_year,
)
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_COLUMNS: Final = frozenset({*PAPER_COLUMNS, "identifiers", "fields", "authorships", "citations"})
_PAGE: Final = frozenset({b"meta", b"results", b"group_by"})
_ID: Final = re.compile(r"(?:https?://openalex\.org/)?([A-Za-z])([0-9]{1,18})/?")
_WORK: Final = frozenset({
    "id", "title", "display_name", "abstract_inverted_index", "publication_year", "cited_by_count", "ids",
    "doi", "primary_topic", "topics", "concepts", "mesh", "type", "is_retracted", "is_paratext",
    "authorships", "referenced_works", "primary_location", "host_venue",
})  # fmt: skip
_IDS: Final = frozenset({"openalex", "doi", "mag", "pmid", "pmcid"})
"""What is read of a work and of its ids; the rest is left out."""
_LEVELS: Final = {
    "field": "openalex",
    "subfield": "openalex_subfield",
    "domain": "openalex_domain",
}
"""Level of a topic -> what its name is assigned by."""


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The shards of works in the order of their dates, then the lists of merged works.

    The source is a shard, a folder of shards, or the whole snapshot (with `data/works` or `works`).
    """
    if source is None or source.is_file():
        return find_line_files(source)
    roots = [source / "data", source]
    works = next((root / "works" for root in roots if (root / "works").is_dir()), source)
    merged = next((path for root in roots if (path := root / "merged_ids" / "works").is_dir()), None)
    shards = [
        InputFile(path, path.relative_to(source).as_posix(), "papers")
        for path in sorted(works.rglob("*"))
        if path.is_file() and path.name.endswith((*COMPRESSIONS, *LINES)) and _is_shard(path)
    ]
    if not shards:
        raise InputError(f"{source} has no shard of works; expected updated_date=…/part_….gz below it.")
    lists = sorted(merged.glob("*.csv*")) if merged else []
    return shards + [InputFile(path, path.relative_to(source).as_posix(), "deletions") for path in lists]


def _is_shard(path: Path) -> bool:
    return "merged_ids" not in path.parts and not path.name.startswith((".", "manifest"))


def _read_works(file: InputFile) -> Iterator[Accepted | Rejected]:
    if not file.documents and begins_with_key(file, _PAGE):
        return read_json_answers(file, "results", parse_work)
    return read_json_line_files(file, parse_work)


def _read_merged(file: InputFile) -> Iterator[Accepted | Rejected]:
    return read_table(file, _parse_merged, delimiter=",", quoted=True, required=("id", "merge_into_id"))


def _parse_merged(row: Mapping[str, str]) -> Rows:
    return {"deletions": [{"kind": "papers", "key": _shorten(row["id"], "W")}]}


def parse_work(record: Mapping[str, Any]) -> Rows:
    """What a record says of its work."""
    leave_fields(record, _WORK)
    source_id = _shorten(take_text(record, "id"), "W")
    paper = {
        "source_id": source_id,
        "title": take_text(record, "title") or take_text(record, "display_name"),
        "abstract": _rebuild_abstract(record.get("abstract_inverted_index")),
        "year": take_year(record.get("publication_year")),
        "venue": _find_venue(record),
        "citation_count": take_int(record.get("cited_by_count"), "cited_by_count"),
    }
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, _list_identifiers(record)),
        "fields": [
            {"source_id": source_id, "field": field, "assigned_by": assigned_by}
            for assigned_by, field in keep_distinct("fields", _list_fields(record))
        ],
        "authorships": list_authorships(source_id, _list_authors(record)),
        "citations": list_links(source_id, keep_distinct("citations", _list_cited(record))),
    }


def _shorten(identifier: str | None, letter: str) -> str:
    """An id without the address before it.

    >>> _shorten("https://openalex.org/W2741809807", "W")
    'W2741809807'
    """
    if not identifier:
        raise RecordError("missing_field", "no id")
    found = _ID.fullmatch(identifier)
    if found is None or found[1].upper() != letter:
        raise RecordError("invalid_value", f"id: expected {letter} and digits, found {identifier!r:.80}")
    return letter + found[2]


def _rebuild_abstract(index: object) -> str | None:
    """The text of an inverted index: word -> the positions that it stands at.

    >>> _rebuild_abstract({"to": [0, 4], "or": [2], "be": [1, 5], "not": [3]})
    'to be or not to be'
    """
    if isinstance(index, str):  # snapshots of early 2022 print the index as a text, in MAG's form
        try:
            index = orjson.loads(index)
        except orjson.JSONDecodeError as error:
            raise RecordError("invalid_value", "abstract_inverted_index: no JSON") from error
    if isinstance(index, dict) and isinstance(index.get("InvertedIndex"), dict):
        index = index["InvertedIndex"]
    if index is None:
        return None
    if not isinstance(index, dict):
        raise RecordError("invalid_value", "abstract_inverted_index: expected an object")
    placed = [
        (position, word)
        for word, positions in index.items()
        for position in (positions if isinstance(positions, list) else [None])
    ]
    if not all(type(position) is int for position, _ in placed):
        raise RecordError("invalid_value", "abstract_inverted_index: expected lists of positions")
    return " ".join(word for _, word in sorted(placed)).strip() or None


def _find_venue(record: Mapping[str, Any]) -> str | None:
    location = take_object(record, "primary_location") or {}
    source = take_object(location, "source") or take_object(record, "host_venue") or {}
    return take_text(source, "display_name") or take_text(location, "raw_source_name")


def _list_identifiers(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The (scheme, id) pairs of a work; each may be printed as an address."""
    ids = take_object(record, "ids") or {}
    pubmed, pmc = ((take_text(ids, name) or "").rstrip("/").rpartition("/")[2] for name in ("pmid", "pmcid"))
    doi = take_text(record, "doi") or take_text(ids, "doi")
    named = [("doi", doi), ("mag", take_text(ids, "mag")), ("pubmed", pubmed), ("pmc", pmc)]
    leave_fields(ids, _IDS, "ids.")
    found = normalise_identifiers(named, "identifiers")
    return normalise_identifiers(
        [*found, ("arxiv", find_arxiv_id(dict(found).get("doi", "")))], "identifiers"
    )


def _list_fields(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The (assigned_by, field) pairs, which may repeat."""
    primary = take_object(record, "primary_topic")
    for topic in ([primary] if primary else []) + take_objects(record, "topics"):
        yield from _name_field("openalex_topic", topic)
        for level, assigned_by in _LEVELS.items():
            yield from _name_field(assigned_by, take_object(topic, level) or {})
    for concept in take_objects(record, "concepts"):
        if concept.get("score") not in (0, "0"):
            yield from _name_field("openalex_concept", concept)
        else:
            leave_out("fields", "no_value")
    yield from _list_mesh(record)
    kind = take_text(record, "type")
    if kind:
        yield "openalex_type", kind
    for flag in ("retracted", "paratext"):
        if take_flag(record, f"is_{flag}"):
            yield "openalex_status", flag


def _name_field(assigned_by: str, entity: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = take_text(entity, "display_name")
    leave_out("fields", "no_value", bool(entity) and not name)
    if name:
        yield assigned_by, name


def _list_mesh(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for heading in take_objects(record, "mesh"):
        names = (take_text(heading, "descriptor_name"), take_text(heading, "qualifier_name"))
        name = "/".join(filter(None, names))
        leave_out("fields", "no_value", not names[0])
        if names[0]:
            yield "mesh", name
            if take_flag(heading, "is_major_topic"):
                yield "mesh_major", name


def _list_authors(record: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    """The (id, name) pairs of the authors; an author who is not disambiguated yet has no id."""
    for authorship in take_objects(record, "authorships"):
        author = take_object(authorship, "author") or {}
        name = take_text(author, "display_name") or take_text(authorship, "raw_author_name")
        author_id = take_text(author, "id")
        if name:
            yield _shorten(author_id, "A") if author_id else None, name
        else:
            leave_out("authorships", "no_value")


def _list_cited(record: Mapping[str, Any]) -> Iterator[str]:
    for work in take_list(record, "referenced_works"):
        yield _shorten(work if isinstance(work, str) else None, "W")


LOADER: Final = Loader(
    name="openalex",
    summary="OpenAlex's works: gzipped JSON lines of a snapshot, its lists of merged works, pages of its API",
    describe_corpus=describe_as(
        name="openalex", title="OpenAlex works", licence="CC0 1.0", source="https://openalex.org"
    ),
    find_files=find_files,
    read_chunks=gather_by_role(papers=_read_works, deletions=_read_merged),
    describes=lambda role: _COLUMNS if role == "papers" else frozenset(),
    may_lack_text=True,
)
