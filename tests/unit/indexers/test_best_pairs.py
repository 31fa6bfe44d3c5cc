"""The best pair decides, exactly, in a pool as in the whole, and ties are broken by the order given."""

import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.names import Distance
from pinakes.indexers.transport.best_pairs import (
    VectorGroups,
    group_vectors,
    order_pool,
    score_best_pairs,
    search_best_pairs,
)


def floats(values: object) -> Vectors:
    return np.asarray(values, dtype=np.float32)


def make_groups(seed: int, sizes: list[int], dimensions: int = 4) -> VectorGroups:
    # Few distinct numbers, so that many scores are equal.
    values = np.random.default_rng(seed).integers(-1, 2, (sum(sizes), dimensions)).astype(np.float32)
    return VectorGroups(values, np.repeat(np.arange(len(sizes)), sizes), len(sizes))


def score_by_hand(
    queries: VectorGroups, documents: VectorGroups, number: int, distance: Distance
) -> list[float]:
    best: list[float] = []
    for group in range(documents.count):
        pairs = [
            (left.astype(np.float64), right.astype(np.float64))
            for left in queries.vectors[queries.owners == number]
            for right in documents.vectors[documents.owners == group]
        ]
        if distance == "l2":
            best.append(max(-float(np.linalg.norm(left - right)) for left, right in pairs))
        else:
            lengths = [np.linalg.norm(left) * np.linalg.norm(right) for left, right in pairs]
            best.append(
                max(
                    left @ right / (length or 1) for (left, right), length in zip(pairs, lengths, strict=True)
                )
            )
    return best


def test_the_best_pair_is_the_score() -> None:
    documents = VectorGroups(floats([[1, 0], [0, 1], [3, 4]]), np.array([0, 0, 1]), 2)
    query = floats([[0, 2], [1, 0]])
    assert score_best_pairs(query, documents, np.array([0, 1]), "cosine").tolist() == pytest.approx(
        [1.0, 0.8]
    )
    assert score_best_pairs(query, documents, np.array([1, 0]), "l2").tolist() == pytest.approx(
        [-(13**0.5), 0.0]
    )


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_search_finds_what_looking_at_every_pair_finds(distance: Distance, k: int) -> None:
    sizes = [1 + (number * 7) % 5 for number in range(40)]
    documents, queries = make_groups(1, sizes), make_groups(2, [3, 1, 4])
    ties = np.random.default_rng(3).permutation(40)
    found = list(search_best_pairs(queries, documents, k, distance, ties))
    for number, (groups, scores) in enumerate(found):
        by_hand = floats(score_by_hand(queries, documents, number, distance))
        expected = np.lexsort((ties, -by_hand))[:k]
        np.testing.assert_allclose(scores, by_hand[expected], atol=1e-6)
        pool = np.arange(40)
        best = score_best_pairs(queries.vectors[queries.owners == number], documents, pool, distance)
        whole = order_pool(pool, best, ties)
        assert groups.tolist() == whole[0][:k].tolist()
        assert scores.tolist() == whole[1][:k].tolist()


def test_equal_scores_are_ordered_by_the_tie_order() -> None:
    documents = VectorGroups(floats([[1, 0]] * 4), np.array([0, 0, 1, 2]), 3)
    best = score_best_pairs(floats([[1, 0]]), documents, np.arange(3), "cosine")
    rows, scores = order_pool(np.arange(3), best, np.array([2, 0, 1]))
    assert (rows.tolist(), scores.tolist()) == ([1, 2, 0], [1.0, 1.0, 1.0])


def test_a_query_or_a_collection_without_vectors_has_an_empty_ranking() -> None:
    documents, queries = make_groups(1, [2, 2]), VectorGroups(np.zeros((1, 4), np.float32), np.array([1]), 2)
    nothing, something = search_best_pairs(queries, documents, 5, "cosine", np.arange(2))
    assert (len(nothing[0]), len(something[0])) == (0, 2)
    empty = VectorGroups(np.empty((0, 4), np.float32), np.empty(0, np.int64), 2)
    assert [len(rows) for rows, _ in search_best_pairs(queries, empty, 5, "cosine", np.arange(2))] == [0, 0]


def test_a_paper_without_a_vector_is_never_scored() -> None:
    documents = VectorGroups(floats([[1, 0]]), np.array([1]), 2)
    with pytest.raises(IndexingError, match="has no vector to pair"):
        score_best_pairs(floats([[1, 0]]), documents, np.array([0]), "cosine")


def test_vectors_are_grouped_in_the_order_of_their_positions() -> None:
    grouped = group_vectors(floats([[3], [1], [2]]), np.array([1, 0, 1]), np.array([2, 9, 1]), 2)
    assert (grouped.vectors.ravel().tolist(), grouped.starts.tolist()) == ([1.0, 2.0, 3.0], [0, 1, 3])
