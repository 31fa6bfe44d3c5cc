"""S2AND (Subramanian et al. 2021): signatures of authors on papers, their clusters, and the papers.

Read are `papers.json`, `signatures.json` and `clusters.json`, also with a dataset's name before
(`aminer_signatures.json`), of one dataset or of several in folders. A signature is an authorship: its author
is its cluster, or `signature:<id>` where no cluster holds it. Authors of `papers.json` without a signature
are known by their name. Papers that `papers.json` lacks, or all where it is not published, have authors only.
Where datasets lie in folders, an author is `<folder>/<cluster>`, since each numbers its clusters from the
start; but a paper of two datasets gets the authors of the later, so load each as a corpus of its own.

Positions begin with 0 in the files and with 1 here. A second signature at the same place of a paper is
rejected. Leaves out: e-mails, affiliations, estimated ethnicity and gender, `cluster_seeds.json`, splits.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, Final

import orjson

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_members
from pinakes.loaders.reading.rows import Row, describe_paper, list_fields, list_links
from pinakes.loaders.reading.streams import digest_files, find_file
from pinakes.loaders.reading.values import (
    expect_object,
    take_id,
    take_ids,
    take_int,
    take_list,
    take_object,
    take_text,
)
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_NAME_PARTS: Final = ("first", "middle", "last", "suffix")


_find_parts: Final = find_by_name(
    "signatures.json, clusters.json and papers.json",
    papers=r"papers\.json$",
    authorships=r"signatures\.json$",
)


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The papers, then the signatures, below the source."""
    return [_digest_with_siblings(file) for file in _find_parts(source, options)]


def _digest_with_siblings(file: InputFile) -> InputFile:
    if file.role == "papers":
        return file
    parts = (file, _find_sibling(file, "clusters"), _find_sibling(file, "papers"))
    paths = [part.path for part in parts if part is not None and part.path is not None]
    return replace(file, digest=digest_files(*paths))


def _find_sibling(file: InputFile, kind: str) -> InputFile | None:
    """The dataset's file of another kind; None where it is not published."""
    own = file.expect_path()
    start = own.name.lower().rindex("signatures")
    try:
        path = find_file(own.parent, f"{own.name[:start]}{kind}.json")
    except InputError:
        return None
    return InputFile(path, path.name, kind)


def _parse_paper(key: str, value: Any) -> Rows:
    record = expect_object(value)
    source_id = take_id({"paper_id": key} | record, "paper_id")
    fields, cited = take_ids(record, "fields_of_study"), take_ids(record, "references")
    _list_authors(record)
    return {
        "papers": [describe_paper(source_id, record, "journal_name")],
        "fields": list_fields(source_id, fields, "mag"),
        "citations": list_links(source_id, cited),
    }


def _read_authorships(file: InputFile) -> Iterator[Accepted | Rejected]:
    """Rejected signatures first, then each paper with its authors, in the order of first mention."""
    prefix = f"{PurePosixPath(file.name).parent.name}/".removeprefix("/")
    clusters = _read_clusters(_find_sibling(file, "clusters"))
    placed: dict[str, dict[int, Row]] = {}
    numbers = count(1)
    for record in read_json_members(file, partial(_parse_signature, clusters, placed, prefix)):
        if isinstance(record, Rejected):
            yield replace(record, row_number=next(numbers))
    papers = _find_sibling(file, "papers")
    for source_id, position, name in _read_authors(papers):
        author = f"name:{name}"
        placed.setdefault(source_id, {}).setdefault(position, _make_row(source_id, position, author, name))
    for source_id, rows in placed.items():
        own = [rows[position] for position in sorted(rows)]
        staged: Rows = {"papers": [{"source_id": source_id}], "authorships": own}
        yield Accepted(next(numbers), staged, f"paper {source_id}", orjson.dumps(own))


def _read_clusters(file: InputFile | None) -> dict[str, str]:
    """Signature -> cluster."""
    clusters: dict[str, str] = {}

    def collect(key: str, value: Any) -> Rows:
        record = expect_object(value)
        cluster = take_id({"cluster_id": key} | record, "cluster_id")
        clusters.update(dict.fromkeys(take_ids(record, "signature_ids"), cluster))
        return {}

    for read in () if file is None else read_json_members(file, collect):
        if isinstance(read, Rejected):
            raise InputError(f"{read.location} of the clusters is none: {read.message}.")
    return clusters


def _parse_signature(
    clusters: dict[str, str], placed: dict[str, dict[int, Row]], prefix: str, key: str, value: Any
) -> Rows:
    record = expect_object(value)
    signature = take_id({"signature_id": key} | record, "signature_id")
    source_id = take_id(record, "paper_id")
    about = take_object(record, "author_info") or {}
    position = take_int(about.get("position"), "position")
    name = " ".join(part for part in (take_text(about, name) for name in _NAME_PARTS) if part)
    name = name or take_text(about, "given_name") or take_text(record, "given_name") or ""
    if position is None or not name:
        raise RecordError("missing_field", "a signature without a position or without a name")
    cluster = clusters.get(signature)
    author = prefix + (f"signature:{signature}" if cluster is None else cluster)
    rows = placed.setdefault(source_id, {})
    if position in rows:
        raise RecordError("duplicate_id", f"paper {source_id} has a signature at position {position} already")
    rows[position] = _make_row(source_id, position, author, name) | {"block": take_text(about, "block")}
    return {}


def _make_row(source_id: str, position: int, author: str, name: str) -> Row:
    return {
        "source_id": source_id,
        "position": position + 1,
        "author_source_id": author,
        "author_name": name,
    }


def _read_authors(file: InputFile | None) -> Iterator[tuple[str, int, str]]:
    """Paper, position and name of the authors in `papers.json`; what is rejected there is passed over."""
    for record in () if file is None else read_json_members(file, _parse_authors):
        if isinstance(record, Accepted):
            for row in record.rows["authors"]:
                yield row["paper"], row["position"], row["name"]


def _parse_authors(key: str, value: Any) -> Rows:
    record = expect_object(value)
    source_id = take_id({"paper_id": key} | record, "paper_id")
    return {"authors": [{"paper": source_id, **author} for author in _list_authors(record)]}


def _list_authors(record: dict[str, Any]) -> list[Row]:
    authors = []
    for value in take_list(record, "authors"):
        author = expect_object(value)
        position, name = take_int(author.get("position"), "position"), take_text(author, "author_name")
        if position is None or name is None:
            raise RecordError("missing_field", "an author without a position or without a name")
        authors.append({"position": position, "name": name})
    return authors


_DESCRIBED: Final = {
    "papers": frozenset({"title", "abstract", "year", "venue", "fields", "citations"}),
    "authorships": frozenset({"authorships"}),
}

LOADER: Final = Loader(
    name="s2and",
    summary="S2AND: signatures, clusters and papers of author disambiguation",
    describe_corpus=describe_as(
        name="s2and", title="S2AND", licence="CC BY 4.0", source="https://github.com/allenai/S2AND"
    ),
    find_files=find_files,
    read_chunks=gather_by_role(
        papers=partial(read_json_members, parse=_parse_paper), authorships=_read_authorships
    ),
    describes=_DESCRIBED.__getitem__,
)
