"""A workload ranked by a system: at once, or pool by pool where its pools are grouped.

A query's own paper is in no ranking of a grouped workload.
"""

from collections.abc import Iterator
from dataclasses import replace

from pinakes.database import Database
from pinakes.progress import Progress
from pinakes.systems.base import Ranking, System
from pinakes.workload.workload import Workload, WorkloadPart


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
