"""SPECTER's training data (Cohan et al. 2020): metadata, citations by distance, lists of ids.

Read are `*metadata.json` ({id: paper}) and `data.json`, {query: {paper: {"count": n}}}, with the folds of its
queries from `train.txt`, `val.txt` and `test.txt` beside it. `count` is no count in the training data: 5 says
that the query cites the paper, 1 that it does not, but a paper that it cites does (the hard negatives). It is
the grade; what has 5 becomes a citation too. (Other graphs in this format, as co-views, have real counts:
`cites=no` keeps those from becoming citations.) A query in no list has no fold.

The cited papers' texts are not published in the sample. Leaves out: `*.ids`, which only repeat the metadata's
ids; ids of the lists that `data.json` lacks.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.rows import describe_paper, make_judgment
from pinakes.loaders.reading.values import take_grade, take_id
from pinakes.loaders.reading.streams import digest_file, read_lines
from pinakes.loaders.reading.json_records import read_json_members
from pinakes.loaders.reading.finding import find_roles
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows

_LISTS: Final = {"train.txt": "train", "val.txt": "dev", "test.txt": "test"}
_CITED: Final = 5


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus specter."""
    return CorpusDescription(
        name="specter",
        title="SPECTER's training data",
        licence="Apache 2.0",
        source="https://github.com/allenai/specter",
    )


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The metadata, then the graphs, below the source."""
    if options.get("cites", "yes") not in ("yes", "no"):
        raise InputError(f"cites={options['cites']!r}: expected yes or no.")
    files = find_roles(source, _find_role, "metadata.json and data.json", ("papers", "queries"))
    return [_digest_with_lists(file) if file.role == "queries" else file for file in files]


def _find_role(name: str) -> str | None:
    own_name = PurePosixPath(name).name
    if own_name.endswith("metadata.json"):
        return "papers"
    return "queries" if own_name == "data.json" else None


def _list_folds(file: InputFile) -> Iterator[tuple[InputFile, str]]:
    if file.path is None:
        raise InputError(f"{file.name} is not a file on disk.")
    for name, fold in _LISTS.items():
        path = file.path.parent / name
        if path.is_file():
            yield InputFile(path, name, ""), fold


def _digest_with_lists(file: InputFile) -> InputFile:
    paths = [part.path for part in (file, *(found for found, _ in _list_folds(file))) if part.path]
    digest = hashlib.sha256(":".join(digest_file(path) for path in paths).encode()).hexdigest()
    return InputFile(file.path, file.name, file.role, digest=digest)


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file: a paper each, or a query with its graph each."""
    read = _read_papers if file.role == "papers" else partial(_read_queries, options)
    return gather_chunks(read(file), first_row=first_row)


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    return read_json_members(file, _parse_paper)


def _parse_paper(key: str, record: Any) -> Rows:
    if not isinstance(record, dict):
        raise RecordError("not_an_object", f"a JSON {type(record).__name__}, expected an object")
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
        "citations": [
            {"citing_source_id": query_id, "reference_key": paper}
            for paper, count in counts.items()
            if cites and count == _CITED
        ],
    }


_DESCRIBED: Final = {
    "papers": frozenset({"title", "abstract", "year", "venue"}),
    "queries": frozenset({"citations"}),
}

LOADER: Final = Loader(
    name="specter",
    summary="SPECTER's metadata and citation graph for training",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={"cites": "whether a count of 5 says that the query cites the paper: yes (default) or no"},
    creates_unknown=lambda _options: True,
    describes=_DESCRIBED.__getitem__,
)
