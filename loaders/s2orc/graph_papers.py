"""The papers and abstracts of the Semantic Scholar Academic Graph's datasets, and what its diffs take back.

A paper's `source_id` is its CorpusID; the sha that its address ends in is an identifier. Without a venue, the
journal's name stands for it. Left out are open-access information, counts other than `citationcount`,
publication types and dates, and what else is said of a journal. In diffs, a paper that has lost its abstract
or its full text is a record that says so: it holds neither.
"""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.left_out import leave_fields, leave_inner_fields, leave_out
from pinakes.loaders.reading.columnar import Layout
from pinakes.loaders.reading.columns import (
    Members,
    NotPlainError,
    build_authorships,
    build_children,
    build_identifiers,
    build_table,
    clean_counts,
    clean_ids,
    clean_texts,
    clean_years,
    compare_venues,
    count_members,
    explode,
    extract_texts,
    gather_left_out,
)
from pinakes.loaders.reading.rows import leave_other_venues, list_authorships, list_identifiers
from pinakes.loaders.reading.unread_fields import Codes
from pinakes.loaders.reading.values import take_id, take_int, take_object, take_objects, take_text, take_year
from pinakes.loaders.staging import Rows

_SCHEMES: Final = {
    "DOI": "doi",
    "ArXiv": "arxiv",
    "ACL": "acl",
    "MAG": "mag",
    "PubMed": "pubmed",
    "PubMedCentral": "pmc",
    "DBLP": "dblp",
}
_SHA: Final = r"/(?P<found>[0-9a-f]{40})$"

_AUTHOR: Final = pa.struct([("authorId", pa.string()), ("name", pa.string())])
_FIELD: Final = pa.struct([("category", pa.string()), ("source", pa.string())])
_PAPER: Final = pa.schema(
    [
        ("corpusid", pa.int64()),
        ("externalids", pa.struct([(name, pa.string()) for name in _SCHEMES])),
        ("url", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(_AUTHOR)),
        ("venue", pa.string()),
        ("journal", pa.struct([("name", pa.string())])),
        ("year", pa.int64()),
        ("citationcount", pa.int64()),
        ("s2fieldsofstudy", pa.list_(_FIELD)),
    ]
)
_ABSTRACT: Final = pa.schema([("corpusid", pa.int64()), ("abstract", pa.string())])


def _parse_paper(record: dict[str, Any]) -> Rows:
    source_id = take_id(record, "corpusid")
    external = take_object(record, "externalids") or {}
    journal = take_object(record, "journal") or {}
    sha = _find_sha(take_text(record, "url"))
    paper = {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "year": take_year(record.get("year")),
        "venue": take_text(record, "venue") or take_text(journal, "name"),
        "citation_count": take_int(record.get("citationcount"), "citationcount"),
    }
    identifiers = {scheme: take_text(external, name) for name, scheme in _SCHEMES.items()}
    authors = (
        (take_text(author, "authorId"), take_text(author, "name"))
        for author in take_objects(record, "authors")
    )
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, (identifiers | {"s2": sha}).items()),
        "fields": _list_fields(source_id, record),
        "authorships": list_authorships(source_id, authors),
    }


def _find_sha(url: str | None) -> str | None:
    found = extract_texts(_SHA, pa.array([url], pa.string()))
    sha: str | None = found[0].as_py()
    return sha


def _list_fields(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = [
        (take_text(field, "category"), take_text(field, "source") or "s2")
        for field in take_objects(record, "s2fieldsofstudy")
    ]
    rows = [
        {"source_id": source_id, "field": field, "assigned_by": source}
        for field, source in fields
        if field is not None
    ]
    leave_out("fields", "no_value", len(fields) - len(rows))
    return rows


def _project_papers(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    ids = clean_ids(columns["corpusid"])
    journal = clean_texts(pc.struct_field(columns["journal"], "name"))
    identifiers = {
        scheme: clean_texts(pc.struct_field(columns["externalids"], name))
        for name, scheme in _SCHEMES.items()
    }
    papers = {
        "row_number": numbers,
        "source_id": ids,
        "title": clean_texts(columns["title"]),
        "year": clean_years(columns["year"]),
        "venue": pc.coalesce(clean_texts(columns["venue"]), journal),
        "citation_count": clean_counts(columns["citationcount"]),
    }
    sha = extract_texts(_SHA, clean_texts(columns["url"]))
    left_out: list[pa.Table] = []
    return {
        "papers": build_table("papers", papers),
        "identifiers": build_identifiers(identifiers | {"s2": sha}, ids, numbers),
        "fields": _project_fields(columns["s2fieldsofstudy"], ids, numbers, left_out),
        "authorships": _project_authorships(columns["authors"], ids, numbers, left_out),
        **gather_left_out(left_out),
    }


def _project_fields(column: pa.Array, ids: pa.Array, numbers: pa.Array, left_out: list[pa.Table]) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("a field is no object")
    fields = clean_texts(pc.struct_field(members.values, "category"))
    sources = pc.coalesce(clean_texts(pc.struct_field(members.values, "source")), "s2")
    left_out.append(count_members(members.parents, fields.is_null(), numbers, "fields", "no_value"))
    kept = Members(fields, members.parents, members.positions).filter(fields.is_valid())
    sources = sources.filter(fields.is_valid())
    return build_children("fields", kept.parents, ids, numbers, field=kept.values, assigned_by=sources)


def _project_authorships(
    column: pa.Array, ids: pa.Array, numbers: pa.Array, left_out: list[pa.Table]
) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("an author is no object")
    author_ids, names = (clean_texts(pc.struct_field(members.values, part)) for part in ("authorId", "name"))
    left_out.append(count_members(members.parents, names.is_null(), numbers, "authorships", "no_value"))
    named = Members(names, members.parents, members.positions)
    return build_authorships(named, ids, numbers, author_ids)


def _parse_abstract(record: dict[str, Any]) -> Rows:
    paper = {"source_id": take_id(record, "corpusid"), "abstract": take_text(record, "abstract")}
    return {"papers": [paper]}


def _project_abstracts(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    papers = {
        "row_number": numbers,
        "source_id": clean_ids(columns["corpusid"]),
        "abstract": clean_texts(columns["abstract"]),
    }
    return {"papers": build_table("papers", papers)}


def _leave(record: Mapping[str, Any]) -> None:
    """Note the fields that are not read of a paper."""
    leave_fields(record, _PAPER.names)
    leave_inner_fields(record, "externalids", _EXTERNAL)
    leave_inner_fields(record, "authors", {"authorId", "name"})
    leave_inner_fields(record, "journal", {"name"})
    leave_inner_fields(record, "s2fieldsofstudy", {"category", "source"})
    external, journal = record.get("externalids"), record.get("journal")
    if isinstance(external, dict):
        leave_out("field externalids.CorpusId", "repeated", bool(external.get("CorpusId")))
    if isinstance(journal, dict):
        venues = {"venue": record.get("venue"), "journal.name": journal.get("name")}
        leave_other_venues(venues, "journal.name")


def _tell_venues(columns: Mapping[str, pa.Array]) -> list[Codes]:
    return [compare_venues(columns["venue"], pc.struct_field(columns["journal"], "name"))]


def parse_paper_id(record: dict[str, Any]) -> Rows:
    """One of the shas that a paper has, or has had."""
    leave_fields(record, {"corpusid", "sha"})
    source_id, sha = take_id(record, "corpusid"), take_id(record, "sha")
    return {
        "mentioned_papers": [{"source_id": source_id}],
        "identifiers": list_identifiers(source_id, [("s2", sha)]),
    }


def parse_deleted_paper(record: dict[str, Any]) -> Rows:
    """A paper that is in the graph no longer."""
    return {"deletions": [{"kind": "papers", "key": take_id(record, "corpusid")}]}


def parse_deleted_citation(record: dict[str, Any]) -> Rows:
    """A citation that is in the graph no longer."""
    return {"deletions": [{"kind": "citations", "key": take_id(record, "citationid")}]}


def parse_cleared(record: dict[str, Any]) -> Rows:
    """A paper of which the graph says no longer what the file is about."""
    return {"papers": [{"source_id": take_id(record, "corpusid")}]}


_EXTERNAL: Final = frozenset({*_SCHEMES, "CorpusId"})
PAPERS: Final = Layout((_PAPER,), _project_papers, _parse_paper, _leave, _tell_venues)
ABSTRACTS: Final = Layout(
    (_ABSTRACT,),
    _project_abstracts,
    _parse_abstract,
    lambda record: leave_fields(record, _ABSTRACT.names),
    lambda _columns: (),
)
