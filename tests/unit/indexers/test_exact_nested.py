"""Nested pools in one pass: each ranking is that of a search over its pool alone, to the bit."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.search import search_exact, search_nested
from pinakes.indexers.names import Distance

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]

needs_kernel = pytest.mark.skipif(not has_kernel(), reason="the int8 pass needs AVX2")


def make_vectors(seed: int, count: int = 900) -> tuple[Vectors, Vectors, Rows]:
    """40 queries, documents of which every third is a copy of another, and a shuffled tie order."""
    random = np.random.default_rng(seed)
    documents = random.standard_normal((count, 37)).astype(np.float32)
    documents[::3] = documents[random.integers(0, count, len(documents[::3]))]
    queries = random.standard_normal((40, 37)).astype(np.float32)
    queries[:2] = documents[:2]
    queries[2] = 0
    return queries, documents, random.permutation(count)


def cut(seed: int, count: int, sizes: list[int]) -> list[Rows]:
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(order[:size]) for size in sizes]


def require_equal(
    queries: Vectors,
    documents: Vectors,
    pools: list[Rows],
    k: int,
    distance: Distance,
    ties: Rows | None,
    method: Literal["auto", "int8", "bf16", "fp32"] = "auto",
) -> None:
    found = list(search_nested(queries, documents, pools, k, distance, ties, block_rows=113, method=method))
    assert len(found) == len(pools)
    for pool, (rows, scores) in zip(pools, found, strict=True):
        expected = search_exact(queries, documents, k, distance, ties, pool=pool, method="fp32")
        assert rows.tolist() == expected[0].tolist()
        assert scores.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("distance", ["cosine", "l2", "inner_product"])
@pytest.mark.parametrize("k", [1, 20, 250, 2000])
def test_each_nested_pool_is_ranked_as_if_it_were_searched_alone(distance: Distance, k: int) -> None:
    queries, documents, ties = make_vectors(k)
    require_equal(queries, documents, cut(k, 900, [30, 200, 201, 700, 900]), k, distance, ties)


@pytest.mark.parametrize("method", ["fp32", "bf16", pytest.param("int8", marks=needs_kernel)])
def test_every_first_pass_gives_the_same_rankings(method: Literal["int8", "bf16", "fp32"]) -> None:
    queries, documents, ties = make_vectors(5)
    require_equal(queries, documents, cut(5, 900, [50, 400, 900]), 60, "cosine", ties, method)


def test_ties_are_cut_by_the_order_in_every_pool() -> None:
    documents = np.ones((30, 4), dtype=np.float32)
    pools = [np.array([3, 8, 20]), np.arange(2, 25)]
    found = list(search_nested(documents[:1], documents, pools, 2, "cosine", np.arange(30)[::-1].copy()))
    assert [rows.tolist() for rows, _ in found] == [[[20, 8]], [[24, 23]]]


def test_a_pool_that_adds_nothing_and_one_of_nobody_are_pools() -> None:
    queries, documents, ties = make_vectors(6)
    pools = [np.empty(0, np.int64), np.array([5]), np.array([5]), np.array([2, 5])]
    found = list(search_nested(queries, documents, pools, 3, "cosine", ties))
    assert [rows.shape for rows, _ in found] == [(40, 0), (40, 1), (40, 1), (40, 2)]
    assert found[1][0].tolist() == found[2][0].tolist() == [[5]] * 40


def test_documents_in_a_file_are_searched_too(tmp_path: Path) -> None:
    queries, documents, ties = make_vectors(7)
    documents.tofile(tmp_path / "vectors")
    mapped = np.memmap(tmp_path / "vectors", np.float32, "r", shape=documents.shape)
    require_equal(queries, mapped, cut(7, 900, [100, 900]), 30, "cosine", ties)


def test_pools_that_are_not_nested_are_refused() -> None:
    queries, documents, _ = make_vectors(8)
    with pytest.raises(IndexingError, match="pool 1 lacks rows of the pool before it"):
        list(search_nested(queries, documents, [np.array([1, 2]), np.array([2, 3, 4])], 5))
    with pytest.raises(IndexingError, match="pool 0 names rows 1 to 900; expected 0 to 899"):
        list(search_nested(queries, documents, [np.array([1, 900])], 5))
    with pytest.raises(IndexingError, match="k is 0"):
        list(search_nested(queries, documents, [np.array([1])], 0))


def test_no_pool_gives_no_ranking() -> None:
    queries, documents, _ = make_vectors(8)
    assert list(search_nested(queries, documents, [], 5)) == []


@given(st.integers(0, 10**6), st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 70))
@settings(max_examples=60)
def test_any_chain_of_any_pools_equals_the_pools_alone(seed: int, sizes: list[int], k: int) -> None:
    random = np.random.default_rng(seed)
    documents = random.integers(-1, 2, (60, 3)).astype(np.float32)
    queries = random.integers(-1, 2, (4, 3)).astype(np.float32)
    pools = [pool for pool in cut(seed, 60, sorted(sizes)) if len(pool)]
    require_equal(queries, documents, pools, k, "cosine", random.permutation(60))
