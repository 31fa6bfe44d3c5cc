"""Average precision of scored sentences, by which a model is chosen on dev."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.sentence_models.settings import Floats, Labels


def average_precision(labels: Labels, scores: NDArray[np.floating]) -> float:
    """The sum over distinct scores, highest first, of precision times gain of recall; 0 if none is relevant.

    scikit-learn's `average_precision_score`: sentences with equal scores count as found together.

    >>> average_precision(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))
    0.8333333333333333
    """
    if not labels.any():
        return 0.0
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(labels, scores))


def mean_average_precision(labels: Sequence[Labels], scores: Sequence[Floats]) -> float:
    """The unweighted mean over the examples that have a positive; 0 where none has."""
    values = [average_precision(*pair) for pair in zip(labels, scores, strict=True) if pair[0].any()]
    return float(np.mean(values)) if values else 0.0


def global_average_precision(labels: Sequence[Labels], scores: Sequence[Floats]) -> float:
    """Average precision of all examples' sentences as one list, as the published search chose by."""
    if not labels:
        return 0.0
    return average_precision(np.concatenate(labels), np.concatenate(scores))
