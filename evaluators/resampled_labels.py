"""Counts of predicted classes and labels over resamples of the test papers, by one sparse product.

`pinakes.evaluators.labels.score_labels` makes measures of them, of every sample and draw at once; each equals
that of the sample written out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinakes.evaluators.bootstrap import Resampling
from pinakes.evaluators.labels import LabelCounts

Cells = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""draw, paper and class of each prediction"""


def resample_classes(
    resampling: Resampling, true: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], classes: int
) -> LabelCounts:
    """The counts of one class a paper, with the axes (samples, draws); `true` has one draw.

    Args:
        true: codes (papers,).
        predicted: codes of each draw (draws, papers); -1 where there is no prediction.
        classes: how many there are.
    """
    if classes == 2:
        predicted = np.where(predicted < 0, 1 - true, predicted)
    draws, papers = np.nonzero(predicted >= 0)
    cells = (draws, papers, predicted[draws, papers].astype(np.intp))
    return _count(resampling, true[:, None] == np.arange(classes), cells, predicted == true, of_all=False)


def resample_labels(
    resampling: Resampling, true: NDArray[np.bool_], predicted: NDArray[np.bool_], answered: NDArray[np.bool_]
) -> LabelCounts:
    """The counts of several labels a paper, with the axes (samples, draws); `true` has one draw.

    `true` is (papers, labels), `predicted` (draws, papers, labels), `answered` (papers,).
    """
    given = predicted & answered[:, None]
    draws, papers, labels = np.nonzero(given)
    is_right = (given == true).all(axis=2) & answered
    return _count(resampling, true, (draws, papers, labels), is_right, of_all=True)


def _count(
    resampling: Resampling,
    true: NDArray[np.bool_],
    cells: Cells,
    is_right: NDArray[np.bool_],
    *,
    of_all: bool,
) -> LabelCounts:
    """The counts from `true` (papers, classes), the predictions, and which are right (draws, papers)."""
    from scipy import sparse  # late: only intervals need it

    (papers, classes), draws = true.shape, len(is_right)
    draw, paper, said = cells
    is_hit = true[paper, said]
    true_papers, true_classes = np.nonzero(true)
    right_draws, right_papers = np.nonzero(is_right)
    # a row for each draw and class: said, then rightly said; for each true class; for each draw: all right
    of_draw, wide = draw * classes + said, draws * classes
    ends = np.cumsum([wide, wide, classes, draws])
    rows = np.concatenate([of_draw, ends[0] + of_draw[is_hit], ends[1] + true_classes, ends[2] + right_draws])
    columns = np.concatenate([paper, paper[is_hit], true_papers, right_papers])
    indicators = sparse.csr_array((np.ones(len(rows), np.int32), (rows, columns)), (ends[3], papers))
    found, total = np.empty((resampling.count, ends[3])), np.empty((resampling.count, 1))
    for part, counts in resampling.draw():
        found[part] = (indicators @ np.ascontiguousarray(counts.T)).T
        total[part, 0] = counts.sum(axis=1)
    said_so, hit, actual, right = np.split(found, ends[:3], axis=1)
    by_class = (resampling.count, -1, classes)
    return LabelCounts(
        hit=hit.reshape(by_class),
        predicted=said_so.reshape(by_class),
        true=actual.reshape(by_class),
        correct=right,
        total=total,
        of_all=of_all,
    )
