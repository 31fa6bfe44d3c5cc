"""The ACL Anthology Network (Radev et al. 2013): acl-metadata.txt and the paper citation network.

Read are blocks of `id`, `author`, `title`, `venue` and `year` in braces, parted by an empty line, and lines
`P99-1001 ==> J93-1003`, citing paper first. A folder may hold them side by side or the network in
`networks/`; of several networks the fullest is read (`paper-citation-network.txt`, else `acl.txt`, else
the one without self-citations, which is a part of the others).

The release mixes encodings within a line: what is UTF-8 is read as that, every other byte as Windows-1252,
the superset of Latin-1 in which the quotation marks are (`decode_mixed`). Also mended, as the whole release
has them: HTML entities (`G&icirc;rju`), the braces of BibTeX (`{H}aitian`), and the separator doubled after
an entity in the middle of one name (`Daum&eacute;; III, Hal`). A character whose last byte became `?` is
U+FFFD; a bare `?` in place of another is not mended.
"""

import html
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, UnreadFile, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.rows import keep_named, list_authorships, list_identifiers, list_links
from pinakes.loaders.reading.streams import CutLine, decode_utf8, find_packed, read_lines
from pinakes.loaders.reading.values import clean_text, take_year
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_METADATA: Final = "acl-metadata.txt"
_NETWORKS: Final = (
    "paper-citation-network.txt",
    "networks/paper-citation-network.txt",
    "acl.txt",
    "networks/acl.txt",
    "paper-citation-network-nonself.txt",
    "networks/paper-citation-network-nonself.txt",
)
"""The published names of the citation network, the fullest first."""

_READ: Final = frozenset({"id", "author", "title", "venue", "year"})
_FIELD: Final = re.compile(r"\s*(\w+)\s*=\s*\{(.*)\}\s*")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPLIT_NAME: Final = re.compile(r"(&(?:#\w+|\w+););")
_UNDEFINED: Final = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252; Latin-1 has control characters there
_STRAY_BYTES: Final = {
    0xDC00 + byte: bytes([byte]).decode("latin-1" if byte in _UNDEFINED else "cp1252")
    for byte in range(0x80, 0x100)
}
"""What `surrogateescape` makes of a byte that is not UTF-8 -> the character of Windows-1252."""

_LOST: Final = re.compile(
    "[\udce0-\udcef][\udc80-\udcbf]\\?"
)  # two bytes of three, escaped, and what the third became

_LONGEST_BLOCK: Final = 100  # lines; a block of the release has five


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The metadata and the fullest citation network of a folder, or one file of either kind."""
    if source is None or not source.exists():
        raise InputError(f"{source} is no file or folder; expected {_METADATA} or a folder with it.")
    if source.is_file():
        role = "papers" if "metadata" in source.name else "citations"
        return [InputFile(source, source.name, role)]
    files = []
    for role, names in (("papers", (_METADATA,)), ("citations", _NETWORKS)):
        paths = [path for name in names if (path := find_packed(source / name)) is not None]
        found = [path.relative_to(source).as_posix() for path in paths]
        copies = tuple(UnreadFile(name, "copy", found[0]) for name in found[1:])
        files += [InputFile(path, found[0], role, unread=copies) for path in paths[:1]]
    if not files:
        raise InputError(f"{source} has neither {_METADATA} nor a citation network ({', '.join(_NETWORKS)}).")
    return files


def decode_mixed(raw: bytes) -> str:
    """The line as text: UTF-8 where it is UTF-8, any other byte as Windows-1252.

    >>> decode_mixed(b"ELRA\\x92s caf\\xc3\\xa9, G\\xfcnter")
    'ELRA’s café, Günter'
    """
    if isinstance(raw, CutLine):
        return decode_utf8(raw)
    return _LOST.sub("\ufffd", raw.decode("utf-8", "surrogateescape")).translate(_STRAY_BYTES)


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    for number, (first, lines) in enumerate(_read_blocks(file), start=1):
        raw = b"\n".join(lines)
        yield take_record(number, f"line {first}", raw, partial(_parse_paper, lines))


def _read_blocks(file: InputFile) -> Iterator[tuple[int, list[bytes]]]:
    """The number of a block's first line, and its lines; a block ends at a gap or before the next id."""
    first, last, block = 0, 0, list[bytes]()
    for number, line in read_lines(file):
        starts = line.lstrip().startswith(b"id ") or len(block) == _LONGEST_BLOCK
        if block and (number != last + 1 or starts):
            yield first, block
            block = []
        if not block:
            first = number
        block.append(line)
        last = number
    if block:
        yield first, block


def _parse_paper(lines: list[bytes]) -> Rows:
    values = _parse_fields(lines)
    source_id = clean_text(values.get("id"))
    if source_id is None:
        raise RecordError("missing_field", "no id")
    leave_fields(values, _READ)
    paper = {
        "source_id": source_id,
        "title": _clean_value(values.get("title")),
        "venue": _clean_value(values.get("venue")),
        "year": take_year(values.get("year")),
    }
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("acl", source_id)]),
        "authorships": list_authorships(source_id, _list_authors(values.get("author", ""))),
    }


def _parse_fields(lines: list[bytes]) -> dict[str, str]:
    values: dict[str, str] = {}
    for line in lines:
        found = _FIELD.fullmatch(decode_mixed(line))
        if found is None:
            raise RecordError("malformed_line", f"expected name = {{value}}, found {line[:80]!r}")
        name, value = found.groups()
        if name in values:
            raise RecordError("malformed_line", f"a second {name} in one record")
        values[name] = value
    return values


def _clean_value(value: str | None) -> str | None:
    """A value without entities, braces and surrounding white space.

    >>> _clean_value("{H}aitian {K}reyol by G&icirc;rju")
    'Haitian Kreyol by Gîrju'
    """
    if value is None:
        return None
    text = _ENTITY.sub(lambda found: html.unescape(found[0]), value)
    return clean_text(text.replace("{", "").replace("}", ""))


def _list_authors(authors: str) -> list[tuple[str | None, str]]:
    # An entity's own semicolon parts no names: it is resolved name by name, after the split.
    joined = _SPLIT_NAME.sub(r"\1", authors)
    parted = _ENTITY.sub(lambda found: html.unescape(found[0]).replace(";", " "), joined).split(";")
    return keep_named((None, name) for name in map(_clean_value, parted)) if authors.strip() else []


def _read_citations(file: InputFile) -> Iterator[Accepted | Rejected]:
    for number, (line, raw) in enumerate(read_lines(file), start=1):
        yield take_record(number, f"line {line}", raw, partial(_parse_citation, raw))


def _parse_citation(raw: bytes) -> Rows:
    ends = [end.strip() for end in decode_mixed(raw).split("==>")]
    if len(ends) != 2 or not all(ends):
        raise RecordError("malformed_line", f"expected CITING ==> CITED, found {raw[:80]!r}")
    return {"citations": list_links(ends[0], [ends[1]])}


# The metadata know nothing of abstracts and full texts, which other corpora of these ids may add.
_OWNED: Final = {
    "papers": frozenset({"title", "year", "venue", "identifiers", "authorships"}),
    "citations": frozenset({"citations"}),
}

LOADER: Final = Loader(
    name="aan",
    summary="the ACL Anthology Network: acl-metadata.txt and its paper citation network",
    describe_corpus=describe_as(
        name="aan", title="ACL Anthology Network", source="https://clair.eecs.umich.edu/aan/"
    ),
    find_files=find_files,
    read_chunks=gather_by_role(papers=_read_papers, citations=_read_citations),
    describes=_OWNED.__getitem__,
    may_lack_text=True,
)
