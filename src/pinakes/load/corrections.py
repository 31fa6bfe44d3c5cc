"""Rows of a file's older version that the newer one lacks: counted, and removed where the user says so.

A newer version takes over the rows that it says (`loaders/merge/origins.py`), so those that it lacks are the
ones left to the older version's batches, without those that another file says too. What is worked out is what
the tables hold after the load, whichever load brought it: killed and started again it ends alike.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.load.batches import FilePlan
from pinakes.load.corpus import LoadRequest
from pinakes.loaders.base import OF_FILES
from pinakes.loaders.merge.origins import call_table, digest_row, join_batches, settle_mentions
from pinakes.schema import citations, hits, load_batches, papers, repeated_rows, restated_citations
from pinakes.schema.removal import remove_rows

_OLDER: Final = sa.table(
    "older_batches", sa.column("batch_id", sa.BigInteger), sa.column("file", sa.BigInteger)
)
_COUNTS: Final = ("rows_in", "rows_loaded", "rows_rejected")


@dataclass(frozen=True, slots=True)
class Lacking:
    """Rows of a table that an older version of a file had, and the newer one has not."""

    file: str
    table: str
    rows: int


@dataclass(frozen=True, slots=True)
class Corrections:
    """What newer versions of files lack.

    Attributes:
        lacking: rows by file and table, before anything was removed.
        command: what would remove them; empty where they were removed, or there are none.
        removed: table -> rows that were removed, with those that referred to them.
        cleared: table -> rows that named a removed row and name none now.
        kept: file -> why its older version's rows stay although they were to be removed.
        runs: runs that rank papers which were removed.
    """

    lacking: list[Lacking] = field(default_factory=list)
    command: str = ""
    removed: Mapping[str, int] = field(default_factory=dict)
    cleared: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)
    runs: list[int] = field(default_factory=list)

    @property
    def is_changed(self) -> bool:
        """Whether rows were removed."""
        return bool(self.removed)


def correct_rows(database: Database, plans: Sequence[FilePlan], request: LoadRequest) -> Corrections:
    """What the loaded files lack of their older versions, removed where the request says so: one transaction.

    A file that is not in as a whole says nothing of what it lacks. One of which no record was accepted, or
    more were rejected than `request.max_rejects` allows, replaces nothing.
    """
    newer = [plan for plan in plans if plan.older and not plan.is_repeated]
    if not newer:
        return Corrections()
    with database.begin() as session:
        counted = {number: _count_records(session, plan) for number, plan in enumerate(newer)}
        whole = {number: newer[number] for number, counts in counted.items() if counts["is_whole"]}
        lacking = _count_lacking(session, whole)
        if not request.replace or not lacking:
            command = _write_command(request) if lacking else ""
            return Corrections(lacking, command)
        kept = {number: _doubt(counts, request.max_rejects) for number, counts in counted.items()}
        sure = {number: plan for number, plan in whole.items() if not kept[number]}
        told = {newer[number].file.name: kept[number] for number in whole if kept[number]}
        return _replace(session, sure, lacking, told)


def _count_records(session: Session, plan: FilePlan) -> dict[str, int]:
    """How many records of the file were read, loaded and rejected, and whether it is in as a whole."""
    same = [load_batches.c[name] == value for name, value in plan.identity.items()]
    sums = [sa.func.coalesce(sa.func.sum(load_batches.c[name]), 0).label(name) for name in _COUNTS]
    ends = sa.func.coalesce(sa.func.max(sa.case((load_batches.c.is_last, 1), else_=0)), 0).label("is_whole")
    found = session.rows(sa.select(*sums, ends).where(*same))[0]
    return {name: int(value) for name, value in found.items()}


def _doubt(counts: Mapping[str, int], max_rejects: float) -> str:
    """Why a file is not to be trusted with a removal; empty where it is."""
    if not counts["rows_loaded"]:
        return "no record of the newer version was accepted"
    share = counts["rows_rejected"] / counts["rows_in"]
    if share > max_rejects:
        return f"{share:.2%} of the newer version's records were rejected, more than --max-rejects allows"
    return ""


def _stage(plans: Mapping[int, FilePlan]) -> dict[str, pa.Table]:
    pairs = [(batch, number) for number, plan in plans.items() for batch in sorted(plan.older)]
    batches, files = zip(*pairs, strict=True) if pairs else ((), ())
    return {
        _OLDER.name: pa.table(
            {"batch_id": pa.array(batches, pa.int64()), "file": pa.array(files, pa.int64())}
        )
    }


def _count_lacking(session: Session, plans: Mapping[int, FilePlan]) -> list[Lacking]:
    found: Counter[tuple[int, str]] = Counter()
    with session.staged(_stage(plans)):
        for table in OF_FILES:
            source, batch = join_batches(table)
            of_file = (
                sa.select(_OLDER.c.file, sa.func.count().label("count"))
                .join_from(source, _OLDER, batch == _OLDER.c.batch_id)
                .where(~_is_said(table))
                .group_by(_OLDER.c.file)
            )
            for row in session.rows(of_file):
                found[row["file"], call_table(table)] += int(row["count"])
    return [Lacking(plans[file].file.name, name, count) for (file, name), count in sorted(found.items())]


def _is_said(table: sa.Table) -> sa.ColumnElement[bool]:
    """Whether a file that is not replaced says a row too."""
    return sa.exists().where(*_match_notes(table)).correlate(table)


def _match_notes(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    return [
        repeated_rows.c.table_name == call_table(table),
        repeated_rows.c.row_digest == digest_row(table),
        repeated_rows.c.batch_id.not_in(sa.select(_OLDER.c.batch_id)),
    ]


def _replace(
    session: Session, plans: Mapping[int, FilePlan], lacking: list[Lacking], kept: Mapping[str, str]
) -> Corrections:
    keys = {}
    with session.staged(_stage(plans)):
        for table in OF_FILES:
            _hand_over(session, table)
            keys[table] = session.fetch_arrow(_select_older(table, *table.primary_key))
        is_older = repeated_rows.c.batch_id.in_(sa.select(_OLDER.c.batch_id))
        session.execute(sa.delete(repeated_rows).where(is_older))
    keys = {table: rows for table, rows in keys.items() if rows.num_rows}
    removed = remove_rows(session, keys, declared_alone=True)
    runs = _find_runs(session) if removed.deleted[papers.name] else []
    del removed.deleted[restated_citations.name]  # notes of ours, as `repeated_rows`: no row of a file
    return Corrections(
        lacking,
        removed=dict(sorted(removed.deleted.items())),
        cleared=dict(sorted(removed.cleared.items())),
        kept=kept,
        runs=runs,
    )


def _select_older(table: sa.Table, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """The rows of a table that are of older versions."""
    source, batch = join_batches(table)
    return sa.select(*columns).select_from(source).where(batch.in_(sa.select(_OLDER.c.batch_id)))


def _hand_over(session: Session, table: sa.Table) -> None:
    """Give the rows that another file says too to that file, the first of them."""
    of_older = table.c.batch_id.in_(sa.select(_OLDER.c.batch_id))
    if table is citations:
        settle_mentions(session, _select_older(table, table.c.citing_paper_id).correlate(None))
        of_older = table.c.citation_id.in_(_select_older(table, table.c.citation_id).correlate(None))
    other = sa.select(sa.func.min(repeated_rows.c.batch_id)).where(*_match_notes(table)).correlate(table)
    said = sa.update(table).values(batch_id=other.scalar_subquery()).where(of_older, _is_said(table))
    session.execute(said)


def _find_runs(session: Session) -> list[int]:
    """The runs with hits whose papers are gone."""
    gone = ~sa.exists().where(papers.c.paper_id == hits.c.paper_id).correlate(hits)
    query = sa.select(hits.c.run_id).distinct().where(gone).order_by(hits.c.run_id)
    return [int(row["run_id"]) for row in session.rows(query)]


def _write_command(request: LoadRequest) -> str:
    """The load again, with what removes the rows."""
    words: list[Any] = ["pinakes", "load", request.loader]
    words += [request.source] if request.source else []
    words += ["--corpus", request.corpus] if request.corpus else []
    for name, value in request.options.items():
        words += ["--option", f"{name}={value}"]
    return shlex.join(map(str, [*words, "--replace"]))
