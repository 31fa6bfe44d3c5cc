"""The best documents of parts that were searched one by one, merged by a total order: score, then rank.

Ranks are distinct over all parts, so that what comes out is what one search over all of them finds.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.best import Keys, key_scores
from pinakes.indexers.exact.scores import Rows, Vectors

_LOW = np.uint64(0xFFFFFFFF)


class MergedBest:
    """The `k` best of each of `queries` so far."""

    def __init__(self, queries: int, k: int) -> None:
        self._k = k
        self._keys: Keys = np.empty((queries, 0), dtype=np.uint64)

    def add(self, ranks: NDArray[np.uint32], scores: Vectors) -> None:
        """Take in what a part has for each query: ranks among equal scores (q, m), and scores (q, m)."""
        self._add(pack_keys(scores, ranks))

    def _add(self, keys: Keys) -> None:
        keys = np.concatenate([self._keys, keys], axis=1)
        if keys.shape[1] > self._k:
            keys = np.partition(keys, keys.shape[1] - self._k, axis=1)[:, -self._k :]
        self._keys = keys

    def add_ragged(self, counts: Rows, ranks: NDArray[np.uint32], scores: Vectors) -> None:
        """As `add`, of a part that has `counts` (q,) for each query, one query after the other."""
        keys = np.zeros((len(counts), int(counts.max(initial=0))), dtype=np.uint64)  # 0: nothing
        keys[np.arange(keys.shape[1]) < counts[:, None]] = pack_keys(scores, ranks)
        self._add(keys)

    def take_each(self) -> Iterator[tuple[Rows, Vectors]]:
        """Ranks and scores of each query, best first."""
        for keys in self._keys:
            found = np.sort(keys[keys > 0])[::-1]
            yield (~found & _LOW).astype(np.int64), key_scores(found).astype(np.float32)

    def take(self) -> tuple[Rows, Vectors]:
        """Ranks (q, min(k, all)) int64 and scores of that shape, best first.

        Of parts that were added by `add_ragged`, all queries must have as many in all.
        """
        keys = np.sort(self._keys, axis=1)[:, ::-1]
        keys = keys[:, : int((keys[:1] > 0).sum())]
        return (~keys & _LOW).astype(np.int64), key_scores(keys).astype(np.float32)


def pack_keys(scores: Vectors, ranks: NDArray[np.uint32]) -> Keys:
    """One number for each score and rank, the greater the better; `best` has more of it.

    >>> [hex(key) for key in pack_keys(np.float32([2, -1]), np.uint32([0xFFFFFFFA, 0xFFFFFFFF]))]
    ['0xc000000000000005', '0x407fffff00000000']
    """
    bits = np.ascontiguousarray(scores, dtype=np.float32).view(np.uint32)
    ordered = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(0x80000000)).astype(np.uint64)
    return (ordered << np.uint64(32)) | (_LOW - ranks.astype(np.uint64))
