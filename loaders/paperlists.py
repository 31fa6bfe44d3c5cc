"""The paper lists of Paper Copilot (papercopilot/paperlists): machine-learning and NLP venues, year by year.

Read are the published `<venue>/<venue><year>.json` (one array) and the same records as JSON Lines with
`venue` and `year` in them; where a record has neither, the file's name says them (`acl2022.json`).

Ids are unique only within a venue and a year (ICML 2019 and NeurIPS 2013 both number papers from 3734, and
every preface of AISTATS has the same id), so that a paper's id is `<venue><year>/<id>`: `icml2019/3768`. A
record without id has that of its page in the ACL Anthology, else its DOI, the name of its page at the
Computer Vision Foundation, its number in the programme (`pid`, `ssid`), or its title. Authors are parted by
semicolons; where there are none, by commas.

Scores (`rating` = "5;6;8") become a row a review. The lists sort the reviews of a paper by rating and number
none: review 1 is the lowest, and no reviewer. The status is the label `decision`, an award the label `award`
(its absence is not told from its being unknown, and is none), the track the label `track`. `gs_citation` is
Google Scholar's count, -1 where it was not found. DOIs are those of the BibTeX entries.
Leaves out, and counts by name: affiliations, sessions, word counts of reviews, averages, links to PDFs, code
and videos; of the scores those that are no number.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import repeat
from typing import Any, Final

from pinakes.loaders.base import InputFile, Loader, describe_as
from pinakes.loaders.left_out import keep_filled, leave_fields, leave_out
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_array, read_json_lines
from pinakes.loaders.reading.rows import (
    list_authorships,
    list_fields,
    list_identifiers,
    list_labels,
    list_scores,
    normalise_identifier,
    normalise_title,
)
from pinakes.loaders.reading.values import take_int, take_number, take_or_leave, take_text, take_year
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_VENUE_AND_YEAR: Final = re.compile(r"((?=[0-9]*[a-z])[a-z0-9]+?)[-_]?((?:19|20)[0-9]{2})(?![0-9])")
_PLACES: Final = ("openreview", "site", "pdf", "arxiv")
_FORUM: Final = re.compile(r"openreview\.net/(?:forum|pdf)\?id=([\w-]+)")
_ANTHOLOGY: Final = re.compile(r"aclanthology\.org/([\w.-]+?)(?:\.pdf)?/?$", re.MULTILINE)
_ARXIV: Final = re.compile(r"(?:arxiv\.org/(?:abs|pdf)/|^)([a-z-]+/\d{7}|\d{4}\.\d{4,5})(?!\d)", re.MULTILINE)
_FOUNDATION: Final = re.compile(r"thecvf\.com/\S*/([^/\s]+?)(?:_paper)?\.pdf")
_BIBTEX_DOI: Final = re.compile(r'\bdoi\s*=\s*["{]\s*([^"}\s]+)\s*["}]')

_ASPECTS: Final = (
    "rating", "recommendation", "overall_recommendation", "confidence", "soundness", "contribution",
    "presentation", "correctness", "novelty", "technical_novelty", "empirical_novelty", "quality",
    "clarity", "significance", "originality",
)  # fmt: skip
"""Fields that hold a score a review, joined by semicolons."""

_FIELDS: Final = frozenset({
    "venue", "year", "id", "title", "abstract", "author", "authorids", "author_num", "keywords",
    "primary_area", "status", "track", "award", "gs_citation", "doi", "bibtex", *_PLACES, *_ASPECTS,
})  # fmt: skip
_NUMBERS: Final = ("pid", "ssid")
_AFFIX: Final = re.compile(r"(?:jr|sr|ii|iii|iv|ph\.?\s?d)\.?", re.IGNORECASE)


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    name = strip_compression(file.name.rsplit("/", 1)[-1])
    found = _VENUE_AND_YEAR.search(name.lower())
    named: tuple[str | None, str | None] = (None, None) if found is None else (found[1], found[2])
    parse = partial(_parse_paper, named)
    is_array = name.lower().endswith(".json")
    return read_json_array(file, parse) if is_array else read_json_lines(file, parse)


def _parse_paper(named: tuple[str | None, str | None], record: dict[str, Any]) -> Rows:
    venue = take_text(record, "venue") or named[0]
    year = take_year(record.get("year")) or take_year(named[1])
    source_id = _name_paper(_find_id(record), venue, year)
    leave_fields(record, _FIELDS)
    paper = {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "abstract": take_text(record, "abstract"),
        "year": year,
        "venue": venue,
        "citation_count": _take_count(record.get("gs_citation")),
    }
    return {
        "papers": [paper],
        "identifiers": _list_identifiers(source_id, venue, record),
        "fields": _list_fields(source_id, record),
        "authorships": list_authorships(source_id, _list_authors(record)),
        "review_scores": _list_scores(source_id, record),
        "labels": _list_labels(source_id, record),
    }


def _find_id(record: Mapping[str, Any]) -> str | None:
    """The record's id; without one what else names it within its venue and year."""
    found = take_text(record, "id") or _search(_ANTHOLOGY, take_text(record, "site") or "")
    found = found or normalise_identifier("doi", take_text(record, "doi"))
    found = found or _search(
        _FOUNDATION, take_text(record, "pdf") or ""
    )  # a pid is a session's own at CVPR 2016
    found = found or next(filter(None, (take_text(record, name) for name in _NUMBERS)), None)
    title = normalise_title(take_text(record, "title") or "")
    return found or (f"title:{title}" if title else None)


def _name_paper(identifier: str | None, venue: str | None, year: int | None) -> str:
    if identifier is None:
        raise RecordError("missing_field", "no id, and no DOI, pid or title")
    return f"{venue or ''}{year or ''}/{identifier}" if venue or year else identifier


def _take_count(value: object) -> int | None:
    count = take_int(value, "gs_citation")
    return None if count is None or count < 0 else count


def _list_identifiers(source_id: str, venue: str | None, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    places = "\n".join(take_text(record, name) or "" for name in _PLACES if name in record)
    forum = _search(_FORUM, places)
    if forum is None and venue == "iclr":
        # Its site may be the conference's own; only the newest lists number the papers instead.
        identifier = take_text(record, "id") or ""
        forum = None if identifier.isdecimal() else identifier
    found = {
        "openreview": forum,
        "acl": _search(_ANTHOLOGY, places),
        "arxiv": _search(_ARXIV, places),
        "doi": take_text(record, "doi") or _search(_BIBTEX_DOI, take_text(record, "bibtex") or ""),
    }
    return list_identifiers(source_id, found.items())


def _search(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else found[1]


def _list_fields(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    keywords = list_fields(source_id, _split(take_text(record, "keywords"), "fields"), "paperlists")
    area = take_text(record, "primary_area")
    return keywords + list_fields(source_id, [area] if area else [], "paperlists_area")


def _split(text: str | None, kind: str) -> list[str]:
    """The parts between semicolons; empty ones are noted as left out."""
    return keep_filled(kind, (part.strip() for part in text.split(";"))) if text else []


def _list_authors(record: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    text = take_text(record, "author") or ""
    names = _split(text, "authorships")
    if len(names) == 1 and "," in text and take_text(record, "author_num") != "1":
        names = _split_commas(text)
    ids = [part.strip() for part in (take_text(record, "authorids") or "").split(";") if part.strip()]
    is_paired = len(ids) == len(names)
    leave_out("field authorids", "invalid", bool(ids) and not is_paired)
    return zip(ids if is_paired else repeat(None), names, strict=False)


def _split_commas(text: str) -> list[str]:
    """The names between commas; "Jr." and the like belong to the name before them.

    >>> _split_commas("Ada Lovelace, Sammy Davis, Jr., Kurt G.")
    ['Ada Lovelace', 'Sammy Davis, Jr.', 'Kurt G.']
    """
    names: list[str] = []
    for part in keep_filled("authorships", (part.strip() for part in text.split(","))):
        if names and _AFFIX.fullmatch(part):
            names[-1] = f"{names[-1]}, {part}"
        else:
            names.append(part)
    return names


def _list_scores(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = ((aspect, take_text(record, aspect)) for aspect in _ASPECTS if aspect in record)
    scores = (
        (str(number), aspect, take_or_leave("review_scores", take_number, text, aspect))
        for aspect, texts in given
        if texts
        for number, text in enumerate(texts.split(";"), start=1)
    )
    return list_scores(
        source_id, ((number, aspect, score) for number, aspect, score in scores if score is not None)
    )


def _list_labels(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    award = record.get("award")
    if not (award is None or isinstance(award, bool | str)):
        raise RecordError("invalid_value", f"award: expected true, false or a text, found {award!r:.80}")
    labels = {
        "decision": take_text(record, "status"),
        "track": take_text(record, "track"),
        "award": "yes" if award is True else take_text({"award": award or None}, "award"),
    }
    return list_labels(source_id, labels)


LOADER: Final = Loader(
    name="paperlists",
    summary="Paper Copilot's lists of papers, ratings and citation counts of venues",
    describe_corpus=describe_as(
        name="paperlists",
        title="Paper Copilot's paper lists",
        source="https://github.com/papercopilot/paperlists",
    ),
    find_files=find_by_name("lists such as acl2022.json", papers=r"\.(?:jsonl|ndjson|json)$"),
    read_chunks=gather_by_role(_read_papers),
)
