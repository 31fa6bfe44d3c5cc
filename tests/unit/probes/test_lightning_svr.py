"""The published regression is lightning's, step by step, its misplaced dual variables included."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from pinakes.indexers.probes.base import NUMBER_GRID, RULES, Rules
from pinakes.indexers.probes.lightning_svr import fit_as_lightning
from pinakes.indexers.probes.numbers import predict_numbers

PUBLISHED = RULES["published"]
Numbers = NDArray[np.float64]


def shuffle_as_randomkit(generator: np.random.RandomState, order: list[int]) -> None:
    """lightning's `RandomState.shuffle` with `rk_interval`, on the raw words of the same Mersenne Twister."""
    for i in range(len(order) - 1, 0, -1):
        mask = (1 << i.bit_length()) - 1
        while (j := int(generator.randint(0, 2**32, dtype=np.uint32)) & mask) > i:
            pass
        order[i], order[j] = order[j], order[i]


def fit_literally(x: Numbers, y: Numbers, limit: float, tol: float, max_iter: int) -> tuple[Numbers, bool]:
    """The loop of `_dual_cd_svr` with the loss "epsilon_insensitive" and epsilon 0, line by line."""
    rs = np.random.RandomState(42)
    n_samples = len(x)
    a = list(range(n_samples))
    w, alpha_ = np.zeros(x.shape[1]), np.zeros(n_samples * 2)
    violation_init = 0.0
    for t in range(max_iter):
        shuffle_as_randomkit(rs, a)
        violation_sum = 0.0
        for s in range(n_samples * 2):
            i = a[s % n_samples]
            pred = float(w @ x[i])
            alpha_old = alpha_[s]
            pos = s % 2 == 0
            g = pred - y[i] if pos else -pred + y[i]
            pg = 0.0
            if alpha_old == 0:
                pg = min(g, 0.0)
            elif alpha_old == limit:
                pg = max(g, 0.0)
            else:
                pg = g
            violation_sum += abs(pg)
            if abs(pg) > 1e-12:
                alpha_[s] = min(max(alpha_old - g / float(x[i] @ x[i]), 0.0), limit)
                diff = alpha_[s] - alpha_old if pos else -alpha_[s] + alpha_old
                w += diff * x[i]
        if t == 0:
            violation_init = violation_sum
        if violation_sum / violation_init < tol:
            return w, True
    return w, False


def make_examples(rows: int = 23) -> tuple[NDArray[np.float32], Numbers]:
    generator = np.random.default_rng(3)
    vectors = generator.normal(size=(rows, 4)).astype(np.float32)
    return vectors, vectors @ np.array([1.0, -2.0, 0.5, 0.0]) + generator.normal(size=rows)


def test_every_c_takes_lightnings_steps() -> None:
    vectors, targets = make_examples()
    rules = Rules(intercept=False, tolerance=0.3, max_epochs=40)
    grid = (*NUMBER_GRID, 3.0, 0.5)  # more than go together
    weights, unconverged = fit_as_lightning((vectors, targets), np.arange(23), grid, rules)
    literal = [fit_literally(vectors.astype(np.float64), targets, limit, 0.3, 40) for limit in grid]
    np.testing.assert_allclose(weights, np.column_stack([w for w, _ in literal]), atol=1e-10)
    assert unconverged == sum(not converged for _, converged in literal)
    assert 0 < unconverged < len(grid)


@pytest.mark.parametrize("rows", [23, 24])
def test_the_search_and_the_last_fit_are_lightnings(rows: int) -> None:
    vectors, targets = make_examples(rows)
    rules = Rules(intercept=False, tolerance=1e-3, max_epochs=30, lightning_regression=True)
    predictions = predict_numbers(vectors, targets, vectors[:5], rules, NUMBER_GRID)
    wide = vectors.astype(np.float64)
    scores = [
        np.mean(
            [
                r2_score(
                    targets[test], wide[test] @ fit_literally(wide[train], targets[train], c, 1e-3, 30)[0]
                )
                for train, test in KFold(3).split(wide)
            ]
        )
        for c in NUMBER_GRID
    ]
    np.testing.assert_allclose(predictions.grid_scores, scores, atol=1e-9)
    assert predictions.chosen == (NUMBER_GRID[int(np.argmax(scores))],)
    last = fit_literally(wide, targets, predictions.chosen[0], 1e-3, 30)[0]
    np.testing.assert_allclose(predictions.values, wide[:5] @ last, atol=1e-9)


def test_a_vector_of_zeros_is_no_division_by_zero() -> None:
    vectors, targets = make_examples()
    vectors[4] = 0.0
    weights, _ = fit_as_lightning((vectors, targets), np.arange(23), (1.0,), PUBLISHED)
    assert np.isfinite(weights).all()


def test_lightnings_steps_are_not_the_problems_solution() -> None:
    vectors, targets = make_examples(400)
    stated = Rules(intercept=False, tolerance=1e-3)
    literal, solved = (
        predict_numbers(vectors[:300], targets[:300], vectors[300:], rules, (1.0,)).values
        for rules in (PUBLISHED, stated)
    )
    assert r2_score(targets[300:], literal) < r2_score(targets[300:], solved) - 0.02
