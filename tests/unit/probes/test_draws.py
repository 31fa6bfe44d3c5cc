"""Few-shot draws are the published evaluator's, index by index."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from pinakes.errors import BenchmarkError
from pinakes.indexers.probes.draws import draw_folds, draw_positives, list_short_labels


def publish_positives(y: NDArray[np.int64], sample_size: int, num_iterations: int) -> list[list[int]]:
    """The published lines as they stand, numpy's global generator included (and given back)."""
    state = np.random.get_state()
    draws = []
    for k in range(num_iterations):
        idx_set: set[int] = set()
        np.random.seed(42 + k)
        for yi in range(y.shape[1]):
            idx_set.update(np.random.choice(np.where(y[:, yi] == 1)[0], sample_size, replace=False).tolist())
        req_idx = list(idx_set)
        draws.append(req_idx)
    np.random.set_state(state)
    return draws


def publish_folds(y: NDArray[np.int64], sample_size: int, num_iterations: int) -> list[list[int]]:
    """The published lines but for their counter; their `train` is the part that a fold holds out."""
    x = np.zeros((len(y), 2))
    skf = StratifiedKFold(n_splits=math.ceil(x.shape[0] / sample_size))
    draws = []
    for count, (_, train) in enumerate(skf.split(x, y), start=1):
        draws.append(train.tolist())
        if count == num_iterations:
            break
    return draws


def make_members(seed: int, rows: int, labels: int, share: float) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((rows, labels)) < share


@pytest.mark.parametrize(("rows", "size"), [(300, 5), (300, 10), (68_000, 10), (500_000, 5)])
def test_positives_are_the_published_draws_in_their_order(rows: int, size: int) -> None:
    members = make_members(1, rows, 23, 0.1)
    published = publish_positives(members.astype(np.int64), size, 6)
    drawn = draw_positives(members, size, 6)
    assert [draw.tolist() for draw in drawn] == published
    assert all(draw.dtype == np.intp for draw in drawn)


def test_the_order_of_positives_is_a_set_s_and_not_the_sorted_one() -> None:
    draws = draw_positives(make_members(1, 68_000, 23, 0.1), 10, 1)
    assert draws[0].tolist() != sorted(draws[0].tolist())


def test_numpys_own_generator_is_left_alone() -> None:
    np.random.seed(7)
    expected = np.random.random(3).tolist()
    np.random.seed(7)
    draw_positives(make_members(2, 50, 3, 0.5), 2, 3)
    assert np.random.random(3).tolist() == expected


def test_a_short_label_gives_all_its_positives_and_moves_no_other_draw() -> None:
    members = make_members(3, 400, 4, 0.4)
    short = members.copy()
    short[:, 1] = False
    short[[7, 9], 1] = True
    without = np.delete(members, 1, axis=1)
    for draw, others in zip(draw_positives(short, 8, 5), draw_positives(without, 8, 5), strict=True):
        assert set(draw.tolist()) == set(others.tolist()) | {7, 9}
    assert list_short_labels(short, 8) == [1]
    assert list_short_labels(short, 2) == []


def test_a_label_without_positives_gives_none() -> None:
    members = np.zeros((6, 2), dtype=np.bool_)
    members[1:4, 0] = True
    assert [sorted(draw.tolist()) for draw in draw_positives(members, 3, 2)] == [[1, 2, 3], [1, 2, 3]]
    assert list_short_labels(members, 1) == [1]


def test_no_positive_at_all_is_an_error() -> None:
    with pytest.raises(BenchmarkError, match="none of 2 labels has a positive among 5 training examples"):
        draw_positives(np.zeros((5, 2), dtype=np.bool_), 1, 1)


@settings(max_examples=30)
@given(st.integers(0, 99), st.integers(30, 200), st.integers(1, 5), st.integers(3, 15), st.integers(1, 30))
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_folds_are_the_published_draws(seed: int, rows: int, kinds: int, size: int, iterations: int) -> None:
    classes = np.random.default_rng(seed).integers(0, kinds, rows)
    if np.bincount(classes).max() < math.ceil(rows / size):
        with pytest.raises(BenchmarkError, match="the largest class"):
            draw_folds(classes, size, iterations)
        return
    drawn = draw_folds(classes, size, iterations)
    assert [draw.tolist() for draw in drawn] == publish_folds(classes, size, iterations)


def test_fewer_folds_than_iterations_are_fewer_draws() -> None:
    assert [draw.tolist() for draw in draw_folds(np.array([0, 1] * 4), 4, 50)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_rare_class_is_absent_from_draws_without_a_warning() -> None:
    classes = np.array([0] * 11 + [1])
    draws = draw_folds(classes, 3, 4)
    assert [classes[draw].sum() for draw in draws] == [0, 0, 0, 1]


@pytest.mark.parametrize("size", [8, 9])
def test_a_draw_of_the_whole_training_set_is_an_error(size: int) -> None:
    with pytest.raises(BenchmarkError, match=f"a few-shot draw of {size} takes the whole training set of 8"):
        draw_folds(np.zeros(8, dtype=np.int64), size, 3)


def test_classes_that_all_have_too_few_members_are_an_error() -> None:
    with pytest.raises(BenchmarkError, match="6 training examples make 6 few-shot draws of 1"):
        draw_folds(np.array([0, 0, 1, 1, 2, 2]), 1, 3)


@pytest.mark.parametrize(("size", "iterations"), [(0, 3), (-1, 3), (3, 0)])
def test_sizes_and_numbers_of_draws_are_positive(size: int, iterations: int) -> None:
    with pytest.raises(BenchmarkError, match="expected 1 or more of both"):
        draw_folds(np.zeros(8, dtype=np.int64), size, iterations)
    with pytest.raises(BenchmarkError, match="expected 1 or more of both"):
        draw_positives(np.ones((8, 1), dtype=np.bool_), size, iterations)
