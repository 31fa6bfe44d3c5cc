"""The full texts of S2ORC's releases of 2019 and 2020: paragraphs with citation spans and a bibliography.

Of a paper that has been parsed both ways in 2019, the parse of its LaTeX is read, being the cleaner one. A
bibliography is what a parser made of a PDF: what in it is no year is left out, as are figures, tables and
formulas.
"""

from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders.left_out import leave_fields, leave_inner_fields, leave_member_fields, leave_out
from pinakes.loaders.reading.bibliography import (
    PARAGRAPH,
    Bibliography,
    CitedWork,
    Paragraph,
    cite_paragraphs,
    group_sections,
    parse_paragraph,
)
from pinakes.loaders.reading.json_records import parse_json_object
from pinakes.loaders.reading.rows import (
    describe_paper,
    leave_other_venues,
    list_authorships,
    list_identifiers,
    list_names,
    list_normal,
)
from pinakes.loaders.reading.values import (
    take_entries,
    take_id,
    take_object,
    take_objects,
    take_or_leave,
    take_text,
    take_year,
)
from pinakes.loaders.s2orc.metadata import NAME_PARTS, SCHEMES
from pinakes.loaders.staging import Rows

_PAPER: Final = frozenset({"paper_id", "metadata", "latex_parse", "grobid_parse"})
_METADATA: Final = frozenset({"title", "abstract", "year", "venue", "journal", "authors", *SCHEMES})
"""What is read of a paper of 2019."""
_PARSE: Final = frozenset({"paper_id", "abstract", "body_text", "bib_entries"})
ENTRY: Final = frozenset({"ref_id", "title", "year", "link", "links", "other_ids"})
"""What is read of a parse and of an entry of its bibliography, by their fields; the rest is left out."""
_OTHER_IDS: Final = {
    "DOI": "doi",
    "arXiv": "arxiv",
    "ArXiv": "arxiv",
    "PMID": "pubmed",
    "PubMed": "pubmed",
    "PMCID": "pmc",
    "PMC": "pmc",
}


def parse_2020(record: dict[str, Any]) -> Rows:
    """The rows of one record of `pdf_parses`."""
    source_id = take_id(record, "paper_id")
    return {"papers": [{"source_id": source_id}], **_list_text(source_id, record)}


def parse_2019(record: dict[str, Any]) -> Rows:
    """The rows of one paper of 2019, with its metadata."""
    source_id = take_id(record, "paper_id")
    metadata = take_object(record, "metadata") or {}
    identifiers = ((scheme, take_text(metadata, field)) for field, scheme in SCHEMES.items())
    latex, grobid = take_object(record, "latex_parse"), take_object(record, "grobid_parse")
    parse = latex or grobid or {}
    leave_out("field grobid_parse", "repeated", bool(latex and grobid))
    leave_fields(record, _PAPER)
    leave_fields(metadata, _METADATA, "metadata.")
    leave_inner_fields(metadata, "authors", NAME_PARTS)
    leave_other_venues(metadata, "journal")
    return {
        "papers": [describe_paper(source_id, metadata, "journal")],
        "identifiers": list_identifiers(source_id, identifiers),
        "authorships": list_authorships(source_id, list_names(metadata)),
        **_list_text(source_id, parse),
    }


def parse_document(raw: bytes, _name: str) -> Rows:
    """The rows of one paper of 2019 that is a whole file, which may be printed on many lines."""
    return parse_2019(parse_json_object(raw))


def parse_document_text(raw: bytes, _name: str) -> Rows:
    """The rows of such a file, without what the table of metadata says of it too."""
    return parse_2019_text(parse_json_object(raw))


def parse_2019_text(record: dict[str, Any]) -> Rows:
    """The rows of one paper of 2019, without what the table of metadata says of it too."""
    rows = dict(parse_2019(record))
    paper = rows["papers"][0]
    for kind in ("identifiers", "authorships"):
        leave_out(kind, "not_asked", len(rows.pop(kind)))
    rows["papers"] = [{"source_id": paper["source_id"], "abstract": paper["abstract"]}]
    return rows


def _list_text(source_id: str, parse: Mapping[str, Any]) -> Rows:
    body = _take_paragraphs(parse, "body_text")
    entries = take_entries(parse, "bib_entries")
    leave_fields(parse, _PARSE)
    leave_member_fields(entries.values(), ENTRY, "bib_entries.")
    bibliography = Bibliography(source_id, (_parse_work(name, entry) for name, entry in entries.items()))
    return {
        "sections": group_sections(source_id, body),
        **cite_paragraphs(bibliography, [*_take_paragraphs(parse, "abstract"), *body]),
    }


def _take_paragraphs(parse: Mapping[str, Any], key: str) -> list[Paragraph]:
    paragraphs = take_objects(parse, key)
    leave_member_fields(paragraphs, PARAGRAPH, f"{key}.")
    return [parse_paragraph(paragraph) for paragraph in paragraphs]


def _parse_work(name: str, entry: Mapping[str, Any]) -> CitedWork:
    given = [
        (_OTHER_IDS.get(label), value)
        for label, values in (take_object(entry, "other_ids") or {}).items()
        for value in (values if isinstance(values, list) else [values])
    ]
    known = [(scheme, value) for scheme, value in given if scheme is not None]
    leave_out("reference_identifiers", "no_column", len(given) - len(known))
    identifiers = list_normal(known, "reference_identifiers")
    link = take_text(entry, "link") or take_text(entry, "links")
    return CitedWork(name, take_text(entry, "title"), guess_year(entry.get("year")), identifiers, link)


def guess_year(value: object) -> int | None:
    """The year that a parser found; None where it is none.

    >>> guess_year(2001), guess_year("2001"), guess_year("200l")
    (2001, 2001, None)
    """
    return take_or_leave("field bib_entries.year", take_year, value)
