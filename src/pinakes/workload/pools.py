"""Who has which candidates: a pool for each query, or pools that several queries name."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import select_candidates, select_pool_members

Ids = NDArray[np.int64]


class Pools(NamedTuple):
    """Rows of `paper_ids`: of each query's own pool, or of each pool that queries name; as in `Workload`."""

    pools: dict[str, Ids] | None = None
    groups: dict[str, Ids] | None = None
    query_rows: Ids | None = None


def read_pools(session: Session, benchmark: Benchmark, queries: pa.Table, paper_ids: Ids) -> Pools:
    """Who has which of the candidates; nothing where all of them are everyone's.

    Raises `BenchmarkError` where a query has no pool, a pool no query, or a pool a paper twice.
    """
    if benchmark.pool == "per_query":
        return Pools(pools=_read_own(session, benchmark, queries["query_id"].to_pylist(), paper_ids))
    if benchmark.pool == "grouped":
        groups = _read_groups(session, benchmark, queries["pool"].to_pylist(), paper_ids)
        own = queries["paper_id"].fill_null(-1)
        return Pools(groups=groups, query_rows=_find_rows(own.to_numpy().astype(np.int64), paper_ids))
    rows = sa.select(sa.func.count()).select_from(select_candidates(benchmark).subquery("candidates"))
    if session.scalar(rows) != len(paper_ids):
        raise BenchmarkError(f"the view {benchmark.name}.candidates gives a paper twice; expected each once.")
    return Pools()


def _find_rows(wanted: Ids, paper_ids: Ids) -> Ids:
    """The row of each paper in `paper_ids`, -1 where it is none of them."""
    rows = np.minimum(np.searchsorted(paper_ids, wanted), len(paper_ids) - 1)
    return np.where(paper_ids[rows] == wanted, rows, -1)


def _read_own(session: Session, benchmark: Benchmark, query_ids: list[str], paper_ids: Ids) -> dict[str, Ids]:
    """query_id -> rows of `paper_ids`."""
    # Sorted here: an id that a view computes may have a collation of the database's own.
    keys = [("query_id", "ascending"), ("paper_id", "ascending")]
    pairs = session.fetch_arrow(select_candidates(benchmark)).sort_by(keys)
    pools = _split(pairs, paper_ids)
    for query_id, pool in pools.items():
        if len(find_distinct(pool)) != len(pool):
            raise BenchmarkError(
                f"the view {benchmark.name}.candidates gives query {query_id} a paper twice."
            )
    unknown = sorted(pools.keys() - set(query_ids))
    if unknown:
        raise BenchmarkError(
            f"{benchmark.name}.candidates has a pool for {unknown[0]}, which {benchmark.name}.queries lacks."
        )
    empty = [query_id for query_id in query_ids if query_id not in pools]
    if empty:
        raise BenchmarkError(f"{len(empty)} queries of {benchmark.name} have no candidate, as {empty[0]}.")
    return pools


def _split(pairs: pa.Table, paper_ids: Ids) -> dict[str, Ids]:
    owners = pairs["query_id"].to_numpy(zero_copy_only=False)
    rows = np.searchsorted(paper_ids, pairs["paper_id"].to_numpy())
    distinct, first = np.unique(owners, return_index=True)
    ends = [*first[1:].tolist(), len(owners)]
    return {str(owner): rows[start:end] for owner, start, end in zip(distinct, first, ends, strict=True)}


def _read_groups(
    session: Session, benchmark: Benchmark, query_pools: Sequence[str | None], paper_ids: Ids
) -> dict[str, Ids]:
    """pool -> rows of `paper_ids`, ascending, for each pool that a query names."""
    if None in query_pools:
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query whose pool is null.")
    members = session.fetch_arrow(select_pool_members(benchmark))
    groups = {}
    for pool, listed in zip(members["pool"].to_pylist(), members["paper_ids"], strict=True):
        ids = np.sort(np.fromstring(listed.as_py(), dtype=np.int64, sep=","))
        if (ids[1:] == ids[:-1]).any():
            raise BenchmarkError(f"the view {benchmark.name}.candidates gives the pool {pool} a paper twice.")
        rows = _find_rows(ids, paper_ids)
        # A member that is no paper any more was deleted after the pools were drawn.
        groups[pool] = rows[rows >= 0]
    _require_members(benchmark, groups, query_pools)
    return groups


def _require_members(benchmark: Benchmark, groups: dict[str, Ids], query_pools: Sequence[str | None]) -> None:
    requested = sorted({str(pool) for pool in query_pools})
    empty = [pool for pool in requested if not len(groups.get(pool, ()))]
    if empty:
        count = sum(pool == empty[0] for pool in query_pools)
        raise BenchmarkError(
            f"{len(empty)} pools of {benchmark.name} have no candidate, as {empty[0]}, which {count} queries "
            f"name; expected rows of them in {benchmark.name}.candidates."
        )
