"""Rows that every format of whole articles stages alike: authors, identifiers, bibliography and mentions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pinakes.loaders.reading.identifiers import make_reference_key, normalise_identifier
from pinakes.loaders.staging import Rows

_SUFFIXES: Final = re.compile(r"(?:\.(?:nxml|xml|tei|grobid|bib|zip|tar|tgz|gz|zst|bz2|xz))+$", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_BEST_SCHEMES: Final = ("doi", "pubmed", "pmc", "arxiv", "acl")


def name_corpus(source: Path | None, default: str) -> str:
    """A corpus's name from that of its folder, archive or document; the default without a source.

    >>> name_corpus(Path("pone.0217.nxml.gz"), "jats"), name_corpus(Path("pmc.tar.gz"), "jats")
    ('pone.0217', 'pmc')
    """
    if source is None:
        return default
    name = source.resolve().name
    return name if source.is_dir() else _SUFFIXES.sub("", name) or default


def find_year(text: str | None) -> int | None:
    """The first year from 1500 to 2099 in a text that is not made for machines; None where there is none.

    >>> find_year("2003a"), find_year("May-June 1998"), find_year("in press") is None
    (2003, 1998, True)
    """
    found = _YEAR.search(text or "")
    return int(found[1]) if found else None


def list_authorships(source_id: str, authors: Iterable[tuple[str | None, str]]) -> list[dict[str, Any]]:
    """The authorships of (the source's id or None, name) pairs, in order, the first at position 1.

    >>> [row["author_source_id"] for row in list_authorships("P1", [(None, "Ada B"), ("a7", "C")])]
    ['name:Ada B', 'a7']
    """
    return [
        {
            "source_id": source_id,
            "position": position,
            "author_source_id": author_id or f"name:{name}",
            "author_name": name,
        }
        for position, (author_id, name) in enumerate(authors, start=1)
    ]


def normalise_identifiers(pairs: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """The (scheme, identifier) pairs in one spelling, each once, the best schemes first; empty ones dropped.

    >>> normalise_identifiers([("pubmed", "12"), ("doi", "doi:10.1/A"), ("doi", "10.1/a"), ("pmc", "")])
    [('doi', '10.1/a'), ('pubmed', '12')]
    """
    normal = ((scheme, normalise_identifier(scheme, value)) for scheme, value in pairs)
    found = dict.fromkeys((scheme, value) for scheme, value in normal if value is not None)
    return sorted(found, key=lambda pair: (*_BEST_SCHEMES, pair[0]).index(pair[0]))


def list_identifiers(source_id: str, pairs: Iterable[tuple[str, object]]) -> list[dict[str, Any]]:
    """The rows of a paper's own identifiers."""
    return [
        {"source_id": source_id, "scheme": scheme, "identifier": identifier}
        for scheme, identifier in normalise_identifiers(pairs)
    ]


def list_fields(source_id: str, fields: Iterable[str | None], assigned_by: str) -> list[dict[str, Any]]:
    """The rows of a paper's fields, each once; empty ones dropped."""
    named = dict.fromkeys(name for name in fields if name)
    return [{"source_id": source_id, "field": name, "assigned_by": assigned_by} for name in named]


def list_sections(source_id: str, sections: Iterable[tuple[str | None, str]]) -> list[dict[str, Any]]:
    """The rows of (title, text) pairs, numbered from 1; those without a text are left out."""
    filled = ((title, text) for title, text in sections if text)
    return [
        {"source_id": source_id, "section_number": number, "title": title, "text": text}
        for number, (title, text) in enumerate(filled, start=1)
    ]


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One entry of a bibliography.

    Attributes:
        reference_id: the source's own id of the entry (b3, CR7); entries may share it.
        identifiers: (scheme, identifier) pairs as the source writes them.
        source_id: the id that the corpus itself gives the work.
    """

    reference_id: str
    title: str | None = None
    year: int | None = None
    identifiers: Iterable[tuple[str, object]] = ()
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
    _references: dict[str, dict[str, Any]] = field(default_factory=dict)
    _identifiers: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    _mentions: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for work in self.works:
            self._add_work(work)

    def _add_work(self, work: CitedWork) -> None:
        identifiers = normalise_identifiers(work.identifiers)
        key = make_reference_key(
            source_id=work.source_id,
            identifiers=identifiers,
            title=work.title,
            mention=(self.source_id, work.reference_id),
        )
        self._keys.setdefault(work.reference_id, []).append(key)
        row = {"reference_key": key, "title": work.title, "year": work.year}
        self._references.setdefault(key, row)
        for scheme, identifier in identifiers:
            named = {"reference_key": key, "scheme": scheme, "identifier": identifier}
            self._identifiers.setdefault((key, scheme, identifier), named)

    def list_entries(self) -> list[str]:
        """The source's ids of the entries, in the order of the bibliography."""
        return list(self._keys)

    def add_mention(self, reference_id: str, context: str | None, start: int, end: int) -> None:
        """A mention of the entry; of an entry that the bibliography lacks, nothing but its id is known."""
        unknown = make_reference_key(mention=(self.source_id, reference_id))
        for key in self._keys.get(reference_id, [unknown]):
            located = {"context": context, "context_start": start, "context_end": end} if context else {}
            self._mentions.append(self._cite(key, reference_id) | located)

    def _cite(self, key: str, reference_id: str) -> dict[str, Any]:
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
