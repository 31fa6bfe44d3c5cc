"""What all dialects of OpenReview share: records of a JSON file, numbers that reviewers gave, a paper's rows.

A JSON file is JSON Lines, an array, or an answer of the API (`{"notes": […]}`).
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import keep_distinct, keep_filled, leave_out
from pinakes.loaders.reading.json_records import read_json_answers, read_json_array, read_json_lines
from pinakes.loaders.reading.rows import (
    keep_named,
    list_authorships,
    list_fields,
    list_identifiers,
    list_labels,
    list_scores,
)
from pinakes.loaders.reading.streams import read_lines
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

Parse = Callable[[dict[str, Any]], Rows]
_SEPARATOR: Final = re.compile(r"[;,]")
_CAPTIONED: Final = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,9})?)\s*(?:[:：].*)?")
_GRADED: Final = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,9})?)(?:\s*[:：,;(–-].*|\s+\D.*)?")
_LONGEST: Final = 400  # characters; a caption is a sentence, a review that begins with a number is longer


def read_records(file: InputFile, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The file's records, each parsed or rejected."""
    if ".jsonl" in file.name or ".ndjson" in file.name:
        return read_json_lines(file, parse)
    first = read_first_line(file).lstrip()
    if first.startswith(b"["):
        return read_json_array(file, parse)
    if _is_whole_object(first):
        return read_json_lines(file, parse)
    return read_json_answers(file, "notes", parse)


def read_first_line(file: InputFile) -> bytes:
    """The first line that holds anything; empty where there is none."""
    return next((line for _, line in read_lines(file)), b"")


def _is_whole_object(line: bytes) -> bool:
    """Whether a line is a record by itself: an object, and no answer of the API."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and not isinstance(value.get("notes"), list)


def parse_score(value: object, *, is_score: bool = False) -> float | None:
    """The number of a score, or at the start of its caption; None where the value is no score.

    Args:
        value: a field of a review.
        is_score: whether the field is known to hold a score, so that a caption may follow without a colon.

    >>> parse_score("8: Top 50% of accepted papers"), parse_score(6), parse_score("1. We thank the authors")
    (8.0, 6.0, None)
    >>> parse_score("3 good"), parse_score("3 good", is_score=True)
    (None, 3.0)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _take_finite(value)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    found = (_GRADED if is_score else _CAPTIONED).fullmatch(value)
    return None if found is None else float(found[1])


def _take_finite(value: float) -> float | None:
    # A whole number beyond the range of a float cannot be converted, and is no score.
    if abs(value) > 1e9 or not math.isfinite(value):
        return None
    return float(value)


def build_rows(
    source_id: str,
    *,
    fields: Mapping[str, object] | None = None,
    authors: Iterable[tuple[str | None, str]] = (),
    scores: Iterable[tuple[str, str, float]] = (),
    labels: Mapping[str, str | None] | None = None,
    **columns: Any,
) -> Rows:
    """The rows of one paper, from whichever dialect it was read.

    `fields` are keywords by who assigned them, scores (review, aspect, score), `columns` the paper's own.
    """
    return {
        "papers": [{"source_id": source_id, **columns}],
        "identifiers": list_identifiers(source_id, [("openreview", source_id)]),
        "fields": [
            row
            for assigned_by, given in (fields or {}).items()
            for row in list_fields(source_id, split_keywords(given), assigned_by)
        ],
        "authorships": list_authorships(source_id, authors),
        "review_scores": list_scores(source_id, scores),
        "labels": list_labels(source_id, labels or {}),
    }


def split_keywords(given: object) -> list[str]:
    """The keywords, each once, in their order: of a list, whose entries may hold several, or of one text.

    >>> split_keywords(["causality; inference", "sql"]), split_keywords("few-shot learning, GAN")
    (['causality', 'inference', 'sql'], ['few-shot learning', 'GAN'])
    """
    if given is None:
        return []
    if isinstance(given, str):
        parts = _SEPARATOR.split(given) if given.strip() else []
    elif isinstance(given, list):
        parts = [part for entry in given for part in (clean_text(entry) or "").split(";")]
    else:
        raise RecordError("invalid_value", f"expected a list of keywords, found {given!r:.80}")
    return keep_distinct("fields", keep_filled("fields", (part.strip() for part in parts)))


def list_authors(authors: object, author_ids: object = None) -> list[tuple[str | None, str]]:
    """The profile ids and names of authors; without ids where the two lists do not match."""
    if authors is None:
        return []
    if not isinstance(authors, list):
        raise RecordError("invalid_value", f"expected a list of authors, found {authors!r:.80}")
    ids: list[Any] = [None] * len(authors)
    if isinstance(author_ids, list) and len(author_ids) == len(authors):
        ids = author_ids
    named = [_name_author(author, author_id) for author, author_id in zip(authors, ids, strict=True)]
    leave_out("field authorids", "invalid", bool(author_ids) and ids is not author_ids)
    return keep_named((author_id, None if name == "Anonymous" else name) for author_id, name in named)


def _name_author(author: object, author_id: object) -> tuple[str | None, str | None]:
    if isinstance(author, dict):  # the form of newer venues: {"fullname": …, "username": "~…"}
        return clean_text(author.get("username")), clean_text(author.get("fullname"))
    return clean_text(author_id), clean_text(author)
