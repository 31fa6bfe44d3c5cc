"""The full texts of S2ORC's releases of 2019 and 2020: paragraphs with citation spans and a bibliography.

Of a paper that has been parsed both ways in 2019, the parse of its LaTeX is read, being the cleaner one. A
bibliography is what a parser made of a PDF: what in it is no year is left out. Left out are also figures,
tables and formulas.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.bibliography import Paragraph, group_sections, parse_paragraph
from pinakes.loaders.reading.cite_spans import list_citations
from pinakes.loaders.reading.values import take_entries, take_objects
from pinakes.loaders.reading.rows import make_reference_key, normalise_identifier
from pinakes.loaders.reading.streams import open_stream
from pinakes.loaders.reading.json_records import parse_json_object
from pinakes.loaders.reading.values import take_object, take_text, take_year
from pinakes.loaders.s2orc.identifying import list_identifiers
from pinakes.loaders.s2orc.metadata_2020 import SCHEMES, list_authorships
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

MAX_DOCUMENT_BYTES: Final = 64 << 20

_OTHER_IDS: Final = {
    "DOI": "doi",
    "arXiv": "arxiv",
    "ArXiv": "arxiv",
    "PMID": "pubmed",
    "PubMed": "pubmed",
    "PMCID": "pmc",
    "PMC": "pmc",
}


def read_document(
    file: InputFile, *, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The one paper that a whole file is, which may be printed on many lines."""
    with open_stream(file) as stream:
        raw = stream.read(MAX_DOCUMENT_BYTES + 1)
    yield take_record(1, file.name, raw[:MAX_DOCUMENT_BYTES], lambda: _parse_document(raw, parse))


def _parse_document(raw: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise RecordError("too_large", f"the document has more than {MAX_DOCUMENT_BYTES} bytes")
    return parse(parse_json_object(raw))


def parse_2020(record: dict[str, Any]) -> Rows:
    """The rows of one record of `pdf_parses`."""
    source_id = _take_paper_id(record)
    return {"papers": [{"source_id": source_id}], **_list_text(source_id, record)}


def parse_2019(record: dict[str, Any]) -> Rows:
    """The rows of one paper of 2019, with its metadata."""
    source_id = _take_paper_id(record)
    metadata = take_object(record, "metadata") or {}
    paper = {
        "source_id": source_id,
        "title": take_text(metadata, "title"),
        "abstract": take_text(metadata, "abstract"),
        "year": take_year(metadata.get("year")),
        "venue": take_text(metadata, "venue") or take_text(metadata, "journal"),
    }
    identifiers = {scheme: take_text(metadata, field) for field, scheme in SCHEMES.items()}
    parse = take_object(record, "latex_parse") or take_object(record, "grobid_parse") or {}
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers),
        "authorships": list_authorships(source_id, metadata),
        **_list_text(source_id, parse),
    }


def parse_2019_text(record: dict[str, Any]) -> Rows:
    """The rows of one paper of 2019, without what the table of metadata says of it too."""
    rows = dict(parse_2019(record))
    paper = rows["papers"][0]
    del rows["identifiers"], rows["authorships"]
    rows["papers"] = [{"source_id": paper["source_id"], "abstract": paper["abstract"]}]
    return rows


def _take_paper_id(record: Mapping[str, Any]) -> str:
    source_id = take_text(record, "paper_id")
    if source_id is None:
        raise RecordError("missing_field", "no paper_id")
    return source_id


def _list_text(source_id: str, parse: Mapping[str, Any]) -> Rows:
    body = _take_paragraphs(parse, "body_text")
    entries = take_entries(parse, "bib_entries")
    works = {name: _identify(source_id, name, entry) for name, entry in entries.items()}
    keys = {name: key for name, (key, _) in works.items()}
    return {
        "sections": group_sections(source_id, body),
        "citations": list_citations(source_id, [*_take_paragraphs(parse, "abstract"), *body], keys),
        "references": list(_list_references(entries, keys)),
        "reference_identifiers": [
            {"reference_key": key, "scheme": scheme, "identifier": identifier}
            for key, identifiers in works.values()
            for scheme, identifier in identifiers
        ],
    }


def _take_paragraphs(parse: Mapping[str, Any], key: str) -> list[Paragraph]:
    return [parse_paragraph(paragraph) for paragraph in take_objects(parse, key)]


def _identify(source_id: str, name: str, entry: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """The key of a bibliography's entry, and its identifiers."""
    identifiers = [
        (scheme, normal)
        for label, values in (take_object(entry, "other_ids") or {}).items()
        if (scheme := _OTHER_IDS.get(label)) is not None
        for value in (values if isinstance(values, list) else [values])
        if (normal := normalise_identifier(scheme, value)) is not None
    ]
    key = make_reference_key(
        source_id=take_text(entry, "link") or take_text(entry, "links"),
        identifiers=identifiers,
        title=take_text(entry, "title"),
        mention=(source_id, name),
    )
    return key, identifiers


def _list_references(
    entries: Mapping[str, Mapping[str, Any]], keys: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for name, entry in entries.items():
        title, year = take_text(entry, "title"), guess_year(entry.get("year"))
        if title is not None or year is not None:
            yield {"reference_key": keys[name], "title": title, "year": year}


def guess_year(value: object) -> int | None:
    """The year that a parser found; None where it is none.

    >>> guess_year(2001), guess_year("2001"), guess_year("200l")
    (2001, 2001, None)
    """
    try:
        return take_year(value)
    except RecordError:
        return None
