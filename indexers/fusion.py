"""Several rankings of one query become one: reciprocal ranks, or weighted sums of scores."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.distinct import find_distinct
from pinakes.errors import IndexingError, UnknownNameError

Ids = NDArray[np.int64]
Values = NDArray[np.float64]

Normalisation = Literal["minmax", "zscore", "none"]

RANK_CONSTANT: Final = 60.0  # Cormack, Clarke and Buettcher, SIGIR 2009


class Contribution(NamedTuple):
    """One ranking of a query, best first: document ids, their scores, and the ranking's weight."""

    ids: Ids
    scores: Values
    weight: float


def fuse_reciprocal_ranks(
    rankings: Sequence[Contribution], constant: float = RANK_CONSTANT
) -> tuple[Ids, Values]:
    """Every document of any ranking, by id, and the sum of weight / (constant + rank) over the rankings.

    Rank 1 is the best; a ranking that lacks a document adds nothing. Source: Cormack, Clarke and Buettcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.

    >>> first = Contribution(np.array([7, 3]), np.array([9.0, 1.0]), 1.0)
    >>> second = Contribution(np.array([3, 5]), np.array([0.2, 0.1]), 1.0)
    >>> ids, scores = fuse_reciprocal_ranks([first, second])
    >>> ids.tolist(), (1 / scores).round(2).tolist()
    ([3, 5, 7], [30.75, 62.0, 61.0])
    """
    if constant < 0:
        raise IndexingError(f"the rank constant is {constant}; expected 0 or more, 60 in the paper")
    return _add_up(rankings, [one.weight / (constant + np.arange(1, len(one.ids) + 1)) for one in rankings])


def fuse_scores(
    rankings: Sequence[Contribution], normalisation: Normalisation = "minmax"
) -> tuple[Ids, Values]:
    """Every document of any ranking, by id, and the weighted sum of its normalised scores.

    `minmax` maps a ranking's scores to 0 to 1 (all equal: 1), `zscore` to mean 0 and deviation 1 (all
    equal: 0), `none` leaves them. A ranking that lacks a document adds what its last document would, or its
    weight times 0 with `minmax`. The trap: both depend on how deep the rankings were cut.

    >>> first = Contribution(np.array([7, 3]), np.array([9.0, 1.0]), 0.5)
    >>> second = Contribution(np.array([3, 5, 7]), np.array([0.4, 0.3, 0.2]), 1.0)
    >>> ids, scores = fuse_scores([first, second])
    >>> ids.tolist(), scores.round(6).tolist()
    ([3, 5, 7], [1.0, 0.5, 0.5])
    """
    normalise = _NORMALISATIONS.get(normalisation)
    if normalise is None:
        raise UnknownNameError("normalisation", normalisation, list(get_args(Normalisation)))
    scaled = [normalise(np.asarray(one.scores, dtype=np.float64)) for one in rankings]
    absent = [0.0 if normalisation == "minmax" or not len(s) else float(s.min()) for s in scaled]
    return _add_up(
        rankings,
        [one.weight * (scores - least) for one, scores, least in zip(rankings, scaled, absent, strict=True)],
        sum(one.weight * least for one, least in zip(rankings, absent, strict=True)),
    )


def _add_up(
    rankings: Sequence[Contribution], parts: Sequence[NDArray[np.floating]], start: float = 0.0
) -> tuple[Ids, Values]:
    ids = find_distinct(np.empty(0, np.int64), *[one.ids for one in rankings])
    scores = np.full(len(ids), start, dtype=np.float64)
    # One ranking after the other, each document once in each: the order of addition is that of the rankings.
    for one, part in zip(rankings, parts, strict=True):
        scores[np.searchsorted(ids, one.ids)] += part
    return ids, scores


def _minmax(scores: Values) -> Values:
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    return np.ones_like(scores) if low == high else (scores - low) / (high - low)


def _zscore(scores: Values) -> Values:
    if not len(scores):
        return scores
    deviation = scores.std()
    return np.zeros_like(scores) if deviation == 0 else (scores - scores.mean()) / deviation


_NORMALISATIONS: Final[dict[str, Callable[[Values], Values]]] = {
    "minmax": _minmax,
    "zscore": _zscore,
    "none": lambda scores: scores,
}
