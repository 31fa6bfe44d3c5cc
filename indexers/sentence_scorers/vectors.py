"""How alike the vectors of a query and of sentences are, in double precision, without BLAS.

Sums are taken in one order, so that no number of threads changes a bit.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.names import Distance

SPREAD: Final = 200
"""what ROUGE-SciQFS divides squared distances by"""


def compare_vectors(
    query: NDArray[np.float32], sentences: NDArray[np.float32], distance: Distance, *, published: bool = False
) -> NDArray[np.float64]:
    """The scores of sentences (n, d) for a query (d,): cosine, inner product or minus the L2 distance.

    With `published`, as ROUGE-SciQFS has them: 2 / (1 + exp(d^2 / 200)) of the L2 distance d; of the others,
    nothing below 0.

    >>> axes = np.eye(2, dtype=np.float32)
    >>> compare_vectors(axes[0], axes, "cosine").tolist()
    [1.0, 0.0]
    >>> compare_vectors(axes[0], axes * 3, "l2").round(2).tolist()
    [-2.0, -3.16]
    """
    wide, asked = sentences.astype(np.float64), query.astype(np.float64)
    if distance == "l2":
        squared = np.einsum("nd,nd->n", wide - asked, wide - asked)
        if published:
            with np.errstate(over="ignore"):
                decayed: NDArray[np.float64] = 2 / (1 + np.exp(squared / SPREAD))
            return decayed
        lengths: NDArray[np.float64] = -np.sqrt(squared)
        return lengths
    products: NDArray[np.float64] = np.einsum("nd,d->n", wide, asked)
    if distance == "cosine":
        norms = np.sqrt(np.einsum("nd,nd->n", wide, wide) * np.einsum("d,d->", asked, asked))
        products = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return np.maximum(products, 0.0) if published else products
