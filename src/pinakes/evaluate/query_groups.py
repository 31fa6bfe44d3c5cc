"""Which group of a benchmark's grouping column each query is in."""

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation


def read_groups(database: Database, benchmark: Benchmark, column: str) -> dict[str, str | None]:
    """Query id -> its value of a grouping column, in the order of the ids; None where it is in no group.

    Raises:
        UnknownNameError: the benchmark does not group by that column; the message lists those that it does.
    """
    if column not in benchmark.group_by:
        kind = f"grouping column of {benchmark.name}"
        raise UnknownNameError(kind, column, list(benchmark.group_by))
    view = relation(benchmark, "queries")
    query = sa.select(view.c.query_id, view.c[column].label("value")).order_by(view.c.query_id)
    with database.read() as session:
        rows = session.rows(query)
    return {row["query_id"]: None if row["value"] is None else str(row["value"]) for row in rows}
