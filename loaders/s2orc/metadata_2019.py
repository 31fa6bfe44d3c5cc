"""The metadata of S2ORC's 2019 release: a table, with lists in its cells as Python prints them.

The columns `has_doi`, `has_pmid` and so on hold the identifiers themselves. Left out is what the table counts
of the parses.
"""

import re
from typing import Any, Final

from pinakes.loaders.reading.values import take_text, take_year
from pinakes.loaders.s2orc.identifying import list_identifiers
from pinakes.loaders.s2orc.metadata_2020 import build_authorship
from pinakes.loaders.staging import RecordError, Rows

REQUIRED: Final = (
    "pid",
    "title",
    "authors",
    "year",
    "venue",
    "mag_fos",
    "outbound_citations",
    "inbound_citations",
)

_SCHEMES: Final = {
    "has_doi": "doi",
    "has_arxiv_id": "arxiv",
    "has_acl_id": "acl",
    "has_pmid": "pubmed",
    "has_pmc_id": "pmc",
}
_TEXT: Final = r"'[^'\\]*+(?:\\.[^'\\]*+)*'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*\""
_LIST: Final = re.compile(rf"\[(?:(?:{_TEXT})(?:, (?:{_TEXT}))*)?\]", re.DOTALL)
_MEMBER: Final = re.compile(_TEXT, re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}


def parse_row(directions: tuple[str, ...], row: dict[str, str]) -> Rows:
    """The rows of one paper."""
    source_id = take_text(row, "pid")
    if source_id is None:
        raise RecordError("missing_field", "no pid")
    paper = {
        "source_id": source_id,
        "title": take_text(row, "title"),
        "year": take_year(row["year"]),
        "venue": take_text(row, "venue"),
    }
    identifiers = {scheme: take_text(row, column) for column, scheme in _SCHEMES.items()}
    names = enumerate(_take_list(row, "authors"), start=1)
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers),
        "fields": [
            {"source_id": source_id, "field": field, "assigned_by": "mag"}
            for field in _take_list(row, "mag_fos")
            if field
        ],
        "authorships": [build_authorship(source_id, position, name) for position, name in names if name],
        "citations": _list_citations(source_id, directions, row),
    }


def _list_citations(source_id: str, directions: tuple[str, ...], row: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"citing_source_id": source_id, "reference_key": other}
        if direction == "outbound"
        else {"citing_source_id": other, "reference_key": source_id}
        for direction in directions
        for other in _take_list(row, f"{direction}_citations")
        if other
    ]


def _take_list(row: dict[str, str], column: str) -> list[str]:
    try:
        return read_list(row[column])
    except ValueError as error:
        raise RecordError("invalid_value", f"{column}: {error}") from error


def read_list(cell: str) -> list[str]:
    r"""The texts of a list as Python prints it, without surrounding white space; none of an empty cell.

    Raises:
        ValueError: it is no such list.

    >>> read_list('["D\'Arcy", \'M\\xfcller\']'), read_list("")
    (["D'Arcy", 'Müller'], [])
    """
    cell = cell.strip()
    if cell and not _LIST.fullmatch(cell):
        raise ValueError(f"expected a list of texts, found {cell!r:.80}")
    return [_ESCAPE.sub(_read_escape, text[1:-1]).strip() for text in _MEMBER.findall(cell)]


def _read_escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _CONTROLS.get(match[4], match[4])
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else match[0]
