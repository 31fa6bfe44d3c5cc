"""Vectors of length 1, and vectors whose dimensions all vary alike."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import Vectors, check_vectors
from pinakes.indexers.self_retrieval.tiles import cut, make_directions

ROWS_AT_ONCE: Final = 4096  # in float64


@dataclass(frozen=True, slots=True, eq=False)
class Standard:
    """The mean and the standard deviation of each dimension (d,), float64."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def standardise(self, vectors: Vectors) -> Vectors:
        """Each dimension less its mean, over its deviation; 0 in a dimension that did not vary."""
        varies = self.deviation > 0
        divisor = np.where(varies, self.deviation, 1.0)
        made = np.empty(vectors.shape, dtype=np.float32)
        for part in cut(len(vectors), ROWS_AT_ONCE):
            made[part] = np.where(varies, (vectors[part] - self.mean) / divisor, 0.0)
        return made


def measure_standard(vectors: Vectors) -> Standard:
    """What `vectors` (n, d) are standardised with (Timkey and van Schijndel, 2021).

    >>> measure_standard(np.float32([[1, 5], [3, 5]])).standardise(np.float32([[3, 9]])).tolist()
    [[1.0, 0.0]]
    """
    constant = (vectors == vectors[:1]).all(axis=0)
    deviation = vectors.std(axis=0, dtype=np.float64)
    return Standard(vectors.mean(axis=0, dtype=np.float64), np.where(constant, 0.0, deviation))


def normalise(vectors: Vectors) -> Vectors:
    """The vectors over their lengths; zeros stay zeros."""
    return make_directions(check_vectors(vectors, "text"))
