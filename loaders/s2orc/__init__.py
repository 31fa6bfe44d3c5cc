"""S2ORC and the Semantic Scholar Academic Graph (Lo et al. 2020), in all forms in which they were published.

* 2019: a table of metadata (TSV) and JSON papers; 2020: `metadata` and `pdf_parses`, JSON Lines;
* the Academic Graph's datasets `papers`, `abstracts`, `citations`, `s2orc`, `s2orc_v2` and `paper-ids`, as a
  release or as diffs with `update_files` and `delete_files`.

The files may lie in any folders, plain, compressed or in archives: each is told by its first record. Links
stand in a release more than once, and are read once: full texts, with their contexts, before the lists of
metadata; the dataset `citations` before the full texts, of which then the sections alone are read. In
metadata, A's outbound link is B's inbound one; the option `citations` says which are read. Where a source has
the full texts of a part of its papers, `citations=outbound` gives the links of the others as well.

Left out are the datasets `authors` (papers name their authors), `tldrs`, `embeddings` and
`publication-venues`, and the deletions of `paper-ids`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import PAPER_COLUMNS, WHOLE_PAPER, CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import read_documents
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.s2orc import graph_citations, graph_papers, graph_texts, metadata, parses
from pinakes.loaders.s2orc.discovery import Found, find_release
from pinakes.loaders.staging import Accepted, Chunk, Rejected, Rows

_FULL_TEXTS: Final = {
    "metadata_2019": frozenset({"papers_2019", "document_2019"}),
    "metadata_2020": frozenset({"pdf_parses"}),
}
"""metadata -> the full texts of the same release"""
_DIRECTIONS: Final = {
    "none": (),
    "outbound": ("outbound",),
    "inbound": ("inbound",),
    "both": ("outbound", "inbound"),
}
"""the option `citations` -> the directions of the links that are read from metadata"""

_Read = Callable[[InputFile, int], Iterator[Chunk]]


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus that a release makes, named after its folder or file."""
    name = "s2orc" if source is None else strip_compression(source.resolve().name).split(".")[0]
    return CorpusDescription(
        name=name or "s2orc",
        title="S2ORC: The Semantic Scholar Open Research Corpus",
        licence="ODC-By 1.0",
        source="https://github.com/allenai/s2orc",
    )


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The files of a release or of its diffs, in the order that they build on each other."""
    if source is None:
        raise InputError("no source is given; expected a release of S2ORC, or a file of one.")
    wanted = options.get("citations")
    if wanted is not None and wanted not in _DIRECTIONS:
        raise InputError(f"citations={wanted} is not known; expected one of {', '.join(_DIRECTIONS)}.")
    found = find_release(source)
    kinds = frozenset(file.kind for file in found)
    return [file for one in found for file in _list_readings(one, _name_role(one, kinds, wanted))]


def _list_readings(found: Found, role: str) -> Iterator[InputFile]:
    """The file once for each time that it is read: an updated citation is taken back, then added."""
    if role == "citations" and found.change == "update":
        yield replace(found.file, name=f"{found.file.name} (replaced)", role="citations:delete")
    yield replace(found.file, role=role)


def _name_role(found: Found, kinds: frozenset[str], wanted: str | None) -> str:
    kind = found.kind
    if kind in _FULL_TEXTS:
        default = "none" if kinds & _FULL_TEXTS[kind] else "outbound"
        return f"{kind}:{wanted or default}"
    if kind in _FULL_TEXTS["metadata_2019"] and "metadata_2019" in kinds:
        return f"{kind}:text"
    if kind == "s2orc" and ("citations" in kinds or wanted == "none"):
        return f"{kind}:delete_sections" if found.change == "delete" else f"{kind}:sections"
    return f"{kind}:delete" if found.change == "delete" else kind


@dataclass(frozen=True, slots=True)
class _Role:
    """How a file is read, and what it describes (see `Loader.describes`)."""

    read: _Read
    describes: frozenset[str] = frozenset()


def _build_layout(layout: Layout, *describes: str) -> _Role:
    return _Role(lambda file, first_row: read_columnar(file, first_row, layout), frozenset(describes))


def _build_reader(
    read: Callable[[InputFile], Iterable[Accepted | Rejected]], describes: Iterable[str]
) -> _Role:
    return _Role(lambda file, first_row: gather_chunks(read(file), first_row=first_row), frozenset(describes))


def _build_lines(parse: Callable[[dict[str, Any]], Rows], *describes: str) -> _Role:
    return _build_reader(partial(read_json_lines, parse=parse), describes)


def _build_metadata() -> Iterator[tuple[str, _Role]]:
    table = ("title", "year", "venue", "identifiers", "fields", "authorships")
    for name, directions in _DIRECTIONS.items():
        own = ("citations",) if "outbound" in directions else ()
        parse = partial(metadata.parse_row, directions)
        read = partial(read_table, parse=parse, required=metadata.REQUIRED)
        yield f"metadata_2019:{name}", _build_reader(read, (*table, *own))
        layout = metadata.build_layout(directions)
        yield f"metadata_2020:{name}", _build_layout(layout, *table, "abstract", *own)


_TEXT: Final = ("sections", "citations")
# `papers` and `paper-ids` both name identifiers: neither says them in full, so they are added to each other.
_OWN_2019: Final = (*PAPER_COLUMNS[:4], "identifiers", "authorships", *_TEXT)

_ROLES: Final[Mapping[str, _Role]] = {
    **dict(_build_metadata()),
    "papers_2019": _build_lines(parses.parse_2019, *_OWN_2019),
    "papers_2019:text": _build_lines(parses.parse_2019_text, "abstract", *_TEXT),
    "document_2019": _build_reader(partial(read_documents, parse=parses.parse_document), _OWN_2019),
    "document_2019:text": _build_reader(
        partial(read_documents, parse=parses.parse_document_text), ("abstract", *_TEXT)
    ),
    "pdf_parses": _build_lines(parses.parse_2020, *_TEXT),
    "papers": _build_layout(
        graph_papers.PAPERS, "title", "year", "venue", "citation_count", "fields", "authorships"
    ),
    "abstracts": _build_layout(graph_papers.ABSTRACTS, "abstract"),
    "paper-ids": _build_lines(graph_papers.parse_paper_id),
    "citations": _build_layout(graph_citations.CITATIONS),
    "s2orc": _build_lines(graph_texts.parse_with_citations, *_TEXT),
    "s2orc:sections": _build_lines(graph_texts.parse_sections, "sections"),
    "papers:delete": _build_lines(graph_papers.parse_deleted_paper),
    "citations:delete": _build_lines(graph_papers.parse_deleted_citation),
    "abstracts:delete": _build_lines(graph_papers.parse_cleared, "abstract"),
    "s2orc:delete": _build_lines(graph_papers.parse_cleared, *_TEXT),
    "s2orc:delete_sections": _build_lines(graph_papers.parse_cleared, "sections"),
}
"""Role -> how it is read; where a kind of file is read in several ways, the way stands behind the kind."""


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one of the files."""
    return _ROLES[file.role].read(file, first_row)


def _describe_role(role: str) -> frozenset[str]:
    return _ROLES[role].describes if role in _ROLES else WHOLE_PAPER


LOADER: Final = Loader(
    name="s2orc",
    summary="S2ORC of 2019 and 2020, and the Semantic Scholar Academic Graph's datasets and diffs",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={
        "citations": "which links of the metadata are read: outbound (default; none where the source has the "
        "full texts), inbound, both, none (of the graph's full texts, too)"
    },
    describes=_describe_role,
    may_lack_text=True,
)
