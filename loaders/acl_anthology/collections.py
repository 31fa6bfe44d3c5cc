"""The Anthology's XML: a `<collection>` a file, with its volumes and their papers; one record a paper.

Markup in titles and abstracts (`<fixed-case>`, `<tex-math>`, `<b>`, `<url>`) leaves its text. The year is the
volume's unless the paper has its own; the venue is the journal or the title of the volume. Leaves out:
editors of papers, affiliations, names in other scripts, awards, videos, attachments, and events.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.rows import list_authorships, list_identifiers
from pinakes.loaders.reading.documents import MAX_DOCUMENT_BYTES, open_documents
from pinakes.loaders.reading.running_text import Element
from pinakes.loaders.reading.values import take_year
from pinakes.loaders.reading.streams import RAW_BYTES
from pinakes.loaders.reading.xml_reading import element_text, iterate_elements
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw

_TWO_DIGIT_VOLUMES: Final = ("W", "C69")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_ROOT: Final = re.compile(rb"<collection[\s>]")
_HEAD_BYTES: Final = 1 << 14


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
    """The papers of all documents of the file, numbered through."""
    numbers = count(1)
    for name, stream in open_documents(file):
        with stream:
            raw = stream.read(MAX_DOCUMENT_BYTES + 1)
        for record in _read_collection(raw, with_front_matter):
            yield replace(record, row_number=next(numbers), location=f"{name}: {record.location}")


def _read_collection(raw: bytes, with_front_matter: bool) -> Iterator[Accepted | Rejected]:
    head = show_raw(raw[:RAW_BYTES])
    if len(raw) > MAX_DOCUMENT_BYTES:
        message = f"the document has more than {MAX_DOCUMENT_BYTES} bytes"
        yield Rejected(1, "the document", "too_large", message, head)
    elif _ROOT.search(raw[:_HEAD_BYTES]) is None:
        yield Rejected(1, "the document", "missing_field", "no <collection>", head)
    else:
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
        "authorships": list_authorships(source_id, [(known, name) for known, name in authors if name]),
    }


def _read_volume(meta: Element) -> _Volume:
    title = element_text(meta.find("journal-title")) or element_text(meta.find("booktitle"))
    editors = [_read_name(editor) for editor in meta.findall("editor")]
    return _Volume(title, element_text(meta.find("year")), editors)


def _read_name(person: Element) -> tuple[str | None, str]:
    """The Anthology's id of a person, where one is needed to tell namesakes apart, and the name."""
    parts = [element_text(person.find(kind)) for kind in ("first", "last")]
    return person.get("id") or None, " ".join(part for part in parts if part)
