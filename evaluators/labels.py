"""Predicted classes, labels and numbers against the true ones: arithmetic on counts and columns.

Counts may have leading axes (resamples, draws); every measure keeps them. A test paper without a prediction
is wrong: of two classes it counts as the other one, of several classes and labels as none, and of numbers
every pair with it is ordered the wrong way round.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pinakes.errors import EvaluationError, UnknownNameError

Numbers = NDArray[np.float64]

CLASS_MEASURES: Final[Mapping[str, str]] = {
    "F1_macro": "the mean over classes of F1",
    "F1_micro": "F1 of the counts of all classes together",
    "F1_binary": "F1 of the positive class",
    "P_macro": "the mean over classes of precision",
    "P_micro": "precision of the counts of all classes together",
    "P_binary": "precision of the positive class",
    "R_macro": "the mean over classes of recall",
    "R_micro": "recall of the counts of all classes together",
    "R_binary": "recall of the positive class",
    "Accuracy": "the share of papers with exactly the right class or labels",
}
NUMBER_MEASURES: Final[Mapping[str, str]] = {
    "KendallTau": "Kendall's tau-b of the predicted and the true order",
    "Pearson": "Pearson's correlation of the predicted and the true numbers",
}


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """How often classes were predicted, true, and both; all (…, K), `correct` and `total` (…).

    `of_all`: whether a class that is neither predicted nor true counts in a mean over classes, with 0, as
    scikit-learn has it of several labels and not of classes.
    """

    hit: Numbers
    predicted: Numbers
    true: Numbers
    correct: Numbers
    total: Numbers
    of_all: bool = False


def require_measure(name: str, known: Mapping[str, str]) -> str:
    """The name, where it is one of these measures; else `UnknownNameError`."""
    if name not in known:
        raise UnknownNameError("measure", name, list(known))
    return name


def count_classes(true: NDArray[np.int64], predicted: NDArray[np.int64], classes: int) -> LabelCounts:
    """The counts of single classes.

    Args:
        true: codes (n,).
        predicted: codes (n,); -1 where there is no prediction.
        classes: how many there are (K).
    """
    if classes == 2:
        predicted = np.where(predicted < 0, 1 - true, predicted)
    same = true == predicted
    return LabelCounts(
        hit=_count(true[same], classes),
        predicted=_count(predicted[predicted >= 0], classes),
        true=_count(true, classes),
        correct=np.array(same.sum(), dtype=np.float64),
        total=np.array(len(true), dtype=np.float64),
    )


def count_labels(
    true: NDArray[np.bool_], predicted: NDArray[np.bool_], answered: NDArray[np.bool_]
) -> LabelCounts:
    """The counts of several labels a paper, (n, K) each; a paper that is not `answered` (n,) has no label."""
    given = predicted & answered[:, None]
    return LabelCounts(
        hit=(true & given).sum(axis=0).astype(np.float64),
        predicted=given.sum(axis=0).astype(np.float64),
        true=true.sum(axis=0).astype(np.float64),
        correct=np.array(((true == given).all(axis=1) & answered).sum(), dtype=np.float64),
        total=np.array(len(true), dtype=np.float64),
        of_all=True,
    )


def _count(codes: NDArray[np.int64], classes: int) -> Numbers:
    return np.bincount(codes, minlength=classes).astype(np.float64)


def score_labels(name: str, counts: LabelCounts, positive: int | None = None) -> Numbers:
    """A measure of `CLASS_MEASURES`, of the counts' leading axes; `positive` is the code of `_binary`.

    What would be divided by zero is 0, as in scikit-learn.
    """
    if name == "Accuracy":
        return _divide(counts.correct, counts.total)
    of, _, average = name.partition("_")
    hit, predicted, true = counts.hit, counts.predicted, counts.true
    if average == "binary":
        if positive is None:
            raise EvaluationError(f"{name} needs the positive class: `positive` under [probe].")
        return _ratio(of, hit[..., positive], predicted[..., positive], true[..., positive])
    if average == "micro":
        return _ratio(of, hit.sum(axis=-1), predicted.sum(axis=-1), true.sum(axis=-1))
    of_class = _ratio(of, hit, predicted, true)
    held = np.ones_like(of_class) if counts.of_all else ((predicted + true) > 0).astype(np.float64)
    return _divide((of_class * held).sum(axis=-1), held.sum(axis=-1))


def _ratio(of: str, hit: Numbers, predicted: Numbers, true: Numbers) -> Numbers:
    below = {"F1": (predicted + true) / 2, "P": predicted, "R": true}[of]
    return _divide(hit, below)


def _divide(above: Numbers, below: Numbers) -> Numbers:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def score_numbers(name: str, true: Numbers, predicted: Numbers) -> float:
    """A measure of `NUMBER_MEASURES`; a prediction that is missing is NaN.

    With KendallTau each pair of a missing prediction whose true numbers differ is a discordant one: more
    missing never scores better. Pearson's correlation, where it is above 0, is multiplied by the share of
    papers that have a prediction. Equal predictions order nothing: 0.

    Raises:
        EvaluationError: the true numbers are all equal, so that no order can be right.
    """
    if len(true) < 2 or (true == true[0]).all():
        raise EvaluationError(f"{name} is undefined: the {len(true)} true numbers do not differ.")
    answered = ~np.isnan(predicted)
    if name == "Pearson":
        value = _correlate(true[answered], predicted[answered])
        return value * answered.mean() if value > 0 else value
    return _kendall(true, predicted, answered)


def _correlate(true: Numbers, predicted: Numbers) -> float:
    if len(true) < 2 or (true == true[0]).all() or (predicted == predicted[0]).all():
        return 0.0
    return float(stats.pearsonr(true, predicted).statistic)


def _kendall(true: Numbers, predicted: Numbers, answered: NDArray[np.bool_]) -> float:
    if answered.all():
        tau = float(stats.kendalltau(true, predicted).statistic)
        return 0.0 if math.isnan(tau) else tau
    untied = count_pairs(len(true)) - count_ties(true)
    kept, guesses = true[answered], predicted[answered]
    untied_kept = count_pairs(len(kept)) - count_ties(kept)
    untied_guesses = count_pairs(len(guesses)) - count_ties(guesses)
    difference = 0.0
    if untied_kept and untied_guesses:
        difference = stats.kendalltau(kept, guesses).statistic * math.sqrt(untied_kept * untied_guesses)
    missing = untied - untied_kept  # pairs that differ and of which one has no prediction
    return float((difference - missing) / math.sqrt(untied * (untied_guesses + missing)))


def count_pairs(papers: int) -> int:
    """How many pairs so many papers make.

    >>> count_pairs(4)
    6
    """
    return papers * (papers - 1) // 2


def count_ties(numbers: Numbers) -> int:
    """How many pairs of numbers are equal.

    >>> count_ties(np.array([1.0, 2.0, 1.0, 1.0]))
    3
    """
    return int(sum(count_pairs(int(count)) for count in np.unique(numbers, return_counts=True)[1]))
