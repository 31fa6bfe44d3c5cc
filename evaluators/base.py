"""What a measure is: a family, its parameters and a canonical name; and what it is computed from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.judged_ranks import JudgedRanks

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """Rankings and judgments that were checked, with the ranks of the judged papers."""

    ranked: RankedColumns
    judged: JudgedColumns
    ranks: JudgedRanks


ScoreQueries = Callable[[Sequence["Measure"], Evaluated], Mapping[str, Floats]]
"""Gives measure name -> the value of each judged query (queries,); a query that ranks nothing is worth 0."""

REQUIRED: Final = ...
"""in place of the default of a parameter that a name must set"""

Cutoff = Literal["none", "optional_rank", "rank", "share", "recall"]


@dataclass(frozen=True, slots=True)
class Family:
    """All measures that share a formula, such as `P(rel=2)@20` and `P@10`.

    Attributes:
        base: the name before parameters and cutoff.
        score_queries: computes any number of measures of any families that name the same function.
        cutoff: whether the name ends in a cutoff. `rank` and `share` must be given, `optional_rank` may;
            `recall` is a level of recall from 0 to 1.
        parameters: the parameters that a name may set in parentheses, each with its default, or `REQUIRED`.
        is_count: whether queries add up instead of being averaged.
        in_given_order: whether the order counts that the ranking was given in, in place of its scores.
        find_conflict: says what is wrong with parameters that are each allowed; empty where nothing is.
    """

    base: str
    score_queries: ScoreQueries
    cutoff: Cutoff = "none"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_count: bool = False
    in_given_order: bool = False
    find_conflict: Callable[[Mapping[str, Any]], str] = lambda _parameters: ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure, ready to be computed.

    Attributes:
        name: canonical: parameters sorted by name, those at their default left out, no spaces.
        parameters: the parameters that differ from the family's defaults.
        cutoff: a number of ranks, a percentage for `%`, a recall level, or None.
    """

    name: str
    family: Family
    parameters: Mapping[str, Any]
    cutoff: int | float | None = None

    def value_of(self, parameter: str) -> Any:
        """What a parameter is: as given, or its default."""
        return self.parameters.get(parameter, self.family.parameters[parameter])

    @property
    def rank_cutoff(self) -> int | None:
        """The number of ranks that are looked at; None: all."""
        return None if self.cutoff is None else int(self.cutoff)


def over_ranks(value_of: Callable[[JudgedRanks, "Measure"], Floats]) -> ScoreQueries:
    """A scoring function from a formula over judged ranks."""

    def score_queries(measures: Sequence[Measure], evaluated: Evaluated) -> Mapping[str, Floats]:
        return {measure.name: value_of(evaluated.ranks, measure) for measure in measures}

    return score_queries
