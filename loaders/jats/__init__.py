"""JATS articles, as PubMed Central publishes them (.nxml, .xml), one document a paper.

A paper's id is `PMC` and its number; without one `PMID:` or `doi:` and that, else the file's name. The year
is the earliest of the dates of publication (electronic, printed, of the collection), which is mostly the
electronic one; the day on which PubMed Central released the text is none. Of a folder or an archive that
holds `.nxml` those alone are read. Leaves out, and counts: sub-articles (reviews, responses, translations),
figures, tables, supplements, affiliations, and formulas' TeX beside their MathML.
"""

from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_by_name
from pinakes.loaders.jats.body import parse_body
from pinakes.loaders.jats.front import list_article_ids, parse_front
from pinakes.loaders.left_out import leave_elements
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.finding import name_corpus
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.running_text import (
    Element,
    list_children,
    list_descendants,
    name_element,
    name_entities,
)
from pinakes.loaders.reading.xml_reading import parse_xml
from pinakes.loaders.staging import RecordError, Rows

_PREFIXES: Final = {"pmc": "PMC", "pubmed": "PMID:", "doi": "doi:"}
"""Scheme, the best first -> what stands before the identifier in a paper's id."""
_LEFT_OUT: Final = (
    "sub-article", "response", "fig", "table-wrap", "supplementary-material", "media", "aff", "email",
    "tex-math", "trans-abstract", "trans-title", "subtitle", "funding-group", "permissions", "history",
    "related-article", "volume", "issue", "fpage", "fn",
)  # fmt: skip
"""Elements that are not read; where a document has one, its name is counted."""


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The articles of a folder or an archive, or the one article."""
    try:
        return find_documents(source, suffixes=(".nxml",))
    except InputError:
        return find_documents(source, suffixes=(".xml",))


def parse_document(raw: bytes, name: str) -> Rows:
    """The rows of one article."""
    root = parse_xml(raw)
    name_entities(root)
    article = _find_article(root)
    meta = [
        found
        for front in list_children(article, "front")
        for found in list_descendants(front, "article-meta")
    ]
    if not meta:
        raise RecordError("missing_field", "the article has no article-meta")
    identifiers = list_article_ids(meta[0])
    source_id = _name_paper(identifiers, name)
    leave_elements(article, *_LEFT_OUT)
    return {**parse_front(article, meta[0], source_id, identifiers), **parse_body(article, source_id)}


def _find_article(root: Element) -> Element:
    """The article that the document is, or the only one in its envelope (`pmc-articleset`, an OAI record)."""
    if name_element(root) == "article":
        return root
    articles = list_descendants(root, "article")
    if len(articles) != 1:
        raise RecordError(
            "missing_field", f"expected one article, <{name_element(root)}> has {len(articles)}"
        )
    return articles[0]


def _name_paper(identifiers: list[tuple[str, str]], name: str) -> str:
    known = dict(identifiers)
    for scheme, prefix in _PREFIXES.items():
        if scheme in known:
            return f"{prefix}{known[scheme]}"
    return PurePosixPath(strip_compression(name)).stem


LOADER: Final = Loader(
    name="jats",
    summary="articles in JATS, as PubMed Central publishes them",
    describe_corpus=describe_by_name("JATS articles", partial(name_corpus, default="jats")),
    find_files=find_files,
    read_chunks=gather_by_role(partial(read_documents, parse=parse_document)),
)
