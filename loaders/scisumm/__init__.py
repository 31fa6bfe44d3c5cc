"""CL-SciSumm and ScisummNet (Yasunaga et al. 2019): papers, those that cite them, citances, gold summaries.

The archive is read in place. A paper's id is its Anthology id, or the name that a topic gives a paper from
elsewhere (`P134_n09`). Of a paper that the release holds more than once, the copy as a reference paper is
read, else the first by path. Of a topic with `citing_sentences.json` the annotation is not read: it repeats
the sentences, with facet NA and spans found automatically. Of several annotations of a topic the third
version is read.

Leaves out, since no table links a citation to sentences of the cited paper: the reference spans of the
annotations; also the annotators, authors of citing papers, and `keep_for_gold`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.finding import name_corpus
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.scisumm.citances import read_citances
from pinakes.loaders.scisumm.papers import name_paper, parse_paper, read_summaries
from pinakes.loaders.staging import Accepted, Rejected

_FOLDERS: Final = {
    ("reference_xml", ".xml"): ("papers", 0),
    ("documents_xml", ".xml"): ("papers", 1),
    ("citance_xml", ".xml"): ("papers", 2),
    ("annotation", ".txt"): ("citances", 2),
    ("summary", ".txt"): ("summaries", 0),
}
"""Folder in small letters and suffix -> the role of its documents, and how good a copy is, the best 0."""

_READERS: Final[dict[str, Callable[[InputFile], Iterator[Accepted | Rejected]]]] = {
    "papers": partial(read_documents, parse=parse_paper),
    "citances": read_citances,
    "summaries": read_summaries,
}
_OWNED: Final = {
    "papers": frozenset({"title", "abstract", "identifiers", "sections", "sentences"}),
    "citances": frozenset({"citations"}),
    "summaries": frozenset({"variants"}),
}


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus scisumm, or one of another name's that the source has."""
    name = name_corpus(source, "scisumm")
    return CorpusDescription(
        name="scisumm" if "scisumm" in name.lower() else name,
        title="CL-SciSumm Shared Task Corpus",
        licence="CC BY 4.0",
        source="https://github.com/WING-NUS/scisumm-corpus",
    )


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The documents of the release: all papers, then the citances, then the summaries."""
    found = find_documents(source, suffixes=(".xml", ".txt", ".json"))
    chosen = _choose_documents([name for file in found for name in file.documents])
    files = []
    for role in _READERS:
        for file in found:
            documents = tuple(name for name in file.documents if chosen.get(name) == role)
            if documents:
                files.append(replace(file, name=f"{file.name}: {role}", role=role, documents=documents))
    if not files:
        raise InputError(
            f"{source} holds no topic of CL-SciSumm; expected folders Reference_XML, Citance_XML, "
            "annotation or summary, or the archive of them."
        )
    return files


def _choose_documents(names: list[str]) -> dict[str, str]:
    """Which documents are read, and as what: of each thing its best copy, of equal ones the first by path."""
    copies: dict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for name in names:
        role, topic, document, rank = _classify(name)
        if role:
            copies[(role, topic, document)].append((rank, name))
    return {min(members)[1]: key[0] for key, members in copies.items()}


def _classify(name: str) -> tuple[str, str, str, int]:
    """A document's role, topic, own name where a topic has several, and rank among its copies, best first.

    >>> _classify("Task1/C00-2123/Citance_XML/C02-1050.xml")
    ('papers', '', 'C02-1050', 2)
    >>> _classify("A00-1031/citing_sentences.json"), _classify("A00-1031/annotation/A00-1031.ann.txt")
    (('citances', 'A00-1031', '', 0), ('citances', 'A00-1031', '', 2))
    """
    path = PurePosixPath(strip_compression(name))
    if path.name.startswith("citing_sentences") and path.suffix == ".json":
        return "citances", path.parent.name, "", 0
    role, rank = _FOLDERS.get((path.parent.name.lower(), path.suffix.lower()), ("", 0))
    if role == "papers":
        return role, "", name_paper(path.name), rank
    rank -= ".annv3" in path.name
    return role, path.parent.parent.name, path.name if role == "summaries" else "", rank


LOADER: Final = Loader(
    name="scisumm",
    summary="CL-SciSumm and ScisummNet: papers, citances with facets, gold summaries",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=gather_by_role(**_READERS),
    describes=_OWNED.__getitem__,
)
