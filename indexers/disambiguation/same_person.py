"""The chance that a pair of signatures is of one person: gradient boosted trees over the pair's features.

S2AND trains LightGBM, with and without the features of names, and averages the two; these are scikit-learn's
histogram-based trees, of the same kind, with the same constraints (Subramanian et al. 2021, section 4). Their
settings are fixed, where S2AND searches for some: docs/decisions/0022.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pinakes.errors import IndexingError
from pinakes.indexers.disambiguation.features import NAMES, OTHERS

Floats = NDArray[np.float64]
Features = NDArray[np.float32]
Columns = NDArray[np.int64]

_THREADS: Final = 1
"""of the trees: a round over few pairs is short, and threads that wait for a busy core take far longer"""
SETTINGS: Final = {"max_iter": 200, "learning_rate": 0.1, "max_leaf_nodes": 31, "early_stopping": False}


@dataclass(frozen=True, slots=True, eq=False)
class SamePerson:
    """Two trained classifiers, each with the columns of its features: all, and all but those of names."""

    classifiers: Sequence[tuple[Any, Columns]]

    def measure_distances(self, features: Features) -> Floats:
        """One less the chance that each pair is of one person, the mean of both classifiers (m,)."""
        if not len(features):
            return np.empty(0, dtype=np.float64)
        with threadpool_limits(_THREADS):
            parts = [
                classifier.predict_proba(features[:, columns])[:, 0]
                for classifier, columns in self.classifiers
            ]
        distances: Floats = np.sum(parts, axis=0) / len(parts)
        return distances


def train(features: Features, same: NDArray[np.bool_], seed: int) -> SamePerson:
    """Classifiers trained on pairs (m, `FEATURES`), of which `same` (m,) are of one person.

    A feature that is known of no pair is left out. The same at any number of
    threads. Raises `IndexingError` where the pairs are all of one kind.
    """
    if len(np.unique(same)) < 2:
        raise IndexingError(
            f"the {len(same)} pairs of the train blocks are all of "
            f"{'one person' if same.any() else 'two people'}; expected pairs of both kinds"
        )
    from sklearn.ensemble import HistGradientBoostingClassifier  # late: only clusterings need it

    rules = np.array([*NAMES.values(), *OTHERS.values()])
    known = np.flatnonzero(~np.isnan(features).all(axis=0))
    classifiers = []
    for columns in (known, known[known >= len(NAMES)]):
        classifier = HistGradientBoostingClassifier(
            **SETTINGS, monotonic_cst=rules[columns], random_state=seed
        )
        with threadpool_limits(_THREADS):
            classifiers.append((classifier.fit(features[:, columns], same), columns))
    return SamePerson(classifiers)
