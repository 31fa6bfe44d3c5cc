"""Vectors that are spread as embeddings are: topics of very different sizes, few directions that matter.

The same numbers on every machine up to rounding, in blocks, so that millions need not be in memory.
"""

from collections.abc import Iterator

import numpy as np

BLOCK_ROWS = 1 << 16
TOPICS = 2000
TOPIC_SHARE = 0.6
"""How much of a vector's length is its topic's"""


def make_blocks(rows: int, dimensions: int, seed: int) -> Iterator[np.ndarray]:
    """Blocks of float32 vectors of length 1, `rows` in all; the first ones are the same at any number."""
    world = np.random.default_rng(dimensions)  # the same topics whatever the seed
    # Directions matter less and less, as an encoder's do: variance falls with the square root of the rank.
    scale = np.arange(1, dimensions + 1) ** -0.5
    rotation = np.linalg.qr(world.standard_normal((dimensions, dimensions)))[0] * scale[:, None]
    topics = world.standard_normal((TOPICS, dimensions)) @ rotation
    topics /= np.linalg.norm(topics, axis=1)[:, None]
    weights = 1.0 / np.arange(1, TOPICS + 1) ** 0.7
    for number, start in enumerate(range(0, rows, BLOCK_ROWS)):
        generator = np.random.default_rng((seed, number))
        chosen = generator.choice(TOPICS, BLOCK_ROWS, p=weights / weights.sum())
        own = generator.standard_normal((BLOCK_ROWS, dimensions), dtype=np.float32) @ rotation.astype("f4")
        own /= np.linalg.norm(own, axis=1)[:, None]
        block = TOPIC_SHARE * topics[chosen] + (1 - TOPIC_SHARE) * own
        block /= np.linalg.norm(block, axis=1)[:, None]
        yield block[: rows - start].astype(np.float32)


def make_matrix(rows: int, dimensions: int, seed: int) -> np.ndarray:
    """All of `make_blocks` as one matrix (rows, dimensions)."""
    return np.concatenate(list(make_blocks(rows, dimensions, seed)))
