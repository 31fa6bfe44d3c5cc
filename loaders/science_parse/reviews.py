"""PeerRead's reviews of papers: their scores, the decision, and the table of the annotators."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_fields, leave_member_fields
from pinakes.loaders.reading.rows import list_fields, list_identifiers, list_scores, make_label
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import take_flag, take_number, take_objects, take_or_leave, take_text
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_ASPECT: Final = re.compile(
    r"(?:RECOMMENDATION|CLARITY|ORIGINALITY|SUBSTANCE|IMPACT|APPROPRIATENESS|REPLICABILITY|REVIEWER_CONFIDENCE"
    r"|MEANINGFUL_COMPARISON|SOUNDNESS_CORRECTNESS)(?:_[A-Z_]+)?"
)
_REVIEWED: Final = frozenset({"title", "abstract", "SUBJECTS", "reviews", "accepted", "id"})
"""What is read of a file of reviews, by its fields; the rest is left out."""
_ANNOTATED_VENUE: Final = "iclr_2017"
_KEYS: Final = ("id", "OTHER_KEYS")
_NO_SCORE: Final = ("", "-")


@dataclass(frozen=True, slots=True)
class Place:
    """What a document is (`papers` outside PeerRead's layout), and its paper's id and split."""

    role: str
    source_id: str
    venue: str | None = None
    split: str = "all"


def parse_reviews(record: Mapping[str, Any], place: Place) -> Rows:
    """What a file of reviews says: the paper, its decision and the scores."""
    source_id, venue = place.source_id, place.venue or ""
    is_arxiv = venue.startswith("arxiv")
    paper = {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "abstract": take_text(record, "abstract"),
        "venue": venue,
    }
    number = source_id.rpartition("/")[2]
    subjects = (take_text(record, "SUBJECTS") or "").split() if is_arxiv else []
    leave_fields(record, _REVIEWED if is_arxiv else _REVIEWED - {"SUBJECTS"})
    accepted = take_or_leave("labels", take_flag, record, "accepted")
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("arxiv", number)] if is_arxiv else []),
        "fields": list_fields(source_id, subjects, "arxiv"),
        "review_scores": list_scores(source_id, _list_scores(take_objects(record, "reviews"))),
        "labels": _label_decision(accepted, place, "silver" if is_arxiv else "gold"),
    }


def _list_scores(reviews: list[dict[str, Any]]) -> Iterator[tuple[str, str, float]]:
    aspects = dict.fromkeys(name for review in reviews for name in review if _ASPECT.fullmatch(name))
    leave_member_fields(reviews, aspects.keys(), "reviews.")
    for number, review in enumerate(reviews, start=1):
        for name in aspects:
            score = take_or_leave("review_scores", take_number, review.get(name), name)
            if score is not None:
                yield str(number), name.lower(), score


def _label_decision(accepted: bool | None, place: Place, quality: str) -> list[dict[str, Any]]:
    if accepted is None:
        return []
    label = "accept" if accepted else "reject"
    return [make_label("peerread_decision", place.source_id, place.split, label, quality=quality)]


def read_annotations(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The lines of the annotators' table; a paper's scores all come with the first of its lines."""
    records = list(read_table(file, _parse_annotation, required=_KEYS))
    scores: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if isinstance(record, Accepted):
            source_id = record.rows["papers"][0]["source_id"]
            scores.setdefault(source_id, []).extend(record.rows["review_scores"])
    for record in records:
        yield _collect_scores(record, scores) if isinstance(record, Accepted) else record


def _collect_scores(record: Accepted, scores: dict[str, list[dict[str, Any]]]) -> Accepted:
    """The record with all of its paper's scores, or with nothing where an earlier line has them."""
    # A paper's child rows are replaced as a whole by its newer record: they have to come at once.
    found = scores.pop(record.rows["papers"][0]["source_id"], None)
    left_out = {"left_out": record.rows["left_out"]} if "left_out" in record.rows else {}
    scored = {} if found is None else {"papers": record.rows["papers"], "review_scores": found}
    return Accepted(record.row_number, {**scored, **left_out}, record.location, record.raw)


def _find_aspect(column: str) -> str | None:
    """The aspect that a column of the table scores; None where it scores none."""
    aspect = re.sub(r"[ /]+", "_", column.strip())
    return aspect.lower() if _ASPECT.fullmatch(aspect) else None


def _parse_annotation(row: dict[str, str]) -> Rows:
    number, reviewer = row["id"].strip(), row["OTHER_KEYS"].strip()
    if not number or not reviewer:
        raise RecordError("missing_field", "no id or no reviewer")
    source_id = f"{_ANNOTATED_VENUE}/{number}"
    scores = []
    leave_fields(row, [name for name in row if not name.strip() or name in _KEYS or _find_aspect(name)])
    for name, value in row.items():
        aspect = _find_aspect(name)
        if aspect and value.strip() not in _NO_SCORE:
            score = take_or_leave("review_scores", take_number, value, name)
            scores += [] if score is None else [(reviewer, aspect, score)]
    return {"papers": [{"source_id": source_id}], "review_scores": list_scores(source_id, scores)}
