"""The staged rows of one paper of OpenReview, from whichever dialect it was read.

Leaves out: reading (`notes`, `dumps`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pinakes.loaders.reading.rows import normalise_identifier
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import RecordError, Rows

_SEPARATOR: Final = re.compile(r"[;,]")


def build_rows(
    source_id: str,
    *,
    keywords: object = None,
    areas: object = None,
    authors: object = None,
    author_ids: object = None,
    scores: Iterable[tuple[str, str, float]] = (),
    labels: Mapping[str, str | None] | None = None,
    **columns: Any,
) -> Rows:
    """The rows of one paper; `columns` are those of the paper itself."""
    identifier = normalise_identifier("openreview", source_id)
    return {
        "papers": [{"source_id": source_id, **columns}],
        "identifiers": [{"source_id": source_id, "scheme": "openreview", "identifier": identifier}],
        "fields": [
            {"source_id": source_id, "field": name, "assigned_by": assigned_by}
            for assigned_by, given in (("openreview", keywords), ("openreview_area", areas))
            for name in split_keywords(given)
        ],
        "authorships": _list_authorships(source_id, authors, author_ids),
        "review_scores": [
            {"source_id": source_id, "review_id": review_id, "aspect": aspect, "score": score}
            for review_id, aspect, score in scores
        ],
        "labels": [
            {"task": task, "source_id": source_id, "split": "all", "label": label, "quality": "gold"}
            for task, label in (labels or {}).items()
            if label is not None
        ],
    }


def split_keywords(given: object) -> list[str]:
    """The keywords, each once, in their order: of a list, whose entries may hold several, or of one text.

    >>> split_keywords(["causality; inference", "sql"]), split_keywords("few-shot learning, GAN")
    (['causality', 'inference', 'sql'], ['few-shot learning', 'GAN'])
    """
    if given is None:
        return []
    if isinstance(given, str):
        parts = _SEPARATOR.split(given)
    elif isinstance(given, list):
        parts = [part for entry in given for part in (clean_text(entry) or "").split(";")]
    else:
        raise RecordError("invalid_value", f"expected a list of keywords, found {given!r:.80}")
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _list_authorships(source_id: str, authors: object, author_ids: object) -> list[dict[str, Any]]:
    named = _list_authors(authors, author_ids)
    return [
        {
            "source_id": source_id,
            "position": position,
            "author_source_id": author_id or f"name:{name}",
            "author_name": name,
        }
        for position, (name, author_id) in enumerate(named, start=1)
    ]


def _list_authors(authors: object, author_ids: object) -> list[tuple[str, str | None]]:
    """Names with profile ids; without ids where the two lists do not match."""
    if authors is None:
        return []
    if not isinstance(authors, list):
        raise RecordError("invalid_value", f"expected a list of authors, found {authors!r:.80}")
    ids = (
        author_ids
        if isinstance(author_ids, list) and len(author_ids) == len(authors)
        else [None] * len(authors)
    )
    named = [_name_author(author, author_id) for author, author_id in zip(authors, ids, strict=True)]
    return [(name, author_id) for name, author_id in named if name is not None and name != "Anonymous"]


def _name_author(author: object, author_id: object) -> tuple[str | None, str | None]:
    if isinstance(author, dict):  # the form of newer venues: {"fullname": …, "username": "~…"}
        return clean_text(author.get("fullname")), clean_text(author.get("username"))
    return clean_text(author), clean_text(author_id)
