"""Which blocks are for training, for choosing the threshold, and for testing; and the pairs of a block."""

import random
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError

Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = ("train", "dev", "test")
FEWEST: Final = 6
"""blocks of which a fifth, halved, leaves one each for dev and test"""
_HELD_OUT: Final = 0.2

Pairs = NDArray[np.int64]


def split_blocks(blocks: Sequence[str], seed: int) -> dict[str, Split]:
    """The split of each block: 80, 10 and 10 % of the blocks, as drawn by the package `s2and`, in that order.

    That is scikit-learn's `train_test_split` twice (s2and/data.py, `split_blocks_helper`, whose groups of
    block sizes are one by default). The order of the blocks decides: that of their first signatures in the
    file.

    Raises `IndexingError` where there are fewer than six.

    >>> list(split_blocks(list("abcdefghij"), 1).items())[-3:]
    [('h', 'train'), ('i', 'dev'), ('f', 'test')]
    """
    from sklearn.model_selection import train_test_split  # late: only clusterings need it

    if len(blocks) < FEWEST:
        raise IndexingError(
            f"{len(blocks)} blocks cannot be split into train, dev and test; expected {FEWEST} or more, or "
            "their split in a file"
        )
    one_group = np.zeros(len(blocks), dtype=int)
    train, others, _, groups = train_test_split(
        list(blocks), one_group, test_size=_HELD_OUT, stratify=one_group, random_state=seed
    )
    dev, test = train_test_split(others, test_size=0.5, stratify=groups, random_state=seed)
    drawn = zip(SPLITS, (train, dev, test), strict=True)
    return {block: split for split, members in drawn for block in members}


def list_pairs(members: NDArray[np.int64]) -> Pairs:
    """Every pair of a block's members (m, 2), in the order of a condensed matrix of distances.

    >>> list_pairs(np.array([7, 8, 9])).tolist()
    [[7, 8], [7, 9], [8, 9]]
    """
    first, second = np.triu_indices(len(members), k=1)
    return np.stack([members[first], members[second]], axis=1)


def sample_pairs(blocks: Mapping[str, NDArray[np.int64]], most: int, seed: int) -> Pairs:
    """Pairs of members of the same block (m, 2), sampled as `s2and` does: `most` at most, each once."""
    every = np.concatenate([np.empty((0, 2), np.int64), *map(list_pairs, blocks.values())])
    drawn = random.Random(seed).sample(range(len(every)), min(most, len(every)))  # noqa: S311 (no secret)
    return every[drawn]
