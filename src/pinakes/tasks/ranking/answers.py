"""A workload ranked by a system, as rows of `hits`: at once, or pool by pool where its pools are grouped."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.progress import Progress
from pinakes.schema import hits
from pinakes.systems.base import Ranking, System
from pinakes.tasks.base import Answers
from pinakes.workload.workload import Workload, WorkloadPart

HITS_AT_ONCE: Final = 200_000


def answer(database: Database, system: System, workload: Workload, progress: Progress) -> Answers:
    """A system's rankings of a workload as rows of `hits` without `run_id`."""
    for rows in to_hits(workload, rank_workload(database, system, workload, progress)):
        yield hits, rows


def rank_workload(
    database: Database, system: System, workload: Workload, progress: Progress
) -> Iterator[Ranking]:
    """Each query's ranking; rows are those of `workload.paper_ids`."""
    if workload.groups is None:
        yield from system.rank(database, workload, progress)
    elif "rank_groups" in system.can:
        yield from system.rank_groups(database, workload, progress)
    else:
        for part in workload.parts():
            yield from _rank_part(database, system, workload, part, progress)


def _rank_part(
    database: Database, system: System, workload: Workload, part: WorkloadPart, progress: Progress
) -> Iterator[Ranking]:
    own_rows = _own_rows(workload, part)
    for ranking in system.rank(database, _deepen(part.workload), progress):
        rows = part.rows[ranking.rows]
        others = rows != own_rows[ranking.query_id]
        depth = workload.benchmark.depth
        yield Ranking(ranking.query_id, rows[others][:depth], ranking.scores[others][:depth])


def _own_rows(workload: Workload, part: WorkloadPart) -> dict[str, int]:
    """The row in the whole of each query's own paper, -1 where it is no candidate, for a part's queries."""
    if workload.query_rows is None:
        return dict.fromkeys(part.workload.query_ids, -1)
    return dict(zip(part.workload.query_ids, workload.query_rows[part.queries].tolist(), strict=True))


def _deepen(workload: Workload) -> Workload:
    """The workload with room for one paper more in each ranking: the query's own."""
    depth = workload.benchmark.depth
    if depth is None:
        return workload
    return replace(workload, benchmark=replace(workload.benchmark, depth=depth + 1))


def to_hits(workload: Workload, rankings: Iterable[Ranking]) -> Iterator[pa.Table]:
    """Rankings as rows of `hits` without `run_id`, in tables of about `HITS_AT_ONCE` rows.

    Raises `RunError` where a score is not a finite number.
    """
    place = {query_id: number for number, query_id in enumerate(workload.query_ids)}
    query_ids = pa.array(workload.query_ids, pa.string())
    for batch in _gather(rankings):
        yield _to_table(workload, place, query_ids, batch)


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


def _to_table(
    workload: Workload, place: dict[str, int], query_ids: pa.Array, rankings: list[Ranking]
) -> pa.Table:
    lengths = np.array([len(ranking.rows) for ranking in rankings])
    scores = np.concatenate([ranking.scores for ranking in rankings]).astype(np.float64)
    queries = np.array([place[ranking.query_id] for ranking in rankings], dtype=np.int32)
    owners = np.repeat(queries, lengths)
    if not np.isfinite(scores).all():
        query_id = workload.query_ids[owners[~np.isfinite(scores)][0]]
        raise RunError(f"the score of a candidate of query {query_id} is not a finite number.")
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = np.concatenate([ranking.rows for ranking in rankings])
    return pa.table(
        {
            "query_id": pa.DictionaryArray.from_arrays(pa.array(owners), query_ids),
            "paper_id": pa.array(workload.paper_ids[rows]),
            "rank": pa.array((np.arange(len(rows)) - starts + 1).astype(np.int32)),
            "score": pa.array(scores),
        }
    )
