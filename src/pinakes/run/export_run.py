"""Stored runs and judgments as files that other programs read.

Scores are written with as many digits as give the same numbers when they are read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError, InputError, UnknownNameError, show
from pinakes.queries.definition import Benchmark, require_task
from pinakes.queries.relations import requested_queries
from pinakes.queries.tasks import RANKING
from pinakes.run.files.documents import split_key
from pinakes.run.ir_metadata import write_header
from pinakes.run.provenance import gather_provenance
from pinakes.run.stored_runs import find_runs
from pinakes.schema import hits, papers, runs
from pinakes.workload.benchmark import open_benchmark
from pinakes.writing.files import find_kind, make_whole_folder, write_lines
from pinakes.writing.tables import Rows, write_table

_BY_SUFFIX: Final = {".json": "ranx", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that is written: its row of `runs`, its benchmark, and the name that files give it."""

    row: dict[str, Any]
    benchmark: Benchmark
    tag: str


def export_run(
    database: Database,
    run_id: int,
    path: Path,
    format_: str | None = None,
    *,
    with_provenance: bool = False,
    actor: str | None = None,
) -> int:
    """Write a run to a file, or of `csfcube` to a folder, that takes its name when it is whole; the hits.

    Without a format the file's name says it: `.json` is ranx, `.csv`, `.tsv` and `.parquet` are tables with
    PyTerrier's columns, anything else is TREC. With provenance, which is of TREC alone, lines that begin with
    `#` say first what made the run, as `run.ir_metadata` has it; `actor` is who made it.

    Raises:
        UnknownNameError: there is no such format.
        EvaluationError: there is no such run.
        InputError: an id cannot stand in the format, or the file cannot be written.
    """
    named = format_ or _BY_SUFFIX.get(find_kind(path), "trec")
    if named not in RUN_FORMATS:
        raise UnknownNameError("format of runs", named, list(RUN_FORMATS))
    if with_provenance and named != "trec":
        raise InputError(f"--provenance is of the format trec; {named} has no comments.")
    if actor is not None and not with_provenance:
        raise InputError("--actor is written into the lines of --provenance; add it, or leave --actor out.")
    run = _find_run(database, run_id)
    header: list[str] = []
    if with_provenance:
        found = gather_provenance(database, run_id, check=False)
        header = list(write_header(found, run.benchmark, run.tag, actor))
    return RUN_FORMATS[named](database, run, path, header)


def _find_run(database: Database, run_id: int) -> _Run:
    with database.read() as session:
        name = session.scalar(sa.select(runs.c.benchmark).where(runs.c.run_id == run_id))
    if name is None:
        raise EvaluationError(f"there is no run {run_id}; `pinakes export runs FILE` lists those that are.")
    benchmark = open_benchmark(database, name)
    require_task(benchmark, RANKING)
    (row,) = find_runs(database, name, [run_id])
    return _Run(row, benchmark, "_".join(f"pinakes-{row['system']}-{run_id}".split()))


def _select_hits(run: _Run, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
    columns = (hits.c.query_id.label("qid"), papers.c.source_id.label("docno"), hits.c.rank, hits.c.score)
    joined = sa.select(*columns, *more).join(papers, hits.c.paper_id == papers.c.paper_id)
    return joined.where(hits.c.run_id == run.row["run_id"]).order_by(hits.c.query_id, hits.c.rank)


def _write_trec(database: Database, run: _Run, path: Path, header: list[str]) -> int:
    return write_lines(path, _list_trec_lines(database, run, header)) - len(header)


def _list_trec_lines(database: Database, run: _Run, header: list[str]) -> Iterator[str]:
    yield from header
    with database.read() as session:
        for query_id, source_id, rank, score in session.stream_rows(_select_hits(run)):
            yield write_trec_line(query_id, source_id, rank, score, run.tag)


def write_trec_line(query_id: str, source_id: str, rank: int, score: float, tag: str) -> str:
    """A line of a TREC run.

    Raises:
        InputError: an id is not one word, or begins as a comment does.
    """
    query = require_word(query_id, "TREC files")
    if query.startswith("#"):
        raise InputError(f"the id {show(query)} begins with #, as TREC comments do; choose another format.")
    return f"{query} Q0 {require_word(source_id, 'TREC files')} {rank} {score:.17g} {tag}"


def require_word(identifier: str, where: str) -> str:
    """The id, which is one word; `InputError` where white space would make it several, or none."""
    if identifier.split() != [identifier]:
        raise InputError(
            f"the id {show(identifier)} holds white space or nothing, and white space separates columns in "
            f"{where}; choose a format that quotes its texts, as ranx."
        )
    return identifier


def _write_ranx(database: Database, run: _Run, path: Path, _header: list[str]) -> int:
    count = 0

    def rank() -> Iterator[tuple[str, str, float]]:
        nonlocal count
        with database.read() as session:
            for query_id, source_id, _, score in session.stream_rows(_select_hits(run)):
                count += 1
                yield query_id, source_id, score

    write_lines(path, list_ranx_lines(rank()))
    return count


def list_ranx_lines(rows: Iterator[tuple[str, str, float]]) -> Iterator[str]:
    """ranx's JSON document `{query: {document: number}}` of rows in the order of queries, a query a line.

    >>> print(*list_ranx_lines(iter([("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d1", 1)])), sep="\\n")
    {
    "q1": {"d1": 2, "d2": 1},
    "q2": {"d1": 1}
    }
    """
    yield "{"
    current, line = None, ""
    for query_id, source_id, number in rows:
        if query_id != current:
            if current is not None:
                yield line + "},"
            current, line = query_id, f"{_quote(query_id)}: {{"
        else:
            line += ", "
        line += f"{_quote(source_id)}: {_quote(number)}"
    if current is not None:
        yield line + "}"
    yield "}"


def _quote(value: object) -> str:
    return orjson.dumps(value).decode()


def _write_frame(format_: str) -> Callable[[Database, _Run, Path, list[str]], int]:
    """What writes a table with PyTerrier's columns, whose ranks count from 0."""

    def write(database: Database, run: _Run, path: Path, _header: list[str]) -> int:
        query = _select_hits(run, sa.literal(run.tag, sa.Text).label("tag"))
        with database.read() as session:
            return write_table(path, Rows(_FRAME, _count_from_0(session.stream(query))), format_)

    return write


_FRAME: Final = pa.schema(
    [
        ("qid", pa.string()),
        ("docno", pa.string()),
        ("rank", pa.int32()),
        ("score", pa.float64()),
        ("tag", pa.string()),
    ]
)


def _count_from_0(parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    for part in parts:
        ranks = pa.array(part["rank"].to_numpy() - 1, pa.int32())
        yield part.set_column(2, "rank", ranks)


def _write_mdcr(database: Database, run: _Run, path: Path, _header: list[str]) -> int:
    return write_lines(path, _list_mdcr_lines(database, run)) - 2


def _list_mdcr_lines(database: Database, run: _Run) -> Iterator[str]:
    yield "{"
    with database.read() as session:
        queries = _read_query_ids(session, run.benchmark)
        line = ""
        for query_id, source_id, _, score in session.stream_rows(_select_hits(run)):
            if line:
                yield line + ","
            key = f"{query_id}_{source_id}"
            try:
                split_key(key, queries)
            except ValueError as error:
                raise InputError(f"{key!r} cannot stand in MDCR's files: {error}.") from error
            line = f"{_quote(key)}: {_quote(score)}"
        if line:
            yield line
    yield "}"


def _read_query_ids(session: Session, benchmark: Benchmark) -> set[str]:
    return {row["query_id"] for row in session.rows(sa.select(requested_queries(benchmark).c.query_id))}


def _write_csfcube(database: Database, run: _Run, folder: Path, _header: list[str]) -> int:
    """A file for each facet, `test-pid2pool-csfcube-<system>-<facet>-ranked.json`."""
    ranked: dict[str, dict[str, list[tuple[str, float]]]] = {}
    count = 0
    with database.read() as session:
        for query_id, source_id, _, score in session.stream_rows(_select_hits(run)):
            paper, joint, facet = query_id.rpartition("_")
            if not joint or not facet.isalnum():
                raise InputError(
                    f"the query {query_id!r} cannot stand in CSFCube's files; expected <paper>_<facet>."
                )
            ranked.setdefault(facet, {}).setdefault(paper, []).append((source_id, 0.0 - score))
            count += 1
    system = "".join(sign if sign.isalnum() or sign in "._" else "_" for sign in run.row["system"])
    with make_whole_folder(folder) as building:
        for facet, pools in ranked.items():
            file = building / f"test-pid2pool-csfcube-{system}-{facet}-ranked.json"
            write_lines(file, [_quote(pools)])
    return count


RUN_FORMATS: Final[dict[str, Callable[[Database, _Run, Path, list[str]], int]]] = {
    "trec": _write_trec,
    "ranx": _write_ranx,
    "csv": _write_frame("csv"),
    "tsv": _write_frame("tsv"),
    "parquet": _write_frame("parquet"),
    "csfcube": _write_csfcube,
    "mdcr": _write_mdcr,
}
