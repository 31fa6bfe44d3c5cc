"""The Anthology's BibTeX files: one record an entry, `@string`, `@comment` and `@preamble` are none.

A paper's id is that of its address at the Anthology, else its DOI's last part where that is the Anthology's,
else its key. Titles, names and abstracts are decoded from LaTeX. Leaves out: `@proceedings` unless front
matter is asked for, editors of papers, pages, publishers.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.values import find_year
from pinakes.loaders.reading.rows import list_authorships, list_identifiers
from pinakes.loaders.reading.bibtex import Entry, parse_entry, split_entries, split_names
from pinakes.loaders.reading.bibtex import decode_latex
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_ADDRESS: Final = re.compile(
    r"https?://(?:www\.)?(?:aclanthology\.org|aclanthology\.info/papers|aclweb\.org/anthology)/(?:papers/)?"
    r"([A-Za-z0-9][A-Za-z0-9._-]*?)(?:\.pdf)?/?",
    re.IGNORECASE,
)
_OUR_DOI: Final = re.compile(r"10\.(?:18653/v1|3115/v1)/([A-Za-z0-9][A-Za-z0-9._-]*)", re.IGNORECASE)
_NO_RECORDS: Final = frozenset({"string", "comment", "preamble"})


def read_bibliography(file: InputFile, with_front_matter: bool) -> Iterator[Accepted | Rejected]:
    """The papers of the file."""
    strings: dict[str, str] = {}
    numbers = count(1)
    for line, kind, raw in split_entries(read_lines(file)):
        if kind == "string":
            _learn_strings(raw, strings)
        if kind in _NO_RECORDS or (kind == "proceedings" and not with_front_matter):
            continue
        yield take_record(next(numbers), f"line {line}", raw, partial(_parse_paper, raw, strings))


def _learn_strings(raw: bytes, strings: dict[str, str]) -> None:
    try:
        strings.update(parse_entry(decode_utf8(raw), strings).fields)
    except RecordError:
        return  # then the names that it would have given stand for themselves


def _parse_paper(raw: bytes, strings: dict[str, str]) -> Rows:
    entry = parse_entry(decode_utf8(raw).lstrip(), strings)
    source_id = _find_id(entry)
    if source_id is None:
        raise RecordError("missing_field", "the entry has neither a key nor an address at the Anthology")
    names = split_names(entry.fields.get("editor" if entry.type == "proceedings" else "author", ""))
    ids = [
        ("acl", source_id if source_id != entry.key else None),
        ("doi", entry.fields.get("doi")),
        ("bibkey", entry.key),
    ]
    return {
        "papers": [
            {
                "source_id": source_id,
                "title": _decode(entry, "title"),
                "abstract": _decode(entry, "abstract"),
                "year": _take_year(entry),
                "venue": _decode(entry, "journal") or _decode(entry, "booktitle"),
            }
        ],
        "identifiers": list_identifiers(source_id, ids),
        "authorships": list_authorships(source_id, [(None, name) for name in names]),
    }


def _find_id(entry: Entry) -> str | None:
    for name, pattern in (("url", _ADDRESS), ("doi", _OUR_DOI)):
        found = pattern.fullmatch(entry.fields.get(name, "").strip())
        if found is not None:
            return found[1]
    return entry.key or None


def _decode(entry: Entry, name: str) -> str | None:
    return decode_latex(entry.fields.get(name, "")) or None


def _take_year(entry: Entry) -> int | None:
    written = entry.fields.get("year", "").strip()
    year = find_year(written)
    if written and year is None:
        raise RecordError("invalid_value", f"year: expected a year, found {written!r:.80}")
    return year
