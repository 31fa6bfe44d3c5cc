"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/*.tsv (Thakur et al. 2021), also compressed or as archive.

The corpus is named after the folder or archive. A qrels file's name is its split. Of a record, `_id`,
`title`, `text` and a `year` in `metadata` are read. A year that is none is left out, and counted, as are all
other fields, also of queries.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.left_out import leave_fields, leave_inner_fields, leave_out
from pinakes.loaders.reading.archives import digest_member, is_archive, list_members
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.columns import (
    NotPlainError,
    build_left_out_table,
    build_table,
    clean_ids,
    clean_texts,
)
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.qrels import COLUMNS_HELP, read_qrels
from pinakes.loaders.reading.qrels_columns import settle_qrels
from pinakes.loaders.reading.streams import digest_file, find_file
from pinakes.loaders.reading.values import clean_text, take_id, take_or_leave, take_year
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus that a BEIR folder makes, named after it."""
    name = "" if source is None else source.resolve().name
    if source is not None and source.is_file():
        name = name.split(".")[0]
    return CorpusDescription(name=name, title=name, source="BEIR folder")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The corpus, the queries and every qrels file of the folder or archive, in that order."""
    if source is not None and source.is_file() and is_archive(source):
        return _find_members(source)
    if source is None or not source.is_dir():
        raise InputError(
            f"{source} is not a folder; expected one with corpus.jsonl, queries.jsonl and qrels/."
        )
    papers = find_file(source, "corpus.jsonl")
    queries = find_file(source, "queries.jsonl")
    qrels = sorted(path for path in source.glob("qrels/*") if strip_compression(path.name).endswith(".tsv"))
    return [
        InputFile(papers, papers.name, "papers"),
        InputFile(queries, queries.name, "queries"),
        *(InputFile(path, f"qrels/{path.name}", "judgments") for path in qrels),
    ]


def _find_members(source: Path) -> list[InputFile]:
    digest = digest_file(source)
    found: dict[str, list[InputFile]] = {"papers": [], "queries": [], "judgments": []}
    for member in sorted(list_members(source)):
        path = PurePosixPath(member)
        plain = strip_compression(path.name)
        role = {"corpus.jsonl": "papers", "queries.jsonl": "queries"}.get(plain)
        name = path.name
        if path.parent.name == "qrels" and plain.endswith(".tsv"):
            role, name = "judgments", f"qrels/{path.name}"
        if role is not None:
            found[role].append(InputFile(source, name, role, member, digest=digest_member(digest, member)))
    if (len(found["papers"]), len(found["queries"])) != (1, 1):
        raise InputError(
            f"{source} is no BEIR archive; expected one corpus.jsonl, one queries.jsonl and qrels/."
        )
    return [file for files in found.values() for file in files]


def _parse_paper(record: dict[str, Any]) -> Rows:
    paper = {
        "source_id": take_id(record, "_id"),
        "title": clean_text(record.get("title")),
        "abstract": clean_text(record.get("text")),
        "year": _parse_year(record.get("metadata")),
    }
    return {"papers": [paper]}


def _parse_year(metadata: object) -> int | None:
    year = metadata.get("year") if isinstance(metadata, dict) else None
    return take_or_leave("field metadata.year", take_year, year)


_READ: Final = frozenset({"_id", "title", "text", "metadata"})


def _leave(record: Mapping[str, Any]) -> None:
    """Note the fields that are not read of a paper."""
    leave_fields(record, _READ)
    leave_inner_fields(record, "metadata", {"year"})
    metadata = record.get("metadata")
    leave_out("field metadata", "invalid", bool(metadata) and not isinstance(metadata, dict))


def _project_papers(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    years = pc.struct_field(columns["metadata"], "year")
    plain = _project_years(years)
    papers = {
        "row_number": numbers,
        "source_id": clean_ids(columns["_id"]),
        "title": clean_texts(columns["title"]),
        "abstract": clean_texts(columns["text"]),
        "year": plain,
    }
    tables = {"papers": build_table("papers", papers)}
    is_lost = pc.and_(pc.is_null(plain), pc.not_equal(pc.cast(years, pa.string()), ""))
    wrong = pc.fill_null(is_lost, False)
    if pc.any(wrong).as_py():
        tables["left_out"] = build_left_out_table(numbers.filter(wrong), "field metadata.year", "invalid")
    return tables


def _project_years(years: pa.Array) -> pa.Array:
    """Plain years of one to four digits, else null."""
    if pa.types.is_string(years.type):
        is_odd = pc.match_substring_regex(years, r"^[\s]|[\s]$|^[0-9]{1,4}\.0*$|^0+$|[^ -~]")
        if pc.any(is_odd).as_py():
            raise NotPlainError("a year may be one in another form")
        is_year = pc.match_substring_regex(years, "^[0-9]{1,4}$")
        return pc.cast(pc.if_else(is_year, years, None), pa.int32())
    if pc.any(pc.equal(years, 0)).as_py():
        raise NotPlainError("a year 0 is none")
    is_year = pc.and_(pc.greater(years, 0), pc.less(years, 10_000))
    return pc.cast(pc.if_else(is_year, years, None), pa.int32())


def _parse_query(record: dict[str, Any]) -> Rows:
    leave_fields(record, {"_id", "text"})
    query_id = clean_text(record.get("_id"))
    text = clean_text(record.get("text"))
    if query_id is None or text is None:
        raise RecordError("missing_field", "no _id or no text")
    return {"queries": [{"query_id": query_id, "text": text}]}


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    split = file.name.removeprefix("qrels/").split(".")[0]
    return read_qrels(file, columns=_QRELS, split=split, has_header=True)


_QRELS: Final = ("query_id", "source_id", "grade")
_PAPERS: Final = Layout(
    tuple(
        pa.schema(
            [
                *((name, pa.string()) for name in ("_id", "title", "text")),
                ("metadata", pa.struct([("year", year)])),
            ]
        )
        for year in (pa.int64(), pa.string())
    ),
    _project_papers,
    _parse_paper,
    _leave,
)

_gather: Final = gather_by_role(
    queries=partial(read_json_lines, parse=_parse_query), judgments=_read_judgments
)


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one of the folder's files."""
    if file.role == "papers":
        return read_columnar(file, first_row, _PAPERS)
    return _gather(file, options, first_row)


LOADER: Final = Loader(
    name="beir",
    summary="a BEIR folder or archive: corpus.jsonl, queries.jsonl, qrels/*.tsv",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={"columns": COLUMNS_HELP},
    settle={"judgments": partial(settle_qrels, usual=_QRELS)},
    may_lack_text=True,
)
