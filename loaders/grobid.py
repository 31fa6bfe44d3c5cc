"""The TEI that GROBID prints: header, sections, bibliography and the mentions of it, one document a paper.

A paper's id is its file's name without `.xml`, `.tei` and `.grobid`; the document itself knows none. Sections
are the `div`s of the body and of the back matter that have a text of their own, their paragraphs parted by
an empty line; figures, tables and footnotes stand in none of them, but mentions there are citations too. A
mention is `<ref type="bibr" target="#b3">`; its context is the sentence around it, within its paragraph. An
`idno` without a type that reads `abs/1907.11692` is arXiv's: GROBID cuts the address of a page so.

Leaves out, and counts: mentions that GROBID could not link to an entry (no target), since they name no work;
authors that are affiliations alone; an `idno` of another type; affiliations, e-mails, notes, figures and
tables.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from pinakes.loaders.base import Loader, describe_by_name
from pinakes.loaders.left_out import leave_elements, leave_out
from pinakes.loaders.reading.bibliography import Bibliography, CitedWork
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.finding import name_corpus
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.rows import (
    list_authorships,
    list_fields,
    list_identifiers,
    list_sections,
    normalise_identifiers,
)
from pinakes.loaders.reading.running_text import (
    Element,
    Markup,
    find_descendant,
    find_mentions,
    list_children,
    list_descendants,
    name_element,
    name_entities,
    read_running_text,
)
from pinakes.loaders.reading.values import find_year
from pinakes.loaders.reading.xml_reading import parse_xml
from pinakes.loaders.staging import RecordError, Rows

_MARKUP: Final = Markup(
    floats=frozenset({"figure", "table", "note", "listBibl"}),
    blocks=frozenset({"p", "item", "head", "row", "cell", "formula", "div", "s"}),
    containers=frozenset({"p", "head", "note", "figDesc", "cell", "item", "formula"}),
)
_SCHEMES: Final = {
    "doi": "doi",
    "arxiv": "arxiv",
    "pmid": "pubmed",
    "pmcid": "pmc",
}
"""The type of an `idno`, in small letters -> the scheme; others (MD5, ISSN, halId) are not a paper's."""

_LEFT_OUT: Final = ("affiliation", "email", "figure", "note")
_ARXIV: Final = re.compile(r"(?:abs/|arxiv:)((?:[a-z.-]+/)?\d{4}\.?\d{3,5}(?:v\d+)?)", re.IGNORECASE)
_ARXIV_CLASS: Final = re.compile(r"\s*\[[\w.-]+\]$")  # as in arXiv:1412.6980v9[cs.LG]
_SUFFIXES: Final = re.compile(r"(?:\.tei|\.grobid|\.xml)+$", re.IGNORECASE)


def parse_document(raw: bytes, name: str) -> Rows:
    """The rows of one document."""
    root = parse_xml(raw)
    name_entities(root)
    if name_element(root) != "TEI":
        raise RecordError("missing_field", f"expected a TEI document, found <{name_element(root)}>")
    source_id = _SUFFIXES.sub("", strip_compression(PurePosixPath(name).name))
    if not source_id:
        raise RecordError("missing_field", "the document has no name to take its id from")
    header = find_descendant(root, "teiHeader")
    text = next(iter(list_children(root, "text")), None)
    bibliography = Bibliography(source_id, _list_works(text))
    unlinked = [
        ref for ref in list_descendants(root, "ref") if ref.get("type") == "bibr" and not ref.get("target")
    ]
    leave_out("citations", "no_reference", len(unlinked))
    leave_elements(root, *_LEFT_OUT)
    for mention in find_mentions(root, _MARKUP, _is_mention):
        for target in (mention.element.get("target") or "").split():
            bibliography.add_mention(target.lstrip("#"), mention.context, mention.start, mention.end)
    return {
        **_parse_header(source_id, header),
        **_list_sections(source_id, text),
        **bibliography.build_rows(),
    }


def _parse_header(source_id: str, header: Element | None) -> Rows:
    described = find_descendant(header, "sourceDesc", "biblStruct")
    paper = {
        "source_id": source_id,
        "title": _read(find_descendant(header, "titleStmt", "title")) or _find_title(described),
        "abstract": _read_abstract(find_descendant(header, "profileDesc", "abstract")),
        "year": _find_year(described) or _find_year(find_descendant(header, "publicationStmt")),
        "venue": _read(find_descendant(described, "monogr", "title")),
    }
    keywords = find_descendant(header, "profileDesc", "keywords")
    terms = [] if keywords is None else [_read(term) for term in list_descendants(keywords, "term")]
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, _list_idnos(described)),
        "fields": list_fields(source_id, terms, "author"),
        "authorships": list_authorships(source_id, _list_authors(find_descendant(described, "analytic"))),
    }


def _read(element: Element | None) -> str | None:
    return read_running_text(element, _MARKUP).text or None


def _read_abstract(abstract: Element | None) -> str | None:
    """The abstract's text; the head of a part stands before it with a colon."""
    if abstract is None:
        return None
    parts = []
    for element in list_descendants(abstract, "head", "p"):
        text = _read(element)
        if text is not None:
            is_head = name_element(element) == "head"
            parts.append(f"{text.rstrip(' :.')}:" if is_head else text)
    return " ".join(parts) or _read(abstract)


def _find_title(described: Element | None) -> str | None:
    """The title of the work itself: of the article, else of the book; a journal's name is none."""
    if described is None:
        return None
    titles = list_descendants(described, "title")
    for level in ("a", "m"):
        for title in titles:
            text = _read(title)
            if title.get("level") == level and text is not None:
                return text
    return None


def _find_year(element: Element | None) -> int | None:
    dates = [] if element is None else list_descendants(element, "date")
    found = (find_year(date.get("when")) or find_year(date.text) for date in dates)
    return next((year for year in found if year is not None), None)


def _list_idnos(described: Element | None, kind_of_row: str = "identifiers") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for idno in [] if described is None else list_descendants(described, "idno"):
        if any(name_element(outer) == "author" for outer in idno.iterancestors()):
            continue  # a person's
        kind, text = (idno.get("type") or "").lower(), (idno.text or "").strip()
        untyped = _ARXIV.fullmatch(text)
        if kind in _SCHEMES:
            found.append((_SCHEMES[kind], _ARXIV_CLASS.sub("", text)))
        elif not kind and untyped is not None:
            found.append(("arxiv", untyped[1]))
        elif text:
            leave_out(kind_of_row, "no_column")
    return found


def _list_authors(analytic: Element | None) -> list[tuple[str | None, str]]:
    authors = []
    for author in [] if analytic is None else list_children(analytic, "author"):
        name = find_descendant(author, "persName")
        parts = [] if name is None else [_read(part) for part in list_children(name, "forename", "surname")]
        written = " ".join(part for part in parts if part)
        orcid = next((i.text for i in list_descendants(author, "idno") if i.get("type") == "ORCID"), None)
        if written:
            authors.append(((orcid or "").strip() or None, written))
        else:
            leave_out("authorships", "no_value")
    return authors


def _list_sections(source_id: str, text: Element | None) -> Rows:
    divisions = [] if text is None else [text, *list_descendants(text, "body", "div")]
    sections = []
    for division in divisions:
        parts = [_read(child) for child in division if name_element(child) in ("p", "list", "formula", "ab")]
        heads = list_children(division, "head")
        sections.append((_read(heads[0]) if heads else None, "\n\n".join(part for part in parts if part)))
    return {"sections": list_sections(source_id, sections)}


def _list_works(text: Element | None) -> Iterator[CitedWork]:
    entries = [] if text is None else list_descendants(text, "biblStruct")
    for number, entry in enumerate(entries):
        entry_id = entry.get("{http://www.w3.org/XML/1998/namespace}id") or f"b{number}"
        ids = normalise_identifiers(_list_idnos(entry, "reference_identifiers"))
        yield CitedWork(entry_id, _find_title(entry), _find_year(entry), ids)


def _is_mention(element: Element) -> bool:
    return name_element(element) == "ref" and element.get("type") == "bibr" and bool(element.get("target"))


LOADER: Final = Loader(
    name="grobid",
    summary="TEI documents as GROBID prints them",
    describe_corpus=describe_by_name("GROBID TEI", partial(name_corpus, default="grobid")),
    find_files=lambda source, _options: find_documents(source, suffixes=(".tei.xml", ".xml", ".tei")),
    read_chunks=gather_by_role(partial(read_documents, parse=parse_document)),
)
