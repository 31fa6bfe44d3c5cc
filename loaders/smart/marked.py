"""Records of SMART: `.I` and a number, then fields under marks of a dot and a letter, on lines of their own.

`.T` title, `.A` authors, `.B` where and when it appeared, `.W` abstract or query, `.K` keywords, `.C`
categories of Computing Reviews, `.X` links (`links`). What other marks hold has no column and is counted.
A `.I` without a number at a file's end is an end mark. A record with `.U` is one of OHSUMED (`ohsumed`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.qrels import unpad
from pinakes.loaders.reading.rows import Row, list_authorships, list_fields, list_links
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.reading.values import clean_text, find_only_year, find_year
from pinakes.loaders.smart.links import Link, Links, find_links
from pinakes.loaders.smart.ohsumed import parse_ohsumed
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

Record = dict[str, list[str]]
"""mark -> the lines below it; of a mark that stands several times, of all"""

_BEGINNING: Final = re.compile(rb"\.I(\s|$)")
_MARK: Final = re.compile(r"\.([A-Z])(?:\s+(\d+))?\s*")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_BETWEEN_NAMES: Final = re.compile(r"\s+and\s+|\s*[;&]\s*", re.IGNORECASE)
_READ: Final = {"papers": frozenset("ITABWKCX"), "queries": frozenset("ITW")}


def read_marked(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The records of a file of documents or queries."""
    parse: Callable[[int, Record], Rows] = _parse_query
    if file.role == "papers":
        parse = partial(_parse_paper, find_links(_list_links(file)))
    for number, lines in enumerate(_split_records(file), start=1):
        raw = b"\n".join(lines)
        yield take_record(number, f"record {number}", raw, partial(_parse, parse, number, lines))


def _parse(parse: Callable[[int, Record], Rows], number: int, lines: list[bytes]) -> Rows:
    return parse(number, _parse_record(lines))


def _split_records(file: InputFile) -> Iterator[list[bytes]]:
    record: list[bytes] = []
    for _, line in read_lines(file):
        if record and _BEGINNING.match(line):
            yield record
            record = []
        record.append(line)
    if record and not (len(record) == 1 and record[0].strip() == b".I"):
        yield record


def _parse_record(lines: list[bytes]) -> Record:
    record: Record = {}
    mark = ""
    for line in lines:
        text = decode_utf8(line)
        found = _MARK.fullmatch(text)
        if found:
            mark = found[1]
            text = found[2] or ""
        record.setdefault(mark, []).append(text.strip())
    number = _join(record, "I")
    if not number:
        raise RecordError("malformed_line", "the record does not begin with .I and a number")
    return record


def _join(record: Record, mark: str) -> str | None:
    return clean_text(" ".join(" ".join(record.get(mark, ())).split()))


def _parse_query(number: int, record: Record) -> Rows:
    text = clean_text(" ".join(filter(None, (_join(record, mark) for mark in "TW"))))
    if text is None:
        raise RecordError("missing_field", "a query without .W")
    query: Row = {"query_id": str(number), "text": text}
    if set(record) == {"I", "B", "W"}:  # of OHSUMED: the patient, and what is asked
        query["description"] = _join(record, "B")
        return {"queries": [query]}
    return _drop_empty({"queries": [query], "left_out": list_left_out(_count_other(record, "queries"))})


def _drop_empty(rows: Rows) -> Rows:
    return {name: members for name, members in rows.items() if members}


def parse_ohsumed_text(text: str) -> Rows:
    """The rows of one of OHSUMED's records."""
    record = _parse_record(text.encode().splitlines())
    return parse_ohsumed({mark: _join(record, mark) for mark in record})


def _parse_paper(links: Links, _number: int, record: Record) -> Rows:
    if "U" in record:
        return parse_ohsumed({mark: _join(record, mark) for mark in record})
    source_id = unpad(_join(record, "I") or "")
    left_out = _count_other(record, "papers") + links.left_out.get(source_id, Counter())
    venue = _join(record, "B")
    year = find_only_year(venue)
    if year is None and find_year(venue) is not None:
        left_out["year", "invalid"] += 1
    categories = filter(None, re.split(r"[,\s]+", _join(record, "C") or ""))
    keywords = filter(None, map(str.strip, (_join(record, "K") or "").split(",")))
    paper = {
        "source_id": source_id,
        "title": _join(record, "T"),
        "abstract": _join(record, "W"),
        "year": year,
        "venue": venue,
    }
    rows: Rows = {
        "papers": [paper],
        "authorships": list_authorships(source_id, ((None, name) for name in _list_names(record))),
        "fields": [
            *list_fields(source_id, keywords, "keywords"),
            *list_fields(source_id, categories, "computing_reviews"),
        ],
        "citations": list_links(source_id, links.cited.get(source_id, ())),
        "left_out": list_left_out(left_out),
    }
    return _drop_empty(rows)


def _list_names(record: Record) -> Iterator[str]:
    """The authors: one a line, or several with `and` between them."""
    for line in record.get("A", ()):
        yield from filter(None, map(str.strip, _BETWEEN_NAMES.split(line)))


def _count_other(record: Record, role: str) -> Counter[tuple[str, str]]:
    """The filled fields of a record of which no column is made."""
    other = (mark for mark in record if mark not in _READ[role] and _join(record, mark))
    return Counter((f"field {mark or 'before .I'}", "no_column") for mark in other)


def list_left_out(counts: Counter[tuple[str, str]]) -> list[Row]:
    """The rows of `left_out` of (kind, reason) -> items."""
    return [{"kind": kind, "reason": reason, "items": items} for (kind, reason), items in counts.items()]


def _list_links(file: InputFile) -> Iterator[Link]:
    """Every line of `.X` of a file: the record, its date, the cells."""
    for lines in _split_records(file):
        try:
            record = _parse_record(lines)
        except RecordError:
            continue
        source_id, date = unpad(_join(record, "I") or ""), _find_date(_join(record, "B") or "")
        for line in record.get("X", ()):
            if line:
                yield Link(source_id, date, tuple(line.split()))


def _find_date(text: str) -> tuple[int, int]:
    """Year and month; 0 where there is none.

    >>> _find_date("CACM December, 1958"), _find_date("j. ae. scs. 25, 1958, 324.")
    ((1958, 12), (1958, 0))
    """
    words = [word[:3] for word in re.findall(r"[a-z]+", text.lower())]
    month = next((_MONTHS.index(word) + 1 for word in words if word in _MONTHS), 0)
    year = find_only_year(text)
    return (0, 0) if year is None else (year, month)
