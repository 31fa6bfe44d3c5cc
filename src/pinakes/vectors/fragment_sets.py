"""Sets of fragments on shared storage as rows of `fragment_sets`, entered when they are whole or found again.

The files are the truth: a set is used without its row, which the next search enters, and a row whose set is
gone is removed by the next collection of garbage.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.schema import benchmarks, encoders, fragment_sets, next_id
from pinakes.writing.folders import is_address

_KNOWN_BY: Final = ("benchmark", "mode", "corpus", "paper_template", "encoders")


@dataclass(frozen=True, slots=True)
class EnteredSet:
    """A whole set as its row has it, but for the id and the time: see the table's columns."""

    place: str
    benchmark: str
    mode: str
    corpus: str
    paper_template: str
    encoders: str
    content_digest: str
    fragment_count: int
    row_count: int
    byte_count: int
    list_sha256: str


def enter_sets(database: Database, found: Iterable[EnteredSet]) -> None:
    """Have the row of each set that is as today; nothing is written where it is."""
    for one in found:
        values = asdict(one)
        columns = [fragment_sets.c[name] for name in values]
        of_place = fragment_sets.c.place == one.place
        with database.read() as session:
            if session.first(sa.select(*columns).where(of_place)) == values:
                continue
        with database.begin() as session:
            session.execute(sa.delete(fragment_sets).where(of_place))
            number = next_id(session, fragment_sets.c.fragment_set_id)
            row = {"fragment_set_id": number, **values, "entered_at": datetime.now(UTC)}
            session.execute(sa.insert(fragment_sets).values(**row))


def name_place(place: str, index_folder: Path) -> str:
    """A set's place as its row has it: relative where it is in the index folder.

    >>> name_place("/x/fragments/a", Path("/x")), name_place("s3://b/fragments/a", Path("/x"))
    ('fragments/a', 's3://b/fragments/a')
    """
    if not is_address(place) and Path(place).is_relative_to(index_folder):
        return Path(place).relative_to(index_folder).as_posix()
    return place


def find_place(named: str, index_folder: Path) -> str:
    """The path or address of a set whose row has that place."""
    return named if is_address(named) else str(index_folder / named)


def list_sets(session: Session) -> list[dict[str, Any]]:
    """The rows, the oldest first; but for the time."""
    columns = [column for column in fragment_sets.c if column.name != "entered_at"]
    return session.rows(sa.select(*columns).order_by(fragment_sets.c.fragment_set_id))


def is_in_use(rows: Iterable[Mapping[str, Any]], session: Session) -> dict[int, bool]:
    """id of each set -> whether it is the last of its kind, of a benchmark and encoders that are there."""
    names = {
        table: {str(row["name"]) for row in session.rows(sa.select(table.c.name))}
        for table in (benchmarks, encoders)
    }
    listed = list(rows)
    last = {tuple(row[name] for name in _KNOWN_BY): row["fragment_set_id"] for row in listed}
    return {
        row["fragment_set_id"]: row["benchmark"] in names[benchmarks]
        and set(row["encoders"].split(" ")) <= names[encoders]
        and last[tuple(row[name] for name in _KNOWN_BY)] == row["fragment_set_id"]
        for row in listed
    }
