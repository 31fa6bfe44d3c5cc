"""TREC collections: documents (`<DOC>`, MEDLINE), topics and qrels, in one file, a folder or an archive.

A folder's files are told apart by their content; what is none of the three is named as not read. Documents
make a corpus, called after the folder; topics and qrels alone are for a corpus that is loaded already. With
`unknown=create`, papers and queries that only qrels name become rows without a text: so a collection whose
documents are not at hand can be evaluated. Runs are for `pinakes import-run`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options, UnreadFile
from pinakes.loaders.reading.archives import digest_member, is_archive, iterate_members
from pinakes.loaders.reading.compression import decompress
from pinakes.loaders.reading.documents import BUNDLE_DOCUMENTS, bundle_documents
from pinakes.loaders.reading.finding import list_files
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.qrels import COLUMNS_HELP, TREC, read_qrels
from pinakes.loaders.reading.qrels_columns import settle_qrels
from pinakes.loaders.reading.streams import digest_file, open_stream
from pinakes.loaders.reading.unknown import UNKNOWN_HELP, creates_unknown
from pinakes.loaders.staging import Chunk
from pinakes.loaders.trec.documents import read_documents
from pinakes.loaders.trec.markup import ENCODING_HELP
from pinakes.loaders.trec.roles import Role, find_role
from pinakes.loaders.trec.topics import read_topics

_EXPECTED: Final = "TREC documents, topics or qrels"
_ROLES: Final = ("papers", "queries", "judgments")
_FEW_FILES: Final = 20
"""More files of documents than these are read in bundles."""

_Found = tuple[InputFile, Role]


def describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """The corpus of the documents, called after their file or folder; without documents it has no name."""
    has_documents = any(file.role == "papers" for file in find_files(source, options))
    name = source.resolve().name.split(".")[0] if has_documents and source is not None else ""
    return CorpusDescription(name=name, title=name, source="TREC")


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The documents, the topics, then the qrels."""
    creates_unknown(options)  # which refuses a wrong one
    found = _look_at_all(source)
    if any(_is_named_qrels(file) and role.name == "judgments" for file, role in found):
        found = [(file, _demote(file, role)) for file, role in found]
    files = [replace(file, role=role.name) for name in _ROLES for file, role in found if role.name == name]
    unread = tuple(UnreadFile(file.name, role.reason, role.message) for file, role in found if not role.name)
    if not files:
        said = "; ".join(f"{one.name}: {one.message or one.reason}" for one in unread[:3])
        raise InputError(f"{source} holds no {_EXPECTED} ({said or 'it is empty'}).")
    files = _bundle(source, files)
    return [replace(files[0], unread=unread), *files[1:]]


def _look_at_all(source: Path | None) -> list[_Found]:
    if source is not None and source.is_file() and is_archive(source):
        return list(_look_into_archive(source))
    if source is not None and source.is_dir() and not any(source.iterdir()):
        raise InputError(f"the folder {source} is empty; expected {_EXPECTED}.")
    files = [InputFile(path, name, "") for name, path in list_files(source, _EXPECTED)]
    found = [(file, _look_at(file)) for file in files]
    if source is not None and source.is_file() and not found[0][1].name and not found[0][1].message:
        return [(found[0][0], Role("judgments"))]  # named by the user alone: its lines say what is amiss
    return found


def _look_at(file: InputFile) -> Role:
    with open_stream(file) as stream:
        return find_role(file.name, stream)


def _look_into_archive(source: Path) -> Iterator[_Found]:
    digest = digest_file(source)
    for member in iterate_members(source):
        role = find_role(member.name, decompress(member.stream, member.name))
        digested = digest_member(digest, member.name)
        yield InputFile(source, member.name, "", member.name, digest=digested), role


def _is_named_qrels(file: InputFile) -> bool:
    return re.search("qrel", file.name.rsplit("/", 1)[-1].lower()) is not None


def _demote(file: InputFile, role: Role) -> Role:
    """Where a list is called qrels, other files that look like one are not read."""
    return Role() if role.name == "judgments" and not _is_named_qrels(file) else role


def _bundle(source: Path | None, files: list[InputFile]) -> list[InputFile]:
    documents = [file for file in files if file.role == "papers"]
    others = [file for file in files if file.role != "papers"]
    if source is None or len(documents) <= (0 if source.is_file() else _FEW_FILES):
        return files
    names = tuple(file.name for file in documents)
    if source.is_file():
        whole = InputFile(source, source.name, "papers", documents=names)
        return [whole if documents[0].member else documents[0], *others]
    starts = range(0, len(names), BUNDLE_DOCUMENTS)
    bundles = [bundle_documents(source, names[at : at + BUNDLE_DOCUMENTS], "papers") for at in starts]
    return [*bundles, *others]


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file: documents, topics or judgments."""
    if file.role == "papers":
        records = read_documents(file, options)
    elif file.role == "queries":
        records = read_topics(file, options)
    else:
        records = read_qrels(file, columns=TREC, split=options.get("split", "test"))
    return gather_chunks(records, first_row=first_row)


LOADER: Final = Loader(
    name="trec",
    summary="a TREC collection: documents (<DOC>, MEDLINE), topics, qrels; or topics and qrels for a corpus",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    may_lack_text=True,
    options={
        "columns": COLUMNS_HELP,
        "encoding": ENCODING_HELP,
        "split": "split that the judgments belong to (test)",
        "unknown": UNKNOWN_HELP,
    },
    creates_unknown=creates_unknown,
    settle={"judgments": partial(settle_qrels, usual=TREC)},
)
