"""F1, precision, recall and accuracy over resamples of the test papers: from counts, by a sparse product.

Each equals scikit-learn's measure of the sample written out; a quotient by zero is 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import UnknownNameError
from pinakes.evaluators.bootstrap import Resampling, Values, resample_means

Counts = NDArray[np.float64]
Cells = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""draw, paper and class of each prediction"""


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """How many papers of each sample are of each class, are said to be, and rightly.

    Attributes:
        right, predicted: (samples, draws, classes).
        actual: (samples, 1, classes).
        papers: of a sample.
        is_present: which classes a mean goes over: those of the sample, as scikit-learn has it of one class a
            paper, or all, as it has it of several labels.
    """

    right: Counts
    predicted: Counts
    actual: Counts
    papers: int
    is_present: NDArray[np.bool_]


def resample_classes(
    resampling: Resampling, truth: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], classes: int
) -> ClassCounts:
    """Counts of one class a paper.

    Args:
        truth: the classes, 0 to `classes` - 1 (size,).
        predicted: those that each draw predicts (draws, size); -1 is none, which is wrong.
    """
    draws, papers = np.nonzero(predicted >= 0)
    is_of_class = truth[:, None] == np.arange(classes)
    cells = (draws, papers, predicted[draws, papers].astype(np.intp))
    right, said, actual = _count(resampling, is_of_class, cells, len(predicted))
    return ClassCounts(right, said, actual, resampling.size, actual + said > 0)


def resample_labels(
    resampling: Resampling, truth: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> ClassCounts:
    """Counts of several labels a paper: `truth` (size, labels), `predicted` (draws, size, labels)."""
    draws, papers, labels = np.nonzero(predicted)
    right, said, actual = _count(resampling, truth, (draws, papers, labels), len(predicted))
    return ClassCounts(right, said, actual, resampling.size, np.ones(said.shape, bool))


def _count(
    resampling: Resampling, truth: NDArray[np.bool_], cells: Cells, draws: int
) -> tuple[Counts, Counts, Counts]:
    """Right, predicted and actual, as `ClassCounts` has them, of `truth` (size, classes)."""
    from scipy import sparse  # scoring rankings does not wait for it

    papers, classes = truth.shape
    draw, paper, said = cells
    is_right = truth[paper, said]
    true_papers, true_classes = np.nonzero(truth)
    # a row for each draw and class: said, then rightly said; then one for each true class
    of_draw, wide = draw * classes + said, draws * classes
    rows = np.concatenate([of_draw, wide + of_draw[is_right], 2 * wide + true_classes])
    columns = np.concatenate([paper, paper[is_right], true_papers])
    shape = (2 * wide + classes, papers)
    indicators = sparse.csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape)
    found = np.empty((resampling.count, shape[0]))
    for part, counts in resampling.draw():
        found[part] = (indicators @ np.ascontiguousarray(counts.T)).T
    by_class = found.reshape(resampling.count, -1, classes)
    return by_class[:, draws : 2 * draws], by_class[:, :draws], by_class[:, 2 * draws :]


def _divide(upper: Counts, lower: Counts) -> Counts:
    """The quotients; 0 where the divisor is."""
    upper, lower = np.broadcast_arrays(upper, lower)
    return np.divide(upper, lower, out=np.zeros(upper.shape), where=lower > 0)


def _f1(counts: ClassCounts) -> Counts:
    return _divide(2 * counts.right, counts.predicted + counts.actual)


def _precision(counts: ClassCounts) -> Counts:
    return _divide(counts.right, counts.predicted)


def _recall(counts: ClassCounts) -> Counts:
    return _divide(counts.right, counts.actual)


def _f1_micro(counts: ClassCounts) -> Counts:
    return _divide(2 * counts.right.sum(axis=2), (counts.predicted + counts.actual).sum(axis=2))


def _average(by_class: Counts, counts: ClassCounts) -> Counts:
    summed = np.where(counts.is_present, by_class, 0.0).sum(axis=2)
    return _divide(summed, counts.is_present.sum(axis=2).astype(float))


_MEASURES: Final[Mapping[str, Callable[[ClassCounts, int], Counts]]] = {
    "F1_macro": lambda counts, _positive: _average(_f1(counts), counts),
    "P_macro": lambda counts, _positive: _average(_precision(counts), counts),
    "R_macro": lambda counts, _positive: _average(_recall(counts), counts),
    "F1_micro": lambda counts, _positive: _f1_micro(counts),
    "F1_binary": lambda counts, positive: _f1(counts)[:, :, positive],
    "P_binary": lambda counts, positive: _precision(counts)[:, :, positive],
    "R_binary": lambda counts, positive: _recall(counts)[:, :, positive],
    "Accuracy": lambda counts, _positive: counts.right.sum(axis=2) / counts.papers,
}
"""measure -> its values of each sample and draw; `Accuracy` is that of one class a paper"""


def score_counts(measure: str, counts: ClassCounts, positive: int = 1) -> Values:
    """The measure of each sample and draw (samples, draws); `positive` is the class of the binary ones.

    Raises `UnknownNameError`, which lists the measures.
    """
    if measure not in _MEASURES:
        raise UnknownNameError("resampled measure", measure, list(_MEASURES))
    return _MEASURES[measure](counts, positive)


def resample_exact_matches(
    resampling: Resampling, truth: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> Values:
    """The accuracy of several labels a paper, all of which must be right (samples, draws)."""
    return resample_means(resampling, (truth == predicted).all(axis=2).astype(float)).T
