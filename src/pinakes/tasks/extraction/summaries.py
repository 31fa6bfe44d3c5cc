"""ROUGE of the sentences that a run takes to be the best of each example."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.tasks.extraction.measures import RougeMeasure
from pinakes.tasks.extraction.stored import Stored


def score_summaries(stored: Stored, measures: Sequence[RougeMeasure]) -> dict[str, NDArray[np.float64]]:
    """Measure -> the value of each test example (m,)."""
    return {}
