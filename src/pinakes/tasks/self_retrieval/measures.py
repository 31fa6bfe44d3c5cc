"""The measures of self-retrieval: what a row of answers is worth by each, and of which rows it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import UnknownNameError
from pinakes.indexers.self_retrieval.space import DEPTHS, READINGS

Values = NDArray[np.float64]

ROBUSTNESS: Final = "robustness"
ROBUST_CATEGORIES: Final = ("LL-HS", "LO-HS", "LL-PS", "LO-PS")
"""those whose texts say the same, or nearly; each weighs the same"""
RECIPROCAL: Final = "MRR"


@dataclass(frozen=True, slots=True)
class RankMeasure:
    """A measure of a rank: its reciprocal, or whether it is within a depth.

    Attributes:
        depth: None: the reciprocal.
        of_titles, of_neighbours: whether tasks I and II, and neighbours, are measured by it.
    """

    depth: int | None
    of_titles: bool
    of_neighbours: bool

    def measure(self, ranks: Values) -> Values:
        """The value of each rank; 0 of an infinite one, which is none."""
        return 1 / ranks if self.depth is None else (ranks <= self.depth).astype(np.float64)


RANK_MEASURES: Final[Mapping[str, RankMeasure]] = {
    RECIPROCAL: RankMeasure(None, of_titles=True, of_neighbours=True),
    "T100": RankMeasure(100, of_titles=True, of_neighbours=False),
    "NN1": RankMeasure(1, of_titles=False, of_neighbours=True),
    "NN10": RankMeasure(10, of_titles=False, of_neighbours=True),
}
OVERLAP_MEASURES: Final[Mapping[str, tuple[str, int]]] = {
    f"AOP@{depth}[{reading}]": (reading, depth) for depth in DEPTHS for reading in READINGS
}
"""measure -> which candidates count, and how many of the nearest are compared"""
MEASURES: Final = (*RANK_MEASURES, ROBUSTNESS, *OVERLAP_MEASURES)


def name_measure(name: str) -> str:
    """The name itself, of a measure of self-retrieval; `UnknownNameError` lists them all.

    >>> name_measure("AOP@10[all]")
    'AOP@10[all]'
    """
    if name not in MEASURES:
        raise UnknownNameError("measure", name, list(MEASURES))
    return name
