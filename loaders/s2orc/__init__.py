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

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.s2orc.discovery import Found, find_release
from pinakes.loaders.s2orc.roles import DIRECTIONS, ROLES, describe_role
from pinakes.loaders.staging import Chunk

_TEXTS: Final = {
    "metadata_2019": frozenset({"papers_2019", "document_2019"}),
    "metadata_2020": frozenset({"pdf_parses"}),
}
"""metadata -> the full texts of the same release"""


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
    if wanted is not None and wanted not in DIRECTIONS:
        raise InputError(f"citations={wanted} is not known; expected one of {', '.join(DIRECTIONS)}.")
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
    if kind in _TEXTS:
        default = "none" if kinds & _TEXTS[kind] else "outbound"
        return f"{kind}:{wanted or default}"
    if kind in _TEXTS["metadata_2019"] and "metadata_2019" in kinds:
        return f"{kind}:text"
    if kind == "s2orc" and ("citations" in kinds or wanted == "none"):
        return f"{kind}:delete_sections" if found.change == "delete" else f"{kind}:sections"
    return f"{kind}:delete" if found.change == "delete" else kind


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one of the files."""
    return ROLES[file.role].read(file, first_row)


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
    describes=describe_role,
)
