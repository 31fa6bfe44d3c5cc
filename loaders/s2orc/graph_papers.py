"""The papers and abstracts of the Semantic Scholar Academic Graph's datasets.

A paper's `source_id` is its CorpusID; the sha that its address ends in is an identifier. Without a venue, the
journal's name stands for it. Left out are open-access information, counts other than `citationcount`,
publication types and dates, and fields and authors that are empty.
"""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.reading.values import take_objects
from pinakes.loaders.reading.columnar import Layout
from pinakes.loaders.reading.columns import NotPlainError, build_table, clean_counts, clean_ids, clean_texts, clean_years, explode, extract_texts
from pinakes.loaders.reading.values import take_int, take_object, take_text, take_year
from pinakes.loaders.s2orc.identifying import list_identifiers, project_identifiers
from pinakes.loaders.staging import RecordError, Rows

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


def take_corpus_id(record: Mapping[str, Any], key: str = "corpusid") -> str:
    """The CorpusID of that name.

    Raises:
        RecordError: there is none, or it is no text and no number.
    """
    found = take_text(record, key)
    if found is None:
        raise RecordError("missing_field", f"no {key}")
    return found


def _parse_paper(record: dict[str, Any]) -> Rows:
    source_id = take_corpus_id(record)
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
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers | {"s2": sha}),
        "fields": _list_fields(source_id, record),
        "authorships": _list_authorships(source_id, record),
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
    return [
        {"source_id": source_id, "field": field, "assigned_by": source}
        for field, source in fields
        if field is not None
    ]


def _list_authorships(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    authors = [
        (position, take_text(author, "authorId"), take_text(author, "name"))
        for position, author in enumerate(take_objects(record, "authors"), start=1)
    ]
    return [
        {
            "source_id": source_id,
            "position": position,
            "author_source_id": author_id or f"name:{name}",
            "author_name": name,
        }
        for position, author_id, name in authors
        if name is not None
    ]


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
    return {
        "papers": build_table("papers", papers),
        "identifiers": project_identifiers(identifiers | {"s2": sha}, ids, numbers),
        "fields": _project_fields(columns["s2fieldsofstudy"], ids, numbers),
        "authorships": _project_authorships(columns["authors"], ids, numbers),
    }


def _project_fields(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("a field is no object")
    fields = clean_texts(pc.struct_field(members.values, "category"))
    sources = pc.coalesce(clean_texts(pc.struct_field(members.values, "source")), "s2")
    kept = fields.is_valid()
    parents = pa.array(members.parents).filter(kept)
    rows = {
        "row_number": numbers.take(parents),
        "source_id": ids.take(parents),
        "field": fields.drop_null(),
        "assigned_by": sources.filter(kept),
    }
    return build_table("fields", rows)


def _project_authorships(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("an author is no object")
    names = clean_texts(pc.struct_field(members.values, "name"))
    kept = names.is_valid()
    parents, names = pa.array(members.parents).filter(kept), names.drop_null()
    author_ids = clean_texts(pc.struct_field(members.values, "authorId")).filter(kept)
    if author_ids.null_count:
        author_ids = pc.coalesce(author_ids, pc.binary_join_element_wise("name", names, ":"))
    rows = {
        "row_number": numbers.take(parents),
        "source_id": ids.take(parents),
        "position": pc.cast(pa.array(members.positions).filter(kept), pa.int32()),
        "author_source_id": author_ids,
        "author_name": names,
    }
    return build_table("authorships", rows)


def _parse_abstract(record: dict[str, Any]) -> Rows:
    paper = {"source_id": take_corpus_id(record), "abstract": take_text(record, "abstract")}
    return {"papers": [paper]}


def _project_abstracts(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    papers = {
        "row_number": numbers,
        "source_id": clean_ids(columns["corpusid"]),
        "abstract": clean_texts(columns["abstract"]),
    }
    return {"papers": build_table("papers", papers)}


def parse_paper_id(record: dict[str, Any]) -> Rows:
    """One of the shas that a paper has, or has had."""
    source_id, sha = take_corpus_id(record), take_text(record, "sha")
    if sha is None:
        raise RecordError("missing_field", "no sha")
    return {
        "mentioned_papers": [{"source_id": source_id}],
        "identifiers": list_identifiers(source_id, {"s2": sha}),
    }


PAPERS: Final = Layout((_PAPER,), _project_papers, _parse_paper)
ABSTRACTS: Final = Layout((_ABSTRACT,), _project_abstracts, _parse_abstract)
