"""Exact search against a naive reference in float64, with ties, cuts through ties and odd blocks."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.exact.scores import score_pairs
from pinakes.indexers.exact.search import Block, score_pools, search_exact
from pinakes.indexers.names import Distance
from tests.long import sample

Vectors = NDArray[np.float32]
DISTANCES: list[Distance] = ["cosine", "l2", "inner_product"]


def naive_scores(queries: Vectors, documents: Vectors, distance: Distance) -> Vectors:
    left, right = queries.astype(np.float64), documents.astype(np.float64)
    if distance == "l2":
        distances: Vectors = np.sqrt(((left[:, None] - right[None]) ** 2).sum(axis=2)).astype(np.float32)
        return -distances
    product = left @ right.T
    if distance == "cosine":
        product /= np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None]
    return product.astype(np.float32)


def naive_search(scores: Vectors, tie_order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    ranked = [sorted(range(len(row)), key=lambda i: (-row[i], tie_order[i]))[:k] for row in scores]
    return np.array(ranked)


@pytest.fixture(scope="module")
def tied() -> tuple[Vectors, Vectors, NDArray[np.int64]]:
    """7 queries, 600 documents of which every vector occurs about ten times, and a shuffled tie order."""
    random = np.random.default_rng(3)
    distinct = random.standard_normal((60, 48)).astype(np.float32)
    documents = distinct[random.integers(0, 60, 600)]
    queries = np.concatenate((random.standard_normal((5, 48)).astype(np.float32), distinct[:2]))
    return queries, documents, random.permutation(600)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("k", [1, 5, 10, 237, 600])
def test_search_equals_the_naive_reference_where_k_cuts_through_ties(
    tied: tuple[Vectors, Vectors, NDArray[np.int64]], distance: Distance, k: int
) -> None:
    queries, documents, tie_order = tied
    # The reference scores each distinct pair alone, so that equal vectors have equal scores.
    expected_scores = naive_scores(queries, documents, distance)
    rows, scores = search_exact(queries, documents, k, distance, tie_order, block_rows=97)
    np.testing.assert_allclose(
        scores, np.take_along_axis(expected_scores, rows, axis=1), rtol=2e-7, atol=1e-7
    )
    pairs = np.stack(np.meshgrid(range(7), range(600), indexing="ij"), axis=-1).reshape(-1, 2)
    exact = score_pairs(queries, documents, pairs, distance).reshape(7, 600)
    np.testing.assert_allclose(exact, expected_scores, rtol=2e-7, atol=1e-7)
    assert rows.tolist() == naive_search(exact, tie_order, k).tolist()


@pytest.mark.parametrize("distance", sample(DISTANCES, 2))
def test_result_is_the_same_bits_for_every_block_size_and_thread_count(
    tied: tuple[Vectors, Vectors, NDArray[np.int64]], distance: Distance
) -> None:
    queries, documents, tie_order = tied
    whole = search_exact(queries, documents, 25, distance, tie_order, block_rows=600)
    threads = torch.get_num_threads()
    try:
        for count, block_rows in ((1, 1), (1, 64), (2, 7), (2, 599)):
            torch.set_num_threads(count)
            again = search_exact(queries, documents, 25, distance, tie_order, block_rows=block_rows)
            assert again[0].tolist() == whole[0].tolist()
            assert again[1].tobytes() == whole[1].tobytes()
    finally:
        torch.set_num_threads(threads)


def test_many_queries_are_searched_in_parts_with_the_same_result(
    tied: tuple[Vectors, Vectors, NDArray[np.int64]], monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents, tie_order = tied
    whole = search_exact(queries, documents, 12, "cosine", tie_order)
    monkeypatch.setattr("pinakes.indexers.exact.product.SCORES_AT_ONCE", 300)
    parts = search_exact(queries, documents, 12, "cosine", tie_order, block_rows=100)
    assert parts[0].tolist() == whole[0].tolist()
    assert parts[1].tobytes() == whole[1].tobytes()


def test_scores_are_cosine_inner_product_and_minus_the_euclidean_distance() -> None:
    queries = np.array([[3.0, 4.0]], dtype=np.float32)
    documents = np.array([[6.0, 8.0], [0.0, 0.0], [4.0, -3.0]], dtype=np.float32)
    found = {distance: search_exact(queries, documents, 3, distance) for distance in DISTANCES}
    assert [(rows.tolist(), scores.tolist()) for rows, scores in found.values()] == [
        ([[0, 1, 2]], [[1.0, 0.0, 0.0]]),
        ([[0, 1, 2]], [[-5.0, -5.0, -7.071067810058594]]),
        ([[0, 1, 2]], [[50.0, 0.0, 0.0]]),
    ]


def test_equal_scores_follow_the_tie_order() -> None:
    queries = np.array([[1.0, 0.0]], dtype=np.float32)
    documents = np.array([[2.0, 0.0]] * 4, dtype=np.float32)
    rows, scores = search_exact(queries, documents, 3, "cosine", np.array([2, 0, 3, 1]), block_rows=2)
    assert rows.tolist() == [[1, 3, 0]]
    assert scores.tolist() == [[1.0, 1.0, 1.0]]


def test_close_vectors_far_from_the_origin_keep_their_distances() -> None:
    # Expanding |q - x|² in float32 gives 0 or worse for each of these.
    queries = np.full((1, 4), 4096.0, dtype=np.float32)
    documents = queries + np.array([[0.0, 0.0, 0.0, 0.003], [0.0, 0.0, 0.0, 0.001]], dtype=np.float32)
    rows, scores = search_exact(queries, documents, 2, "l2")
    assert rows.tolist() == [[1, 0]]
    assert scores.tolist() == [[-0.0009765625, -0.0029296875]]


@pytest.mark.parametrize("distance", DISTANCES)
def test_documents_that_differ_less_than_the_product_rounds_are_ranked_rightly(distance: Distance) -> None:
    random = np.random.default_rng(5)
    queries = random.standard_normal((40, 300)).astype(np.float32)
    documents = np.repeat(queries[:1] + queries[1:2], 400, axis=0)
    documents += random.standard_normal((400, 300)).astype(np.float32) * np.float32(1e-7)
    tie_order = random.permutation(400)
    pairs = np.stack(np.meshgrid(range(40), range(400), indexing="ij"), axis=-1).reshape(-1, 2)
    exact = score_pairs(queries, documents, pairs, distance).reshape(40, 400)
    for k in (1, 9, 40):
        rows, _ = search_exact(queries, documents, k, distance, tie_order, block_rows=33)
        assert rows.tolist() == naive_search(exact, tie_order, k).tolist()


def test_blocks_may_come_from_an_iterator_and_k_may_exceed_the_documents() -> None:
    def blocks() -> Iterator[Vectors]:
        yield np.array([[1.0, 1.0]], dtype=np.float32)
        yield np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)

    rows, scores = search_exact(np.array([[1.0, 0.5]], dtype=np.float32), blocks(), 10, "inner_product")
    assert rows.tolist() == [[0, 1, 2]]
    assert scores.tolist() == [[1.5, 1.0, 0.5]]


def test_no_documents_give_an_empty_ranking() -> None:
    rows, scores = search_exact(np.ones((2, 3), dtype=np.float32), np.empty((0, 3), dtype=np.float32), 5)
    assert (rows.shape, scores.shape) == ((2, 0), (2, 0))


def test_tiny_vectors_are_ranked_although_their_products_underflow() -> None:
    queries = np.array([[1e-30, 0.0]], dtype=np.float32)
    documents = np.array([[1e-30, 1e-30], [1e-30, 0.0], [0.0, 1e-30]], dtype=np.float32)
    assert search_exact(queries, documents, 2, "cosine")[0].tolist() == [[1, 0]]


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_pool_has_the_scores_and_the_order_of_the_search(
    tied: tuple[Vectors, Vectors, NDArray[np.int64]], distance: Distance
) -> None:
    queries, documents, tie_order = tied
    rows, scores = search_exact(queries[:1], documents, 600, distance, tie_order)
    pool = np.arange(0, 600, 7)
    kept = np.isin(rows[0], pool)
    ((pool_rows, pool_scores),) = score_pools(queries[:1], documents, [pool], distance, tie_order)
    assert pool_rows.tolist() == rows[0][kept].tolist()
    assert pool_scores.tobytes() == scores[0][kept].tobytes()


def test_a_vector_that_is_not_finite_is_named() -> None:
    documents = np.ones((5, 2), dtype=np.float32)
    documents[3, 1] = np.nan
    query = np.ones((1, 2), dtype=np.float32)
    with pytest.raises(IndexingError, match="document vector 3 is not finite"):
        search_exact(query, documents, 1, block_rows=2)
    with pytest.raises(IndexingError, match="query vector 0 is not finite"):
        search_exact(query * np.float32(np.inf), documents[:3], 1)
    with pytest.raises(IndexingError, match="document vector 3 is not finite"):
        score_pairs(query, documents, np.array([[0, 0]]), "l2")


@pytest.mark.parametrize(
    ("documents", "k", "tie_order", "message"),
    [
        (np.ones((2, 3), np.float32), 1, None, "2 dimensions and documents 3"),
        (np.ones((2, 2), np.float32), 0, None, "k is 0; expected at least 1"),
        (np.ones((2, 2), np.float32), 1, np.arange(1), "one rank for each"),
        (np.ones((2, 2), np.float32), 1, np.arange(3), "tie_order ranks 3 documents; expected all 2"),
        (np.full((2, 2), 1e19, np.float32), 1, None, "scale all of them down"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    documents: Vectors, k: int, tie_order: NDArray[np.int64] | None, message: str
) -> None:
    with pytest.raises(IndexingError, match=message):
        search_exact(np.ones((1, 2), np.float32), documents, k, "inner_product", tie_order)


def test_an_unknown_distance_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="known: cosine, inner_product, l2"):
        search_exact(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32), 1, "dot")  # type: ignore[arg-type]


@pytest.mark.parametrize("distance", DISTANCES)
def test_blocks_may_come_in_any_order_with_their_rows(
    tied: tuple[Vectors, Vectors, NDArray[np.int64]], distance: Distance
) -> None:
    queries, documents, ties = tied
    expected = search_exact(queries, documents, 25, distance, ties)
    shuffled = np.random.default_rng(4).permutation(len(documents))
    blocks = (Block(rows, documents[rows]) for rows in np.split(shuffled, [70, 300, 301]))
    rows, scores = search_exact(queries, blocks, 25, distance, ties)
    assert (rows.tolist(), scores.tolist()) == (expected[0].tolist(), expected[1].tolist())
    pool = np.arange(0, 600, 7)
    blocks = (Block(rows, documents[rows]) for rows in np.split(shuffled, [450]))
    of_pool = search_exact(queries, blocks, 25, distance, ties, pool=pool)
    assert of_pool[0].tolist() == search_exact(queries, documents, 25, distance, ties, pool=pool)[0].tolist()


def test_a_mapped_file_is_searched_like_the_array_in_memory(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    documents = random.standard_normal((900, 24)).astype(np.float32)
    queries = random.standard_normal((50, 24)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", documents)
    mapped = search_exact(queries, np.load(tmp_path / "vectors.npy", mmap_mode="r"), 7, block_rows=100)
    whole = search_exact(queries, documents, 7)
    assert mapped[0].tolist() == whole[0].tolist()
    assert mapped[1].tobytes() == whole[1].tobytes()
