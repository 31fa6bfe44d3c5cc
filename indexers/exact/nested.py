"""Exact search in nested pools: the best of each pool from one pass over the largest.

The documents that a pool has and no smaller one join those searched before; what is best then is the pool's
ranking. Rows, scores and order are those of `search_exact` over each pool alone, to the bit.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Distance, Rows, Vectors, check_vectors, require_distance
from pinakes.indexers.exact.search import BLOCK_ROWS, Block, Pass, Search, TieOrder, choose_pass, let_go


def search_nested(
    queries: Vectors,
    documents: Vectors,
    pools: Sequence[Rows],
    k: int,
    distance: Distance = "cosine",
    tie_order: TieOrder | None = None,
    device: str = "cpu",
    block_rows: int | None = None,
    *,
    method: Pass | Literal["auto"] = "auto",
) -> Iterator[tuple[Rows, Vectors]]:
    """For each pool, the `k` best documents of each query, as `search_exact` gives them for that `pool`.

    `documents` is a matrix (n, d), which may lie in a file; `pools` are rows of it, each once, and each pool
    holds all rows of the one before. Yields rows (q, min(k, pool)) int64 and scores of that shape, best
    first. `tie_order` is of all n. Raises `IndexingError` for pools that are not nested, and as
    `search_exact` does.
    """
    require_distance(distance)
    if k < 1:
        raise IndexingError(f"k is {k}; expected at least 1")
    checked = check_vectors(queries, "query")
    most = len(pools[-1]) if len(pools) else 0
    kind = choose_pass(method, checked, device)
    search = Search(checked, max(1, min(k, most)), distance, tie_order, device, kind)
    for added in _differences(pools, len(documents)):
        for start in range(0, len(added), block_rows or BLOCK_ROWS):
            rows = added[start : start + (block_rows or BLOCK_ROWS)]
            search.add(Block(rows, documents[rows]), None)
            let_go(documents)
        yield search.best.take(min(k, search.seen))


def _differences(pools: Sequence[Rows], count: int) -> Iterator[Rows]:
    """The rows that each pool adds to the one before, ascending."""
    seen = np.zeros(count, dtype=bool)
    total = 0
    for number, pool in enumerate(pools):
        rows = np.unique(np.asarray(pool, dtype=np.int64))
        if len(rows) and not 0 <= rows[0] <= rows[-1] < count:
            raise IndexingError(
                f"pool {number} names rows {rows[0]} to {rows[-1]}; expected 0 to {count - 1}"
            )
        if int(seen[rows].sum()) != total:
            raise IndexingError(f"pool {number} lacks rows of the pool before it; expected nested pools")
        yield rows[~seen[rows]]
        seen[rows] = True
        total = len(rows)
