"""Rankings as rows of `hits`: put down while a system still ranks, then read in tables.

They wait in a temporary file, so that millions of hits need no memory, and no transaction stays open while a
system ranks.
"""

from collections.abc import Iterable, Iterator
from typing import IO, Final

import numpy as np
import pyarrow as pa

from pinakes.errors import RunError
from pinakes.systems.base import Ranking
from pinakes.workload.workload import Workload

HITS_AT_ONCE: Final = 200_000
BYTES_IN_MEMORY: Final = 64 * 1024 * 1024
"""a temporary file of fewer bytes is kept in memory"""

_SCHEMA: Final = pa.schema(
    [("query", pa.int32()), ("paper_id", pa.int64()), ("rank", pa.int32()), ("score", pa.float64())]
)


def write_hits(file: IO[bytes], workload: Workload, rankings: Iterable[Ranking]) -> int:
    """Put rankings down in a file; how many have at least one hit.

    Raises:
        RunError: a score is not a finite number.
    """
    place = {query_id: number for number, query_id in enumerate(workload.query_ids)}
    answered = 0
    with pa.ipc.new_stream(file, _SCHEMA) as writer:
        for batch in _gather(rankings):
            answered += len(batch)
            writer.write_table(_to_table(workload, place, batch))
    return answered


def read_hit_tables(file: IO[bytes], workload: Workload) -> Iterator[pa.Table]:
    """The rows of `hits`, without `run_id`, in tables of about `HITS_AT_ONCE` rows."""
    file.seek(0)
    query_ids = pa.array(workload.query_ids, pa.string())
    with pa.ipc.open_stream(file) as reader:
        for batch in reader:
            rows = pa.Table.from_batches([batch])
            yield rows.set_column(0, "query_id", query_ids.take(batch.column("query")))


def _gather(rankings: Iterable[Ranking]) -> Iterator[list[Ranking]]:
    """The rankings that are not empty, so many at once that they have about `HITS_AT_ONCE` hits."""
    pending: list[Ranking] = []
    count = 0
    for ranking in rankings:
        if len(ranking.rows):
            pending.append(ranking)
            count += len(ranking.rows)
        if count >= HITS_AT_ONCE:
            yield pending
            pending, count = [], 0
    if pending:
        yield pending


def _to_table(workload: Workload, place: dict[str, int], rankings: list[Ranking]) -> pa.Table:
    lengths = np.array([len(ranking.rows) for ranking in rankings])
    scores = np.concatenate([ranking.scores for ranking in rankings]).astype(np.float64)
    queries = np.array([place[ranking.query_id] for ranking in rankings], dtype=np.int32)
    owners = np.repeat(queries, lengths)
    if not np.isfinite(scores).all():
        query_id = workload.query_ids[owners[~np.isfinite(scores)][0]]
        raise RunError(f"the score of a candidate of query {query_id} is not a finite number.")
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = np.concatenate([ranking.rows for ranking in rankings])
    ranks = (np.arange(len(rows)) - starts + 1).astype(np.int32)
    columns = (owners, workload.paper_ids[rows], ranks, scores)
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=_SCHEMA)
