"""Notes as OpenReview's API gives them, version 1 (`content.title`) and 2 (`content.title.value`).

A paper is a note that replies to nothing. Its reviews and its decision are its `details.replies` or
`details.directReplies`, or notes of their own anywhere in the same file; those without their paper in the
file are rejected as `unknown_paper`. A file is read twice for that, and what is held of it is the numbers.

Scores are a review's numbers and captions that begin with one (`8: accept`); what a meta-review scores has
the aspect `meta_…`. The label of the task `decision` is the decision as published; a submission that was
withdrawn or desk-rejected, by its invitation or venue, has `Withdrawn` or `Desk Rejected` whatever else was
decided. Authors called Anonymous are none. Where a note names no venue, the group of its invitation is it.
Leaves out: the texts of reviews and comments, TL;DRs, and edits.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_fields, leave_out
from pinakes.loaders.openreview.records import build_rows, list_authors, parse_score, read_records
from pinakes.loaders.reading.values import clean_text, take_id
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

OWNED: Final = frozenset(
    {"title", "abstract", "year", "venue", "identifiers", "fields", "authorships", "review_scores"}
)

_SCORES: Final = frozenset({
    "rating", "recommendation", "confidence", "soundness", "presentation", "contribution", "correctness",
    "clarity", "quality", "originality", "significance", "technical_novelty_and_significance",
    "empirical_novelty_and_significance", "overall_recommendation", "overall_assessment",
    "reviewer_confidence",
})  # fmt: skip
"""Fields that hold a score in every form that has them."""

_CONTENT: Final = frozenset({
    "title", "abstract", "venue", "venueid", "keywords", "primary_area", "subject_areas", "authors",
    "authorids",
})  # fmt: skip
"""What is read of a paper's content; the rest is left out."""
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})
_NO_SCORES: Final = frozenset({"title", "pdf", "comment", "decision"})
_YEAR: Final = re.compile(r"(?<!\d)(19\d\d|20\d\d)(?!\d)")
_WITHDRAWN: Final = {"Withdraw": "Withdrawn", "Desk_Reject": "Desk Rejected"}
"""What an invitation or a venue id holds -> the label."""


@dataclass(slots=True)
class Reviews:
    """What the replies to one paper say: (review, aspect, score) triples, and decisions, the best first."""

    scores: list[tuple[str, str, float]] = field(default_factory=list)
    decision: str | None = None
    recommendation: str | None = None


def read_notes(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The notes of a file, one a record; a reply stands for no rows of its own."""
    papers: set[str] = set()
    replies: dict[str, Reviews] = {}
    for _record in read_records(file, partial(_collect, papers, replies)):
        pass
    yield from read_records(file, partial(_parse_note, papers, replies))


def _collect(papers: set[str], replies: dict[str, Reviews], note: dict[str, Any]) -> Rows:
    note_id, forum = _name_note(note)
    if forum == note_id:
        papers.add(note_id)
    else:
        _add_reply(replies.setdefault(forum, Reviews()), note)
    return {}


def _name_note(note: Mapping[str, Any]) -> tuple[str, str]:
    """The ids of the note and of its paper, which are the same where the note is the paper."""
    note_id = take_id(note, "id")
    return note_id, clean_text(note.get("forum")) or note_id


def _parse_note(papers: set[str], replies: Mapping[str, Reviews], note: dict[str, Any]) -> Rows:
    note_id, forum = _name_note(note)
    if forum != note_id:
        if forum not in papers:
            raise RecordError("unknown_paper", f"the file has no note {forum!r}, to which this one replies")
        _add_reply(Reviews(), note)  # its rows come with the paper; what it leaves out is its own
        return {}
    content = _take_content(note)
    found = replies.get(note_id, Reviews())
    reviews = Reviews(list(found.scores), found.decision, found.recommendation)
    seen = {review_id for review_id, _, _ in reviews.scores}
    for reply in _list_replies(note):
        reply_id = reply.get("id")
        if not isinstance(reply_id, str) or reply_id not in seen:
            _add_reply(reviews, reply)
    invitations = _list_invitations(note)
    leave_fields(content, _CONTENT, "content.")
    venue = clean_text(content.get("venue"))
    places = [venue or "", clean_text(content.get("venueid")) or "", *invitations]
    return build_rows(
        note_id,
        title=clean_text(content.get("title")),
        abstract=clean_text(content.get("abstract")),
        venue=venue or _name_group(places[1:]),
        year=_find_year(places),
        fields={
            "openreview": content.get("keywords"),
            "openreview_area": content.get("primary_area") or content.get("subject_areas"),
        },
        authors=list_authors(content.get("authors"), content.get("authorids")),
        scores=reviews.scores,
        labels={"decision": _find_withdrawal(places) or reviews.decision or reviews.recommendation},
    )


def _take_content(note: Mapping[str, Any]) -> dict[str, Any]:
    content = note.get("content")
    if not isinstance(content, dict):
        raise RecordError("missing_field" if content is None else "invalid_value", "content is no object")
    return {
        name: value.get("value") if isinstance(value, dict) and "value" in value else value
        for name, value in content.items()
    }


def _list_replies(note: Mapping[str, Any]) -> list[dict[str, Any]]:
    details = note.get("details") or {}
    if not isinstance(details, dict):
        raise RecordError("invalid_value", "details is no object")
    replies = details.get("replies") or details.get("directReplies") or []
    if not isinstance(replies, list) or not all(isinstance(reply, dict) for reply in replies):
        raise RecordError("invalid_value", "the replies are no list of objects")
    return replies


def _list_invitations(note: Mapping[str, Any]) -> list[str]:
    given = note.get("invitations") or [note.get("invitation")]
    if not isinstance(given, list):
        raise RecordError("invalid_value", "invitations is no list")
    return [text for text in map(clean_text, given) if text is not None]


def _add_reply(reviews: Reviews, reply: Mapping[str, Any]) -> None:
    """Adds what a reply scores or decides; comments and rebuttals say neither."""
    if reply.get("content") is None:  # a reply that was deleted
        return
    kinds = {name.rsplit("/-/", 1)[-1].lower() for name in _list_invitations(reply)}
    content = _take_content(reply)
    is_meta = any("meta" in kind for kind in kinds)
    if is_meta or any("decision" in kind or "acceptance" in kind for kind in kinds):
        reviews.decision = reviews.decision or _take_decision(content.get("decision"))
        reviews.recommendation = reviews.recommendation or _take_decision(content.get("recommendation"))
    if not any("review" in kind and not _is_talk(kind) for kind in kinds):
        return
    review_id = clean_text(reply.get("id"))
    if review_id is None:
        raise RecordError("missing_field", "a review without id")
    unread = dict(content)
    for aspect, value in content.items():
        score = parse_score(value, is_score=aspect in _SCORES)
        if score is not None and aspect not in _NO_SCORES:
            reviews.scores.append((review_id, f"meta_{aspect}" if is_meta else aspect, score))
            del unread[aspect]
        elif value not in _NOTHING and aspect in _SCORES:
            leave_out("review_scores", "invalid")
    leave_fields(unread, _SCORES | {"decision", "recommendation"}, "review.")


def _is_talk(kind: str) -> bool:
    return any(word in kind for word in ("comment", "rebuttal", "revision", "response"))


def _take_decision(value: object) -> str | None:
    return clean_text(value) if isinstance(value, str) else None


def _find_withdrawal(places: list[str]) -> str | None:
    return next(
        (decision for part, decision in _WITHDRAWN.items() if any(part in place for place in places)), None
    )


def _find_year(places: list[str]) -> int | None:
    years = (_YEAR.search(place) for place in places)
    return next((int(found[1]) for found in years if found is not None), None)


def _name_group(places: list[str]) -> str | None:
    return next((place.split("/-/")[0] for place in places if place), None)
