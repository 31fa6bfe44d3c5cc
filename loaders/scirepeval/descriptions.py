"""How SciRepEval describes a paper, as a record of its own or as a part of one."""

from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders.left_out import keep_filled, leave_fields, leave_inner_fields
from pinakes.loaders.reading.rows import Row, describe_paper, list_authorships, list_identifiers
from pinakes.loaders.reading.values import take_id, take_int, take_list, take_text

IDS: Final = ("doc_id", "corpus_id", "paper_id", "sha")
"""the fields that may hold a paper's id, the one that qrels use first"""
_CHILDREN: Final = ("identifiers", "authorships")
DESCRIPTION: Final = frozenset({
    *IDS, "mag_id", "doi", "title", "abstract", "year", "venue", "n_citations", "author_names",
})  # fmt: skip
"""What is read of a description; the rest is left out."""


def describe(source_id: str, record: Mapping[str, Any]) -> dict[str, list[Row]]:
    """A paper with its identifiers and authors."""
    paper = describe_paper(source_id, record)
    paper["citation_count"] = take_int(record.get("n_citations"), "n_citations")
    return {
        "papers": [paper],
        "identifiers": list_identifiers(
            source_id,
            [
                ("corpus", _take_whole(record, "corpus_id")),
                ("s2", record.get("sha")),
                ("mag", _take_whole(record, "mag_id")),
                ("doi", record.get("doi")),
            ],
        ),
        "authorships": list_authorships(source_id, _list_authors(record)),
    }


def _take_whole(record: Mapping[str, Any], name: str) -> str | None:
    # A column of ids with gaps is one of floats in Parquet.
    return take_id(record, name) if record.get(name) not in (None, "") else None


def _list_authors(record: Mapping[str, Any]) -> list[tuple[None, str]]:
    """The authors' names; no authors are written as an empty text."""
    names = [] if record.get("author_names") == "" else take_list(record, "author_names")
    taken = [take_text({"author": name}, "author") for name in names]
    return [(None, name) for name in keep_filled("authorships", taken)]


def mention(papers: list[dict[str, Any]]) -> dict[str, list[Row]]:
    """Papers described in passing, with their identifiers and authors."""
    described = [describe(take_id(paper, *IDS), paper) for paper in papers]
    rows = {name: [row for rows in described for row in rows[name]] for name in _CHILDREN}
    return {"mentioned_papers": [row for rows in described for row in rows["papers"]], **rows}


def leave_parts(record: Mapping[str, Any], *parts: str) -> None:
    """Note the fields that are not read of a record whose papers are parts of it."""
    is_text = not isinstance(record.get("query"), dict)
    leave_fields(record, {*parts, *(("doc_id", "query_id", "session_id") if is_text else ())})
    for part in parts:
        leave_inner_fields(record, part, DESCRIPTION | {"score"} if part == "candidates" else DESCRIPTION)
