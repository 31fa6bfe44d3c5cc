"""What a database holds, and whether its rows fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.cluster.fragment_list import find_set
from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.indexers.side_folder import is_whole
from pinakes.report.for_programs import print_data
from pinakes.report.layout import Table
from pinakes.report.output import Output
from pinakes.report.terminal import make_record_table, print_tables
from pinakes.schema import check_schema, encoders, vectors_table
from pinakes.schema.integrity import list_filled_tables, list_integrity_checks
from pinakes.vectors.fragment_sets import find_place
from pinakes.vectors.side_index import list_unnamed, list_unused

_LEAD: Final = {
    "corpora": ("corpus", "papers", "abstracts", "queries", "judgments", "citations"),
    "loads": ("corpus", "file", "rows_in", "rows_loaded", "rows_rejected", "complete"),
    "side indexes": ("kind", "scope", "encoder", "row_count", "rows_now", "recall_10"),
    "fragment sets": ("benchmark", "encoders", "fragment_count", "row_count", "byte_count", "place"),
    "runs": ("run_id", "benchmark", "system", "measure", "value", "queries_answered", "queries_expected"),
}
"""the columns that come first where there is not room for all"""
MOST_NAMED: Final = 5
"""folders that a message names"""


def read_status(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Corpora, loads, derived rows, encoders, side indexes and runs, each a list of rows.

    Raises:
        SchemaVersionError: the database has no tables, or others.
    """
    check_schema(database)
    with database.read() as session:
        found = {
            name: session.rows(statement)
            for name, statement in read_blocks("pinakes.report", "sql", "status.sql").items()
        }
        for row in found["side_indexes"]:
            row["rows_now"] = _count_vectors(session, row)
    return found


def _count_vectors(session: Session, row: Mapping[str, Any]) -> int | None:
    """The rows that an index of the database's own holds by now; its recall is of `row_count` rows."""
    if not row["scope"].startswith("vectors:"):
        return None
    dimensions = session.scalar(sa.select(encoders.c.dimensions).where(encoders.c.name == row["encoder"]))
    table = vectors_table(row["encoder"], dimensions)
    return int(session.scalar(sa.select(sa.func.count()).select_from(table)))


def find_orphans(database: Database) -> dict[str, int]:
    """table.column -> rows whose value names a row that is not there; empty where all is right.

    table.key -> keys of more than one row, in the tables whose keys DuckDB does not index.
    """
    check_schema(database)
    with database.read() as session:
        filled = list_filled_tables(session)
        counts = {
            name: int(session.scalar(query))
            for name, query in list_integrity_checks().items()
            if name.partition(".")[0] in filled
        }
    return {name: count for name, count in counts.items() if count}


@dataclass(frozen=True, slots=True)
class SideCheck:
    """What `--check` finds beside the rows.

    Attributes:
        damaged: side indexes whose files are not those that were built, each with what mends it.
        unfinished: what a later command goes on with or takes away, in words.
    """

    damaged: list[str]
    unfinished: list[str]


def check_sides(
    database: Database, found: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> SideCheck:
    """Compare what `read_status` found with the side indexes under a folder, whose files are all read."""
    with database.read() as session:
        unnamed = list_unnamed(session, folder)
        unused = {row["path"] for row in list_unused(session)}
    not_whole = [
        row for row in found["side_indexes"] if row["rows_now"] is None and not is_whole(folder / row["path"])
    ]
    damaged = [
        f"the {row['kind']} index of {row['scope']} in {folder / row['path']} is not there, or not as it was "
        "built; `pinakes index` builds it again"
        for row in not_whole
        if row["path"] not in unused
    ]
    unfinished = [
        f"{row['file']} of the corpus {row['corpus']} is not wholly in; the same `pinakes load` goes on"
        for row in found["loads"]
        if row["complete"] == "no"
    ]
    damaged += [
        f"the fragments of {row['benchmark']} by {row['encoders']} in {find_place(row['place'], folder)} are "
        "not whole; the next `pinakes run` on a cluster writes them again, or `pinakes gc` removes their row"
        for row in found["fragment_sets"]
        if find_set(find_place(row["place"], folder)) is None
    ]
    unfinished += [
        f"the {row['kind']} index in {folder / row['path']} is of what was removed ({row['scope']}), and not "
        "whole; `pinakes gc` removes the rest"
        for row in not_whole
        if row["path"] in unused
    ]
    if unnamed:
        names = ", ".join(str(path.relative_to(folder)) for path in unnamed[:MOST_NAMED])
        more = f" and {len(unnamed) - MOST_NAMED} more" if len(unnamed) > MOST_NAMED else ""
        unfinished.append(
            f"no row names these folders under {folder}, which a stopped command or another database left: "
            f"{names}{more}; `pinakes gc` says which of them it removes"
        )
    return SideCheck(damaged, unfinished)


def print_status(found: Mapping[str, Sequence[Mapping[str, object]]], out: Output) -> None:
    """What a database holds: a table for each kind of thing, or one JSON object."""
    if out.is_for_programs:
        print_data(found, out)
        return
    print_tables([_make_table(name.replace("_", " "), rows) for name, rows in found.items()], out)


def _make_table(name: str, rows: Sequence[Mapping[str, object]]) -> Table:
    if not rows:
        return Table(f"{name}: none", (), ())
    return make_record_table(rows, lead=_LEAD.get(name, ()), title=name)
