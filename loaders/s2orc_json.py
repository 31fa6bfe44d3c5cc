"""S2ORC's JSON, one document a paper, in the schema variants that s2orc-doc2json reads and writes.

| variant | paper | text |
|---|---|---|
| 20190928 | `metadata` | `grobid_parse` and `latex_parse`, either may be null |
| 20200705 | nowhere: an id alone | at the top level |
| 20210101 | `metadata` | at the top level |
| release (now) | at the top level | `pdf_parse`, `latex_parse` or `jats_parse` |

Of several parses the one from LaTeX is taken, as the cleanest. Variants of 2019 and 2020 are named by S2's
corpus ids and link their bibliographies by them; the id of the others is whatever the caller chose, often the
hash of the PDF, and names nothing. Sections are the body's, then the back matter's. A mention that the parser
could not link (`ref_id` null) is left out, as is an author without a name. Leaves out, and counts: figures,
tables, equations, affiliations, e-mail addresses, a cited work's authors and venue, its year where it is
none, and the parses that are not taken.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Final

from pinakes.loaders.base import Loader, describe_by_name
from pinakes.loaders.left_out import leave_fields, leave_member_fields, leave_out, name_field
from pinakes.loaders.reading.bibliography import (
    PARAGRAPH,
    Bibliography,
    CitedWork,
    Paragraph,
    cite_paragraphs,
    group_sections,
    parse_paragraph,
)
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import parse_json_object
from pinakes.loaders.reading.rows import (
    keep_named,
    list_authorships,
    list_identifiers,
    list_names,
    normalise_identifiers,
)
from pinakes.loaders.reading.values import (
    clean_text,
    take_entries,
    take_id,
    take_object,
    take_objects,
    take_or_leave,
    take_text,
    take_year,
)
from pinakes.loaders.staging import Rows

_COLUMNS: Final = frozenset(
    {"title", "abstract", "year", "venue", "identifiers", "authorships", "sections", "citations"}
)
_PARSES: Final = ("latex_parse", "jats_parse", "pdf_parse", "grobid_parse")
_SCHEMES: Final = {
    "doi": "doi", "arxiv": "arxiv", "arxiv_id": "arxiv", "arxivid": "arxiv", "acl": "acl",
    "acl_id": "acl", "pubmed_id": "pubmed", "pubmed": "pubmed", "pmid": "pubmed", "pmc_id": "pmc",
    "pmcid": "pmc", "pmc": "pmc", "mag_id": "mag", "mag": "mag",
}  # fmt: skip
"""Name of an identifier, in small letters -> scheme; names of another kind are passed over."""
_PARTS: Final = frozenset({"abstract", "body_text", "back_matter", "bib_entries"})
_METADATA: Final = frozenset({"title", "abstract", "authors", "year", "venue", "journal", "identifiers"})
_AUTHOR: Final = frozenset({"first", "middle", "last", "suffix"})
_ENTRY: Final = frozenset({"ref_id", "title", "year", "link", "links", "other_ids"})
_HASHES: Final = frozenset({"s2_pdf_hash", "_pdf_hash"})
"""What is read of a parse, of the metadata, of an author and of an entry; and what tells a release."""
_DATE: Final = re.compile(r"(\d{4})(?:-\d{1,2}){1,2}(?:T.*)?")


def _parse_document(raw: bytes, _name: str) -> Rows:
    return parse_paper(parse_json_object(raw))


def parse_paper(record: Mapping[str, Any]) -> Rows:
    """What a document says: the paper, its sections, its bibliography and every mention of it."""
    source_id = take_id(record, "paper_id")
    parse = next(filter(None, (take_object(record, name) for name in _PARSES)), record)
    metadata = take_object(record, "metadata") or record
    parts = {
        part: [parse_paragraph(paragraph) for paragraph in _take_part(parse, part)]
        for part in ("abstract", "body_text", "back_matter")
    }
    authors = keep_named(list_names(metadata))
    entries = take_entries(parse, "bib_entries")
    _leave_fields(record, parse, metadata)
    leave_member_fields(entries.values(), _ENTRY, "bib_entries.")
    bibliography = Bibliography(source_id, (_parse_work(name, entry) for name, entry in entries.items()))
    return {
        "papers": [_parse_paper_row(source_id, metadata, parts["abstract"])],
        "identifiers": _list_identifiers(source_id, record, metadata),
        "authorships": list_authorships(source_id, authors),
        "sections": group_sections(source_id, parts["body_text"] + parts["back_matter"]),
        **cite_paragraphs(bibliography, chain.from_iterable(parts.values())),
    }


def _leave_fields(record: Mapping[str, Any], parse: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Note what is read nowhere: other parses, which say it again, and fields."""
    for name in _PARSES:
        leave_out(name_field(name), "repeated", bool(record.get(name)) and record[name] is not parse)
    own = {"paper_id", "metadata", *_PARSES, *_HASHES}
    for held, prefix in {
        id(record): (record, ""),
        id(parse): (parse, "parse."),
        id(metadata): (metadata, "metadata."),
    }.values():
        read = (own if held is record else frozenset()) | (_PARTS if held is parse else frozenset())
        if held is metadata:
            read |= _METADATA | {name for name in held if name.lower() in _SCHEMES}
        leave_fields(held, read, prefix)
    leave_member_fields(take_objects(metadata, "authors"), _AUTHOR, "authors.")


def _take_part(parse: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    # A release without any parse prints its abstract as a text at the same place.
    paragraphs = [] if isinstance(parse.get(part), str) else take_objects(parse, part)
    leave_member_fields(paragraphs, PARAGRAPH, f"{part}.")
    return paragraphs


def _parse_paper_row(
    source_id: str, metadata: Mapping[str, Any], abstract: list[Paragraph]
) -> dict[str, Any]:
    printed = metadata.get("abstract")
    joined = "\n\n".join(filter(None, (paragraph.text.strip() for paragraph in abstract)))
    return {
        "source_id": source_id,
        "title": take_text(metadata, "title"),
        "abstract": (clean_text(printed) if not isinstance(printed, list) else None) or joined or None,
        "year": _parse_year(metadata.get("year")),
        "venue": take_text(metadata, "venue") or take_text(metadata, "journal"),
    }


def _parse_year(value: object) -> int | None:
    """The year of a year or a date.

    >>> _parse_year("2011-11"), _parse_year("2017"), _parse_year("")
    (2011, 2017, None)
    """
    found = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    return take_year(found[1] if found else value)


def _list_identifiers(
    source_id: str, record: Mapping[str, Any], metadata: Mapping[str, Any]
) -> list[dict[str, Any]]:
    named = {**metadata, **(take_object(metadata, "identifiers") or {})}
    is_release = any(name in record for name in _HASHES)
    ids = normalise_identifiers(_take_identifiers(named, None), "identifiers")
    return list_identifiers(source_id, [*ids, *([("corpus", source_id)] if is_release else [])])


def _take_identifiers(named: Mapping[str, Any], kind: str | None) -> Iterator[tuple[str, str | None]]:
    """The (scheme, id) pairs among the values, also lists of ids; others are left out of `kind`."""
    for name, values in named.items():
        scheme = _SCHEMES.get(name.lower())
        given = values if isinstance(values, list) else [values]
        if scheme is not None:
            for value in given:
                yield scheme, clean_text(value)
        elif kind is not None:
            leave_out(kind, "no_column", len(given))


def _parse_work(name: str, entry: Mapping[str, Any]) -> CitedWork:
    link = take_text(entry, "links") or take_text(entry, "link")
    others = _take_identifiers(take_object(entry, "other_ids") or {}, "reference_identifiers")
    found = normalise_identifiers(others)
    year = take_or_leave("field bib_entries.year", _parse_year, entry.get("year"))
    title = take_text(entry, "title")
    return CitedWork(name, title, year, [*([("corpus", link)] if link else []), *found], link)


LOADER: Final = Loader(
    name="s2orc-json",
    summary="S2ORC's JSON documents as s2orc-doc2json writes them, in four schema variants",
    describe_corpus=describe_by_name("s2orc-doc2json"),
    find_files=lambda source, _options: find_documents(source, suffixes=(".json",)),
    read_chunks=gather_by_role(partial(read_documents, parse=_parse_document)),
    describes=lambda _role: _COLUMNS,
)
