"""The best of parts, merged, are the best of all: to the bit, in a total order."""

import numpy as np
import pytest

from pinakes.indexers.exact.best import key_scores
from pinakes.indexers.exact.merge import MergedBest, pack_keys
from pinakes.indexers.order import order_best


@pytest.mark.parametrize("k", [1, 7, 200])
def test_parts_in_any_order_give_what_one_sort_gives(k: int) -> None:
    drawn = np.random.default_rng(k)
    # Few different scores, so that most places are decided by the rank.
    scores = (drawn.integers(-3, 4, (5, 90)) / 3).astype(np.float32)
    ranks = np.stack([drawn.permutation(90) for _ in range(5)]).astype(np.uint32)
    best = MergedBest(5, k)
    for part in drawn.permutation(9):
        columns = slice(part * 10, part * 10 + 10)
        best.add(ranks[:, columns], scores[:, columns])
    found, kept = best.take()
    for query in range(5):
        order = order_best(scores[query], ranks[query])[:k]
        np.testing.assert_array_equal(found[query], ranks[query][order])
        np.testing.assert_array_equal(kept[query].view(np.uint32), scores[query][order].view(np.uint32))


def test_keys_keep_every_bit_of_a_score() -> None:
    scores = np.array([0.0, 1e-45, -1e-45, 3e38, -3e38, 0.1], np.float32)
    kept = key_scores(pack_keys(scores, np.arange(6, dtype=np.uint32))).astype(np.float32)
    np.testing.assert_array_equal(kept.view(np.uint32), scores.view(np.uint32))


def test_nothing_is_found_of_nothing() -> None:
    rows, scores = MergedBest(3, 4).take()
    assert rows.shape == scores.shape == (3, 0)
