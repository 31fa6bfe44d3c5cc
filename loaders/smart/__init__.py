"""SMART collections in their published names: Cranfield, ADI, MEDLINE, CISI, CACM; NPL, LISA and TIME.

The source is the published archive, read in place, or a folder. A query's id is its ordinal, since the
relevance lists count the queries and Cranfield's own `.I` numbers do not; TIME's documents are counted too.
Numbers are read without leading zeros. Grades are the source's codes; a list without grades says 1. Of
several relevance lists one is read, unless the option `qrels` names another.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options, UnreadFile
from pinakes.loaders.reading.archives import is_archive, list_members
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.finding import list_files
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.qrels import COLUMNS_HELP, read_qrels
from pinakes.loaders.reading.qrels_columns import settle_qrels
from pinakes.loaders.reading.streams import digest_file, read_lines
from pinakes.loaders.smart.blocks import read_block_judgments, read_blocks
from pinakes.loaders.smart.marked import read_marked
from pinakes.loaders.staging import Accepted, Rejected

_ROLES: Final = {
    "papers": re.compile(r"\.all(\.\d+)?$|^doc-text$|^lisa\d+\.\d+$|^ohsumed\.\d\d(-\d\d)?$"),
    "queries": re.compile(r"\.qry$|\.que$|^query[.-]text$|^queries$"),
    "block_judgments": re.compile(r"^lisarj\.num$|^rlv-ass$|^time\.rel$"),
    "judgments": re.compile(r"(?:qrels?|\.rel)$|^qrels\.text$|^p?drel\.ui$"),
}
"""role -> the names of its files, without a compression's suffix; the first role whose names fit"""
_LISTS: Final = ("block_judgments", "judgments")
_NAMES: Final = {"cran": "cranfield"}
_EXPECTED: Final = (
    "documents (cran.all.1400, MED.ALL, cacm.all, doc-text), queries (cran.qry, query.text) and a relevance "
    "list (cranqrel, MED.REL, qrels.text, rlv-ass)"
)


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus, named after the archive or folder; `cran` is called cranfield."""
    stem = "" if source is None else source.resolve().name.split(".")[0].lower()
    name = _NAMES.get(stem, stem)
    return CorpusDescription(name=name, title=name.title(), licence="none stated", source="SMART")


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The documents, the queries and one relevance list, in that order."""
    found = _list_files(source)
    files = [replace(file, role=role) for role in _ROLES for file in found if _find_role(file) == role]
    lists = [file for file in files if file.role in _LISTS]
    chosen = _choose_list(lists, options)
    if chosen is None or not {"papers", "queries"} <= {file.role for file in files}:
        names = ", ".join(file.name for file in found[:10])
        raise InputError(f"{source} is no SMART collection; expected {_EXPECTED}, found {names}.")
    read = [file for file in files if file.role not in _LISTS or file == chosen]
    is_named = {file.name for file in files}
    unread = [UnreadFile(file.name, "copy", f"{chosen.name} is read") for file in lists if file != chosen]
    if chosen.member is not None:
        unread += [UnreadFile(file.name, "unknown_name") for file in found if file.name not in is_named]
    return [replace(read[0], unread=tuple(unread)), *read[1:]]


def _list_files(source: Path | None) -> list[InputFile]:
    if source is not None and source.is_file() and is_archive(source):
        digest = digest_file(source)
        members = list_members(source)
        return [InputFile(source, name, "", name, digest=f"{digest}:{name}") for name in members]
    named = list_files(source, "a SMART archive as cran.tar.gz, or a folder")
    return [InputFile(path, name, "") for name, path in named]


def _find_role(file: InputFile) -> str | None:
    name = strip_compression(PurePosixPath(file.name).name.lower())
    return next((role for role, pattern in _ROLES.items() if pattern.search(name)), None)


def _choose_list(lists: list[InputFile], options: Options) -> InputFile | None:
    wanted = options.get("qrels")
    if wanted is None:
        return lists[0] if lists else None
    named = [file for file in lists if wanted in (file.name, PurePosixPath(file.name).name)]
    if not named:
        names = ", ".join(file.name for file in lists) or "none"
        raise InputError(f"qrels={wanted!r}: no relevance list is called so; there is {names}.")
    return named[0]


def _read_texts(file: InputFile) -> Iterator[Accepted | Rejected]:
    first = next((line for _, line in read_lines(file)), b".I")
    is_marked = not re.match(rb"\s*(?:\d+\s*$|Document\b|\*TEXT\b|\*FIND\b)", first)
    return read_marked(file) if is_marked else read_blocks(file)


LOADER: Final = Loader(
    name="smart",
    summary="a SMART collection (Cranfield, CACM, MEDLINE, CISI, ADI, NPL, LISA, TIME), as .tar.gz or folder",
    describe_corpus=describe_corpus,
    find_files=find_files,
    may_lack_text=True,
    read_chunks=gather_by_role(
        papers=_read_texts,
        queries=_read_texts,
        judgments=partial(read_qrels, columns=("query_id", "source_id", "grade"), split="test"),
        block_judgments=read_block_judgments,
    ),
    options={"columns": COLUMNS_HELP, "qrels": "which relevance list is read, by its file name"},
    settle={"judgments": settle_qrels},
)
