"""B-cubed: Amigó et al.'s definition worked by hand, and an independent computation pair by pair."""

import numpy as np
import pytest

from pinakes.evaluators.bcubed import combine_f1, compare_clusterings


def test_bcubed_of_a_clustering_worked_by_hand() -> None:
    # Two true clusters, abcde and fg; predicted are abc, de+f, and g.
    found = compare_clusterings(list("AAAAABB"), list("1112223"))
    assert found.precision.tolist() == [1.0, 1.0, 1.0, 2 / 3, 2 / 3, 1 / 3, 1.0]
    assert found.recall.tolist() == [3 / 5, 3 / 5, 3 / 5, 2 / 5, 2 / 5, 1 / 2, 1 / 2]
    assert found.f1.tolist() == pytest.approx([3 / 4, 3 / 4, 3 / 4, 1 / 2, 1 / 2, 2 / 5, 2 / 3])


def test_the_same_partition_under_other_names_is_perfect() -> None:
    found = compare_clusterings([1, 1, 2, 3], ["b", "b", "c", "a"])
    assert (found.precision.tolist(), found.recall.tolist()) == ([1.0] * 4, [1.0] * 4)


def test_one_cluster_of_all_has_full_recall_and_singletons_full_precision() -> None:
    together = compare_clusterings(list("aab"), [0, 0, 0])
    assert (together.precision.tolist(), together.recall.tolist()) == ([2 / 3, 2 / 3, 1 / 3], [1.0] * 3)
    apart = compare_clusterings(list("aab"), [0, 1, 2])
    assert (apart.precision.tolist(), apart.recall.tolist()) == ([1.0] * 3, [0.5, 0.5, 1.0])


def test_an_item_that_is_left_out_counts_as_zero_and_lowers_its_clusters_recall() -> None:
    found = compare_clusterings(list("aaab"), [1, 1, None, None])
    assert found.precision.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert found.recall.tolist() == [2 / 3, 2 / 3, 0.0, 0.0]
    assert found.f1.tolist() == pytest.approx([0.8, 0.8, 0.0, 0.0])


def test_every_pair_counted_gives_the_same() -> None:
    random = np.random.default_rng(5)
    true, predicted = random.integers(0, 6, size=80).tolist(), random.integers(0, 9, size=80).tolist()
    found = compare_clusterings(true, predicted)
    for item in range(80):
        own = {other for other in range(80) if predicted[other] == predicted[item]}
        right = {other for other in range(80) if true[other] == true[item]}
        assert found.precision[item] == len(own & right) / len(own)
        assert found.recall[item] == len(own & right) / len(right)


def test_f1_of_nothing_right_is_zero() -> None:
    assert combine_f1(np.array([0.0, 1.0]), np.array([0.0, 0.0])).tolist() == [0.0, 0.0]


def test_no_items_have_no_scores() -> None:
    found = compare_clusterings([], [])
    assert (len(found.precision), len(found.recall)) == (0, 0)


def test_clusterings_of_different_items_are_refused() -> None:
    with pytest.raises(ValueError, match="2 true and 1 predicted clusters"):
        compare_clusterings([1, 2], [1])
