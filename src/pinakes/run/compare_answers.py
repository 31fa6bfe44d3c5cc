"""Answers that were given again beside the stored ones, row by row: which are others, and by how much."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database

TOLERANCES: Final[Mapping[str | None, float]] = {None: 1e-6, "fp32": 1e-5, "fp16": 2e-3, "bf16": 2e-2}
"""precision of an encoder -> by how much two numbers may differ, of the larger one's size and at least of 1.

Processors and libraries round differently; within one machine and one version answers are the same to the
last bit.
"""
_STORED, _AGAIN = "stored", "again"


@dataclass(frozen=True, slots=True)
class Compared:
    """A table of answers compared.

    Attributes:
        rows_stored, rows_again: how many there are.
        rows_different: rows that are on one side alone, or whose values differ by more than the tolerance.
        queries_different: queries that have such a row; 0 where the table has no queries.
        first: the first such query, by id.
        first_stored, first_again: its first row that is another, on both sides; None: there is none.
        largest_difference: between two numbers of the same row, of those that are within the tolerance.
        rows_at_cut: rows on one side alone that are not counted as different: the ranking is cut off, and
            their score is that of the last paper which the other side keeps, within the tolerance. So
            rounding can have put one in the place of the other.
    """

    table: str
    rows_stored: int
    rows_again: int
    rows_different: int
    queries_different: int
    largest_difference: float
    first: str | None = None
    first_stored: dict[str, Any] | None = None
    first_again: dict[str, Any] | None = None
    rows_at_cut: int = 0


def compare_answers(
    database: Database, table: sa.Table, run_id: int, again: Iterable[pa.Table], tolerance: float
) -> Compared:
    """The stored rows of a run in one of its task's tables against those that were given again.

    A rank may be another where the scores are within the tolerance: near ties change places, also with those
    below the cut of a ranking.
    """
    keys = [column.name for column in table.primary_key if column.name != "run_id"]
    names = [column.name for column in table.c if column.name != "run_id"]
    with database.read() as session:
        query = sa.select(*(table.c[name] for name in names)).where(table.c.run_id == run_id)
        stored = session.fetch_arrow(query)
    parts = list(again)
    given = pa.concat_tables(parts) if parts else stored.slice(0, 0)
    for name in names:
        if name not in given.column_names:  # a column that the task leaves null
            given = given.append_column(name, pa.nulls(given.num_rows, stored.schema.field(name).type))
    given = given.select(names).cast(stored.schema.remove_metadata())
    joined = _join(stored, given, keys)
    return _compare(table.name, joined, keys, names, tolerance, (stored.num_rows, given.num_rows))


def _join(stored: pa.Table, given: pa.Table, keys: list[str]) -> pa.Table:
    """Both sides in one row a key, in the order of keys; a side without the row is null, as its mark says."""

    def mark(rows: pa.Table, side: str) -> pa.Table:
        renamed = rows.rename_columns([n if n in keys else f"{side}.{n}" for n in rows.column_names])
        return renamed.append_column(side, pa.array(np.ones(rows.num_rows, dtype=bool)))

    joined = mark(stored, _STORED).join(
        mark(given, _AGAIN), keys=keys, join_type="full outer", use_threads=False
    )
    return joined.sort_by([(key, "ascending") for key in keys])


def _compare(
    name: str,
    joined: pa.Table,
    keys: list[str],
    names: list[str],
    tolerance: float,
    counts: tuple[int, int],
) -> Compared:
    both = np.ones(joined.num_rows, dtype=bool)
    for side in (_STORED, _AGAIN):
        both &= pc.fill_null(joined[side], fill_value=False).to_numpy().astype(bool)
    values = [one for one in names if one not in keys]
    has_ranks = {"rank", "score"} <= set(values)
    at_cut = _is_at_cut(joined, tolerance) if has_ranks else np.zeros(joined.num_rows, dtype=bool)
    different, largest = ~both & ~at_cut, 0.0
    for one in values:
        pair = [joined[f"{side}.{one}"] for side in (_STORED, _AGAIN)]
        if pa.types.is_floating(pair[0].type):
            apart, difference = _measure(_to_floats(pair[0]), _to_floats(pair[1]), tolerance)
            largest = max(largest, float(difference[both & ~apart].max(initial=0.0)))
        else:
            apart = ~pc.fill_null(
                pc.or_kleene(pc.equal(*pair), pc.and_(pc.is_null(pair[0]), pc.is_null(pair[1]))),
                fill_value=False,
            ).to_numpy().astype(bool)
            if one == "rank" and has_ranks:
                apart &= ~_is_near_tie(joined, both, tolerance)
        different |= both & apart
    return replace(_describe(name, joined, different, largest, counts), rows_at_cut=int(at_cut.sum()))


def _to_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    found: NDArray[np.float64] = pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy()
    return found


def _measure(
    stored: NDArray[np.float64], again: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which numbers are further apart than the tolerance, and how far each two are; NaN is like NaN."""
    alike = (stored == again) | (np.isnan(stored) & np.isnan(again))
    with np.errstate(invalid="ignore"):
        difference = np.where(alike, 0.0, np.abs(stored - again))
        size = np.maximum(1.0, np.maximum(np.abs(stored), np.abs(again)))
        return ~(alike | (difference <= tolerance * size)), difference


def _is_near_tie(joined: pa.Table, both: NDArray[np.bool_], tolerance: float) -> NDArray[np.bool_]:
    """Rows whose other rank is explained: another paper of the query has a score that is as near, there.

    The score that stood at the rank which the paper has now is within the tolerance of its own.
    """
    ranks = {side: _to_floats(joined[f"{side}.rank"]) for side in (_STORED, _AGAIN)}
    own, now = (_to_floats(joined[f"{side}.score"]) for side in (_STORED, _AGAIN))
    if np.array_equal(own, now, equal_nan=True):
        return np.zeros(len(own), dtype=bool)  # the same scores have one order
    queries = pc.dictionary_encode(joined["query_id"].combine_chunks()).indices.to_numpy()
    place = {
        (int(query), int(rank)): score
        for query, rank, score, there in zip(queries, ranks[_STORED], own, ~np.isnan(own), strict=True)
        if there
    }
    found = np.zeros(len(own), dtype=bool)
    for row in np.flatnonzero(both & (ranks[_STORED] != ranks[_AGAIN])):
        other = place.get((int(queries[row]), int(ranks[_AGAIN][row])))
        size = max(1.0, abs(own[row]))
        found[row] = other is not None and abs(other - own[row]) <= 2 * tolerance * size
    return found


def _is_at_cut(joined: pa.Table, tolerance: float) -> NDArray[np.bool_]:
    """Rows on one side alone with a score as near to the last one of the other side as rounding can bring it.

    Only of queries that have as many rows on both sides: each such paper stands for another.
    """
    queries = pc.dictionary_encode(joined["query_id"].combine_chunks()).indices.to_numpy()
    scores = {side: _to_floats(joined[f"{side}.score"]) for side in (_STORED, _AGAIN)}
    there = {side: ~np.isnan(_to_floats(joined[f"{side}.rank"])) for side in (_STORED, _AGAIN)}
    total = int(queries.max(initial=-1)) + 1
    counted = [np.bincount(queries[there[side]], minlength=total) for side in (_STORED, _AGAIN)]
    is_cut = (counted[0] == counted[1])[queries]
    found = np.zeros(len(queries), dtype=bool)
    for side, other in ((_STORED, _AGAIN), (_AGAIN, _STORED)):
        last = np.full(total, np.inf)
        np.fmin.at(last, queries[there[other]], scores[other][there[other]])
        size = np.maximum(1.0, np.abs(scores[side]))
        with np.errstate(invalid="ignore"):
            is_near = np.abs(scores[side] - last[queries]) <= 2 * tolerance * size
        found |= there[side] & ~there[other] & is_cut & is_near
    return found


def _describe(
    name: str,
    joined: pa.Table,
    different: NDArray[np.bool_],
    largest: float,
    counts: tuple[int, int],
) -> Compared:
    places = np.flatnonzero(different)
    has_queries = "query_id" in joined.column_names
    if not len(places):
        return Compared(name, *counts, 0, 0, largest)
    others = joined.take(pa.array(places))
    if not has_queries:
        first = others.slice(0, 1).to_pylist()[0]
        return Compared(name, *counts, len(places), 0, largest, None, *_split(first))
    queries = sorted(set(others["query_id"].to_pylist()))
    of_first = others.filter(pc.equal(others["query_id"], queries[0])).to_pylist()
    first = min(of_first, key=_order)
    return Compared(name, *counts, len(places), len(queries), largest, queries[0], *_split(first))


def _order(row: Mapping[str, Any]) -> float:
    """By the better rank of both sides, where there are ranks."""
    ranks = [row.get(f"{side}.rank") for side in (_STORED, _AGAIN)]
    return min((rank for rank in ranks if rank is not None), default=0)


def _split(row: Mapping[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The row on both sides, with its key; None where the side lacks it."""
    sides = []
    for side in (_STORED, _AGAIN):
        own = {
            name.removeprefix(f"{side}."): value
            for name, value in row.items()
            if name not in (_STORED, _AGAIN)
            and (name.startswith(f"{side}.") or not name.startswith((f"{_STORED}.", f"{_AGAIN}.")))
        }
        sides.append(own if row[side] else None)
    return sides[0], sides[1]
