"""The ACL Anthology: the XML of its repository (`data/xml`) or its BibTeX files; one record a paper.

A paper's id is the Anthology's: `P18-1001`, `W18-0102` (workshops have two digits for the volume), since 2020
`2020.acl-main.1`. Front matter is left out unless it is asked for; its authors are then the volume's editors.
Of a source that holds both, the XML is read, which is the Anthology's own; of several BibTeX files the one
with abstracts, which holds what the others hold.

In the XML, markup in titles and abstracts (`<fixed-case>`, `<tex-math>`, `<b>`, `<url>`) leaves its text. The
year is the volume's unless the paper has its own; the venue is the journal or the title of the volume. In
BibTeX, a paper's id is that of its address at the Anthology, else its DOI's last part where that is the
Anthology's, else its key; titles, names and abstracts are decoded from LaTeX.

Leaves out, and counts: editors of papers, affiliations, names in other scripts, awards, videos, attachments,
events; of BibTeX pages and publishers.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, UnreadFile, describe_as
from pinakes.loaders.left_out import leave_fields, leave_out, name_field
from pinakes.loaders.reading.bibtex import Entry, decode_latex, parse_entry, split_entries, split_names
from pinakes.loaders.reading.documents import check_whole, find_documents, load_documents, reject_document
from pinakes.loaders.reading.finding import find_line_entries
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.rows import keep_named, list_authorships, list_identifiers
from pinakes.loaders.reading.running_text import Element
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.reading.values import find_year, take_year
from pinakes.loaders.reading.xml_reading import element_text, iterate_elements
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows, take_record

_OPTIONS: Final = {
    "format": "xml or bib; without it the XML where there is some, else the BibTeX",
    "front_matter": "yes: volumes' front matter too, with the editors as its authors; no is the default",
}
_TWO_DIGIT_VOLUMES: Final = ("W", "C69")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_ROOT: Final = re.compile(rb"<collection[\s>]")
_HEAD_BYTES: Final = 1 << 14
_ADDRESS: Final = re.compile(
    r"https?://(?:www\.)?(?:aclanthology\.org|aclanthology\.info/papers|aclweb\.org/anthology)/(?:papers/)?"
    r"([A-Za-z0-9][A-Za-z0-9._-]*?)(?:\.pdf)?/?",
    re.IGNORECASE,
)
_OUR_DOI: Final = re.compile(r"10\.(?:18653/v1|3115/v1)/([A-Za-z0-9][A-Za-z0-9._-]*)", re.IGNORECASE)
_ELEMENTS: Final = frozenset({"title", "author", "abstract", "year", "journal", "doi", "bibkey"})
_FIELDS: Final = frozenset({"title", "author", "abstract", "year", "journal", "booktitle", "doi", "url"})
"""What is read of a paper, as XML and as BibTeX; the rest is left out."""
_NO_RECORDS: Final = frozenset({"string", "comment", "preamble"})


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The collections of a folder or an archive in bundles, or the BibTeX file with the most in it."""
    _wants_front_matter(options)
    wanted = options.get("format")
    if wanted is not None and wanted not in _FINDERS:
        raise InputError(f"format is {wanted!r}; expected {' or '.join(_FINDERS)}.")
    is_bib = source is not None and source.is_file() and ".bib" in source.name.lower()
    if wanted is None and not is_bib:
        try:
            return _find_collections(source)
        except InputError:
            pass  # then it may hold BibTeX; if not, that is what the user is told
    return _FINDERS[wanted or "bib"](source)


def _find_collections(source: Path | None) -> list[InputFile]:
    return find_documents(source, (".xml",), role="xml")


def _find_bibliographies(source: Path | None) -> list[InputFile]:
    try:
        files = find_line_entries(source, ".bib", role="bib")
    except InputError as error:
        raise InputError(f"{source} holds neither the Anthology's XML nor a BibTeX file.") from error
    chosen = [file for file in files if "+abstracts" in file.name] or files
    copies = [UnreadFile(file.name, "copy", chosen[0].name) for file in files if file not in chosen]
    return [replace(chosen[0], unread=tuple(copies)), *chosen[1:]]


_FINDERS: Final = {"xml": _find_collections, "bib": _find_bibliographies}


def _wants_front_matter(options: Options) -> bool:
    wanted = options.get("front_matter", "no")
    if wanted not in ("yes", "no"):
        raise InputError(f"front_matter is {wanted!r}; expected yes or no.")
    return wanted == "yes"


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """One record a paper."""
    read = read_collections if file.role == "xml" else read_bibliography
    return gather_chunks(read(file, _wants_front_matter(options)), first_row=first_row)


@dataclass(frozen=True, slots=True)
class _Volume:
    """What the papers of a volume have of it."""

    title: str | None
    year: str | None
    editors: list[tuple[str | None, str]]


def make_paper_id(collection: str, volume: str, paper: str) -> str:
    """The Anthology's id of a paper.

    Old ids have four digits after the hyphen: one for the volume and three for the paper, but two and two
    for workshops (W), for C69, and for D19 from its fifth volume on.

    Raises:
        RecordError: volume or paper of an old collection is no number.

    >>> make_paper_id("2020.acl", "main", "1"), make_paper_id("P18", "1", "1")
    ('2020.acl-main.1', 'P18-1001')
    >>> make_paper_id("W18", "1", "2"), make_paper_id("D19", "50", "3")
    ('W18-0102', 'D19-5003')
    """
    if "." in collection or collection[:4].isdecimal():
        return f"{collection}-{volume}.{paper}"
    if _NUMBER.fullmatch(volume) is None or _NUMBER.fullmatch(paper) is None:
        raise RecordError(
            "invalid_value", f"{collection}: expected numbers, found {volume!r:.80} and {paper!r:.80}"
        )
    is_wide = collection.startswith(_TWO_DIGIT_VOLUMES) or (collection == "D19" and int(volume) >= 5)
    digits = f"{int(volume):02}{int(paper):02}" if is_wide else f"{int(volume)}{int(paper):03}"
    return f"{collection}-{digits}"


def read_collections(file: InputFile, with_front_matter: bool) -> Iterator[Accepted | Rejected]:
    """The papers of all `<collection>` documents of the file, numbered through."""
    numbers = count(1)
    for name, raw in load_documents(file):
        for record in _read_collection(raw, with_front_matter):
            yield replace(record, row_number=next(numbers), location=f"{name}: {record.location}")


def _read_collection(raw: bytes, with_front_matter: bool) -> Iterator[Accepted | Rejected]:
    try:
        check_whole(raw)
        if _ROOT.search(raw[:_HEAD_BYTES]) is None:
            raise RecordError("missing_field", "no <collection>")
    except RecordError as error:
        yield reject_document(1, "the document", raw, error)
        return
    tags = ("paper", "frontmatter") if with_front_matter else ("paper",)
    # What was read is dropped: a volume's `meta` stands before its first paper alone.
    yield from iterate_elements(io.BytesIO(raw), tags, partial(_parse_paper, {}))


def _parse_paper(volumes: dict[str, _Volume], element: Element) -> Rows:
    is_front = element.tag == "frontmatter"
    holder = element.getparent()
    collection = None if holder is None else holder.getparent()
    names = ["" if found is None else found.get("id", "") for found in (collection, holder)]
    names.append("0" if is_front else element.get("id", ""))
    meta = None if holder is None else holder.find("meta")
    if meta is not None:
        volumes[names[1]] = _read_volume(meta)
    if not all(names):
        raise RecordError("missing_field", "a paper, its volume or its collection has no id")
    unread = {child.tag for child in element if isinstance(child.tag, str)} - _ELEMENTS
    for name in sorted(unread):
        leave_out(name_field(name), "no_column")
    volume = volumes.get(names[1], _Volume(None, None, []))
    source_id = make_paper_id(*names)
    authors = volume.editors if is_front else [_read_name(author) for author in element.findall("author")]
    ids: list[tuple[str, object]] = [("acl", source_id)]
    ids += [(kind, element_text(element.find(kind))) for kind in ("doi", "bibkey")]
    return {
        "papers": [
            {
                "source_id": source_id,
                "title": volume.title if is_front else element_text(element.find("title")),
                "abstract": element_text(element.find("abstract")),
                "year": take_year(element_text(element.find("year")) or volume.year),
                "venue": element_text(element.find("journal")) or volume.title,
            }
        ],
        "identifiers": list_identifiers(source_id, ids),
        "authorships": list_authorships(source_id, keep_named(authors)),
    }


def _read_volume(meta: Element) -> _Volume:
    title = element_text(meta.find("journal-title")) or element_text(meta.find("booktitle"))
    editors = [_read_name(editor) for editor in meta.findall("editor")]
    return _Volume(title, element_text(meta.find("year")), editors)


def _read_name(person: Element) -> tuple[str | None, str]:
    """The Anthology's id of a person, where one is needed to tell namesakes apart, and the name."""
    parts = [element_text(person.find(kind)) for kind in ("first", "last")]
    return person.get("id") or None, " ".join(part for part in parts if part)


def read_bibliography(file: InputFile, with_front_matter: bool) -> Iterator[Accepted | Rejected]:
    """The papers of the file."""
    strings: dict[str, str] = {}
    numbers = count(1)
    for line, kind, raw in split_entries(read_lines(file)):
        if kind == "string":
            _learn_strings(raw, strings)
        if kind in _NO_RECORDS or (kind == "proceedings" and not with_front_matter):
            continue
        yield take_record(next(numbers), f"line {line}", raw, partial(_parse_entry, raw, strings))


def _learn_strings(raw: bytes, strings: dict[str, str]) -> None:
    try:
        strings.update(parse_entry(decode_utf8(raw), strings).fields)
    except RecordError:
        return  # then the names that it would have given stand for themselves


def _parse_entry(raw: bytes, strings: dict[str, str]) -> Rows:
    entry = parse_entry(decode_utf8(raw).lstrip(), strings)
    source_id = _find_id(entry)
    if source_id is None:
        raise RecordError("missing_field", "the entry has neither a key nor an address at the Anthology")
    names = split_names(entry.fields.get("editor" if entry.type == "proceedings" else "author", ""))
    is_volume = entry.type == "proceedings"
    leave_fields(entry.fields, (_FIELDS - {"author"}) | {"editor"} if is_volume else _FIELDS)
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


LOADER: Final = Loader(
    name="acl-anthology",
    summary="the ACL Anthology: its XML, or anthology.bib and anthology+abstracts.bib",
    describe_corpus=describe_as(
        name="acl-anthology",
        title="ACL Anthology",
        licence="CC BY 4.0 (papers from 2016), CC BY-NC-SA 3.0 (papers before)",
        source="https://aclanthology.org/",
    ),
    find_files=find_files,
    read_chunks=read_chunks,
    options=_OPTIONS,
)
