"""CL-SciSumm and ScisummNet (Yasunaga et al. 2019): papers, those that cite them, citances, gold summaries.

The archive is read in place. A paper's id is its Anthology id, or the name that a topic gives a paper from
elsewhere (`P134_n09`). Of a paper that the release holds more than once, the copy as a reference paper is
read, else the first by path.

Citances stand in `citing_sentences.json` of a topic or of its `Citance_XML`, in annotations of lines (`.txt`)
and in annotations as CSV: those of the test sets, and those of their gold folder (`Task1`), one for each
annotator. All are read but annotations of lines: of a topic with `citing_sentences.json` they repeat the
sentences, with facet NA and spans found automatically; of several of a topic the third version is read.
Summaries stand in a topic's folder `summary`, and in the gold folder's `Task2`.

Left out and counted, since no table links a citation to sentences of the cited paper: the reference spans of
the annotations; also all other fields, such as annotators, authors of citing papers, and `keep_for_gold`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options, UnreadFile
from pinakes.loaders.reading.archives import is_archive
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import (
    BUNDLE_DOCUMENTS,
    bundle_documents,
    find_documents,
    read_documents,
)
from pinakes.loaders.reading.finding import name_corpus
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.scisumm.annotations import name_topic
from pinakes.loaders.scisumm.citances import read_citances
from pinakes.loaders.scisumm.papers import name_paper, parse_paper, read_summaries
from pinakes.loaders.staging import Accepted, Rejected

_SUMMARIES: Final = (".txt", ".xml", ".abstract", ".community", ".human")
_FOLDERS: Final = {
    ("reference_xml", ".xml"): ("papers", 0),
    ("documents_xml", ".xml"): ("papers", 1),
    ("citance_xml", ".xml"): ("papers", 2),
    ("annotation", ".txt"): ("citances", 2),
    ("annotation", ".csv"): ("citances", 0),
    ("task1", ".csv"): ("citances", 0),
    **{(folder, suffix): ("summaries", 0) for folder in ("summary", "task2") for suffix in _SUMMARIES},
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
    found = find_documents(source, suffixes=(".json", ".csv", *_SUMMARIES))
    chosen = _choose_documents([name for file in found for name in file.documents])
    read = {name: role for name, (role, better) in chosen.items() if not better}
    files = []
    for role in _READERS:
        for file in _gather_bundles(found):
            documents = tuple(name for name in file.documents if read.get(name) == role)
            files += _split_role(file, role, documents)
    if not files:
        raise InputError(
            f"{source} holds no topic of CL-SciSumm; expected folders Reference_XML, Citance_XML, "
            "annotation or summary, or the archive of them."
        )
    return [replace(files[0], unread=tuple(_list_copies(found, chosen))), *files[1:]]


def _gather_bundles(found: list[InputFile]) -> list[InputFile]:
    """The bundles of a folder as one, since many files speak of a topic; archives as they are."""
    archives = [file for file in found if file.path is not None and is_archive(file.path)]
    bundles = [file for file in found if file not in archives]
    names = tuple(name for file in bundles for name in file.documents)
    return [replace(file, documents=names) for file in bundles[:1]] + archives


def _split_role(file: InputFile, role: str, documents: tuple[str, ...]) -> list[InputFile]:
    """The documents of the role as input files: papers of a folder in bundles, all others as one."""
    if not documents:
        return []
    if file.path is None or is_archive(file.path):
        return [replace(file, name=f"{file.name}: {role}", role=role, documents=documents)]
    size = BUNDLE_DOCUMENTS if role == "papers" else len(documents)
    parts = [documents[start : start + size] for start in range(0, len(documents), size)]
    bundles = [bundle_documents(file.path, part, role) for part in parts]
    return [replace(bundle, name=f"{bundle.name}: {role}") for bundle in bundles]


def _list_copies(found: list[InputFile], chosen: dict[str, tuple[str, str]]) -> Iterator[UnreadFile]:
    for file in found:
        prefix = f"{file.name}/" if file.path is not None and is_archive(file.path) else ""
        for name in file.documents:
            better = chosen.get(name, ("", ""))[1]
            if better:
                yield UnreadFile(f"{prefix}{name}", "copy", better)


def _choose_documents(names: list[str]) -> dict[str, tuple[str, str]]:
    """Each document's role and, where a copy of it is read in its place, that one's name.

    Of each thing the best copy is read, of equal ones the first by path.
    """
    copies: dict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for name in names:
        role, topic, document, rank = _classify(name)
        if role:
            copies[(role, topic, document)].append((rank, name))
    chosen = {}
    for (role, _, _), members in copies.items():
        best = min(members)[1]
        chosen.update({name: (role, "" if name == best else best) for _, name in members})
    return chosen


def _classify(name: str) -> tuple[str, str, str, int]:
    """A document's role, topic, own name where a topic has several, and rank among its copies, best first.

    >>> _classify("Task1/C00-2123/Citance_XML/C02-1050.xml")
    ('papers', '', 'C02-1050', 2)
    >>> _classify("A00-1031/citing_sentences.json"), _classify("A00-1031/annotation/A00-1031.ann.txt")
    (('citances', 'A00-1031', '', 0), ('citances', 'A00-1031', '', 2))
    >>> _classify("Gold/Task1/A00-2018_sweta.csv")
    ('citances', '', 'Gold/Task1/A00-2018_sweta.csv', 0)
    """
    path = PurePosixPath(strip_compression(name))
    folder = path.parent
    if path.name.startswith("citing_sentences") and path.suffix == ".json":
        return "citances", name_topic(str(path)), "", 0
    role, rank = _FOLDERS.get((folder.name.lower(), path.suffix.lower()), ("", 0))
    if not role and path.suffix.lower() == ".xml" and folder.name and folder.name == folder.parent.name:
        role, rank = "papers", 3  # a topic of 2016 holds its papers once more in a folder of its own name
    if role == "papers":
        return role, "", name_paper(path.name), rank
    if role == "citances" and path.suffix.lower() == ".csv":
        return role, "", str(path), rank
    rank -= ".annv3" in path.name
    return role, folder.parent.name, path.name if role == "summaries" else "", rank


LOADER: Final = Loader(
    name="scisumm",
    summary="CL-SciSumm and ScisummNet: papers, citances with facets, gold summaries",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=gather_by_role(**_READERS),
    describes=_OWNED.__getitem__,
)
