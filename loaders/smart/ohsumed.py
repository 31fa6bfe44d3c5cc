"""OHSUMED's documents: MEDLINE of 1987 to 1991 in SMART's marks, as TREC-9's filtering track has them too.

`.U` MEDLINE's number, which the relevance lists name and which is the paper's id; `.S` where it appeared
("Alcohol Alcohol 8801; 22(2):103-12": the year and month of the issue), `.M` MeSH headings, whose qualifiers
are two letters, with an asterisk before what is a major topic, `.T` title, `.P` publication type (no column),
`.W` abstract, `.A` authors. `.I` counts the documents of all files, and is left out.
"""

import re
from typing import Final

from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.mesh import list_mesh, split_heading
from pinakes.loaders.reading.rows import Row, list_authorships, list_identifiers
from pinakes.loaders.reading.values import find_year
from pinakes.loaders.staging import RecordError, Rows

HEAD: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\.I\s*\d+\s*\n\.U\b")
"""how a file of them begins"""
BEGINS: Final = re.compile(rb"\.I(?:\s|$)")
_ISSUE: Final = re.compile(r"(?P<venue>.*?)\s+(?P<year>\d\d)(?:0[1-9]|1[0-2])\s*;.*")
_DATED: Final = re.compile(r"(?P<venue>.*?)\.?\s+(?P<year>(?:18|19|20)\d\d)\b.*")
_CENTURY: Final = 1900
_READ: Final = frozenset("UTWSMA")


def parse_ohsumed(record: dict[str, str | None]) -> Rows:
    """The rows of a record: mark -> what stands below it, on one line."""
    source_id = record.get("U")
    if source_id is None or not source_id.isascii() or not source_id.isdecimal():
        raise RecordError("missing_field", ".U: expected MEDLINE's number of the document")
    for mark, text in record.items():
        leave_out(f"field {mark or 'before .I'}", "no_column", bool(text) and mark not in _READ)
    headings = [part.strip() for part in (record.get("M") or "").removesuffix(".").split(";")]
    names = [part.strip() for part in (record.get("A") or "").removesuffix(".").split(";")]
    paper: Row = {
        "source_id": source_id,
        "title": record.get("T"),
        "abstract": record.get("W"),
        **_read_source(record.get("S")),
    }
    rows: Rows = {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("medline", source_id)]),
        "fields": list_mesh(source_id, map(split_heading, filter(None, headings))),
        "authorships": list_authorships(source_id, ((None, name) for name in names if name)),
    }
    return {name: members for name, members in rows.items() if members}


def _read_source(text: str | None) -> Row:
    """The journal and the year of `.S`.

    >>> _read_source("Alcohol Alcohol 8801; 22(2):103-12"), _read_source("JAMA. 1988 Jan 8;259(2):187-9")
    ({'venue': 'Alcohol Alcohol', 'year': 1988}, {'venue': 'JAMA', 'year': 1988})
    """
    issue = _ISSUE.fullmatch(text or "")
    if issue is not None:
        return {"venue": issue["venue"], "year": _CENTURY + int(issue["year"])}
    dated = _DATED.fullmatch(text or "")
    return {"venue": dated["venue"] if dated else text, "year": find_year(dated["year"]) if dated else None}
