"""What a measure is: a family, its parameters and a canonical name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pinakes.records import Judgments, Rankings

Values = Mapping[str, float]
"""query id -> value"""

ScoreQueries = Callable[[Sequence["Measure"], Rankings, Judgments], Mapping[str, Values]]
"""Gives measure name -> query id -> value. The rankings hold only judged queries, each with at least one
paper and without NaN or repeated papers; a query that the result leaves out is worth zero."""


Cutoff = Literal["none", "optional_rank", "rank", "share", "recall"]


@dataclass(frozen=True, slots=True)
class Family:
    """All measures that share a formula, such as `P(rel=2)@20` and `P@10`.

    Attributes:
        base: the name before parameters and cutoff.
        score_queries: computes any number of measures of any families that name the same function.
        cutoff: whether the name ends in a cutoff. `rank` and `share` must be given, `optional_rank` may;
            `recall` is a level of recall from 0 to 1.
        parameters: the parameters that a name may set in parentheses, each with its default.
        is_count: whether queries add up instead of being averaged.
    """

    base: str
    score_queries: ScoreQueries
    cutoff: Cutoff = "none"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_count: bool = False


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
