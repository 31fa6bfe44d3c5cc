"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/*.tsv (Thakur et al. 2021), plain or gzipped.

The corpus is named after the folder. A qrels file's name is its split. Leaves out: fields of a record
beyond `_id`, `title`, `text` and a `year` in `metadata`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.gathering import gather_chunks
from pinakes.loaders.qrels import read_qrels
from pinakes.loaders.reading import clean_text, find_file, read_json_lines
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus that a BEIR folder makes, named after it."""
    name = "" if source is None else source.resolve().name
    return CorpusDescription(name=name, title=name, source="BEIR folder")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The corpus, the queries and every qrels file of the folder, in that order."""
    if source is None or not source.is_dir():
        raise InputError(
            f"{source} is not a folder; expected one with corpus.jsonl, queries.jsonl and qrels/."
        )
    papers = find_file(source, "corpus.jsonl")
    queries = find_file(source, "queries.jsonl")
    qrels = sorted(path for path in source.glob("qrels/*") if path.name.removesuffix(".gz").endswith(".tsv"))
    return [
        InputFile(papers, papers.name, "papers"),
        InputFile(queries, queries.name, "queries"),
        *(InputFile(path, f"qrels/{path.name}", "judgments") for path in qrels),
    ]


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one of the folder's files."""
    return gather_chunks(_READERS[file.role](file), first_row=first_row)


def _parse_paper(record: dict[str, Any]) -> Rows:
    source_id = clean_text(record.get("_id"))
    if source_id is None:
        raise RecordError("missing_field", "no _id")
    paper = {
        "source_id": source_id,
        "title": clean_text(record.get("title")),
        "abstract": clean_text(record.get("text")),
        "year": _parse_year(record.get("metadata")),
    }
    return {"papers": [paper]}


def _parse_year(metadata: object) -> int | None:
    year = str(metadata.get("year")) if isinstance(metadata, dict) else ""
    return int(year) if year.isdecimal() else None


def _parse_query(record: dict[str, Any]) -> Rows:
    query_id = clean_text(record.get("_id"))
    text = clean_text(record.get("text"))
    if query_id is None or text is None:
        raise RecordError("missing_field", "no _id or no text")
    return {"queries": [{"query_id": query_id, "text": text}]}


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    return read_json_lines(file, _parse_paper)


def _read_queries(file: InputFile) -> Iterator[Accepted | Rejected]:
    return read_json_lines(file, _parse_query)


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    split = file.name.removeprefix("qrels/").split(".")[0]
    return read_qrels(file, columns=("query_id", "source_id", "grade"), split=split, has_header=True)


_READERS: Final = {"papers": _read_papers, "queries": _read_queries, "judgments": _read_judgments}

LOADER: Final = Loader(
    name="beir",
    summary="a BEIR folder: corpus.jsonl, queries.jsonl, qrels/*.tsv",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
)
