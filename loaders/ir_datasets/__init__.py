"""Every collection that the package ir_datasets provides, by its name: documents, queries, judgments, pools.

`pinakes load ir-datasets:beir/scifact/test`. The corpus is called after the dataset that the documents are
of, with `-` for `/` (`beir-scifact`), and the split is what stands behind it (`test`): another split of a
collection adds to it, and finds its documents unchanged. Pairs of documents and query logs have no table;
they are told as not read.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options, UnreadFile
from pinakes.loaders.ir_datasets.package import (
    find_parent,
    iterate,
    list_entities,
    read_metadata,
    read_version,
)
from pinakes.loaders.ir_datasets.records import parse_document, parse_judgment, parse_query, parse_scored
from pinakes.loaders.ir_datasets.taking import take_items
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.unknown import UNKNOWN_HELP, creates_unknown
from pinakes.loaders.staging import Accepted, Chunk, Rejected

ROLES: Final = {"docs": "papers", "queries": "queries", "qrels": "judgments", "scoreddocs": "pool_sources"}
"""what a dataset holds -> the role of the stream that is read of it, in the order of reading"""


def _read_name(source: Path | None, options: Options) -> str:
    name = options.get("dataset", "")
    if source is not None or not name:
        raise InputError(
            "ir-datasets reads datasets by their names, and no file: write `pinakes load ir-datasets:NAME`, "
            "as ir-datasets:cranfield or ir-datasets:beir/scifact/test; `ir_datasets list` names them all."
        )
    return name


def describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """The corpus of the dataset's documents."""
    name = _read_name(source, options)
    parent = find_parent(name)
    return CorpusDescription(
        name=parent.replace("/", "-"), title=parent, version=read_version(), source=f"ir_datasets:{parent}"
    )


def find_split(name: str, options: Options) -> str:
    """The split of the judgments: what the name has behind that of the documents' dataset, or `test`."""
    return options.get("split") or name.removeprefix(find_parent(name)).strip("/") or "test"


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """A generated stream for each kind of thing that the dataset holds and that has a table."""
    name = _read_name(source, options)
    creates_unknown(options)  # which refuses a wrong one
    entities = list_entities(name)
    files = [
        InputFile(None, _name_stream(name, entity), role, digest=find_digest(name, entity))
        for entity, role in ROLES.items()
        if entity in entities
    ]
    unread = tuple(
        UnreadFile(f"ir_datasets:{name}:{entity}", "unknown_name", _describe_unread(name, entity))
        for entity in entities
        if entity not in ROLES
    )
    if not files:
        raise InputError(f"{name} of ir_datasets has neither documents, queries nor judgments to load.")
    return [
        *files[:-1],
        InputFile(None, files[-1].name, files[-1].role, digest=files[-1].digest, unread=unread),
    ]


def _name_stream(name: str, entity: str) -> str:
    # the documents are those of every split
    return f"ir_datasets:{find_parent(name) if entity == 'docs' else name}:{entity}"


def _describe_unread(name: str, entity: str) -> str:
    count = read_metadata(name, entity).get("count")
    return f"{entity} have no table" + ("" if count is None else f"; there are {count}")


def find_digest(name: str, entity: str) -> str:
    """What identifies the content of a stream.

    Of a dataset that the package publishes: its name, the package's version and the counts that it publishes.
    The package compares what it downloads with a digest, so these decide the content, and no corpus is read
    twice. Of a dataset of a user's own nobody has counts, and its records are read for their digest.
    """
    known = read_metadata(name, entity)
    if known:
        said = [read_version(), _name_stream(name, entity), known]
        return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()
    digest = hashlib.sha256()
    for item in iterate(name, entity):
        digest.update(repr(item).encode("utf-8", "backslashreplace") + b"\n")
    return digest.hexdigest()


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one stream."""
    return gather_chunks(_read_records(file, options), first_row=first_row)


def _read_records(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    name = options["dataset"]
    split = find_split(name, options)
    if file.role == "papers":
        return take_items(iterate(name, "docs"), "document", parse_document)
    if file.role == "queries":
        return take_items(iterate(name, "queries"), "query", parse_query)
    if file.role == "judgments":
        return take_items(iterate(name, "qrels"), "judgment", lambda item: parse_judgment(item, split))
    return take_items(iterate(name, "scoreddocs"), "scored document", parse_scored)


LOADER: Final = Loader(
    name="ir-datasets",
    summary="any collection of the package ir_datasets, by its name",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    may_lack_text=True,
    reads_here=True,
    options={
        "dataset": "the dataset's name; `ir-datasets:NAME` says the same",
        "split": "split of the judgments (what the name has behind that of the documents, or test)",
        "unknown": UNKNOWN_HELP,
    },
    creates_unknown=creates_unknown,
)
