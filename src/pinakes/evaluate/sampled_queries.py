"""Queries of sampled benchmarks that are asked in several pools, taken as one.

A paired test takes its queries to be independent, which the same query in twelve pools is not.
"""

import math
from collections.abc import Mapping

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import pools, sampled_queries


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
        rows = session.rows(query.order_by(*names))
    return {f"{row['pool']}/{row['query_id']}": row["query_id"] for row in rows}


def average_pools(values: Mapping[str, float], requested: Mapping[str, str]) -> dict[str, float]:
    """Query -> its mean over the rankings that ask it; sums are exactly rounded, in whatever order.

    >>> average_pools({"20/1/q1": 0.5, "20/2/q1": 0.25, "q2": 1.0}, {"20/1/q1": "q1", "20/2/q1": "q1"})
    {'q1': 0.375, 'q2': 1.0}
    """
    found: dict[str, list[float]] = {}
    for query_id, value in values.items():
        found.setdefault(requested.get(query_id, query_id), []).append(value)
    return {query_id: math.fsum(several) / len(several) for query_id, several in found.items()}
