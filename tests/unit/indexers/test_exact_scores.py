"""Exact scores have the bits of one fixed order of additions, in whatever order they are computed."""

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.indexers.exact import scores as exact_scores
from pinakes.indexers.exact.scores import CheckedVectors, Rows, Vectors, check_vectors, score_rows
from pinakes.indexers.names import DISTANCES, Distance

PRODUCTS: tuple[Distance, ...] = ("cosine", "inner_product")
INNER_PRODUCT = DISTANCES.index("inner_product")
WIDTHS = [0, 1, 2, 7, 8, 31, 64, 96, 384, 768, 1001]


def score_in_order(left: CheckedVectors, right: CheckedVectors, pairs: Rows, distance: Distance) -> Vectors:
    """The scores of the pairs (m, 2), each by the fixed order."""
    scores = np.empty(len(pairs), dtype=np.float32)
    query, document = np.ascontiguousarray(pairs.T)
    given = (left.values, right.values, left.lengths, right.lengths, query, document)
    exact_scores.score_into(*given, DISTANCES.index(distance), scores)
    return scores


def make_vectors(width: int) -> CheckedVectors:
    """90 vectors of lengths from 1e-18 to 1e18, one of zeros and a tiny one among them."""
    random = np.random.default_rng(width)
    norms = (10.0 ** random.uniform(-18, 18, (90, 1))).astype(np.float32)
    vectors = random.standard_normal((90, width)).astype(np.float32) * norms
    vectors[3] = 0
    vectors[4] *= np.float32(1e-30)
    return check_vectors(vectors, "document")


def make_cancelled(width: int) -> CheckedVectors:
    """50 vectors of which any two have a product that rounding alone decides, and half of them twice."""
    random = np.random.default_rng(width)
    half = random.standard_normal((25, width // 2)).astype(np.float32)
    turned = half[:, random.permutation(width // 2)] * np.float32(1e-9)
    vectors = np.concatenate([np.hstack((half, half + turned)), np.hstack((half, -half))])
    return check_vectors(vectors, "document")


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("width", WIDTHS)
def test_scores_have_the_bits_of_the_fixed_order(width: int, distance: Distance) -> None:
    vectors = make_vectors(width)
    pairs = np.indices((90, 90)).reshape(2, -1).T
    expected = score_in_order(vectors, vectors, pairs, distance)
    assert score_rows(vectors, vectors, pairs[:, 0], pairs[:, 1], distance).tobytes() == expected.tobytes()


@pytest.mark.parametrize("distance", PRODUCTS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 9, 500])
def test_pairs_come_in_any_number_and_order(count: int, distance: Distance) -> None:
    vectors = make_vectors(64)
    random = np.random.default_rng(count)
    for queries in (1, 3, 90):
        pairs = np.column_stack((random.integers(0, queries, count), random.integers(0, 90, count)))
        for ordered in (pairs, pairs[np.lexsort(pairs.T[::-1])]):
            expected = score_in_order(vectors, vectors, ordered, distance)
            assert (
                score_rows(vectors, vectors, ordered[:, 0], ordered[:, 1], distance).tobytes()
                == expected.tobytes()
            )


@pytest.mark.parametrize("distance", PRODUCTS)
@pytest.mark.parametrize("width", [64, 96, 768])
def test_a_product_that_rounding_alone_decides_is_that_of_the_fixed_order(
    width: int, distance: Distance
) -> None:
    vectors = make_cancelled(width)
    pairs = np.indices((50, 50)).reshape(2, -1).T
    expected = score_in_order(vectors, vectors, pairs, distance)
    assert score_rows(vectors, vectors, pairs[:, 0], pairs[:, 1], distance).tobytes() == expected.tobytes()
    # Without a second look some would have other bits: the case is one.
    products: NDArray[np.float64] = np.empty(len(pairs))
    query, document = (np.ascontiguousarray(side) for side in pairs.T)
    exact_scores.multiply_pairs(vectors.values, vectors.values, query, document, products)
    if distance == "cosine":
        products /= vectors.lengths[query] * vectors.lengths[document]
    assert (products.astype(np.float32) != expected).any()


def test_every_pair_that_could_be_rounded_otherwise_is_told() -> None:
    products = np.array([1.0, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-40, 1 + 2.0**-24 - 2.0**-50, 0.0])
    rows, lengths = np.arange(5), np.ones(5)
    scores, unsure = np.empty(5, dtype=np.float32), np.empty(5, dtype=np.int64)
    found = exact_scores.round_products(
        products, 64, lengths, lengths, rows, rows, INNER_PRODUCT, scores, unsure
    )
    assert unsure[:found].tolist() == [1, 3, 4]
    assert scores[[0, 2]].tolist() == [1.0, 1 + 2.0**-23]


@pytest.mark.parametrize("width", [1, 7, 64, 768])
@pytest.mark.parametrize("spread", [0.0, 1e-6, 1e-4, 1e-2])
def test_distances_of_vectors_far_from_the_origin_are_those_of_their_differences(
    width: int, spread: float
) -> None:
    random = np.random.default_rng(width)
    moved = 1000 * random.standard_normal(width) + spread * random.standard_normal((50, width))
    vectors = check_vectors(moved.astype(np.float32), "document")
    pairs = np.indices((50, 50)).reshape(2, -1).T
    expected = score_in_order(vectors, vectors, pairs, "l2")
    assert score_rows(vectors, vectors, pairs[:, 0], pairs[:, 1], "l2").tobytes() == expected.tobytes()


def test_vectors_that_may_be_written_to_and_others_are_scored_alike() -> None:
    vectors = make_vectors(64)
    fixed = CheckedVectors(vectors.values.copy(), vectors.lengths)
    fixed.values.flags.writeable = False
    query, document = np.indices((90, 90)).reshape(2, -1)
    found = [
        score_rows(left, right, query, document, "cosine").tobytes()
        for left, right in ((vectors, fixed), (fixed, vectors))
    ]
    assert found[0] == found[1]
    assert vectors.values.flags.writeable
