"""Measures of a reader who goes down a ranking and stops: the C/W/L framework (Moffat et al. 2013), and RBP.

A measure says by which probability the reader goes on from each rank; how often each rank is looked at
follows, and the value is the gain per look. As in cwl_eval, which ir-measures asks, 1,000 ranks are looked
at, and gains are grades, those below 0 taken for 0, cut to `min_rel` … `max_rel` and scaled to 0 … 1.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.evaluators.base import REQUIRED, Cutoff, Family, Floats, Measure, over_ranks
from pinakes.evaluators.judged_ranks import JudgedRanks

RANKS: Final = 1000
"""how many a reader looks at, at the most"""
QUERIES_AT_ONCE: Final = 256

GoesOn = Callable[[Floats, Measure], Floats]
"""Gives by which probability a reader goes on from each rank: from gains (queries, RANKS), the same shape."""

_RANK: Final = np.arange(1.0, RANKS + 1)


def rank_biased_precision(ranks: JudgedRanks, measure: Measure) -> Floats:
    """RBP of Moffat and Zobel (2008): papers of `rel` on gain 1; without `rel`, a paper gains its grade.

    Trap: with `rel` and without a cutoff ir-measures asks cwl_eval, whose weights of 1,000 ranks add up to 1;
    else they are (1 - p) p ** (rank - 1), and add up to less. Below p = 0.98 no double tells the difference.
    """
    patience, rel, cutoff = measure.value_of("p"), measure.value_of("rel"), measure.rank_cutoff
    is_whole = rel is not None and cutoff is None
    kept = ranks.grade >= (1 if rel is None else rel)
    last = RANKS if is_whole else cutoff
    if last is not None:
        kept &= ranks.rank <= last
    query, gains = ranks.query[kept], ranks.grade[kept] if rel is None else np.ones(np.count_nonzero(kept))
    added = np.bincount(query, weights=gains * patience ** (ranks.rank[kept] - 1), minlength=ranks.queries)
    values: Floats = added * (1 - patience) / (1 - patience**RANKS if is_whole else 1.0)
    return values


def by_goes_on(goes_on: GoesOn) -> Callable[[JudgedRanks, Measure], Floats]:
    """The value of a measure that says where a reader goes on."""

    def value_of(ranks: JudgedRanks, measure: Measure) -> Floats:
        values = np.zeros(ranks.queries)
        for start in range(0, ranks.queries, QUERIES_AT_ONCE):
            part = slice(start, min(start + QUERIES_AT_ONCE, ranks.queries))
            gains = _read_gains(ranks, measure, part)
            onwards = np.broadcast_to(goes_on(gains, measure), gains.shape)[:, :-1]
            looks = np.concatenate([np.ones((len(gains), 1)), np.cumprod(onwards, axis=1)], axis=1)
            values[part] = (looks * gains).sum(axis=1) / looks.sum(axis=1)
        return values

    return value_of


def _read_gains(ranks: JudgedRanks, measure: Measure, part: slice) -> Floats:
    """The gain at each of the first ranks of some queries (queries, RANKS)."""
    lowest, highest = measure.value_of("min_rel"), measure.value_of("max_rel")
    rows = slice(*np.searchsorted(ranks.query, [part.start, part.stop]))
    query, rank = ranks.query[rows] - part.start, ranks.rank[rows]
    gain = (np.clip(np.maximum(ranks.grade[rows], 0), lowest, highest) - lowest) / (highest - lowest)
    seen = rank <= RANKS
    gains = np.zeros((part.stop - part.start, RANKS))
    gains[query[seen], rank[seen] - 1] = gain[seen]
    return gains


def _goes_further(measure: Measure) -> NDArray[np.bool_]:
    """Whether each rank stands before the cutoff."""
    before: NDArray[np.bool_] = float(measure.cutoff or 0) > _RANK
    return before


def _until_enough(gains: Floats, measure: Measure) -> Floats:
    """BPM (Zhang et al. 2017): until the gains are `T`, or the cutoff is reached."""
    has_less = np.cumsum(gains, axis=1) < measure.value_of("T")
    return np.where(has_less & _goes_further(measure), 1.0, 0.0)


def _by_discount(_gains: Floats, measure: Measure) -> Floats:
    """SDCG: DCG's discounts up to the cutoff, scaled to add up to 1."""
    return np.where(_goes_further(measure), np.log2(_RANK + 1) / np.log2(_RANK + 2), 0.0)


def _unless_found(gains: Floats, measure: Measure) -> Floats:
    """NERR8, equation 8 of Azzopardi et al. (2021): unless the paper satisfies, up to the cutoff."""
    return np.where(_goes_further(measure), 1 - gains, 0.0)


def _unless_found_or_late(gains: Floats, measure: Measure) -> Floats:
    """NERR9, equation 9: the same, less likely further down."""
    return np.where(_goes_further(measure), _RANK / (_RANK + 1) * (1 - gains), 0.0)


def _unless_found_or_impatient(gains: Floats, measure: Measure) -> Floats:
    """NERR10, equation 10: unless the paper satisfies, or by 1 - p."""
    return np.asarray(measure.value_of("p") * (1 - gains))


def _towards_amount(_gains: Floats, measure: Measure) -> Floats:
    """INSQ (Moffat et al. 2012): the longer, the more gain is wanted."""
    wanted = 2 * measure.value_of("T")
    return np.asarray(((_RANK + wanted - 1) / (_RANK + wanted)) ** 2)


def _towards_amount_unless_found(gains: Floats, measure: Measure) -> Floats:
    """NERR11, equation 11: as INSQ, unless the paper satisfies."""
    return _towards_amount(gains, measure) * (1 - gains)


def _towards_rest(gains: Floats, measure: Measure) -> Floats:
    """INST (Moffat et al. 2015): as INSQ, the gain found taken off what is wanted."""
    wanted = 2 * measure.value_of("T") - np.cumsum(gains, axis=1)
    return np.asarray(((_RANK + wanted - 1) / (_RANK + wanted)) ** 2)


def _find_no_range(parameters: Mapping[str, Any]) -> str:
    if parameters.get("dcg") == "exp-log2":
        return "it has dcg='log2' alone"
    lowest, highest = parameters["min_rel"], parameters["max_rel"]
    return (
        "" if lowest < highest else f"min_rel is {lowest} and max_rel {highest}; expected less than max_rel"
    )


def _family(base: str, goes_on: GoesOn, cutoff: Cutoff = "none", **parameters: Any) -> Family:
    taken = {**parameters, "min_rel": 0, "max_rel": REQUIRED}
    return Family(base, over_ranks(by_goes_on(goes_on)), cutoff, taken, find_conflict=_find_no_range)


RBP: Final = Family("RBP", over_ranks(rank_biased_precision), "optional_rank", {"p": 0.8, "rel": None})
BPM: Final = _family("BPM", _until_enough, "rank", T=1.0)
SDCG: Final = _family("SDCG", _by_discount, "rank", dcg="log2")
NERR8: Final = _family("NERR8", _unless_found, "rank")
NERR9: Final = _family("NERR9", _unless_found_or_late, "rank")
NERR10: Final = _family("NERR10", _unless_found_or_impatient, p=0.9)
NERR11: Final = _family("NERR11", _towards_amount_unless_found, T=1.0)
INST: Final = _family("INST", _towards_rest, T=1.0)
INSQ: Final = _family("INSQ", _towards_amount, T=1.0)
