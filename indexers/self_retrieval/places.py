"""Where papers stand among those that are there, and among equals."""

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import Rows
from pinakes.indexers.order import TieRanks


def order_ties(tie_order: TieRanks) -> Rows:
    """Distinct ranks (papers,) in the order of `tie_order`, equal ones by row.

    >>> order_ties(np.array([5, 3, 5])).tolist()
    [1, 0, 2]
    """
    places = np.empty(len(tie_order), dtype=np.int64)
    places[np.lexsort((np.arange(len(tie_order)), tie_order))] = np.arange(len(tie_order))
    return places


def find_places(rows: NDArray[np.intp], among: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each of `rows` stands in the ascending `among`; -1 for what is not there.

    >>> find_places(np.array([2, 3]), np.array([1, 3])).tolist()
    [-1, 1]
    """
    places = np.searchsorted(among, rows)
    return np.where(np.isin(rows, among), places, -1)
