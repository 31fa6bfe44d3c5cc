"""Plane maps of vectors, by t-SNE."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import Vectors

PERPLEXITY: Final = 30.0
SMALLEST: Final = 3  # fewer points have no map but their own distances


def map_plane(vectors: Vectors, seed: int) -> NDArray[np.float64]:
    """A place in the plane for each vector (n, 2): vectors alike by the cosine lie near each other.

    The same for the same vectors, order and seed. Fewer than three lie on a line, one apart; if all are
    alike, all lie at one place.
    """
    from pinakes.indexers.self_retrieval.standardise import normalise

    count, directions = len(vectors), normalise(vectors)
    if count < SMALLEST:
        return np.column_stack([np.arange(count), np.zeros(count)]).astype(np.float64)
    if (directions == directions[:1]).all():
        return np.zeros((count, 2))
    from openTSNE import TSNE  # late: it imports scikit-learn

    from pinakes.indexers.probes.base import one_blas_thread

    # Of unit vectors the Euclidean neighbours are those by the cosine, and a vector of zeros is one too.
    with one_blas_thread():
        tsne = TSNE(
            perplexity=min(PERPLEXITY, (count - 1) / 3),
            initialization="pca",
            neighbors="exact",
            negative_gradient_method="bh",
            n_jobs=1,
            random_state=seed,
        )
        return np.asarray(tsne.fit(directions), dtype=np.float64)
