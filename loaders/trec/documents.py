"""TREC's documents: `<DOC>` after `<DOC>` in a file, with or without a root element, in SGML or XML.

Read of a document are `<DOCNO>` (or the attribute `id`), its title (`HEADLINE`, `HEAD`, `HL`, `TITLE`, `TTL`,
`TI`), its texts (`TEXT`, `LP`, `LEADPARA`, `ABSTRACT`, `BODY`, several, and what stands in no element),
`AUTHOR`, `BIB`, and a year in `DATE`. Other elements have no column and are counted. A document without a
title and a text is one all the same: collections judge such documents. A file is read in blocks, whatever its
size.

OHSUMED's documents (SMART's marks, with `.U`) and MEDLINE's tagged text, as TREC-9's filtering track and the
Genomics tracks have them, are read too (`smart/ohsumed`, `medline_text`).
"""

import codecs
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import IO, Final

from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.medline_text import begins_medline, parse_medline_text, split_medline
from pinakes.loaders.reading.breaks import BrokenStreamError, Salvaged, explain_break, look_ahead
from pinakes.loaders.reading.documents import (
    MAX_DOCUMENT_BYTES,
    check_whole,
    open_documents,
    take_large_record,
)
from pinakes.loaders.reading.rows import Row, list_authorships
from pinakes.loaders.reading.streams import RAW_BYTES, CutLine
from pinakes.loaders.reading.text_records import split_records
from pinakes.loaders.reading.values import find_only_year, find_year
from pinakes.loaders.smart.marked import parse_ohsumed_text
from pinakes.loaders.smart.ohsumed import BEGINS as OHSUMED_BEGINS
from pinakes.loaders.smart.ohsumed import HEAD as OHSUMED_HEAD
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows
from pinakes.loaders.trec.markup import HEAD_BYTES, decode, drop_comments, find_encoding, strip_markup

BLOCK_BYTES: Final = 1 << 20
_START: Final = re.compile(rb"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_END: Final = re.compile(rb"</doc\s*>", re.IGNORECASE)
_LONGEST_END: Final = 64
_ID: Final = re.compile(r"""<doc\s[^<>]*?\bid\s*=\s*["']([^"'<>]+)["']""", re.IGNORECASE)
_ELEMENT: Final = re.compile(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>")
_TITLES: Final = frozenset({"headline", "head", "hl", "title", "ttl", "ti", "header"})
_TEXTS: Final = frozenset({"text", "lp", "leadpara", "abstract", "body", "html", "p"})
# fmt: off
_INLINE: Final = frozenset({
    "a", "address", "b", "big", "blockquote", "br", "center", "dd", "div", "dl", "dt", "em", "font", "h1",
    "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "li", "ol", "pre", "small", "span", "strong", "sub",
    "sup", "table", "td", "th", "tr", "tt", "u", "ul",
})
# fmt: on
"""elements of HTML whose text belongs to the text around them"""
_MOST_OPEN: Final = 100
"""So many names of elements without an end are searched for; a document of more is no markup."""
_READ: Final = {"docno": "docno", "author": "author", "authors": "author", "bib": "bib", "date": "date"}
_HEADER_TITLE: Final = re.compile(r"<TI>(.*?)</TI>", re.DOTALL | re.IGNORECASE)
_BETWEEN_NAMES: Final = re.compile(r"\s+and\s+|\s*;\s*")


def read_documents(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    """The documents of a file, or of a bundle of files, each as a record."""
    number = 0
    for name, opened in open_documents(file):
        with opened:
            head, stream = look_ahead(opened, HEAD_BYTES)
            in_file = 0
            try:
                for in_file, (raw, parse) in enumerate(_find_records(head, stream, options), start=1):
                    number += 1
                    place = f"document {in_file}" if not file.documents else f"{name}, document {in_file}"
                    yield take_large_record(number, place, raw, parse)
            except BrokenStreamError as error:
                raise explain_break(error, f"after document {in_file}", file.name) from error


def _find_records(
    head: bytes, stream: IO[bytes], options: Options
) -> Iterator[tuple[bytes, Callable[[], Rows]]]:
    """Each document's bytes, and what parses them."""
    if begins_medline(head) or OHSUMED_HEAD.match(head):
        is_medline = begins_medline(head)
        parse = parse_medline_text if is_medline else parse_ohsumed_text
        encoding = find_encoding(options, b"")
        records = split_medline(stream) if is_medline else split_records(stream, OHSUMED_BEGINS)
        for raw in records:
            yield raw, partial(_parse_text, parse, raw, encoding)
        return
    for raw, encoding in _split(stream, options):
        yield raw, partial(_parse, raw, encoding)


def _parse_text(parse: Callable[[str], Rows], raw: bytes, encoding: str) -> Rows:
    check_whole(raw)
    return parse(decode(raw, encoding))


def _split(stream: IO[bytes], options: Options) -> Iterator[tuple[bytes, str]]:
    """Each document's bytes with the file's encoding; one that is too large as a `CutLine`."""
    data = bytearray()
    searched = 0
    encoding = ""
    cut: bytes | None = None
    salvaged = Salvaged(stream)
    while block := salvaged.read(BLOCK_BYTES):
        data += block
        encoding = encoding or find_encoding(options, bytes(data[:HEAD_BYTES]))
        place = 0
        while (end := _END.search(data, max(place, searched))) is not None:
            if cut is not None:
                yield CutLine(cut), encoding
                cut = None
            else:
                yield from ((part, encoding) for part in _list_parts(bytes(data[place : end.end()])))
            place = searched = end.end()
        del data[:place]
        searched = max(0, len(data) - _LONGEST_END)
        if len(data) > MAX_DOCUMENT_BYTES:
            cut = cut or bytes(data[:RAW_BYTES])
            del data[:searched]
            searched = 0
    if cut is not None:
        yield CutLine(cut), encoding
    else:
        yield from ((part, encoding) for part in _list_parts(bytes(data)))


def _list_parts(piece: bytes) -> Iterator[bytes]:
    """What stands between two ends: text outside of documents, documents without an end, and one with it."""
    starts = [found.start() for found in _START.finditer(piece)]
    before = (piece[: starts[0]] if starts else piece).removeprefix(codecs.BOM_UTF8)
    if strip_markup(before.decode("latin-1")) is not None:
        yield before.strip()
    for start, end in itertools.pairwise([*starts, len(piece)]):
        yield piece[start:end].strip()


def _parse(raw: bytes, encoding: str) -> Rows:
    check_whole(raw)
    text = decode(raw, encoding)
    start, end = _START.match(raw), _END.search(raw)
    if start is None or end is None:
        what = "text stands outside of <DOC>" if start is None else "the document has no </DOC>"
        raise RecordError("malformed_line", what)
    fields, left_out = _split_fields(text[text.index(">") + 1 : text.rindex("<")])
    attribute = _ID.match(text)
    source_id = _join(fields, "docno") or (attribute[1].strip() if attribute else None)
    if source_id is None:
        raise RecordError("missing_field", "a document without <DOCNO>")
    return _make_rows(source_id, fields, left_out)


def _split_fields(text: str) -> tuple[dict[str, list[str]], Counter[str]]:
    """What stands in the elements that are read, by what it is, and how many others there are, by name."""
    fields: dict[str, list[str]] = {}
    left_out: Counter[str] = Counter()
    unclosed = set(_INLINE)
    place = loose = 0
    text = drop_comments(text)
    while (found := _ELEMENT.search(text, place)) is not None:
        place = found.end()
        name = found[1].lower()
        if name in unclosed or len(unclosed) > len(_INLINE) + _MOST_OPEN:
            continue
        end = _find_end(name).search(text, place)
        if end is None:
            unclosed.add(name)
            continue
        fields.setdefault("text", []).append(text[loose : found.start()])
        kind = "title" if name in _TITLES else "text" if name in _TEXTS else _READ.get(name)
        content = text[found.end() : end.start()]
        if kind is None:
            left_out[name] += 1 if strip_markup(content) else 0
        else:
            is_header = name == "header"  # of FBIS, which has the title among other elements
            left_out[name] += is_header
            title = " ".join(_HEADER_TITLE.findall(content))
            fields.setdefault(kind, []).append(title if is_header else content)
        place = loose = end.end()
    fields.setdefault("text", []).append(text[loose:])
    return fields, +left_out


@lru_cache(maxsize=256)
def _find_end(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE)


def _join(fields: dict[str, list[str]], kind: str) -> str | None:
    return strip_markup("\n".join(fields.get(kind, ())))


def _make_rows(source_id: str, fields: dict[str, list[str]], left_out: Counter[str]) -> Rows:
    venue, date = _join(fields, "bib"), _join(fields, "date")
    year = find_year(date) or find_only_year(venue)
    if date is not None and find_year(date) is None:
        left_out["date"] += 1
    names = [name for author in fields.get("author", ()) for name in _split_names(strip_markup(author))]
    paper: Row = {
        "source_id": source_id,
        "title": _join(fields, "title"),
        "abstract": _join(fields, "text"),
        "year": year,
        "venue": venue,
    }
    rows: dict[str, list[Row]] = {"papers": [paper]}
    if names:
        rows["authorships"] = list_authorships(source_id, [(None, name) for name in names])
    if left_out:
        rows["left_out"] = [
            {"kind": f"field {name.upper()}", "reason": "no_column", "items": items}
            for name, items in left_out.items()
        ]
    return rows


def _split_names(text: str | None) -> list[str]:
    return [name for name in _BETWEEN_NAMES.split(text or "") if name]
