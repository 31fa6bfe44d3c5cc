"""Cited works and where a text mentions them: a bibliography, and paragraphs with citation spans, into rows.

A paragraph is an object with `text`, `section` and `cite_spans` (`start`, `end`, `text`, `ref_id`), as S2ORC
and unarXive print them. Noted as left out are a span that names no entry of the bibliography or is none, an
entry of the same key as one before (its mentions stay), and the context of a mention that stands nowhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.mentions import find_context
from pinakes.loaders.reading.rows import Row, list_sections, make_reference_key
from pinakes.loaders.reading.values import clean_text, take_objects, take_text
from pinakes.loaders.staging import RecordError, Rows


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One entry of a bibliography.

    Attributes:
        reference_id: the source's own id of the entry (b3, CR7); entries may share it.
        identifiers: (scheme, identifier) pairs in one spelling, the best scheme first.
        source_id: the id that the corpus itself gives the work.
    """

    reference_id: str
    title: str | None = None
    year: int | None = None
    identifiers: Iterable[tuple[str, str]] = ()
    source_id: str | None = None


@dataclass(slots=True)
class Bibliography:
    """The cited works of one paper, and its mentions of them, on their way to rows.

    >>> bibliography = Bibliography("P1", [CitedWork("b0", "A title"), CitedWork("b1", "Another")])
    >>> bibliography.add_mention("b0", "As in [1].", 6, 9)
    >>> [(row["reference_key"], row.get("context")) for row in bibliography.build_rows()["citations"]]
    [('title:atitle', 'As in [1].'), ('title:another', None)]
    """

    source_id: str
    works: Iterable[CitedWork]
    _keys: dict[str, list[str]] = field(default_factory=dict)
    _references: dict[str, Row] = field(default_factory=dict)
    _identifiers: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    _mentions: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        for work in self.works:
            self._add_work(work)

    def _add_work(self, work: CitedWork) -> None:
        identifiers = list(work.identifiers)
        key = make_reference_key(
            source_id=work.source_id,
            identifiers=identifiers,
            title=work.title,
            mention=(self.source_id, work.reference_id),
        )
        self._keys.setdefault(work.reference_id, []).append(key)
        leave_out("references", "repeated", key in self._references)
        row = self._references.setdefault(key, {"reference_key": key, "title": None, "year": None})
        row["title"], row["year"] = row["title"] or work.title, row["year"] or work.year
        for scheme, identifier in identifiers:
            named = {"reference_key": key, "scheme": scheme, "identifier": identifier}
            leave_out("reference_identifiers", "repeated", (key, scheme, identifier) in self._identifiers)
            self._identifiers.setdefault((key, scheme, identifier), named)

    def list_entries(self) -> list[str]:
        """The source's ids of the entries, in the order of the bibliography."""
        return list(self._keys)

    def add_mention(
        self, reference_id: str, context: str | None = None, start: int | None = None, end: int | None = None
    ) -> None:
        """A mention of the entry; of an entry that the bibliography lacks, nothing but its id is known."""
        unknown = make_reference_key(mention=(self.source_id, reference_id))
        for key in self._keys.get(reference_id, [unknown]):
            located = {"context": context, "context_start": start, "context_end": end} if context else {}
            self._mentions.append(self._cite(key, reference_id) | located)

    def _cite(self, key: str, reference_id: str) -> Row:
        return {
            "citing_source_id": self.source_id,
            "reference_key": key,
            "source_reference_id": reference_id,
        }

    def build_rows(self) -> Rows:
        """Every mention, then an entry that no text mentions as a citation without a context."""
        mentioned = {row["source_reference_id"] for row in self._mentions}
        silent = [
            self._cite(key, reference_id)
            for reference_id, keys in self._keys.items()
            if reference_id not in mentioned
            for key in keys
        ]
        return {
            "references": list(self._references.values()),
            "reference_identifiers": list(self._identifiers.values()),
            "citations": self._mentions + silent,
        }


PARAGRAPH: Final = frozenset({"text", "section", "sec_num", "sec_number", "cite_spans"})
"""What is read of a paragraph, by its fields."""
NOWHERE: Final = -1
"""The offsets of a span whose own are none."""


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
        leave_out("citations", "no_reference")
        return None
    start, end = (_take_offset(span.get(name)) for name in ("start", "end"))
    if not 0 <= start <= end:
        start = end = NOWHERE
    shown = span.get("text")
    return Span(start, end, shown if isinstance(shown, str) and shown else None, reference_id)


def _take_offset(value: object) -> int:
    return value if type(value) is int else NOWHERE


def group_sections(source_id: str, paragraphs: Iterable[Paragraph]) -> list[Row]:
    """The rows of `sections`: consecutive paragraphs of the same heading, joined by an empty line.

    >>> group_sections("p", [Paragraph("Method", "2", "One.", ()), Paragraph("Method", "2", " Two.", ())])
    [{'source_id': 'p', 'section_number': 1, 'title': 'Method', 'text': 'One.\\n\\nTwo.'}]
    """
    grouped = groupby(paragraphs, lambda paragraph: (paragraph.title, paragraph.number))
    return list_sections(source_id, ((title, _join_texts(members)) for (title, _), members in grouped))


def _join_texts(paragraphs: Iterable[Paragraph]) -> str:
    return "\n\n".join(filter(None, (paragraph.text.strip() for paragraph in paragraphs)))


def cite_paragraphs(bibliography: Bibliography, paragraphs: Iterable[Paragraph]) -> Rows:
    """The rows of the bibliography, with every span of the paragraphs, in reading order, as a mention."""
    for paragraph in paragraphs:
        for span in paragraph.spans:
            place = _place_span(paragraph.text, span)
            leave_out("contexts", "invalid", place is None)
            context = find_context(paragraph.text, *place) if place is not None else ()
            bibliography.add_mention(span.reference_id, *context)
    return bibliography.build_rows()


def _place_span(text: str, span: Span) -> tuple[int, int] | None:
    """Where the span stands: at its offsets, or where its words stand next to them; None if nowhere.

    Joining paragraphs after cutting white space off, as unarXive 2024 does, leaves offsets behind words.

    >>> _place_span("We follow [7] here.", Span(12, 15, "[7]", "b7"))
    (10, 13)
    """
    if span.start == NOWHERE:
        return None
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
