"""How far vectors of half precision lie from those of float32, on a sample of the texts."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encode import EncodedBatch, encode_texts, text_digest
from pinakes.indexers.encoder.encoder import Encoder

MAX_COSINE_ERROR: Final = 1e-3
SAMPLE_TEXTS: Final = 64

Encode = Callable[[Iterable[tuple[int, str]]], Iterable[EncodedBatch[int]]]


def check_precision(
    encode: Encode,
    exact: Encoder,
    texts: Iterable[str],
    limit: float = MAX_COSINE_ERROR,
    sample: int = SAMPLE_TEXTS,
) -> float:
    """The largest cosine error of a sample of the texts, against the same model in float32.

    The sample are the `sample` texts with the smallest digests, the same in every run. Raises IndexingError
    where the error is above `limit`.
    """
    chosen = choose_sample(texts, sample)
    if not chosen:
        return 0.0
    error = cosine_error(_encode(encode, chosen), _encode(lambda pairs: encode_texts(exact, pairs), chosen))
    # Written so that an error that is no number is refused too.
    if not error <= limit:
        raise IndexingError(
            f"the vectors lie up to {error:.2e} from those of float32 (1 - cosine, {len(chosen)} texts); "
            f"expected at most {limit:.0e}. Encode with precision fp32, or allow more with max_cosine_error"
        )
    return error


def choose_sample(texts: Iterable[str], sample: int) -> list[str]:
    """The distinct texts with the smallest digests, in the order of these.

    >>> choose_sample(["a", "b", "c", "a"], 2)
    ['a', 'c']
    """
    return heapq.nsmallest(sample, set(texts), key=text_digest)


def cosine_error(vectors: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference of 1 and a vector's cosine with the one that was expected.

    >>> cosine_error(np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    1.0
    """
    left, right = vectors.astype(np.float64), expected.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return float(np.abs(1 - (left * right).sum(axis=1) / lengths).max())


def _encode(encode: Encode, texts: Sequence[str]) -> NDArray[np.float32]:
    found: dict[int, NDArray[np.float32]] = {}
    for batch in encode(enumerate(texts)):
        found.update(zip(batch.keys, batch.vectors, strict=True))
    return np.stack([found[row] for row in range(len(texts))])
