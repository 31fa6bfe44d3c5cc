"""SciDocs (Cohan et al. 2020): paper metadata, MAG and MeSH labels, four proximity tasks, recommendations.

Read are `paper_metadata_*.json` ({id: paper}), `mag/` and `mesh/{train,val,test}.csv` (paper, label),
`cite/`, `cocite/`, `coread/` and `coview/{val,test}.qrel`, and `recomm/{train,val,test}.csv` (query, clicked
paper, all papers shown, comma-separated in the order of the page). Queries are called `<task>:<paper>`; of
recommendations each impression is a query, `recomm-<split>:<its number>`, and a candidate's pool source
says where it stood (`position_3`), which the task's propensity weights need.

Authors have ids and no names: the id is the name. `cited_by` becomes the citation count, as the task's own
features count it; its links are those of the citing papers' `references`. Judged papers without metadata
are known to occur. Leaves out: embeddings and `propensity_scores.json`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import find_roles, name_split
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_members
from pinakes.loaders.reading.qrels import read_qrels
from pinakes.loaders.reading.rows import (
    Row,
    describe_paper,
    list_authorships,
    list_links,
    list_pool_sources,
    make_judgment,
    make_label,
)
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import expect_object, take_id, take_ids
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_LABELLED: Final = ("mag", "mesh")
PAPER: Final = frozenset({
    "paper_id", "title", "abstract", "year", "venue", "authors", "references", "cited_by",
})  # fmt: skip
"""what is read of a paper; the rest is left out"""


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """Metadata, labels, qrels and clicks below the source; a single file's folder names its task."""
    order = ("papers", "labels", "judgments", "clicks")
    files = find_roles(source, partial(_find_role, source), "SciDocs' data folder", order)
    if source is not None and source.is_file():
        parent = source.resolve().parent.name
        return [InputFile(file.path, f"{parent}/{file.name}", file.role) for file in files]
    return files


def _find_role(source: Path | None, name: str) -> str | None:
    path = PurePosixPath(name)
    if path.name.startswith("paper_metadata") and path.suffix == ".json":
        return "papers"
    folder = path.parent.name or ("" if source is None else source.resolve().name)
    if source is not None and source.is_file():
        folder = source.resolve().parent.name
    if path.suffix == ".qrel":
        return "judgments"
    roles = {"recomm": "clicks", **dict.fromkeys(_LABELLED, "labels")}
    return roles.get(folder) if path.suffix == ".csv" else None


def _name_task(file: InputFile) -> str:
    folder = PurePosixPath(file.name).parent.name
    if not folder and file.path is not None:
        folder = file.path.resolve().parent.name
    if not folder:
        raise InputError(
            f"{file.name} lies in no folder; expected one named after its task, as cite/test.qrel."
        )
    return folder


def _parse_paper(key: str, record: Any) -> Rows:
    leave_fields(expect_object(record), PAPER)
    return parse_paper(key, record)


def parse_paper(key: str, record: dict[str, Any]) -> Rows:
    """The rows of one paper of the metadata, whose key is its id."""
    source_id = take_id({"paper_id": key} | record, "paper_id")
    paper = describe_paper(source_id, record)
    if record.get("cited_by") is not None:
        paper["citation_count"] = len(take_ids(record, "cited_by", "field cited_by"))
    return {
        "papers": [paper],
        "authorships": list_authorships(
            source_id, ((author, author) for author in take_ids(record, "authors", "authorships"))
        ),
        "citations": list_links(source_id, take_ids(record, "references")),
    }


def _read_labels(file: InputFile) -> Iterator[Accepted | Rejected]:
    parse = partial(_parse_label, _name_task(file), name_split(file.name, "all"))
    return read_table(file, parse, delimiter=",", quoted=True)


def _parse_label(task: str, split: str, row: dict[str, str]) -> Rows:
    paper, label = _take_cells(row, 2)
    return {"labels": [make_label(task, paper, split, label)]}


def _take_cells(row: dict[str, str], count: int) -> list[str]:
    # The columns are known by their order: the header's words are nowhere fixed.
    cells = [cell.strip() for cell in row.values()]
    if len(cells) != count:
        raise RecordError("malformed_line", f"{len(cells)} columns, expected {count}")
    if not all(cells):
        raise RecordError("missing_field", "an empty cell")
    return cells


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The judgments of a task's qrels; records are numbered without the comments between them."""
    task, split, known = _name_task(file), name_split(file.name, "test"), set[str]()
    columns = ("query_id", "iteration", "source_id", "grade")
    for number, record in enumerate(
        read_qrels(file, columns=columns, split=split, can_be_told=False), start=1
    ):
        if isinstance(record, Accepted):
            rows = {**record.rows, **judge_of_task(task, split, record.rows["judgments"][0], known)}
            record = replace(record, rows=rows)
        yield replace(record, row_number=number)


def judge_of_task(task: str, split: str, judgment: Row, known: set[str], *, asks_papers: bool = True) -> Rows:
    """A judgment under the query `<task>:<query>`; with the query, where it is a paper not `known` yet."""
    requested = judgment["query_id"]
    query_id = f"{task}:{requested}"
    rows: dict[str, list[Row]] = {"judgments": [judgment | {"query_id": query_id}]}
    if asks_papers and requested not in known:
        known.add(requested)
        rows["queries"] = [{"query_id": query_id, "paper_source_id": requested, "field": task, "fold": split}]
    return rows


def _read_clicks(file: InputFile) -> Iterator[Accepted | Rejected]:
    split = name_split(file.name, "all")
    numbers = count(1)

    def parse(row: dict[str, str]) -> Rows:
        return _parse_click(f"recomm-{split}:{next(numbers)}", split, row)

    return read_table(file, parse, delimiter=",", quoted=True)


def _parse_click(query_id: str, split: str, row: dict[str, str]) -> Rows:
    paper, clicked, others = _take_cells(row, 3)
    shown = [other.strip() for other in others.split(",")]
    if clicked not in shown or not all(shown) or len(set(shown)) < len(shown):
        raise RecordError("invalid_value", "the papers shown lack the clicked one, or one stands twice")
    query: Row = {"query_id": query_id, "paper_source_id": paper, "field": "recomm", "fold": split}
    return {
        "queries": [query],
        "judgments": [make_judgment(query_id, other, int(other == clicked), split) for other in shown],
        "pool_sources": list_pool_sources(
            query_id, ((other, f"position_{position}") for position, other in enumerate(shown, start=1))
        ),
    }


LOADER: Final = Loader(
    name="scidocs",
    summary="SciDocs: metadata, MAG and MeSH labels, cite, co-cite, co-view, co-read, recommendations",
    describe_corpus=describe_as(name="scidocs", title="SciDocs", source="https://github.com/allenai/scidocs"),
    find_files=find_files,
    read_chunks=gather_by_role(
        papers=partial(read_json_members, parse=_parse_paper),
        labels=_read_labels,
        judgments=_read_judgments,
        clicks=_read_clicks,
    ),
    creates_unknown=lambda _options: True,
    describes=lambda _role: frozenset(
        {"title", "abstract", "year", "venue", "citation_count", "authorships", "citations"}
    ),
)
