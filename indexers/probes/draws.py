"""The training examples of few-shot tasks, index by index those that SciRepEval's published evaluator draws.

Source: allenai/scirepeval, evaluation/few_shot_evaluator.py, at e04594e. The order of a draw's rows counts:
folds are cut along it when a probe chooses its C.
"""

import math
import warnings
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import BenchmarkError

FIRST_SEED: Final = 42
"""the seed of the first draw of a multi-label task; each further draw adds one"""

Draw = NDArray[np.intp]
"""rows of the training set, in the order in which a probe sees them"""


def draw_folds(classes: NDArray[np.int64], size: int, iterations: int) -> list[Draw]:
    """The draws of a task of one label a paper: about `size` papers each, in the ratio of the classes.

    Nothing is random: the training set (n,) is cut into ceil(n / size) stratified folds without shuffling,
    and the first `iterations` of them are the draws. There are fewer draws where there are fewer folds. A
    class with fewer members than folds is absent from some draws, as published; scikit-learn's warning of
    it is not shown.

    Raises:
        BenchmarkError: the size or the number of draws is not positive, the whole training set is one draw,
            or every class has fewer members than there are folds (where scikit-learn raises too).
    """
    _require_positive(size, iterations)
    folds = math.ceil(len(classes) / size)
    if folds < 2:
        raise BenchmarkError(
            f"a few-shot draw of {size} takes the whole training set of {len(classes)}; "
            "expected a size below the number of training examples"
        )
    largest = int(np.unique(classes, return_counts=True)[1].max())
    if largest < folds:
        raise BenchmarkError(
            f"{len(classes)} training examples make {folds} few-shot draws of {size}, but the largest class "
            f"has {largest}; expected a class with {folds} members or more, or larger draws"
        )
    from sklearn.model_selection import StratifiedKFold

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        splits = StratifiedKFold(n_splits=folds).split(np.zeros(len(classes)), classes)
        return [held_out.astype(np.intp) for _, held_out in islice(splits, iterations)]


def draw_positives(members: NDArray[np.bool_], size: int, iterations: int) -> list[Draw]:
    """The draws of a task of several labels a paper: for each label `size` of its positives, together.

    Draw k draws from numpy's legacy generator with the seed 42 + k, label after label, without replacement;
    a row drawn for two labels stands once. The order is that of a Python set of integers, filled as the
    published code fills it: the same on every CPython that hashes and grows sets as today's do.

    A label of `members` (n, K) with fewer positives than `size` gives all of them without drawing, so that
    the other labels' draws go on as they would without it (the published code stops with an error there);
    `list_short_labels` names these labels.

    Raises:
        BenchmarkError: the size or the number of draws is not positive, or no label has a positive.
    """
    _require_positive(size, iterations)
    positives = [np.flatnonzero(column) for column in members.T]
    if not any(len(rows) for rows in positives):
        raise BenchmarkError(
            f"none of {members.shape[1]} labels has a positive among {len(members)} training examples; "
            "expected one at least to draw from"
        )
    return [_draw_once(positives, size, FIRST_SEED + number) for number in range(iterations)]


def list_short_labels(members: NDArray[np.bool_], size: int) -> list[int]:
    """The labels (columns) with fewer positives than a draw takes of each.

    >>> list_short_labels(np.array([[True, False], [True, True]]), size=2)
    [1]
    """
    return np.flatnonzero(members.sum(axis=0) < size).tolist()


def _draw_once(positives: list[Draw], size: int, seed: int) -> Draw:
    generator = np.random.RandomState(seed)  # legacy on purpose: the published code seeds numpy's own
    drawn: set[int] = set()
    for rows in positives:
        chosen = rows if len(rows) < size else generator.choice(rows, size, replace=False)
        drawn.update(chosen.tolist())
    return np.array(list(drawn), dtype=np.intp)


def _require_positive(size: int, iterations: int) -> None:
    if size < 1 or iterations < 1:
        raise BenchmarkError(
            f"few-shot draws of {size} examples, {iterations} times; expected 1 or more of both"
        )
