"""MEDLINE's tagged text: PubMed's downloads (`.txt`, `.nbib`), TREC Genomics' documents, older exports.

A record begins with `PMID- `, in files from before PMIDs with `UI  - ` behind an empty line. A line is a tag
of up to four characters, a hyphen and a value; any other line goes on with the value before it. What is read
is what `pubmed` reads of the XML, by the same rules: TI (TT, BTI), AB, DP (DEP), JT (TA), FAU or AU, CN,
AUID, MH, OT, and the ids PMID, UI, PMC, AID, LID. The other tags are counted as left out.
"""

import re
from collections.abc import Iterator
from typing import IO, Final

from pinakes.loaders.left_out import leave_out, name_field
from pinakes.loaders.reading.documents import check_whole
from pinakes.loaders.reading.mesh import list_mesh, split_heading
from pinakes.loaders.reading.rows import Row, list_authorships, list_fields, list_identifiers
from pinakes.loaders.reading.streams import decode_utf8
from pinakes.loaders.reading.text_records import split_records
from pinakes.loaders.reading.values import clean_text, find_year
from pinakes.loaders.staging import RecordError, Rows

Field = tuple[str, str]
"""a tag and its value on one line"""

NO_TITLE: Final = frozenset({"[Not Available].", "[Not Available]", "Not Available"})
"""what stands for a title where there is none"""
_BEGINS: Final = re.compile(rb"PMID ?- ")
_UI_BEGINS: Final = re.compile(rb"UI {0,2}- ")
_HEAD: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:PMID ?|UI {0,2})- ?\d")
_LINE: Final = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *-(?: (.*)|)", re.DOTALL)
_READ: Final = frozenset(
    {"TI", "TT", "BTI", "AB", "DP", "DEP", "JT", "FAU", "AU", "CN", "AUID", "MH", "OT", "OTO",
     "PMID", "UI", "PMC", "AID", "LID"}
)  # fmt: skip
_SAID_AGAIN: Final = frozenset({"TA", "SO"})
"""the journal's short name, and where the paper appeared, which other tags say too"""
_TYPED: Final = re.compile(r"(.*\S)\s*\[([a-z]+)\]")
_SUFFIX: Final = re.compile(r"(.*)\s((?:Jr|Sr)\.?|II|III|IV|2nd|3rd)")


def begins_medline(head: bytes) -> bool:
    """Whether a file begins as MEDLINE's tagged text does."""
    return _HEAD.match(head) is not None


def split_medline(stream: IO[bytes]) -> Iterator[bytes]:
    """The records of an open file."""
    return split_records(stream, _BEGINS, _UI_BEGINS)


def parse_medline(raw: bytes) -> Rows:
    """The rows of one record, in UTF-8."""
    check_whole(raw)
    return parse_medline_text(decode_utf8(raw))


def parse_medline_text(text: str) -> Rows:
    """The rows of one record."""
    fields = _list_fields(text)
    values: dict[str, list[str]] = {}
    for tag, value in fields:
        if value:
            values.setdefault(tag, []).append(value)
    source_id = _first(values, "PMID", "UI")
    if source_id is None:
        raise RecordError("missing_field", "no PMID and no UI")
    if not source_id.isascii() or not source_id.isdecimal():
        raise RecordError("invalid_value", f"PMID: expected digits, found {source_id!r:.80}")
    for tag in sorted(values.keys() - _READ - _SAID_AGAIN):
        leave_out(name_field(tag), "no_column")
    titles = [title for tag in ("TI", "TT", "BTI") for title in values.get(tag, ())]
    paper: Row = {
        "source_id": source_id,
        "title": next((title for title in titles if title not in NO_TITLE), None),
        "abstract": " ".join(values.get("AB", ())) or None,
        "year": find_year(_first(values, "DP")) or _read_day(_first(values, "DEP")),
        "venue": _first(values, "JT", "TA", "BTI"),
    }
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, _list_ids(values)),
        "fields": [
            *list_mesh(source_id, map(split_heading, values.get("MH", ()))),
            *_list_keywords(source_id, fields),
        ],
        "authorships": list_authorships(source_id, _list_authors(fields)),
    }


def _list_fields(text: str) -> list[Field]:
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            found.append((match[1], [match[2] or ""]))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise RecordError("malformed_line", "the record does not begin with a tag, as in `PMID- 1`")
    return [(tag, " ".join(" ".join(lines).split())) for tag, lines in found]


def _first(values: dict[str, list[str]], *tags: str) -> str | None:
    return next((clean_text(values[tag][0]) for tag in tags if tag in values), None)


def _read_day(text: str | None) -> int | None:
    """The year of a day as 20031015."""
    return find_year((text or "")[:4])


def _list_ids(values: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for pmid in values.get("PMID", ())[:1]:
        yield "pubmed", pmid
    if "UI" in values:
        yield "medline", values["UI"][0]
    for pmc in values.get("PMC", ())[:1]:
        yield "pmc", pmc
    dois = []
    for tag in ("AID", "LID"):
        for value in values.get(tag, ()):
            typed = _TYPED.fullmatch(value)
            if typed is not None and typed[2] == "doi":
                dois.append(typed[1])
            else:
                leave_out("identifiers", "no_column")
    # A DOI stands once as the article's id and once as its place.
    yield from (("doi", doi) for doi in dict.fromkeys(dois))


def _list_keywords(source_id: str, fields: list[Field]) -> list[Row]:
    owner, rows = "author", list[Row]()
    keywords: dict[str, list[str]] = {}
    for tag, value in fields:
        if tag == "OTO":
            owner = "author" if value in ("", "NOTNLM") else value.lower()
        elif tag == "OT" and value:
            keywords.setdefault(owner, []).append(value.removeprefix("*"))
    for owner, names in keywords.items():
        rows += list_fields(source_id, names, owner)
    return rows


def _list_authors(fields: list[Field]) -> list[tuple[str | None, str]]:
    """The full names, each with the ORCID behind it; a short name where no full one stands before it."""
    authors: list[tuple[str | None, str]] = []
    before = ""
    for tag, value in fields:
        if not value:
            continue
        if tag == "FAU":
            authors.append((None, _turn(value)))
        elif tag == "CN" or (tag == "AU" and before != "FAU"):
            authors.append((None, value))
        elif tag == "AUID" and authors and "ORCID" in value.upper():
            authors[-1] = re.split(r"[/:\s]", value.rstrip("/"))[-1] or None, authors[-1][1]
        elif tag == "AUID":
            leave_out(name_field(tag), "no_column")
        before = tag
    return authors


def _turn(name: str) -> str:
    """A name as it is spoken.

    >>> _turn("King, Martin Luther Jr"), _turn("Aristotle")
    ('Martin Luther King Jr', 'Aristotle')
    """
    last, _, first = (part.strip() for part in name.partition(","))
    suffixed = _SUFFIX.fullmatch(first)
    first, suffix = (suffixed[1], suffixed[2]) if suffixed else (first, "")
    return " ".join(filter(None, (first, last, suffix)))
