"""What a probe is given and what it gives: its examples, its rules, its grid, its predictions."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from pinakes.errors import IndexingError

Vectors = NDArray[np.float32]
"""one row a paper (n, d), finite"""
Mode = Literal["corrected", "published"]
"""what `RULES` knows: the names of the two ways to train and to score, never mixed in one table"""

CLASS_GRID: Final = (0.01, 0.1, 1.0, 10.0, 100.0)
"""the values of C that a classifier is tried with"""
NUMBER_GRID: Final = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
"""the values of C that a regression is tried with"""
FEW_SHOT_C: Final = 1.0
"""the C of a classifier that is trained on few examples, without a grid"""
FOLDS: Final = 3
CHECKED_AT_ONCE: Final = 4096


@dataclass(frozen=True, slots=True)
class Rules:
    """How probes are trained.

    Attributes:
        intercept: whether they have one; it is regularised as a weight is, as in liblinear.
        tolerance: of the solver's stopping criterion.
        max_epochs: passes over the training examples, at most, of a solver that goes by example.
        max_label_epochs: the same, of classifiers of several labels.
        lightning_regression: whether a regression takes lightning's steps, which solve no stated problem.
    """

    intercept: bool
    tolerance: float
    max_epochs: int = 1000
    max_label_epochs: int = 10_000
    lightning_regression: bool = False


RULES: Final[Mapping[Mode, Rules]] = {
    # scikit-learn's LinearSVC and LinearSVR, as SciRepEval's evaluator calls them since January 2026
    "corrected": Rules(intercept=True, tolerance=1e-4),
    # scikit-learn-contrib-lightning 0.6.2, which made the published figures
    "published": Rules(intercept=False, tolerance=1e-3, lightning_regression=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What a probe predicts of m test papers.

    Attributes:
        values: class codes (m,) of classes, memberships (m, K) of labels, numbers (m,) of a regression.
        decisions: the decision values behind them: (m,) of the predicted class, (m, K), or the numbers (m,).
        chosen: the C of the grid that was taken: one, or one for each label.
        grid_scores: the mean over folds of what C was chosen by, C -> score; one column for each label.
        open_count: predictions of which what remains of the solver's gradient, or of its duality gap, does
            not prove that the optimum predicts the same.
        unconverged: fits that stopped at the limit of passes, not at the tolerance.
        one_class_fits: fits whose training examples were of one class; these predict that class.
    """

    values: NDArray[Any]
    decisions: NDArray[np.float64]
    chosen: tuple[float, ...]
    grid_scores: NDArray[np.float64]
    open_count: int = 0
    unconverged: int = 0
    one_class_fits: int = 0


def check_examples(train: Vectors, known: NDArray[Any], test: Vectors, grid: Sequence[float] | None) -> None:
    """Refuse shapes that do not meet, values that are not finite, and a grid without positive values.

    Raises:
        IndexingError: one of these.
    """
    if not len(train) or len(train) != len(known) or train.shape[1] != test.shape[1]:
        raise IndexingError(
            f"training vectors {train.shape} with {len(known)} answers and test vectors {test.shape}; "
            "expected an answer for each training vector, one at least, and as many dimensions in both"
        )
    if grid is not None and (not len(grid) or min(grid) <= 0 or len(set(grid)) < len(grid)):
        raise IndexingError(f"the grid of C is {list(grid)}; expected positive values, each once")
    for name, values in (("training vector", train), ("test vector", test), ("training answer", known)):
        for first in range(0, len(values), CHECKED_AT_ONCE):
            part = values[first : first + CHECKED_AT_ONCE]
            finite = np.isfinite(part).reshape(len(part), -1).all(axis=1)
            if not finite.all():
                raise IndexingError(
                    f"{name} {first + int(np.argmin(finite))} is not finite; leave such papers out"
                )


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> Any:
    """A context in which BLAS computes on the thread that calls it."""
    return _blas().limit(limits=1)
