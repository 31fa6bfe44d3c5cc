"""Dumps that others made of OpenReview: paper lists and ratings as TSV, scored submissions as JSON Lines.

* `<venue><year>_paperlist.tsv`: paper_id, title, link, keywords, abstract. Venue and year are the name's.
* `<venue><year>_ratings[.<date>].tsv`: a paper's ratings, a column a review, empty where it has no more, and
  its decision. A date in the name marks an earlier state; its scores have the aspect `rating_<date>`, those
  of the undated file `rating`. A row of either file brings its paper's scores of all the states beside it,
  so that the order in which they are read does not matter. The decision `Unknown` is none.
* `<venue>_<year>.jsonl`: title, abstract, id, authors, keywords, conference, accepted and `review_scores`, in
  which RECOMMENDATION, REVIEWER_CONFIDENCE and SOUNDNESS_CORRECTNESS become rating, confidence and soundness,
  and other numbers the lower-cased name; reviews have no ids and are numbered. A meta-review's
  recommendation is the label `decision`, `accepted` a label of its own.

Leaves out: review dates and the `histories` of submissions.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_fields, leave_out
from pinakes.loaders.openreview.records import build_rows, list_authors, parse_score, read_records
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import clean_text, take_flag
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_VENUE_AND_YEAR: Final = re.compile(
    r"(?P<venue>(?=[0-9]*[A-Za-z])[A-Za-z0-9]+?)[_-]?(?P<year>(?:19|20)\d\d)(?!\d)"
)
_RATINGS: Final = re.compile(r"(?P<stem>.*ratings)(?:\.(?P<date>\d{8}))?\.tsv")
_ASPECTS: Final = {
    "recommendation": "rating",
    "reviewer_confidence": "confidence",
    "soundness_correctness": "soundness",
}

_LISTED: Final = frozenset({"paper_id", "title", "abstract", "keywords"})
_REVIEWED: Final = frozenset(
    {"id", "title", "abstract", "conference", "keywords", "authors", "accepted", "review_scores"}
)
_SAID: Final = frozenset({"IS_META_REVIEW", "RECOMMENDATION"})
"""What is read of a list's row, of a submission and of a review beside its scores; the rest is left out."""

Scores = list[tuple[str, str, float]]


def read_paper_list(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The papers of a list."""
    named = _VENUE_AND_YEAR.search(file.name.rsplit("/", 1)[-1])
    columns: dict[str, Any] = {}
    if named is not None:
        columns = {"venue": f"{named['venue'].upper()} {named['year']}", "year": int(named["year"])}
    parse = partial(_parse_listed, columns)
    return read_table(file, parse, required=("paper_id", "title"))


def _parse_listed(columns: Mapping[str, Any], row: dict[str, str]) -> Rows:
    leave_fields(row, _LISTED)
    return build_rows(
        _take_id(row.get("paper_id")),
        title=clean_text(row.get("title")),
        abstract=clean_text(row.get("abstract")),
        fields={"openreview": row.get("keywords")},
        **columns,
    )


def _take_id(value: object) -> str:
    source_id = clean_text(value)
    if source_id is None:
        raise RecordError("missing_field", "no id of the paper")
    return source_id


def find_states(path: Path) -> list[Path]:
    """All files beside a file of ratings that hold a state of the same ratings, itself included, by name."""
    named = _match_ratings(path.name)
    if named is None:
        return [path]
    beside = [(other, _match_ratings(other.name)) for other in sorted(path.parent.iterdir())]
    return [other for other, found in beside if found is not None and found["stem"] == named["stem"]]


def _match_ratings(name: str) -> re.Match[str] | None:
    return _RATINGS.fullmatch(strip_compression(name))


def read_ratings(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The rows of a file of ratings, each with its paper's scores in every state of the ratings."""
    others: dict[str, Scores] = {}
    for path in find_states(file.path) if file.path is not None and file.member is None else []:
        if path == file.path:
            continue
        for _record in _read_state(InputFile(path, path.name, file.role), partial(_collect, others)):
            pass
    return _read_state(file, partial(_parse_rated, others))


def _read_state(file: InputFile, parse: Any) -> Iterator[Accepted | Rejected]:
    named = _match_ratings(file.name.rsplit("/", 1)[-1])
    date = None if named is None else named["date"]
    return read_table(file, partial(parse, "rating" if date is None else f"rating_{date}"))


def _collect(others: dict[str, Scores], aspect: str, row: dict[str, str]) -> Rows:
    source_id, scores = _take_ratings(aspect, row)
    others.setdefault(source_id, []).extend(scores)
    return {}


def _parse_rated(others: Mapping[str, Scores], aspect: str, row: dict[str, str]) -> Rows:
    source_id, scores = _take_ratings(aspect, row)
    decision = clean_text(row.get("decision"))
    labels = {"decision": None if decision == "Unknown" else decision}
    rows = build_rows(source_id, scores=[*scores, *others.get(source_id, [])], labels=labels)
    return {name: rows[name] for name in ("papers", "review_scores", "labels")}


def _take_ratings(aspect: str, row: dict[str, str]) -> tuple[str, Scores]:
    source_id = _take_id(row.get("paper_id") or row.get(""))  # the first states left its heading empty
    scores: Scores = []
    for review_id, text in row.items():
        if not review_id.isdecimal() or not text.strip():
            continue
        score = parse_score(text)
        if score is None:
            leave_out("review_scores", "invalid")
        else:
            scores.append((review_id, aspect, score))
    return source_id, scores


def read_reviewed(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The submissions of a dump with review scores."""
    return read_records(file, _parse_reviewed)


def _parse_reviewed(record: dict[str, Any]) -> Rows:
    leave_fields(record, _REVIEWED)
    venue = clean_text(record.get("conference"))
    year = re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", venue or "")
    scores, decision = _take_reviews(record.get("review_scores"))
    accepted = take_flag(record, "accepted")
    return build_rows(
        _take_id(record.get("id")),
        title=clean_text(record.get("title")),
        abstract=clean_text(record.get("abstract")),
        venue=venue,
        year=None if year is None else int(year[0]),
        fields={"openreview": record.get("keywords")},
        authors=list_authors(record.get("authors")),
        scores=scores,
        labels={"decision": decision, "accepted": None if accepted is None else str(accepted).lower()},
    )


def _take_reviews(reviews: object) -> tuple[Scores, str | None]:
    """The scores of the reviews, and the meta-review's decision."""
    if reviews is None:
        return [], None
    if not isinstance(reviews, list) or not all(isinstance(review, dict) for review in reviews):
        raise RecordError("invalid_value", "review_scores: expected a list of objects")
    scores: Scores = []
    decision = None
    for number, review in enumerate(reviews, start=1):
        is_meta = bool(review.get("IS_META_REVIEW"))
        unread = {name: value for name, value in review.items() if parse_score(value) is None}
        leave_fields(unread, _SAID if is_meta else _SAID - {"RECOMMENDATION"}, "review_scores.")
        for name, value in review.items():
            score = parse_score(value)
            aspect = _ASPECTS.get(name.lower(), name.lower())
            if score is not None:
                scores.append((str(number), f"meta_{aspect}" if is_meta else aspect, score))
            elif is_meta and name == "RECOMMENDATION":
                decision = clean_text(value)
    return scores, decision
