"""Papers in SciRepEval's records, and what hangs on them.

Leaves out: what the records say of papers (`records`).
"""

from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders.reading.rows import Row, describe_paper, list_authorships, list_identifiers
from pinakes.loaders.reading.values import take_id
from pinakes.loaders.reading.proximity import take_members
from pinakes.loaders.reading.values import take_int

IDS: Final = ("doc_id", "corpus_id", "paper_id", "sha")
"""the fields that may hold a paper's id, the one that qrels use first"""

DESCRIBED: Final = frozenset(
    {
        "title",
        "abstract",
        "year",
        "venue",
        "citation_count",
        "identifiers",
        "authorships",
        "fields",
        "citations",
    }
)


def describe(source_id: str, record: Mapping[str, Any]) -> dict[str, list[Row]]:
    """A paper with what hangs on it."""
    paper = describe_paper(source_id, record)
    paper["citation_count"] = take_int(record.get("n_citations"), "n_citations")
    return {
        "papers": [paper],
        "identifiers": list_identifiers(
            source_id,
            {
                "corpus": _take_whole(record, "corpus_id"),
                "s2": record.get("sha"),
                "mag": _take_whole(record, "mag_id"),
                "doi": record.get("doi"),
            },
        ),
        "authorships": list_authorships(source_id, _take_names(record)),
    }


def _take_whole(record: Mapping[str, Any], name: str) -> str | None:
    # A column of ids with gaps is one of floats in Parquet.
    return take_id(record, name) if record.get(name) not in (None, "") else None


def _take_names(record: Mapping[str, Any]) -> list[Any]:
    """The authors' names; no authors are written as an empty text."""
    names = record.get("author_names")
    return [] if names in (None, "") else take_members(record, "author_names")


def mention(papers: list[dict[str, Any]]) -> dict[str, list[Row]]:
    """Papers described in passing, with what hangs on them."""
    described = [describe(take_id(paper, *IDS), paper) for paper in papers]
    return {
        "mentioned_papers": [row for rows in described for row in rows["papers"]],
        "identifiers": [row for rows in described for row in rows["identifiers"]],
        "authorships": [row for rows in described for row in rows["authorships"]],
    }
