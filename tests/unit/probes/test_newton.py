"""Problems that descend together each reach the optimum that they have alone."""

import functools

import numpy as np
import pytest
from scipy.optimize import minimize

from pinakes.indexers.probes import steps as probe_steps
from pinakes.indexers.probes.nearby import find_lengths, fit_by_products
from pinakes.indexers.probes.newton import Descent, rotate
from pinakes.indexers.probes.products import ACTIVE, NEAR, NO_FOLD, Codes, Doubles, Examples, Problems
from pinakes.indexers.probes.steps import Scaling

random = np.random.default_rng(3)
labels: Codes = random.integers(0, 3, 400)
vectors = (random.standard_normal((400, 7)) + labels[:, None] * np.linspace(0, 1, 7)).astype(np.float32)
folds: Codes = random.integers(0, 3, 400)
problems = Problems(np.array([0, 1, 2, 2]), np.array([NO_FOLD, 0, 1, 2]))
columns: Codes = np.arange(4)


def choose_rows(column: int) -> tuple[Doubles, Doubles]:
    """The training examples of a problem, the intercept's feature last, and their signs."""
    kept = folds != problems.held_out[column]
    rows = np.hstack([vectors.astype(np.float64), np.ones((len(vectors), 1))])
    return rows[kept], np.where(labels == problems.positive[column], 1.0, -1.0)[kept]


def measure(weights: Doubles, rows: Doubles, signs: Doubles, cost: float) -> tuple[float, Doubles]:
    short = np.maximum(1 - signs * (rows @ weights), 0)
    return float(0.5 * weights @ weights + cost * short @ short), weights - 2 * cost * rows.T @ (
        signs * short
    )


@functools.cache
def find_optimum(column: int, cost: float) -> tuple[float, Doubles]:
    rows, signs = choose_rows(column)
    peer = minimize(
        measure, np.zeros(8), (rows, signs, cost), "BFGS", jac=True, options={"gtol": 1e-3 * cost}
    )
    return peer.fun, peer.x


def test_one_pass_evaluates_all_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinakes.indexers.probes.products.ROWS", 30)
    monkeypatch.setattr("pinakes.indexers.probes.products.LANES", 2)
    weights = random.standard_normal((8, 4))
    state = np.zeros((400, 4), dtype=np.uint8)
    with Examples(vectors, labels, folds) as examples:
        loss = examples.evaluate(weights, problems, state, columns)
        curved = examples.curve(weights, problems, state, columns)
        positive, total = examples.count(problems)
        gram = examples.gram()
    order = np.argsort(folds, kind="stable")
    for column in range(4):
        rows, signs = choose_rows(column)
        value, gradient = measure(weights[:, column], rows, signs, 1.0)
        assert loss.value[column] == pytest.approx(value - 0.5 * weights[:, column] @ weights[:, column])
        np.testing.assert_allclose(loss.gradient[:, column], gradient - weights[:, column])
        short = 1 - signs * (rows @ weights[:, column])
        active = rows[short > 0]
        np.testing.assert_allclose(curved[:, column], 2 * active.T @ (active @ weights[:, column]), rtol=1e-4)
        expected = np.zeros(400)
        expected[folds != problems.held_out[column]] = np.where(
            short > 0, ACTIVE, np.where(short > -0.5, NEAR, 0)
        )
        assert state[:, column].tolist() == expected[order].tolist()
        assert (positive[column], total[column]) == ((signs > 0).sum(), len(signs))
    rows, _ = choose_rows(0)
    np.testing.assert_allclose(gram, rows.T @ rows, rtol=1e-5)


@pytest.mark.parametrize("way", ["conjugate", "near", "factorised"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_each_way_to_step_ends_at_the_optimum(cost: float, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_steps, "EXPECTED", 0 if way == "conjugate" else 10**6)
    monkeypatch.setattr(probe_steps, "DOUBLE", 10**6 if way == "conjugate" else 1)
    monkeypatch.setattr(probe_steps, "MOST_NEAR", 10**6 if way == "near" else 0)
    with Examples(vectors, labels, folds) as examples:
        fits = Descent(examples, problems, Scaling.of(examples)).solve(cost, 1e-9)
    assert fits.converged.tolist() == [True] * 4
    for column in range(4):
        rows, signs = choose_rows(column)
        lowest, best = find_optimum(column, cost)
        value, gradient = measure(fits.weights[:, column], rows, signs, cost)
        assert value <= lowest * (1 + 1e-12)
        np.testing.assert_allclose(fits.weights[:, column], best, atol=1e-4)
        assert fits.remaining[column] == pytest.approx(np.linalg.norm(gradient), abs=1e-8 * cost)


def test_a_cost_after_another_ends_where_it_ends_alone() -> None:
    with Examples(vectors, labels, folds) as examples:
        scaling = Scaling.of(examples)
        path = Descent(examples, problems, scaling)
        path.solve(0.01, 1e-4)
        after = path.solve(10.0, 1e-10)
        alone = Descent(examples, problems, scaling).solve(10.0, 1e-10)
    np.testing.assert_allclose(after.weights, alone.weights, atol=1e-9)


def test_a_limit_of_steps_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinakes.indexers.probes.newton.MOST_STEPS", 0)
    with Examples(vectors, labels, folds) as examples:
        fits = Descent(examples, problems, Scaling.of(examples)).solve(100.0, 1e-9)
    assert fits.converged.tolist() == [False] * 4


def test_turned_examples_have_the_same_products_and_weights() -> None:
    few = vectors[:5]
    turned, basis = rotate(few, intercept=True)
    rows = np.hstack([few.astype(np.float64), np.ones((5, 1))])
    assert turned.shape == (5, 5)
    np.testing.assert_allclose(turned @ turned.T, rows @ rows.T)
    np.testing.assert_allclose(turned @ basis.T, rows)


def test_the_best_length_of_a_step_is_where_the_function_is_lowest() -> None:
    short, rate = random.standard_normal((40, 3)), random.standard_normal((40, 3))
    weights, steps = random.standard_normal((2, 5, 3))
    rate[:, 1] -= 3  # so that the whole step is too short
    lengths = find_lengths(short, rate, 2.0, (weights * steps).sum(axis=0), (steps**2).sum(axis=0))
    for column, length in enumerate(lengths.tolist()):

        def value(at: float, column: int = column) -> float:
            point = weights[:, column] + at * steps[:, column]
            hinge = np.maximum(short[:, column] + at * rate[:, column], 0)
            return float(0.5 * point @ point + 2.0 * hinge @ hinge)

        grid = np.linspace(0, 20, 20001)
        lowest = float(grid[np.argmin([value(at) for at in grid])])
        assert max(length, 0.0) == pytest.approx(lowest, abs=1e-3)


def test_examples_by_their_products_are_fitted_exactly() -> None:
    rows, signs = choose_rows(0)
    rows, signs = rows[:60], signs[:60]
    point = fit_by_products(rows @ rows.T, signs, np.zeros(60, dtype=np.bool_), 1.0)
    _, gradient = measure(rows.T @ point, rows, signs, 1.0)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
