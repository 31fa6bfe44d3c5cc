"""Each way to the solution meets the optimum's conditions, and all ways give the same one."""

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.indexers.probes import dual, rows
from pinakes.indexers.probes.base import Vectors
from pinakes.indexers.probes.dual import Boxes, Fit, fit_boxes, start_fit
from pinakes.indexers.probes.rows import Rows
from pinakes.indexers.probes.systems import factorise, solve

Numbers = NDArray[np.float64]


def make_examples(seed: int, count: int, dimensions: int) -> tuple[Vectors, Numbers]:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(count, dimensions)).astype(np.float32)
    return vectors, vectors @ generator.normal(size=dimensions) + 2 * generator.normal(size=count)


def make_hinge(scores: Numbers, limit: float) -> Boxes:
    signs = np.where(scores > 0, 1.0, -1.0)
    lower, upper = np.minimum(signs * limit, 0.0), np.maximum(signs * limit, 0.0)
    lower[::7] = upper[::7] = 0.0  # held out
    return Boxes(signs, lower, upper, limit, unit=1.0, by_class=True)


def make_absolute(scores: Numbers, limit: float) -> Boxes:
    bounds = np.full(len(scores), limit)
    bounds[::7] = 0.0
    return Boxes(scores, -bounds, bounds, limit, unit=2.0, by_class=False)


def check_optimum(vectors: Vectors, boxes: Boxes, fit: Fit) -> None:
    """The conditions of the optimum, said anew: outside a bound only where the residual pushes there."""
    wide = np.hstack([vectors.astype(np.float64), np.ones((len(vectors), 1))])
    assert (fit.variables >= boxes.lower).all()
    assert (fit.variables <= boxes.upper).all()
    assert (fit.variables[::7] == 0).all()
    np.testing.assert_allclose(fit.weights, fit.variables @ wide, atol=1e-9)
    np.testing.assert_allclose(fit.values, wide @ fit.weights, atol=1e-9)
    residual = boxes.targets - wide @ fit.weights
    margin = 2e-3
    used = boxes.lower < boxes.upper
    at_upper, at_lower = fit.variables >= boxes.upper, fit.variables <= boxes.lower
    assert (residual[used & at_upper] >= -margin).all()
    assert (residual[used & at_lower] <= margin).all()
    assert (np.abs(residual[used & ~at_upper & ~at_lower]) <= margin).all()
    assert boxes.measure_gap(fit) + 1e-9 >= 0


@pytest.mark.parametrize("make_boxes", [make_hinge, make_absolute])
@pytest.mark.parametrize(("count", "dimensions"), [(60, 5), (150, 30), (700, 120), (40, 90)])
@pytest.mark.parametrize("limit", [0.01, 1.0, 100.0])
def test_by_rows_and_by_pairs_the_optimum_is_met(
    make_boxes: type[Boxes], count: int, dimensions: int, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, scores = make_examples(1, count, dimensions)
    boxes = make_boxes(scores, limit)  # type: ignore[call-arg, arg-type]
    monkeypatch.setattr(rows, "ROWS_A_DIMENSION", 0)
    by_rows = Rows(vectors, intercept=True)
    monkeypatch.setattr(rows, "ROWS_A_DIMENSION", 1000)
    by_pairs = Rows(vectors, intercept=True)
    assert (by_rows.pairs is None, by_pairs.pairs is None) == (True, False)
    fits = [fit_boxes(way, boxes, start_fit(way), 1e-5, 2_000) for way in (by_rows, by_pairs)]
    monkeypatch.setattr(dual, "change_one_by_one", lambda *_: None)
    fits.append(fit_boxes(by_pairs, boxes, start_fit(by_pairs), 1e-5, 2_000))
    for fit in fits:
        assert fit.violation <= 1e-5
        check_optimum(vectors, boxes, fit)
        np.testing.assert_allclose(fit.values, fits[0].values, atol=5e-3 * max(1.0, np.abs(scores).max()))


def test_rows_that_are_not_kept_wide_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, scores = make_examples(2, 1_300, 7)
    kept = Rows(vectors, intercept=True)
    monkeypatch.setattr(rows, "KEPT_BYTES", 0)
    widened = Rows(vectors, intercept=True)
    boxes = make_hinge(scores, 1.0)
    first, second = (fit_boxes(way, boxes, start_fit(way), 1e-4, 1_000) for way in (kept, widened))
    assert first.weights.tobytes() == second.weights.tobytes()


def test_a_larger_c_that_binds_nobody_changes_no_bit() -> None:
    vectors, scores = make_examples(3, 20, 60)
    way = Rows(vectors, intercept=True)
    small = fit_boxes(way, make_hinge(scores, 100.0), start_fit(way), 1e-4, 1_000)
    large = fit_boxes(way, make_hinge(scores, 1_000.0), small, 1e-4, 1_000)
    assert large.values.tobytes() == small.values.tobytes()


def test_a_singular_system_is_solved_with_a_ridge() -> None:
    system = np.ones((3, 3))
    solution = solve(system, np.ones(3), ridge=0.0)
    np.testing.assert_allclose(system @ solution, np.ones(3), atol=1e-3)
    assert not factorise(-np.eye(2))
