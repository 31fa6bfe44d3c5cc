"""The full texts of the Semantic Scholar Academic Graph's datasets `s2orc` and `s2orc_v2`.

A text is one string; what is in it is said by annotations with offsets in characters, which are themselves
JSON in a string. Paragraphs go to the section whose header stands before them. A mention's context is its
sentence in its paragraph, or in the abstract, or else in its line. Left out are figures, tables, formulas,
and what the annotations say of the title and the authors.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import orjson

from pinakes.loaders.left_out import leave_fields, leave_inner_fields, leave_out, name_field
from pinakes.loaders.reading.bibliography import (
    Bibliography,
    CitedWork,
    Paragraph,
    Span,
    cite_paragraphs,
    group_sections,
)
from pinakes.loaders.reading.values import clean_text, take_id, take_int, take_object
from pinakes.loaders.staging import RecordError, Rows


@dataclass(frozen=True, slots=True)
class _Annotation:
    start: int
    end: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text and its annotations by name, each list in the order of the text."""

    text: str
    annotations: Mapping[str, Sequence[_Annotation]]

    def list(self, name: str) -> Sequence[_Annotation]:
        return self.annotations.get(name, ())


_NAMES: Final = {
    "abstract": "abstract", "paragraph": "paragraph", "sectionheader": "header",
    "section_header": "header", "bibref": "mention", "bib_ref": "mention", "bibentry": "entry",
    "bib_entry": "entry", "bibtitle": "title", "bib_title": "title",
}  # fmt: skip
"""annotation, as either dataset calls it -> what it is called here"""
_READ: Final = frozenset({"corpusid", "body", "content", "bibliography"})
_NOTHING: Final[tuple[object, ...]] = (None, "", [], "[]", "null")


def parse_full_text(record: dict[str, Any], *, with_citations: bool) -> Rows:
    """The rows of one full text."""
    source_id = take_id(record, "corpusid")
    leave_fields(record, _READ)
    for name in _READ:
        leave_inner_fields(record, name, {"text", "annotations"})
    body = _take_text(record, "body" if "body" in record else "content")
    # The older dataset keeps the bibliography in the same text.
    bibliography = _take_text(record, "bibliography") if "bibliography" in record else body
    paragraphs, others = _cut_paragraphs(body)
    rows: Rows = {
        "papers": [{"source_id": source_id}],
        "sections": group_sections(source_id, paragraphs),
    }
    if not with_citations:
        leave_out("citations", "not_asked", len(body.list("mention")))
        leave_out("references", "not_asked", len(bibliography.list("entry")))
        return rows
    works = Bibliography(source_id, _list_works(bibliography))
    return {**rows, **cite_paragraphs(works, [*others, *paragraphs])}


parse_with_citations: Final = partial(parse_full_text, with_citations=True)
parse_sections: Final = partial(parse_full_text, with_citations=False)


def _take_text(record: Mapping[str, Any], key: str) -> _Text:
    held = take_object(record, key) or {}
    text = held.get("text")
    if text is None:
        return _Text("", {})
    if not isinstance(text, str):
        raise RecordError("invalid_value", f"text: expected a text, found {text!r:.80}")
    annotations = take_object(held, "annotations") or {}
    for name in annotations.keys() - _NAMES.keys():
        leave_out(name_field(f"{key}.annotations.{name}"), "no_column", annotations[name] not in _NOTHING)
    return _Text(
        text,
        {
            known: _take_annotations(name, annotations[name], len(text))
            for name, known in _NAMES.items()
            if name in annotations
        },
    )


def _take_annotations(name: str, value: object, length: int) -> list[_Annotation]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise RecordError("invalid_value", f"{name}: not JSON: {error}") from error
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        raise RecordError("invalid_value", f"{name}: expected a list of objects")
    found = [_take_annotation(name, member, length) for member in value]
    return sorted(found, key=lambda annotation: annotation.start)


def _take_annotation(name: str, member: dict[str, Any], length: int) -> _Annotation:
    start, end = take_int(member.get("start"), "start"), take_int(member.get("end"), "end")
    if start is None or end is None or not 0 <= start <= end <= length:
        raise RecordError("invalid_value", f"{name}: from {start} to {end} in a text of {length} characters")
    return _Annotation(start, end, take_object(member, "attributes") or {})


def _cut_paragraphs(body: _Text) -> tuple[list[Paragraph], list[Paragraph]]:
    """The paragraphs, and the other places that mention something: the abstract, and lines outside of all."""
    mentions = _Mentions(body)
    headers = body.list("header")
    starts = [header.start for header in headers]
    paragraphs = []
    for place in body.list("paragraph"):
        before = bisect_right(starts, place.start)
        paragraphs.append(mentions.cut(place, headers[before - 1] if before else None))
    others = [mentions.cut(place, None) for place in body.list("abstract")]
    return paragraphs, [*others, *mentions.cut_lines()]


class _Mentions:
    """The mentions of a text that name an entry, each of which goes to one paragraph."""

    def __init__(self, body: _Text) -> None:
        self._text = body.text
        named = ((mention, clean_text(mention.attributes.get("ref_id"))) for mention in body.list("mention"))
        self._mentions = [(mention, name) for mention, name in named if name is not None]
        leave_out("citations", "no_reference", len(body.list("mention")) - len(self._mentions))
        self._starts = [mention.start for mention, _ in self._mentions]
        self._taken: set[int] = set()

    def cut(self, place: _Annotation, header: _Annotation | None) -> Paragraph:
        """The paragraph that stands there, under that header, with the mentions that begin in it."""
        found = range(bisect_left(self._starts, place.start), bisect_left(self._starts, place.end))
        spans = tuple(self._place(index, place.start) for index in found if index not in self._taken)
        self._taken.update(found)
        title = None if header is None else clean_text(self._text[header.start : header.end])
        number = None if header is None else clean_text(header.attributes.get("n"))
        return Paragraph(title, number, self._text[place.start : place.end], spans)

    def cut_lines(self) -> Iterator[Paragraph]:
        """The lines of the mentions that stand in no paragraph."""
        for index, (mention, _) in enumerate(self._mentions):
            if index not in self._taken:
                start = self._text.rfind("\n", 0, mention.start) + 1
                end = self._text.find("\n", mention.end)
                yield self.cut(_Annotation(start, len(self._text) if end < 0 else end, {}), None)

    def _place(self, index: int, start: int) -> Span:
        mention, name = self._mentions[index]
        return Span(mention.start - start, mention.end - start, None, name)


def _list_works(text: _Text) -> list[CitedWork]:
    """The entries that have a name, the last of each name."""
    titles = text.list("title")
    starts = [title.start for title in titles]
    works: dict[str, CitedWork] = {}
    for entry in text.list("entry"):
        name = clean_text(entry.attributes.get("id"))
        if name is None:
            leave_out("references", "no_value")
            continue
        leave_out("references", "repeated", name in works)
        first = bisect_left(starts, entry.start)
        has_title = first < len(titles) and titles[first].start < entry.end
        title = clean_text(text.text[titles[first].start : titles[first].end]) if has_title else None
        cited = clean_text(entry.attributes.get("matched_paper_id"))
        works[name] = CitedWork(name, title, source_id=cited)
    return list(works.values())
