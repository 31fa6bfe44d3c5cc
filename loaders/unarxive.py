"""unarXive (Saier, Krause and Färber 2023; Besrour et al. 2024): arXiv's full texts with linked citations.

2022 prints the text as a list of paragraphs (`body_text`), 2024 as an object of sections; both carry arXiv's
own metadata. The arXiv id is the `source_id`, so that a cited arXiv paper is found in the corpus at once.
`{{cite:…}}` and `{{formula:…}}` in a text are the format's markers and stay; the former are the mentions.
2024 joins paragraphs without a blank, and leaves some offsets behind their markers: the marker decides.

A bibliography entry is a printed line without a title, so a cited work has identifiers or nothing. Of the
arXiv ids in an entry's line one is taken only when it is the only one. Leaves out, and counts: those lines
and their links, figures, tables, formulas, and the language that 2024 guesses.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from pinakes.loaders.arxiv import ARXIV_COLUMNS, find_arxiv_id, parse_metadata
from pinakes.loaders.base import Loader, describe_as
from pinakes.loaders.left_out import leave_fields, leave_member_fields, leave_out
from pinakes.loaders.reading.bibliography import (
    PARAGRAPH,
    Bibliography,
    CitedWork,
    Paragraph,
    cite_paragraphs,
    group_sections,
    parse_paragraph,
)
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_line_files
from pinakes.loaders.reading.rows import normalise_identifiers
from pinakes.loaders.reading.values import (
    take_entries,
    take_id,
    take_int,
    take_object,
    take_objects,
    take_text,
)
from pinakes.loaders.staging import Rows

_COLUMNS: Final = ARXIV_COLUMNS | {"citation_count", "sections", "citations"}
_SUFFIXES: Final = (".jsonl",)
_RECORD: Final = frozenset(
    {"paper_id", "metadata", "discipline", "abstract", "body_text", "sections", "bib_entries"}
)
_METADATA: Final = frozenset({
    "id", "title", "abstract", "journal-ref", "doi", "categories", "versions", "authors_parsed",
    "cited_by_count", "citation_count", "discipline",
})  # fmt: skip
_ENTRY: Final = frozenset({"ids", "contained_arXiv_ids"})
"""What is read of a record, of its metadata and of an entry; the rest is left out."""
_SCHEMES: Final = {
    "doi": "doi",
    "open_alex_id": "openalex",
    "sem_open_alex_id": "openalex",
    "arxiv_id": "arxiv",
    "pubmed_id": "pubmed",
    "pmc_id": "pmc",
}


def parse_paper(record: Mapping[str, Any]) -> Rows:
    """What a record says: the paper, its sections, its bibliography and every mention of it."""
    source_id = take_id(record, "paper_id")
    metadata = take_object(record, "metadata") or {}
    rows = parse_metadata(metadata, source_id)
    paper = rows["papers"][0]
    abstract = _take_abstract(record)
    paper["abstract"] = paper["abstract"] or " ".join((abstract.text if abstract else "").split()) or None
    paper["citation_count"] = take_int(metadata.get("cited_by_count", metadata.get("citation_count")))
    discipline = take_text(metadata, "discipline") or take_text(record, "discipline")
    if discipline:
        rows["fields"].append({"source_id": source_id, "field": discipline, "assigned_by": "unarxive"})
    paragraphs = _take_paragraphs(record)
    entries = take_entries(record, "bib_entries")
    leave_fields(record, _RECORD)
    leave_fields(metadata, _METADATA, "metadata.")
    leave_member_fields(entries.values(), _ENTRY, "bib_entries.")
    bibliography = Bibliography(source_id, (_parse_work(name, entry) for name, entry in entries.items()))
    mentioning = [*([abstract] if abstract else []), *paragraphs]
    return {
        **rows,
        "sections": group_sections(source_id, paragraphs),
        **cite_paragraphs(bibliography, mentioning),
    }


def _take_abstract(record: Mapping[str, Any]) -> Paragraph | None:
    abstract = record.get("abstract")
    if isinstance(abstract, dict):
        return parse_paragraph(abstract)
    return parse_paragraph({"text": abstract}) if abstract is not None else None


def _take_paragraphs(record: Mapping[str, Any]) -> list[Paragraph]:
    written, sections = take_objects(record, "body_text"), take_entries(record, "sections")
    leave_member_fields(written, PARAGRAPH, "body_text.")
    leave_member_fields(sections.values(), PARAGRAPH, "sections.")
    paragraphs = [parse_paragraph(paragraph, number_key="sec_number") for paragraph in written]
    return paragraphs + [parse_paragraph(section, title=title or None) for title, section in sections.items()]


def _parse_work(name: str, entry: Mapping[str, Any]) -> CitedWork:
    found = _list_identifiers(entry)
    return CitedWork(name, identifiers=found, source_id=dict(found).get("arxiv"))


def _list_identifiers(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The (scheme, id) pairs of the cited work."""
    ids = take_object(entry, "ids") or {}
    values = {name: take_text(ids, name) for name in _SCHEMES}
    others = [name for name in ids if name not in _SCHEMES and ids[name]]
    leave_out("reference_identifiers", "no_column", len(others))
    # SemOpenAlex has OpenAlex's ids under an address of its own.
    values["sem_open_alex_id"] = (values["sem_open_alex_id"] or "").rpartition("/")[2]
    found = normalise_identifiers((scheme, values[name]) for name, scheme in _SCHEMES.items())
    if "arxiv" in dict(found):
        return found
    return normalise_identifiers([*found, ("arxiv", _find_linked_id(entry, dict(found).get("doi", "")))])


def _find_linked_id(entry: Mapping[str, Any], doi: str) -> str | None:
    linked = {take_text(link, "id") for link in take_objects(entry, "contained_arXiv_ids")}
    return find_arxiv_id(doi) or (linked.pop() if len(linked) == 1 else None)


LOADER: Final = Loader(
    name="unarxive",
    summary="unarXive 2022 and 2024: JSON lines, plain, compressed or in the release's archive",
    describe_corpus=describe_as(
        name="unarxive",
        title="unarXive",
        licence="CC BY-SA 4.0",
        source="https://github.com/IllDepence/unarXive",
    ),
    find_files=lambda source, _options: find_line_files(source, suffixes=_SUFFIXES),
    read_chunks=gather_by_role(partial(read_json_line_files, parse=parse_paper)),
    describes=lambda _role: _COLUMNS,
)
