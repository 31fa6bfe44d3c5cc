"""Paragraphs with citation spans, as S2ORC and unarXive print them: into sections and citations.

A paragraph is an object with `text`, `section` and `cite_spans` (`start`, `end`, `text`, `ref_id`). A span
that names no bibliography entry says nothing about who is cited, and is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pinakes.loaders.reading.articles import list_sections
from pinakes.loaders.reading.identifiers import make_reference_key
from pinakes.loaders.reading.mentions import find_context
from pinakes.loaders.reading.records import clean_text
from pinakes.loaders.reading.scalars import take_int, take_list, take_object, take_text
from pinakes.loaders.staging import RecordError


@dataclass(frozen=True, slots=True)
class Span:
    """Where a paragraph cites a bibliography entry: offsets in characters, and the words that stand there."""

    start: int
    end: int
    shown: str | None
    reference_id: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of a full text, its text as the source prints it."""

    title: str | None
    number: str | None
    text: str
    spans: tuple[Span, ...]


def take_objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The list of objects of that name; empty where there is none.

    Raises:
        RecordError: it is no list, or something in it is no object.
    """
    members = take_list(record, key) or []
    if not all(isinstance(member, dict) for member in members):
        raise RecordError("invalid_value", f"{key}: expected a list of objects")
    return members


def take_entries(record: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """The object of objects of that name, empty where there is none.

    Raises:
        RecordError: it is no object, or something in it is none.
    """
    entries = take_object(record, key) or {}
    if not all(isinstance(entry, dict) for entry in entries.values()):
        raise RecordError("invalid_value", f"{key}: expected an object of objects")
    return entries


def parse_paragraph(
    record: Mapping[str, Any], *, title: str | None = None, number_key: str = "sec_num"
) -> Paragraph:
    """The paragraph that a record describes; `title` stands where it names no section."""
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        raise RecordError("invalid_value", f"text: expected a text, found {text!r:.80}")
    spans = (_parse_span(span) for span in take_objects(record, "cite_spans"))
    return Paragraph(
        take_text(record, "section") or title,
        clean_text(record.get(number_key)),
        text or "",
        tuple(span for span in spans if span is not None),
    )


def _parse_span(span: Mapping[str, Any]) -> Span | None:
    reference_id = take_text(span, "ref_id")
    if reference_id is None:
        return None
    start, end = take_int(span.get("start")), take_int(span.get("end"))
    if start is None or end is None or not 0 <= start <= end:
        raise RecordError("invalid_value", f"a citation span from {start} to {end}")
    shown = span.get("text")
    return Span(start, end, shown if isinstance(shown, str) and shown else None, reference_id)


def group_sections(source_id: str, paragraphs: Iterable[Paragraph]) -> list[dict[str, Any]]:
    """The rows of `sections`: consecutive paragraphs of the same heading, joined by an empty line.

    >>> group_sections("p", [Paragraph("Method", "2", "One.", ()), Paragraph("Method", "2", " Two.", ())])
    [{'source_id': 'p', 'section_number': 1, 'title': 'Method', 'text': 'One.\\n\\nTwo.'}]
    """
    grouped = groupby(paragraphs, lambda paragraph: (paragraph.title, paragraph.number))
    return list_sections(source_id, ((title, _join_texts(members)) for (title, _), members in grouped))


def _join_texts(paragraphs: Iterable[Paragraph]) -> str:
    return "\n\n".join(filter(None, (paragraph.text.strip() for paragraph in paragraphs)))


def list_citations(
    source_id: str, paragraphs: Sequence[Paragraph], keys: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The rows of `citations`: every span in reading order, then every entry that no span mentions.

    Args:
        source_id: the citing paper.
        paragraphs: its text.
        keys: the source's id of a bibliography entry -> its reference key.
    """
    rows = []
    unmentioned = dict(keys)
    for paragraph in paragraphs:
        for span in paragraph.spans:
            unmentioned.pop(span.reference_id, None)
            key = keys.get(span.reference_id) or make_reference_key(mention=(source_id, span.reference_id))
            rows.append(
                _build_citation(source_id, key, span.reference_id) | _describe_context(paragraph, span)
            )
    rows.extend(_build_citation(source_id, key, name) for name, key in unmentioned.items())
    return rows


def _build_citation(source_id: str, key: str, reference_id: str) -> dict[str, Any]:
    return {"citing_source_id": source_id, "reference_key": key, "source_reference_id": reference_id}


def _describe_context(paragraph: Paragraph, span: Span) -> dict[str, Any]:
    place = _place_span(paragraph.text, span)
    if place is None:
        return {}
    context, start, end = find_context(paragraph.text, *place)
    return {"context": context, "context_start": start, "context_end": end} if context else {}


def _place_span(text: str, span: Span) -> tuple[int, int] | None:
    """Where the span stands: at its offsets, or where its words stand next to them; None if nowhere.

    Joining paragraphs after cutting white space off, as unarXive 2024 does, leaves offsets behind words.

    >>> _place_span("We follow [7] here.", Span(12, 15, "[7]", "b7"))
    (10, 13)
    """
    if span.shown is None:
        return (span.start, span.end) if span.end <= len(text) else None
    if text[span.start : span.end] == span.shown:
        return span.start, span.end
    length = len(span.shown)
    found = (text.rfind(span.shown, 0, span.start + length), text.find(span.shown, span.start))
    places = [place for place in found if place >= 0]
    if not places:
        return None
    start = min(places, key=lambda place: abs(place - span.start))
    return start, start + length
