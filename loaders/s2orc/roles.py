"""What each kind of file of a release is read by, and what it says of its papers in full.

A role is a kind of file, and where the same kind is read in several ways, the way: `metadata_2020:outbound`.
Leaves out: which files have which role (`discovery`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pinakes.loaders.base import PAPER_COLUMNS, WHOLE_PAPER, InputFile
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.s2orc import (
    deletions,
    graph_citations,
    graph_papers,
    graph_texts,
    metadata_2019,
    metadata_2020,
    parses,
)
from pinakes.loaders.staging import Accepted, Chunk, Rejected, Rows

DIRECTIONS: Final = {
    "none": (),
    "outbound": ("outbound",),
    "inbound": ("inbound",),
    "both": ("outbound", "inbound"),
}
"""the option `citations` -> the directions of the links that are read from metadata"""

_Read = Callable[[InputFile, int], Iterator[Chunk]]


@dataclass(frozen=True, slots=True)
class Role:
    """How a file is read, and what it describes (see `Loader.describes`)."""

    read: _Read
    describes: frozenset[str] = frozenset()


def _build_layout(layout: Layout, *describes: str) -> Role:
    return Role(lambda file, first_row: read_columnar(file, first_row, layout), frozenset(describes))


def _build_reader(
    read: Callable[[InputFile], Iterable[Accepted | Rejected]], describes: Iterable[str]
) -> Role:
    return Role(lambda file, first_row: gather_chunks(read(file), first_row=first_row), frozenset(describes))


def _build_lines(parse: Callable[[dict[str, Any]], Rows], *describes: str) -> Role:
    return _build_reader(partial(read_json_lines, parse=parse), describes)


def _build_metadata() -> Iterator[tuple[str, Role]]:
    table = ("title", "year", "venue", "identifiers", "fields", "authorships")
    for name, directions in DIRECTIONS.items():
        own = ("citations",) if "outbound" in directions else ()
        parse = partial(metadata_2019.parse_row, directions)
        read = partial(read_table, parse=parse, required=metadata_2019.REQUIRED)
        yield f"metadata_2019:{name}", _build_reader(read, (*table, *own))
        layout = metadata_2020.build_layout(directions)
        yield f"metadata_2020:{name}", _build_layout(layout, *table, "abstract", *own)


_TEXT: Final = ("sections", "citations")
# `papers` and `paper-ids` both name identifiers: neither says them in full, so they are added to each other.
_OWN_2019: Final = (*PAPER_COLUMNS[:4], "identifiers", "authorships", *_TEXT)

ROLES: Final[Mapping[str, Role]] = {
    **dict(_build_metadata()),
    "papers_2019": _build_lines(parses.parse_2019, *_OWN_2019),
    "papers_2019:text": _build_lines(parses.parse_2019_text, "abstract", *_TEXT),
    "document_2019": _build_reader(partial(parses.read_document, parse=parses.parse_2019), _OWN_2019),
    "document_2019:text": _build_reader(
        partial(parses.read_document, parse=parses.parse_2019_text), ("abstract", *_TEXT)
    ),
    "pdf_parses": _build_lines(parses.parse_2020, *_TEXT),
    "papers": _build_layout(
        graph_papers.PAPERS,
        "title",
        "year",
        "venue",
        "citation_count",
        "fields",
        "authorships",
    ),
    "abstracts": _build_layout(graph_papers.ABSTRACTS, "abstract"),
    "paper-ids": _build_lines(graph_papers.parse_paper_id),
    "citations": _build_layout(graph_citations.CITATIONS),
    "s2orc": _build_lines(graph_texts.parse_with_citations, *_TEXT),
    "s2orc:sections": _build_lines(graph_texts.parse_sections, "sections"),
    "papers:delete": _build_lines(deletions.parse_paper),
    "citations:delete": _build_lines(deletions.parse_citation),
    "abstracts:delete": _build_lines(deletions.parse_cleared, "abstract"),
    "s2orc:delete": _build_lines(deletions.parse_cleared, *_TEXT),
    "s2orc:delete_sections": _build_lines(deletions.parse_cleared, "sections"),
}


def describe_role(role: str) -> frozenset[str]:
    """Which columns and children of its papers a file of that role says in full."""
    return ROLES[role].describes if role in ROLES else WHOLE_PAPER
