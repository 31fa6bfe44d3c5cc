"""S2AND (Subramanian et al. 2021): signatures of authors on papers, their clusters, and the papers.

Read are `papers.json`, `signatures.json` and `clusters.json`, also with a dataset's name before
(`aminer_signatures.json`), of one dataset or of several in folders. A signature is a row of
`author_signatures` and an authorship: its author is its cluster, or `signature:<id>` where no cluster holds
it. Authors of `papers.json` without a signature are known by their name. Papers that `papers.json` lacks, or
all where it is not published, have authors only. Where datasets lie in folders, an author is
`<folder>/<cluster>`, since each numbers its clusters from the start; a paper of two datasets has the
signatures of both, and the authors of the later. A second signature at the same place of a paper makes no
authorship, and is counted.

Which blocks are for training is read from `block_sigs_<dataset>.json`, as SciRepEval gives it with the data:
beside the signatures, or in the folder `blocks` beside theirs. Positions begin with 0 in the files and with 1
here. Left out and counted are all other fields, such as estimated ethnicity and gender, a whole name beside
its parts, and `journal_name` beside a venue. Leaves out: `cluster_seeds.json`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, describe_as
from pinakes.loaders.left_out import build_left_out, leave_fields, leave_inner_fields, leave_out
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json, read_json_members, show_json
from pinakes.loaders.reading.rows import Row, describe_paper, leave_other_venues, list_fields, list_links
from pinakes.loaders.reading.values import (
    expect_object,
    take_id,
    take_ids,
    take_int,
    take_list,
    take_object,
    take_text,
    take_texts,
)
from pinakes.loaders.s2and.finding import find_files, find_sibling, find_splits, name_dataset
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_NAME_PARTS: Final = {
    "first": "first_name",
    "middle": "middle_name",
    "last": "last_name",
    "suffix": "name_suffix",
}
"""part of a name in the files -> column of `author_signatures`"""


def _parse_paper(key: str, value: Any) -> Rows:
    record = expect_object(value)
    source_id = take_id({"paper_id": key} | record, "paper_id")
    _list_authors(record)
    leave_fields(record, _PAPER)
    leave_inner_fields(record, "authors", {"position", "author_name"})
    leave_other_venues(record, "journal_name")
    return {
        "papers": [describe_paper(source_id, record, "journal_name")],
        "fields": list_fields(source_id, take_ids(record, "fields_of_study", "fields"), "mag"),
        "citations": list_links(source_id, take_ids(record, "references")),
    }


_PAPER: Final = frozenset({
    "paper_id", "title", "abstract", "year", "venue", "journal_name", "authors", "fields_of_study",
    "references",
})  # fmt: skip
"""What is read of a paper; the rest is left out."""
_SIGNATURE: Final = frozenset({"signature_id", "paper_id", "author_info"})
_ABOUT: Final = frozenset({*_NAME_PARTS, "position", "block", "given_block", "email", "affiliations"})
"""What is read of `author_info`; `given_name` where a name has no parts."""


@dataclass(frozen=True, slots=True)
class _Dataset:
    """What is known of a dataset when its signatures are read, and their rows as they come, by paper.

    Attributes:
        prefix: what the ids of its authors begin with.
        clusters: signature -> cluster.
        splits: block -> split.
        places: paper -> position -> authorship.
        signed: paper -> rows of `author_signatures`.
        left_out: paper -> (kind, reason) -> items of its signatures that make no row.
    """

    name: str
    prefix: str
    clusters: Mapping[str, str]
    splits: Mapping[str, str]
    places: dict[str, dict[int, Row]] = field(default_factory=dict)
    signed: dict[str, list[Row]] = field(default_factory=dict)
    left_out: defaultdict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    numbers: Iterator[int] = field(default_factory=lambda: count(1))


def _read_authorships(file: InputFile) -> Iterator[Accepted | Rejected]:
    """Rejected signatures first, then each paper with its authors, in the order of first mention."""
    prefix = f"{PurePosixPath(file.name).parent.name}/".removeprefix("/")
    noted = Counter[tuple[str, str]]()
    clusters = _read_clusters(find_sibling(file, "clusters"), noted)
    dataset = _Dataset(name_dataset(file), prefix, clusters, _read_splits(find_splits(file)))
    numbers = count(1)
    for record in read_json_members(file, partial(_parse_signature, dataset)):
        if isinstance(record, Rejected):
            yield replace(record, row_number=next(numbers))
            continue
        _note(dataset.left_out[record.rows["papers"][0]["source_id"]], record)
    for source_id, position, name in _read_authors(find_sibling(file, "papers")):
        row = _make_row(source_id, position, f"name:{name}", name)
        dataset.places.setdefault(source_id, {}).setdefault(position, row)
    dataset.left_out[next(iter(dataset.places), "")] += (
        noted  # a cluster is of no paper: the first stands for it
    )
    for source_id, rows in dataset.places.items():
        own = [rows[position] for position in sorted(rows)]
        signed = dataset.signed.get(source_id, [])
        staged = {"papers": [{"source_id": source_id}], "authorships": own, "signatures": signed}
        staged["left_out"] = build_left_out(tuple(dataset.left_out[source_id].items()))
        yield Accepted(next(numbers), staged, f"paper {source_id}", show_json([own, signed]))


def _read_splits(file: InputFile | None) -> dict[str, str]:
    """Block -> split, of a file that has the blocks of each split, as a list or as the keys of an object."""
    splits: dict[str, str] = {}
    for name, blocks in ({} if file is None else read_json(file)).items():
        split = {"val": "dev", "validation": "dev"}.get(name, name)
        if split not in ("train", "dev", "test") or not isinstance(blocks, list | dict):
            raise InputError(f"{name!r} of the splits is none; expected the blocks of train, dev and test.")
        for block in blocks:
            if splits.setdefault(str(block), split) != split:
                raise InputError(f"the block {block!r} is of two splits, {splits[str(block)]} and {split}.")
    return splits


def _note(counts: Counter[tuple[str, str]], record: Accepted) -> None:
    for row in record.rows.get("left_out", ()):
        counts[row["kind"], row["reason"]] += row["items"]


def _read_clusters(file: InputFile | None, noted: Counter[tuple[str, str]]) -> dict[str, str]:
    """Signature -> cluster; what the clusters leave out is noted."""
    clusters: dict[str, str] = {}

    def collect(key: str, value: Any) -> Rows:
        record = expect_object(value)
        cluster = take_id({"cluster_id": key} | record, "cluster_id")
        leave_fields(record, {"cluster_id", "signature_ids"}, "clusters.")
        clusters.update(dict.fromkeys(take_ids(record, "signature_ids"), cluster))
        return {}

    for read in () if file is None else read_json_members(file, collect):
        if isinstance(read, Rejected):
            raise InputError(f"{read.location} of the clusters is none: {read.message}.")
        _note(noted, read)
    return clusters


def _parse_signature(dataset: _Dataset, key: str, value: Any) -> Rows:
    record = expect_object(value)
    signature = take_id({"signature_id": key} | record, "signature_id")
    source_id = take_id(record, "paper_id")
    about = take_object(record, "author_info") or {}
    position = take_int(about.get("position"), "position")
    name = " ".join(part for part in (take_text(about, name) for name in _NAME_PARTS) if part)
    is_whole = not name
    name = name or take_text(about, "given_name") or take_text(record, "given_name") or ""
    if position is None or not name:
        raise RecordError("missing_field", "a signature without a position or without a name")
    block, cluster = take_text(about, "block"), dataset.clusters.get(signature)
    described = {
        **{column: take_text(about, part) for part, column in _NAME_PARTS.items()},
        "email": take_text(about, "email"),
        "affiliations": "\n".join(" ".join(text.split()) for text in take_texts(about, "affiliations"))
        or None,
        "given_block": take_text(about, "given_block"),
    }
    dataset.signed.setdefault(source_id, []).append(
        {
            "source_id": source_id,
            "dataset": dataset.name,
            "signature_id": signature,
            "number": next(dataset.numbers),
            "position": position + 1,
            "block": block,
            "split": None if block is None else dataset.splits.get(block),
            "cluster": cluster,
            **described,
        }
    )
    author = dataset.prefix + (f"signature:{signature}" if cluster is None else cluster)
    row = _make_row(source_id, position, author, name) | {"block": block}
    is_first = dataset.places.setdefault(source_id, {}).setdefault(position, row) is row
    leave_out("authorships", "repeated", not is_first)
    read = {"given_name"} if is_whole else set()
    leave_fields(record, _SIGNATURE | read)
    leave_fields(about, _ABOUT | read, "author_info.")
    return {"papers": [{"source_id": source_id}]}


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
    "authorships": frozenset({"authorships", "signatures"}),
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
    may_lack_text=True,
)
