"""Pools and digests from rows, whatever order a database gives them in."""

import numpy as np
import pyarrow as pa
import pytest

from pinakes.pipeline.workload import Ids, _digest, _order_ties, _read_pools, _sort
from pinakes.queries.definition import read_benchmark

PAPERS: Ids = np.array([5, 7, 9], dtype=np.int64)


def candidates(order: list[int]) -> pa.Table:
    rows = [("B", 5), ("a", 7), ("a", 9), ("é", 5)]
    query_ids, paper_ids = zip(*(rows[place] for place in order), strict=True)
    return pa.table(
        {"query_id": query_ids, "paper_id": paper_ids, "source_id": [f"p{paper}" for paper in paper_ids]}
    )


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 0, 1]])
def test_pools_do_not_depend_on_a_databases_collation(order: list[int]) -> None:
    pools = _read_pools(read_benchmark("csfcube"), _sort(candidates(order)), ["B", "a", "é"], PAPERS)
    assert {query_id: rows.tolist() for query_id, rows in pools.items()} == {"B": [0], "a": [1, 2], "é": [0]}


def test_the_digest_is_of_ids_texts_and_pools() -> None:
    rows = candidates([0, 1, 2, 3])
    base = _digest(["q"], ["text"], ["p5", "p7"], ["d5", "d7"], rows)
    assert base == _digest(["q"], ["text"], ["p7", "p5"], ["d7", "d5"], rows)
    others = {
        _digest(["r"], ["text"], ["p5", "p7"], ["d5", "d7"], rows),
        _digest(["q"], ["other"], ["p5", "p7"], ["d5", "d7"], rows),
        _digest(["q"], ["text"], ["p5", "p8"], ["d5", "d7"], rows),
        _digest(["q"], ["text"], ["p5", "p7"], ["d7", "d5"], rows),
        _digest(["q"], ["text"], ["p5", "p7"], ["d5", "d7"], rows.slice(1)),
        _digest(["q"], ["text"], ["p5", "p7"], ["d5", "d7"], rows.drop(["query_id"])),
    }
    assert len(others | {base}) == 7


def test_ties_are_ordered_byte_by_byte() -> None:
    assert _order_ties(["9", "10", "B", "a", "é", "z"]).tolist() == [4, 5, 3, 2, 0, 1]
