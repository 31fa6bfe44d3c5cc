"""The front of a JATS article: what identifies and describes it.

An abstract with sections is their texts in a row, each with its title and a colon before it. Of several
abstracts the first without a type is taken (others are teasers, highlights, summaries), else the first.
Leaves out: translated abstracts and titles, subtitles, affiliations, editors, abbreviations, licences.
"""

from typing import Final

from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.rows import (
    keep_named,
    list_authorships,
    list_fields,
    list_identifiers,
    normalise_identifiers,
)
from pinakes.loaders.reading.running_text import (
    Element,
    Markup,
    find_descendant,
    list_children,
    list_descendants,
    name_element,
    read_running_text,
)
from pinakes.loaders.reading.values import find_year
from pinakes.loaders.staging import RecordError, Rows

MARKUP: Final = Markup(
    floats=frozenset(
        {
            "fig", "fig-group", "table-wrap", "table-wrap-group", "supplementary-material", "media", "fn",
            "fn-group", "alt-text", "long-desc", "object-id", "tex-math", "annotation", "annotation-xml",
            "contrib-group", "ref-list", "boxed-text",
        }
    ),
    blocks=frozenset(
        {
            "p", "title", "list", "list-item", "def-item", "def", "term", "disp-formula", "disp-quote",
            "verse-line", "break", "td", "th", "tr", "caption", "label", "sec",
        }
    ),
    containers=frozenset(
        {
            "p", "title", "td", "th", "caption", "fn", "list-item", "def", "term", "disp-quote",
            "verse-line", "attrib", "subtitle", "article-title",
        }
    ),
)  # fmt: skip
SCHEMES: Final = {
    "doi": "doi",
    "pmid": "pubmed",
    "pmc": "pmc",
    "pmcid": "pmc",
    "arxiv": "arxiv",
}
"""The `pub-id-type` of an article's or a cited work's id -> the scheme; others are a publisher's own."""

_NOT_PUBLISHED: Final = frozenset({
    "pmc-release", "nihms-submitted", "received", "accepted", "corrected", "retracted", "ecorrected",
    "eretracted",
})  # fmt: skip
"""Types of `pub-date` that are no date of publication."""


def read_text(element: Element | None) -> str | None:
    """The element's text with white space collapsed; None where there is none."""
    return read_running_text(element, MARKUP).text or None


def list_article_ids(meta: Element) -> list[tuple[str, str]]:
    """The article's (scheme, identifier) pairs, in one spelling; the ids of its publisher are left out."""
    written = [
        (element.get("pub-id-type") or "", read_text(element))
        for element in list_children(meta, "article-id")
    ]
    known = [(SCHEMES[kind], text) for kind, text in written if kind in SCHEMES]
    leave_out("identifiers", "no_column", len(written) - len(known))
    return normalise_identifiers(known, "identifiers")


def parse_front(article: Element, meta: Element, source_id: str, identifiers: list[tuple[str, str]]) -> Rows:
    """The rows of the paper, its identifiers, fields and authors."""
    journal = find_descendant(next(iter(list_children(article, "front")), None), "journal-meta")
    paper = {
        "source_id": source_id,
        "title": read_text(find_descendant(meta, "title-group", "article-title")),
        "abstract": _read_abstract(meta),
        "year": _find_year(meta),
        "venue": read_text(find_descendant(journal, "journal-title")),
    }
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers),
        "fields": list_fields(source_id, _list_subjects(meta), "journal"),
        "authorships": list_authorships(source_id, _list_authors(meta)),
    }


def _find_year(meta: Element) -> int | None:
    years = []
    for date in list_children(meta, "pub-date"):
        if {date.get("pub-type"), date.get("date-type")} & _NOT_PUBLISHED:
            continue
        written = read_text(find_descendant(date, "year")) or date.get("iso-8601-date")
        year = find_year(written)
        if written and year is None:
            raise RecordError("invalid_value", f"pub-date: expected a year, found {written!r:.80}")
        years += [] if year is None else [year]
    return min(years, default=None)


def _read_abstract(meta: Element) -> str | None:
    abstracts = list_children(meta, "abstract")
    plain = [abstract for abstract in abstracts if abstract.get("abstract-type") is None]
    chosen = next(iter(plain or abstracts), None)
    leave_out("field abstract", "no_column", len(abstracts) > 1)
    return None if chosen is None else " ".join(_list_parts(chosen)) or None


def _list_parts(abstract: Element) -> list[str]:
    """The texts of the paragraphs, and the titles of sections with a colon; not the abstract's own title."""
    parts: list[str] = []
    for element in list_descendants(abstract, "title", "p", "list"):
        text = read_text(element)
        is_nested = any(name_element(outer) in ("p", "list") for outer in element.iterancestors())
        if text is None or is_nested:
            continue
        if name_element(element) != "title":
            parts.append(text)
        elif element.getparent() is not abstract:
            parts.append(f"{text.rstrip(' :.')}:")
    return parts


def _list_subjects(meta: Element) -> list[str | None]:
    subjects = [subject for found in list_children(meta, "article-categories") for subject in found.iter()]
    keywords = [
        keyword
        for group in list_children(meta, "kwd-group")
        if "abbr" not in (group.get("kwd-group-type") or "").lower()
        for keyword in list_descendants(group, "kwd", "compound-kwd")
    ]
    return [read_text(e) for e in subjects if name_element(e) == "subject"] + [read_text(e) for e in keywords]


def _list_authors(meta: Element) -> list[tuple[str | None, str]]:
    """The authors, and the groups that are authors; a group's members are none of their own."""
    everybody = [
        contributor
        for group in list_children(meta, "contrib-group")
        for contributor in list_children(group, "contrib")
    ]
    authors = [one for one in everybody if one.get("contrib-type") in (None, "author")]
    leave_out("authorships", "no_column", len(everybody) - len(authors))  # editors and the like
    return keep_named((_find_orcid(author), _read_name(author)) for author in authors)


def _find_orcid(contributor: Element) -> str | None:
    for element in list_children(contributor, "contrib-id"):
        if element.get("contrib-id-type") == "orcid":
            written = read_text(element) or ""
            return written.rstrip("/").rpartition("/")[2] or None
    return None


def _read_name(contributor: Element) -> str | None:
    alternatives = list_children(contributor, "name-alternatives")
    for holder in (contributor, *alternatives):
        for name in list_children(holder, "name", "string-name", "collab"):
            parts = [
                read_text(part)
                for kind in ("given-names", "surname", "suffix")
                for part in list_children(name, kind)
            ]
            written = " ".join(part for part in parts if part)
            if written and name_element(name) != "collab":
                return written
            return read_text(name)
    return None
