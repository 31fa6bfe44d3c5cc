"""What runs stored of each neighbour, summed up in the database: losses, overlaps, similarities, maps."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import reduce
from operator import add
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.report.self_retrieval.data import LossBin, PlaneMap, Similarity
from pinakes.schema import neighbour_overlaps, self_ranks, similarity_statistics, vector_maps

EDGES: Final = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""each the highest share of changed characters of a bin"""
MOST_POINTS: Final = 1_000
"""of a map and code that are drawn"""


def name_bin(place: int) -> str:
    r"""A bin of the share of changed characters in words.

    >>> name_bin(0), name_bin(1), name_bin(4)
    ('none', 'up to 2\xa0%', '10 to 20\xa0%')
    """
    if place < 2:
        return "none" if place == 0 else f"up to {100 * EDGES[1]:.0f}\u00a0%"
    return f"{100 * EDGES[place - 1]:.0f} to {100 * EDGES[place]:.0f}\u00a0%"


def sum_losses(database: Database, run_ids: Sequence[int]) -> dict[tuple[int, str], list[LossBin]]:
    """(run, code) -> bins by the share of changed characters, of all neighbours.

    One without a representation finds nothing: it is lost whole.
    """
    table = self_ranks.c
    place = sa.case(*((table.changed <= edge, number) for number, edge in enumerate(EDGES)), else_=10)
    one = sa.cast(1, sa.Double)
    query = (
        sa.select(
            table.run_id,
            table.code,
            place.label("place"),
            sa.func.count().label("pairs"),
            sa.func.sum(table.changed).label("changed"),
            sa.func.sum(sa.case((table.rank == 1, 0), else_=1)).label("not_first"),
            sa.func.sum(sa.func.coalesce(one - one / table.rank, one)).label("lost"),
        )
        .where(table.run_id.in_(run_ids), table.scheme == "NN", table.changed.is_not(None))
        .group_by(table.run_id, table.code, place)
    )
    found: dict[tuple[int, str], list[LossBin]] = {}
    for row in sorted(_read(database, query), key=lambda row: (row["run_id"], row["code"], row["place"])):
        of_code = found.setdefault((row["run_id"], row["code"]), [])
        of_code.append(
            LossBin(
                row["place"], row["pairs"], float(row["changed"]), int(row["not_first"]), float(row["lost"])
            )
        )
    return found


def count_overlaps(
    database: Database, run_ids: Sequence[int]
) -> tuple[dict[tuple[int, str, str], list[int]], dict[tuple[int, str], int]]:
    """How many neighbours share 0 to 10 of the 10 nearest, and how many are the same to the system.

    Gives (run, code, reading) -> eleven counts, and (run, code) -> how many are the same.
    """
    table = neighbour_overlaps.c
    shared = sa.func.coalesce(table.shared_10, 0).label("shared")  # null: no representation, nothing shared
    keys = (table.run_id, table.code, table.reading)
    same = sa.func.sum(sa.case((table.same, 1), else_=0)).label("same")
    query = (
        sa.select(*keys, shared, sa.func.count().label("papers"), same)
        .where(table.run_id.in_(run_ids))
        .group_by(*keys, shared)
    )
    counts: dict[tuple[int, str, str], list[int]] = {}
    alike: dict[tuple[int, str, str], int] = {}
    for row in _read(database, query):
        key = (row["run_id"], row["code"], row["reading"])
        counts.setdefault(key, [0] * 11)[row["shared"]] = row["papers"]
        alike[key] = alike.get(key, 0) + int(row["same"])
    return counts, {(run_id, code): number for (run_id, code, _reading), number in alike.items()}


def read_similarities(database: Database, run_ids: Sequence[int]) -> dict[tuple[int, str], Similarity]:
    """(run, code) -> the statistics of all its pairs; the code `T_A` is of the originals."""
    names = [one.name for one in fields(Similarity)]
    query = sa.select(similarity_statistics).where(similarity_statistics.c.run_id.in_(run_ids))
    return {
        (row["run_id"], row["code"]): Similarity(**{name: row[name] for name in names})
        for row in _read(database, query)
    }


def read_maps(database: Database, run_ids: Sequence[int]) -> dict[int, PlaneMap]:
    """Run -> code -> points (n, 2), of many papers every so manieth by the source's id."""
    found: dict[int, PlaneMap] = {}
    for run_id in run_ids:
        query = sa.select(vector_maps).where(vector_maps.c.run_id == run_id)
        with database.read() as session:
            rows = session.fetch_arrow(query.order_by(vector_maps.c.code, vector_maps.c.query_id))
        names = np.asarray(rows["code"].to_pylist(), dtype=str)
        points = np.column_stack([rows[axis].to_numpy() for axis in ("x", "y")])
        parts = {str(code): points[names == code] for code in np.unique(names)}
        if parts:
            found[run_id] = {code: part[:: -(-len(part) // MOST_POINTS)] for code, part in parts.items()}
    return found


def add_losses(
    losses: Mapping[tuple[int, str], Sequence[LossBin]], run_id: int, codes: Sequence[str]
) -> list[LossBin]:
    """The bins of a run over some codes together, those that have pairs."""
    summed: dict[int, LossBin] = {}
    for code in codes:
        for one in losses.get((run_id, code), ()):
            summed[one.place] = summed[one.place] + one if one.place in summed else one
    return [summed[place] for place in sorted(summed)]


def sum_bins(bins: Sequence[LossBin]) -> LossBin:
    """Some bins, at least one, together."""
    return reduce(add, bins)


def _read(database: Database, query: sa.Select[Any]) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(query)
