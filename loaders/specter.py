"""SPECTER's training data (Cohan et al. 2020): metadata, citations by distance, lists of ids.

Read are `*metadata.json` ({id: paper}) and `data.json`, {query: {paper: {"count": n}}}, with the folds of its
queries from `train.txt`, `val.txt` and `test.txt` beside it. `count` is no count in the training data: 5 says
that the query cites the paper, 1 that it does not, but a paper that it cites does (the hard negatives). It is
the grade; what has 5 becomes a citation too. (Other graphs in this format, as co-views, have real counts:
`cites=no` keeps those from becoming citations.) A query in no list has no fold.

The cited papers' texts are not published in the sample. Leaves out: `*.ids`, which repeat the
metadata's ids; ids of the lists that `data.json` lacks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields, leave_member_fields
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_members
from pinakes.loaders.reading.rows import describe_paper, list_links, make_judgment
from pinakes.loaders.reading.streams import digest_files, find_packed, read_lines
from pinakes.loaders.reading.values import expect_object, take_grade, take_id
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows

_LISTS: Final = {"train.txt": "train", "val.txt": "dev", "test.txt": "test"}
_CITED: Final = 5


_find_parts: Final = find_by_name(
    "metadata.json and data.json", papers=r"metadata\.json$", queries=r"(?:^|/)data\.json$"
)


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The metadata, then the graphs, below the source."""
    if options.get("cites", "yes") not in ("yes", "no"):
        raise InputError(f"cites={options['cites']!r}: expected yes or no.")
    files = _find_parts(source, options)
    return [_digest_with_lists(file) if file.role == "queries" else file for file in files]


def _list_folds(file: InputFile) -> Iterator[tuple[InputFile, str]]:
    for name, fold in _LISTS.items():
        path = find_packed(file.expect_path().parent / name)
        if path is not None:
            yield InputFile(path, path.name, ""), fold


def _digest_with_lists(file: InputFile) -> InputFile:
    paths = [part.path for part in (file, *(found for found, _ in _list_folds(file))) if part.path]
    return replace(file, digest=digest_files(*paths), beside=tuple(paths[1:]))


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file: a paper each, or a query with its graph each."""
    papers = file.role == "papers"
    records = read_json_members(file, _parse_paper) if papers else _read_queries(options, file)
    return gather_chunks(records, first_row=first_row)


def _parse_paper(key: str, record: Any) -> Rows:
    record = expect_object(record)
    leave_fields(record, _FIELDS)
    return {"papers": [describe_paper(take_id({"paper_id": key} | record, "paper_id"), record)]}


def _read_queries(options: Options, file: InputFile) -> Iterator[Accepted | Rejected]:
    folds = {
        line.decode("utf-8", "replace").strip(): fold
        for listed, fold in _list_folds(file)
        for _, line in read_lines(listed)
    }
    return read_json_members(file, partial(_parse_query, folds, options.get("cites", "yes") == "yes"))


def _parse_query(folds: Mapping[str, str], cites: bool, key: str, graph: Any) -> Rows:
    if not isinstance(graph, dict) or not all(isinstance(edge, dict) for edge in graph.values()):
        raise RecordError("not_an_object", "expected an object of objects with a count")
    leave_member_fields(graph.values(), {"count"}, "data.")
    query_id = take_id({"query": key}, "query")
    counts = {
        take_id({"paper": paper}, "paper"): take_grade(edge.get("count")) for paper, edge in graph.items()
    }
    fold = folds.get(query_id)
    return {
        "papers": [{"source_id": query_id}],
        "queries": [{"query_id": query_id, "paper_source_id": query_id, "fold": fold}],
        "judgments": [
            make_judgment(query_id, paper, count, fold or "all") for paper, count in counts.items()
        ],
        "citations": list_links(
            query_id, (paper for paper, count in counts.items() if cites and count == _CITED)
        ),
    }


_FIELDS: Final = frozenset({"paper_id", "title", "abstract", "year", "venue"})
"""What is read of a paper; the rest is left out."""
_DESCRIBED: Final = {
    "papers": frozenset({"title", "abstract", "year", "venue"}),
    "queries": frozenset({"citations"}),
}

LOADER: Final = Loader(
    name="specter",
    summary="SPECTER's metadata and citation graph for training",
    describe_corpus=describe_as(
        name="specter",
        title="SPECTER's training data",
        licence="Apache 2.0",
        source="https://github.com/allenai/specter",
    ),
    find_files=find_files,
    read_chunks=read_chunks,
    options={"cites": "whether a count of 5 says that the query cites the paper: yes (default) or no"},
    creates_unknown=lambda _options: True,
    describes=_DESCRIBED.__getitem__,
)
