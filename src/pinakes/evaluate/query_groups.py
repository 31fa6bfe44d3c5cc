"""How queries belong together: by a grouping column, and those that ask one query in several pools.

A paired test takes its queries to be independent, which the same query in twelve pools is not.
"""

import math
from collections.abc import Mapping

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.queries.definition import Benchmark
from pinakes.schema import pools, sampled_queries
from pinakes.tasks.base import find_task


def read_groups(database: Database, benchmark: Benchmark, column: str) -> dict[str, str | None]:
    """Query id -> its value of a grouping column, in the order of the ids; None where it is in no group.

    Raises `UnknownNameError`, which lists its grouping columns, where the benchmark has no such one.
    """
    if column not in benchmark.group_by:
        kind = f"grouping column of {benchmark.name}"
        raise UnknownNameError(kind, column, list(benchmark.group_by))
    columns = (sa.column("query_id", sa.Text), sa.column(column, sa.Text))
    view = sa.table(find_task(benchmark).scored_view, *columns, schema=benchmark.name)
    query = sa.select(view.c.query_id, view.c[column]).order_by(view.c.query_id)
    with database.read() as session:
        return {name: None if value is None else str(value) for name, value in session.stream_rows(query)}


def read_requested_queries(database: Database, benchmark: str) -> dict[str, str]:
    """Query id of a ranking, `<pool>/<query>` -> the sampled query that it asks; empty without pools."""
    joined = sa.and_(
        pools.c.benchmark == sampled_queries.c.benchmark,
        pools.c.fold == sampled_queries.c.fold,
        sa.or_(pools.c.field.is_(None), pools.c.field == sampled_queries.c.field),
    )
    names = (pools.c.pool, sampled_queries.c.query_id)
    query = sa.select(*names).join(sampled_queries, joined).where(pools.c.benchmark == benchmark)
    with database.read() as session:
        return {f"{pool}/{name}": name for pool, name in session.stream_rows(query.order_by(*names))}


def average_pools(values: Mapping[str, float], requested: Mapping[str, str]) -> dict[str, float]:
    """Query -> its mean over the rankings that ask it; sums are exactly rounded, in whatever order.

    >>> average_pools({"20/1/q1": 0.5, "20/2/q1": 0.25, "q2": 1.0}, {"20/1/q1": "q1", "20/2/q1": "q1"})
    {'q1': 0.375, 'q2': 1.0}
    """
    found: dict[str, list[float]] = {}
    for query_id, value in values.items():
        found.setdefault(requested.get(query_id, query_id), []).append(value)
    return {query_id: math.fsum(several) / len(several) for query_id, several in found.items()}
