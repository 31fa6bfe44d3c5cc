"""The body and the back of a JATS article: sections, bibliography, mentions.

Sections are numbered in the order of the document; the title of a nested one follows those of the sections
around it ("Methods > Statistics"), since a section without a text of its own has no row. Paragraphs are
parted by an empty line. A mention is an `xref` of type `bibr`, wherever it stands, also in captions and
tables; one of several ids mentions each. A range stands for all it spans: two mentions with a dash between
them ("[1]–[9]"), or one that says "1–9" and names the first alone, mention those between as well, in the
order of the bibliography.
"""

import re
from collections.abc import Iterator
from typing import Final

from pinakes.loaders.jats.front import MARKUP, SCHEMES, read_text
from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.bibliography import Bibliography, CitedWork
from pinakes.loaders.reading.rows import list_sections, normalise_identifiers
from pinakes.loaders.reading.running_text import (
    Element,
    Mention,
    find_descendant,
    find_mentions,
    list_children,
    list_descendants,
    name_element,
)
from pinakes.loaders.reading.values import find_year
from pinakes.loaders.staging import Rows

_DIVISIONS: Final = ("body", "sec", "boxed-text", "ack", "app-group", "app", "notes")
_PARAGRAPHS: Final = (
    "p", "list", "def-list", "disp-formula", "disp-formula-group", "disp-quote", "verse-group", "speech",
    "statement", "preformat", "code",
)  # fmt: skip
_CITATIONS: Final = ("element-citation", "mixed-citation", "nlm-citation", "citation")
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_DOI_ADDRESS: Final = re.compile(r"doi\.org/(10\.\d{4,9}/[^\s?#]+)", re.IGNORECASE)
_DASH: Final = re.compile(r"[\])]?\s?[-‐‑‒–—−]\s?[\[(]?")
_LABEL: Final = re.compile(r"[\[(]?(\d{1,4})[\])]?")
_RANGE_LABEL: Final = re.compile(r"[\[(]?(\d{1,4})\s?[-‐‑‒–—−]\s?(\d{1,4})[\])]?")


def parse_body(article: Element, source_id: str) -> Rows:
    """The rows of the sections, the cited works and the mentions."""
    parts = list_children(article, "front", "body", "back", "floats-group")
    bibliography = Bibliography(source_id, [work for part in parts for work in _list_works(part)])
    order = {entry: place for place, entry in enumerate(bibliography.list_entries())}
    unlinked = [ref for part in parts for ref in list_descendants(part, "xref") if _is_unlinked(ref)]
    leave_out("citations", "no_reference", len(unlinked))
    for part in parts:
        mentions = list(find_mentions(part, MARKUP, _is_mention))
        for number, mention in enumerate(mentions):
            for entry in _list_entries(mention, order):
                bibliography.add_mention(entry, mention.context, mention.start, mention.end)
            following = mentions[number + 1] if number + 1 < len(mentions) else None
            for entry in _list_between(mention, following, order):
                end = following.end if following is not None else mention.end
                bibliography.add_mention(entry, mention.context, mention.start, end)
    sections = [section for part in parts for section in _list_sections(part)]
    return {"sections": list_sections(source_id, sections), **bibliography.build_rows()}


def _is_mention(element: Element) -> bool:
    return name_element(element) == "xref" and element.get("ref-type") == "bibr" and bool(element.get("rid"))


def _is_unlinked(element: Element) -> bool:
    return element.get("ref-type") == "bibr" and not element.get("rid")


def _list_entries(mention: Mention, order: dict[str, int]) -> list[str]:
    """The ids that an `xref` names, and those that its own label spans."""
    named = (mention.element.get("rid") or "").split()
    spanned = _RANGE_LABEL.fullmatch(mention.context[mention.start : mention.end])
    if len(named) != 1 or spanned is None:
        return named
    first, last = int(spanned[1]), int(spanned[2])
    if order.get(named[0]) != first - 1 or not first < last <= len(order):
        return named
    return list(order)[first - 1 : last]


def _list_between(mention: Mention, following: Mention | None, order: dict[str, int]) -> list[str]:
    """The ids between two mentions that a dash makes a range; none where labels and order disagree."""
    if following is None or following.context != mention.context:
        return []
    if _DASH.fullmatch(mention.context[mention.end : following.start]) is None:
        return []
    first, last = _find_place(mention, order), _find_place(following, order)
    if first is None or last is None or not 0 < last[0] - first[0] == last[1] - first[1]:
        return []
    return list(order)[first[1] + 1 : last[1]]


def _find_place(mention: Mention, order: dict[str, int]) -> tuple[int, int] | None:
    """The number that a mention's label is, and the place of what it names in the bibliography."""
    label = _LABEL.fullmatch(mention.context[mention.start : mention.end])
    place = order.get(mention.element.get("rid") or "")
    return None if label is None or place is None else (int(label[1]), place)


def _list_sections(part: Element) -> Iterator[tuple[str | None, str]]:
    if name_element(part) not in ("body", "back"):
        return
    for division in (part, *list_descendants(part, *_DIVISIONS)):
        texts = [read_text(child) for child in list_children(division, *_PARAGRAPHS)]
        yield _name_section(division), "\n\n".join(text for text in texts if text)


def _name_section(division: Element) -> str | None:
    around = [found for found in division.iterancestors() if name_element(found) in _DIVISIONS]
    titles = [
        read_text(title) for found in (*reversed(around), division) for title in list_children(found, "title")
    ]
    return " > ".join(title for title in titles if title) or None


def _list_works(part: Element) -> Iterator[CitedWork]:
    for number, entry in enumerate(list_descendants(part, "ref"), start=1):
        entry_id = entry.get("id") or f"ref{number}"
        citations = list_children(entry, *_CITATIONS)
        for alternatives in list_children(entry, "citation-alternatives"):
            found = list_children(alternatives, *_CITATIONS)
            leave_out("references", "repeated", len(found[1:]))
            citations += found[:1]
        for citation in citations:
            yield _read_work(entry_id, citation)
        if not citations:
            yield CitedWork(entry_id)


def _read_work(entry_id: str, citation: Element) -> CitedWork:
    kind = citation.get("publication-type") or citation.get("citation-type")
    titles = list_descendants(citation, "article-title") + list_descendants(citation, "chapter-title")
    if kind not in (None, "journal"):  # the source of an article is its journal's name, of a book the book
        titles += list_descendants(citation, "source")
    title = next((text for text in map(read_text, titles) if text), None)
    year = find_year(read_text(find_descendant(citation, "year")))
    return CitedWork(entry_id, title, year, normalise_identifiers(_list_ids(citation)))


def _list_ids(citation: Element) -> list[tuple[str, object]]:
    ids: list[tuple[str, object]] = []
    for element in list_descendants(citation, "pub-id"):
        kind = element.get("pub-id-type") or ""
        leave_out("reference_identifiers", "no_column", kind not in SCHEMES)
        ids += [(SCHEMES[kind], read_text(element))] if kind in SCHEMES else []
    for element in list_descendants(citation, "ext-link", "uri"):
        found = _DOI_ADDRESS.search(element.get(_HREF) or "")
        ids += [("doi", found[1].rstrip(".,;)"))] if found else []
    return ids
