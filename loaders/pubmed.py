"""PubMed's XML and tagged text: the baseline and update files, and what its search exports; of any size.

Read are `PubmedArticle`, `PubmedBookArticle`, and `MedlineCitation` of the older `MedlineCitationSet`; the
ids in `DeleteCitation` and `DeleteDocument` become deletions. A paper's id is its PMID, whatever its version.

The year is that of the journal's issue (of a book, of the book), from a `MedlineDate` ("1998 Dec-1999 Jan")
its first; without one that of the electronic date. A structured abstract is its parts in a row, each with its
label and a colon before it. MeSH headings are fields: "Asthma" and "Asthma/drug therapy", assigned by `mesh`;
what is a major topic also by `mesh_major`, a descriptor also where one of its qualifiers is, as in a search
for `[majr]`. Keywords are assigned by `author` (owner NOTNLM) or their owner. Cited works are those with and
without a PMID in the reference lists, and those that older records list as comments of type Cites.

Leaves out, and counts: abstracts in other languages, investigators, affiliations, chemicals, grants,
publication types, and the text of a reference without an id, which is no title. "[Not Available]." is no
title either. Tagged text (`medline_text`) becomes the same rows, as far as it says the same.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import OtherContentError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_elements, leave_out
from pinakes.loaders.medline_text import NO_TITLE, begins_medline, parse_medline, split_medline
from pinakes.loaders.reading.bibliography import Bibliography, CitedWork
from pinakes.loaders.reading.breaks import Salvaged
from pinakes.loaders.reading.documents import take_large_record
from pinakes.loaders.reading.finding import find_line_entries
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.mesh import Part, list_mesh
from pinakes.loaders.reading.rows import (
    list_authorships,
    list_fields,
    list_identifiers,
    normalise_identifiers,
)
from pinakes.loaders.reading.running_text import Element
from pinakes.loaders.reading.streams import open_stream
from pinakes.loaders.reading.values import find_year, take_year
from pinakes.loaders.reading.xml_reading import element_text, read_elements
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows

_RECORDS: Final = {
    b"PubmedArticleSet": ("PubmedArticle", "PubmedBookArticle", "DeleteCitation", "DeleteDocument"),
    b"PubmedBookArticleSet": ("PubmedBookArticle",),
    b"MedlineCitationSet": ("MedlineCitation", "DeleteCitation"),
    b"PubmedArticle": ("PubmedArticle",),
    b"PubmedBookArticle": ("PubmedBookArticle",),
    b"MedlineCitation": ("MedlineCitation",),
}
"""Name of a file's root -> the elements that are its records."""

_SUFFIXES: Final = (".xml", ".nbib", ".medline", ".txt")
_ROOT: Final = re.compile(rb"<(" + b"|".join(_RECORDS) + rb")[\s>/]")
_HEAD_BYTES: Final = 1 << 16
_SCHEMES: Final = {"pubmed": "pubmed", "doi": "doi", "pmc": "pmc", "pmcid": "pmc"}
_LEFT_OUT: Final = (
    "OtherAbstract", "InvestigatorList", "AffiliationInfo", "Affiliation", "ChemicalList", "GrantList",
    "PublicationTypeList", "Citation", "GeneSymbolList", "PersonalNameSubjectList", "DataBankList",
    "CoiStatement", "Pagination", "SupplMeshList",
)  # fmt: skip
"""Elements that are not read; where a record has one, its name is counted."""


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The files of a folder or an archive in the order of their names, which is that of the updates."""
    return find_line_entries(source, *_SUFFIXES, role="papers")


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """One record a citation, of which the last with a PMID counts; one for each list of deletions."""
    with open_stream(file) as stream:
        head = Salvaged(stream).read(_HEAD_BYTES)
    records = _read_text(file) if begins_medline(head) else _read_xml(file, head)
    return gather_chunks(records, first_row=first_row, last_counts=True)


def _read_text(file: InputFile) -> Iterator[Accepted | Rejected]:
    with open_stream(file) as stream:
        for number, raw in enumerate(split_medline(stream), start=1):
            yield take_large_record(number, f"record {number}", raw, partial(parse_medline, raw))


def _read_xml(file: InputFile, head: bytes) -> Iterator[Accepted | Rejected]:
    found = _ROOT.search(head)
    if found is None:
        known = ", ".join(name.decode() for name in _RECORDS)
        raise OtherContentError(
            f"{file.name} is not PubMed's; expected XML, a document of {known}, or text whose records begin "
            "with `PMID- `."
        )
    return read_elements(file, _RECORDS[found[1]], parse_element)


def parse_element(element: Element) -> Rows:
    """The rows of one record."""
    if element.tag in ("DeleteCitation", "DeleteDocument"):
        keys = [element_text(deleted) for deleted in element.iter("PMID")]
        return {"deletions": [{"kind": "papers", "key": key} for key in keys if key]}
    citation = element if element.tag == "MedlineCitation" else element.find("MedlineCitation")
    book = element.find("BookDocument")
    described = citation.find("Article") if citation is not None else book
    holder = citation if citation is not None else book
    source_id = element_text(holder.find("PMID")) if holder is not None else None
    if source_id is None or holder is None or described is None:
        raise RecordError("missing_field", "no PMID, or nothing that it describes")
    if not source_id.isascii() or not source_id.isdecimal():
        raise RecordError("invalid_value", f"PMID: expected digits, found {source_id!r:.80}")
    leave_elements(element, *_LEFT_OUT)
    data = element.find("PubmedData" if book is None else "PubmedBookData")
    bibliography = Bibliography(source_id, _list_works(holder, data))
    return {
        "papers": [_parse_paper(source_id, described, holder)],
        "identifiers": list_identifiers(source_id, _list_ids(source_id, described, holder, data)),
        "fields": _list_fields(source_id, holder),
        "authorships": list_authorships(source_id, _list_authors(described)),
        **bibliography.build_rows(),
    }


def _parse_paper(source_id: str, described: Element, holder: Element) -> dict[str, object]:
    titles = [
        element_text(described.find(path)) for path in ("ArticleTitle", "VernacularTitle", "Book/BookTitle")
    ]
    venues = [element_text(described.find(path)) for path in ("Journal/Title", "Book/BookTitle")]
    venues.append(element_text(holder.find("MedlineJournalInfo/MedlineTA")))
    return {
        "source_id": source_id,
        "title": next((title for title in titles if title and title not in NO_TITLE), None),
        "abstract": _read_abstract(described.find("Abstract")),
        "year": _find_year(described),
        "venue": next(filter(None, venues), None),
    }


def _read_abstract(abstract: Element | None) -> str | None:
    parts = []
    for part in [] if abstract is None else abstract.findall("AbstractText"):
        label, text = (part.get("Label") or "").strip(" :."), element_text(part)
        if text is not None:
            parts.append(f"{label}: {text}" if label and label.upper() != "UNLABELLED" else text)
    return " ".join(parts) or None


def _find_year(described: Element) -> int | None:
    """The year of the issue, else of the electronic date."""
    dated = ("Journal/JournalIssue/PubDate", "Book/PubDate")
    for date in [found for path in dated for found in described.findall(path)]:
        year = take_year(element_text(date.find("Year"))) or find_year(element_text(date.find("MedlineDate")))
        if year is not None:
            return year
    return take_year(element_text(described.find("ArticleDate/Year")))


def _list_ids(
    source_id: str, described: Element, holder: Element, data: Element | None
) -> list[tuple[str, object]]:
    """The record's own ids; those of the works that it cites stand deeper, in its reference lists."""
    ids: list[tuple[str, object]] = [("pubmed", source_id)]
    for found in (data, described):
        for element in [] if found is None else found.findall("ArticleIdList/ArticleId"):
            leave_out("identifiers", "no_column", element.get("IdType", "") not in _SCHEMES)
            ids += [(scheme, element_text(element)) for scheme in _name_scheme(element)]
    for element in described.findall("ELocationID"):
        if element.get("EIdType") == "doi" and element.get("ValidYN") != "N":
            ids.append(("doi", element_text(element)))
        else:
            leave_out("identifiers", "no_column" if element.get("EIdType") != "doi" else "invalid")
    others = [element_text(element) or "" for element in holder.findall("OtherID")]
    named = [("pmc", other.split()[0]) for other in others if other.startswith("PMC")]
    leave_out("identifiers", "no_column", len(others) - len(named))
    return ids + named


def _name_scheme(element: Element) -> list[str]:
    return [_SCHEMES[kind] for kind in [element.get("IdType", "")] if kind in _SCHEMES]


def _list_fields(source_id: str, holder: Element) -> list[dict[str, object]]:
    rows = list_mesh(source_id, map(_list_parts, holder.findall("MeshHeadingList/MeshHeading")))
    for keywords in holder.findall("KeywordList"):
        owner = (keywords.get("Owner") or "NOTNLM").lower()
        names = [element_text(keyword) for keyword in keywords.findall("Keyword")]
        rows += list_fields(source_id, names, "author" if owner == "notnlm" else owner)
    return rows


def _list_parts(heading: Element) -> list[Part]:
    descriptor = heading.find("DescriptorName")
    parts = [] if descriptor is None else [descriptor]
    named = [
        (element_text(part), part.get("MajorTopicYN") == "Y")
        for part in [*parts, *heading.findall("QualifierName")]
    ]
    return named if parts else [(None, False), *named]


def _list_authors(described: Element) -> list[tuple[str | None, str]]:
    authors = []
    for written in described.findall("AuthorList"):
        if written.get("Type") == "editors":
            leave_out("authorships", "no_column", len(written.findall("Author")))
            continue
        for author in written.findall("Author"):
            parts = [
                element_text(author.find(kind))
                for kind in ("ForeName", "LastName", "Suffix", "CollectiveName")
            ]
            name = " ".join(part for part in parts if part)
            if name and author.get("ValidYN") != "N":
                authors.append((_find_orcid(author), name))
            else:
                leave_out("authorships", "invalid" if name else "no_value")
    return authors


def _find_orcid(author: Element) -> str | None:
    for identifier in author.findall("Identifier"):
        if identifier.get("Source") == "ORCID":
            return (element_text(identifier) or "").rstrip("/").rpartition("/")[2] or None
    return None


def _list_works(holder: Element, data: Element | None) -> Iterator[CitedWork]:
    cited: set[str] = set()
    references = [] if data is None else data.iter("Reference")
    for number, reference in enumerate(references, start=1):
        ids = [
            (scheme, element_text(element))
            for element in reference.findall("ArticleIdList/ArticleId")
            for scheme in _name_scheme(element)
        ]
        others = [e for e in reference.findall("ArticleIdList/ArticleId") if not _name_scheme(e)]
        leave_out("reference_identifiers", "no_column", len(others))
        pmid = next((text for scheme, text in ids if scheme == "pubmed" and text), None)
        cited.update({pmid} if pmid else ())
        yield CitedWork(str(number), identifiers=normalise_identifiers(ids), source_id=pmid)
    for comment in holder.findall("CommentsCorrectionsList/CommentsCorrections"):
        pmid = element_text(comment.find("PMID"))
        if comment.get("RefType") != "Cites":
            leave_out("field CommentsCorrections", "no_column")
        elif pmid is None or pmid in cited:
            leave_out("references", "no_value" if pmid is None else "repeated")
        else:
            cited.add(pmid)
            normal = normalise_identifiers([("pubmed", pmid)])
            yield CitedWork(f"PMID:{pmid}", identifiers=normal, source_id=pmid)


LOADER: Final = Loader(
    name="pubmed",
    summary="PubMed's XML and tagged text: baseline and update files, search exports",
    describe_corpus=describe_as(
        name="pubmed",
        title="PubMed",
        licence="NLM's terms and conditions",
        source="https://ftp.ncbi.nlm.nih.gov/pubmed/",
    ),
    find_files=find_files,
    read_chunks=read_chunks,
    may_lack_text=True,
)
