"""The classifier of several labels a paper: one linear hinge classifier a label, each with a C of its own.

As SciRepEval's evaluator has it: OneVsRestClassifier(GridSearchCV(LinearSVC(loss="hinge"))).
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.base import FEW_SHOT_C, FOLDS, Predictions, Rules, Vectors, check_examples
from pinakes.indexers.probes.dual import Boxes, Fit
from pinakes.indexers.probes.pairs import Numbers
from pinakes.indexers.probes.rows import Rows
from pinakes.indexers.probes.search import (
    choose_first_best,
    decide,
    fit_last,
    fit_path,
    quiet_about,
    run_all,
)

Members = NDArray[np.bool_]


def predict_labels(
    train: Vectors,
    members: Members,
    test: Vectors,
    rules: Rules,
    grid: Sequence[float] | None,
    threads: int | None = None,
) -> Predictions:
    """Which labels each test paper has, by one against the rest.

    Each label of `members` (n, K) takes the C with the highest mean accuracy over StratifiedKFold(3) without
    shuffling, the first of equals, and is trained again on all papers; without a grid it takes `FEW_SHOT_C`.
    The same bits on any number of threads.

    As scikit-learn has it: a label that no training paper or every one has is predicted of none or of all
    (decision -1 or 1). Where a fold leaves one class to train on, as with a single positive, no C has a score
    (NaN), and the grid's first is taken. Both are counted in `one_class_fits`. Unlike scikit-learn 1.9, whose
    threshold becomes 0.5 for every label when the first one is of one class, the threshold is always 0.
    Where a label has fewer than three members and fewer than three others there are no folds: C is
    `FEW_SHOT_C` (scikit-learn raises). A prediction is open where the distance of the weights from the
    optimum's, which the duality gap bounds, decides it.

    Raises:
        IndexingError: shapes that do not meet, values that are not finite, a grid that is none.
    """
    check_examples(train, members, test, grid)
    labels = [_Label(column, tuple(grid or ())) for column in members.T]
    probe = _Probe(Rows(train, rules.intercept), rules)
    paths = [(label, number) for label in labels for number in range(len(label.folds))]
    for (label, number), (scores, unconverged) in zip(
        paths, run_all(probe.search, paths, threads), strict=True
    ):
        label.scores[:, number] = scores
        label.unconverged += unconverged
    fits = run_all(probe.refit, labels, threads)
    decisions, lengths = decide(test, rules.intercept, np.column_stack([fit.weights for fit, _ in fits]))
    constants = [label.constant for label in labels]
    decisions[:, np.flatnonzero(constants)] = [constant for constant in constants if constant]
    bounds = np.outer(lengths, [distance for _, distance in fits])
    return Predictions(
        values=decisions > 0,
        decisions=decisions,
        chosen=tuple(label.choose()[0] for label in labels),
        grid_scores=np.column_stack([label.choose()[1] for label in labels]),
        open_count=int((np.abs(decisions) <= bounds).sum()),
        unconverged=sum(label.unconverged for label in labels)
        + sum(fit.violation > rules.tolerance for fit, _ in fits),
        one_class_fits=sum(label.count_one_class_fits() for label in labels),
    )


class _Label:
    # One column of the memberships, its folds, and what the search found out about it.

    def __init__(self, column: Members, grid: tuple[float, ...]) -> None:
        self.signs = np.where(column, 1.0, -1.0)
        self.grid = grid
        positive = int(column.sum())
        smaller, larger = sorted((positive, len(column) - positive))
        self.constant = float(self.signs[0]) if smaller == 0 else 0.0
        searched = bool(grid) and smaller > 0 and larger >= FOLDS
        self.folds = _split(column) if searched else []
        self.scores = np.full((len(grid), FOLDS), np.nan)
        self.unconverged = 0

    def choose(self) -> tuple[float, Numbers]:
        """The C and the mean score of each."""
        if self.constant or not self.folds:
            return (self.grid or (FEW_SHOT_C,))[0] if self.constant else FEW_SHOT_C, self.scores[:, 0]
        best, means = choose_first_best(self.scores)
        return self.grid[best], means

    def has_one_class(self, number: int) -> bool:
        """Whether all that this fold trains on is of one class."""
        trained = np.delete(self.signs, self.folds[number])
        return bool((trained == trained[0]).all())

    def count_one_class_fits(self) -> int:
        """The fits of one class: the label's only one, or one for each C of such a fold."""
        if self.constant:
            return 1
        return len(self.grid) * sum(map(self.has_one_class, range(len(self.folds))))

    def make_boxes(self, limit: float, held_out: NDArray[np.intp] | None = None) -> Boxes:
        """The problem of all papers, or without those that are held out."""
        upper, lower = np.where(self.signs > 0, limit, 0.0), np.where(self.signs > 0, 0.0, -limit)
        if held_out is not None:
            upper[held_out] = lower[held_out] = 0.0
        return Boxes(self.signs, lower, upper, limit, unit=1.0, by_class=True)


def _split(column: Members) -> list[NDArray[np.intp]]:
    from sklearn.model_selection import StratifiedKFold

    with quiet_about("The least populated class"):
        return [held_out for _, held_out in StratifiedKFold(FOLDS).split(column, column)]


@dataclass(frozen=True, slots=True, eq=False)
class _Probe:
    rows: Rows
    rules: Rules

    def search(self, path: tuple[_Label, int]) -> tuple[Numbers, int]:
        """The accuracy of each C in one fold of one label, and how many of its fits did not converge."""
        label, number = path
        held_out = label.folds[number]
        if label.has_one_class(number):
            return np.full(len(label.grid), np.nan), 0
        make_boxes = functools.partial(label.make_boxes, held_out=held_out)
        fits = fit_path(self.rows, make_boxes, label.grid, self.rules.tolerance, self.rules.max_label_epochs)
        known = label.signs[held_out] > 0
        found = [
            (float(np.mean((fit.values[held_out] > 0) == known)), fit.violation > self.rules.tolerance)
            for fit in fits
        ]
        return np.array([accuracy for accuracy, _ in found]), sum(open_end for _, open_end in found)

    def refit(self, label: _Label) -> tuple[Fit, float]:
        """The label's classifier of all papers, and how far it may be from the optimum."""
        if label.constant:
            return Fit(np.zeros(self.rows.dimensions), np.zeros(0), np.zeros(0), violation=0.0), 0.0
        limit = label.choose()[0]
        return fit_last(self.rows, label.make_boxes, limit, self.rules.tolerance, self.rules.max_label_epochs)
