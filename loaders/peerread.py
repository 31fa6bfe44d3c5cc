"""PeerRead's layout around science-parse's documents (Kang et al. 2018): venues, splits, reviews.

`<venue>/<split>/parsed_pdfs/25.pdf.json` is science-parse's; `<venue>/<split>/reviews/25.json` says the title
and abstract as they were submitted, whether the paper was accepted, and its reviews. Papers are numbered anew
in each venue, so the `source_id` is `<venue>/25`.

A review's scores are numbers or digits; its number in the file is the `review_id`, since reviewers are not
named or comment several times. Aspects are in small letters (`soundness_correctness`). The decision is a
label of the task `peerread_decision`, gold; silver for arXiv's sections, whose acceptance was inferred.

`*annotation*.tsv` is the table of aspects that annotators read out of ICLR 2017's reviews: one line a review,
`-` where the review says nothing. They are scores of that reviewer, who is the `review_id`. A paper's scores
are replaced as a whole, so those of the files and those of the table belong into corpora of their own.

Leaves out: the text of reviews and comments, presentation formats, histories, dates, authors as printed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.rows import list_fields, list_identifiers
from pinakes.loaders.reading.values import take_objects
from pinakes.loaders.reading.values import take_number, take_text
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

REVIEW_COLUMNS: Final = frozenset({"title", "abstract", "venue", "identifiers", "fields", "review_scores"})
"""what a file of reviews says of its paper"""

_ASPECT: Final = re.compile(
    r"(?:RECOMMENDATION|CLARITY|ORIGINALITY|SUBSTANCE|IMPACT|APPROPRIATENESS|REPLICABILITY|REVIEWER_CONFIDENCE"
    r"|MEANINGFUL_COMPARISON|SOUNDNESS_CORRECTNESS)(?:_[A-Z_]+)?"
)
_SPLITS: Final = ("train", "dev", "test")
_FOLDERS: Final = {"parsed_pdfs": "parsed", "reviews": "reviews"}
_ANNOTATED_VENUE: Final = "iclr_2017"
_NO_SCORE: Final = ("", "-")


@dataclass(frozen=True, slots=True)
class Place:
    """What a document is (`papers` outside PeerRead's layout), and its paper's id and split."""

    role: str
    source_id: str
    venue: str | None = None
    split: str = "all"


def locate_document(path: Path | None, name: str) -> Place:
    """The place of the document `name` of the file or folder at `path`.

    >>> locate_document(Path("data"), "acl_2017/dev/reviews/25.json")
    Place(role='reviews', source_id='acl_2017/25', venue='acl_2017', split='dev')
    >>> locate_document(Path("data"), "25.pdf.json")
    Place(role='papers', source_id='25', venue=None, split='all')
    """
    number = re.sub(r"(?:\.pdf)?\.json(?:\.\w+)?$|\.pdf$", "", PurePosixPath(name).name)
    folder = path.resolve() if path else Path()
    above = folder.parent if folder.name == name else folder
    *parts, _ = (*above.parts, *PurePosixPath(name).parts)
    role = _FOLDERS.get(parts[-1]) if len(parts) > 2 else None
    if role is None:
        return Place("papers", number)
    venue, split = parts[-3:-1]
    return Place(role, f"{venue}/{number}", venue, split if split in _SPLITS else "all")


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
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("arxiv", number)] if is_arxiv else []),
        "fields": list_fields(source_id, subjects, "arxiv"),
        "review_scores": [
            {"source_id": source_id, "review_id": str(number), "aspect": aspect, "score": score}
            for number, review in enumerate(take_objects(record, "reviews"), start=1)
            for aspect, score in _list_scores(review)
        ],
        "labels": _label_decision(record.get("accepted"), place, "silver" if is_arxiv else "gold"),
    }


def _list_scores(review: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in review.items():
        score = take_number(value, name) if _ASPECT.fullmatch(name) else None
        if score is not None:
            yield name.lower(), score


def _label_decision(accepted: object, place: Place, quality: str) -> list[dict[str, Any]]:
    if accepted is None:
        return []
    if not isinstance(accepted, bool):
        raise RecordError("invalid_value", f"accepted: expected true or false, found {accepted!r:.80}")
    return [
        {
            "task": "peerread_decision",
            "source_id": place.source_id,
            "split": place.split,
            "label": "accept" if accepted else "reject",
            "quality": quality,
        }
    ]


def read_annotations(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The lines of the annotators' table; a paper's scores all come with the first of its lines."""
    records = list(read_table(file, _parse_annotation, required=("id", "OTHER_KEYS")))
    scores: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if isinstance(record, Accepted):
            source_id = record.rows["papers"][0]["source_id"]
            scores.setdefault(source_id, []).extend(record.rows["review_scores"])
    for record in records:
        yield _collect_scores(record, scores) if isinstance(record, Accepted) else record


def _collect_scores(record: Accepted, scores: dict[str, list[dict[str, Any]]]) -> Accepted:
    """The record with all of its paper's scores, or with nothing where an earlier line has them."""
    # What hangs on a paper is replaced as a whole by its newer record: it has to come at once.
    found = scores.pop(record.rows["papers"][0]["source_id"], None)
    rows: Rows = {} if found is None else {"papers": record.rows["papers"], "review_scores": found}
    return Accepted(record.row_number, rows, record.location, record.raw)


def _parse_annotation(row: dict[str, str]) -> Rows:
    number, reviewer = row["id"].strip(), row["OTHER_KEYS"].strip()
    if not number or not reviewer:
        raise RecordError("missing_field", "no id or no reviewer")
    source_id = f"{_ANNOTATED_VENUE}/{number}"
    scores = []
    for name, value in row.items():
        aspect = re.sub(r"[ /]+", "_", name.strip())
        if _ASPECT.fullmatch(aspect) and value.strip() not in _NO_SCORE:
            score = take_number(value, name)
            scores.append(
                {"source_id": source_id, "review_id": reviewer, "aspect": aspect.lower(), "score": score}
            )
    return {"papers": [{"source_id": source_id}], "review_scores": scores}
