"""From numbers to texts: numpy picks the pieces of every text of a chunk, and Arrow joins them all at once.

One `take` from the pool of pieces lays all texts end to end; their borders are a stride of its offsets.
Leaves out: where pieces and patterns come from (`wording`).
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pinakes.loaders.synthetic.hashing import Integers, Words
from pinakes.loaders.synthetic.wording import SLOTS, Patterns, Pieces


def choose_patterns(patterns: Patterns, kinds: Integers, words: Words, positions: Integers) -> Integers:
    """A pattern of each kind; texts of one word at neighbouring positions get different ones."""
    counts = patterns.counts[kinds]
    return patterns.starts[kinds] + ((words & np.uint64(0xFFFF)).astype(np.int64) + positions * 5) % counts


def fill_patterns(
    patterns: Patterns, chosen: Integers, values: Pieces, rows: Integers, words: Words
) -> Pieces:
    """The pieces of each text: shape (texts, width).

    `values` has shape (n, slots); `rows` says which of its rows a text takes; `words` are its random bits,
    of which the piece in column c takes five, from bit 5c modulo 60 on.
    """
    pieces = np.take(patterns.base, chosen, axis=0)
    where = np.take(patterns.slot, chosen, axis=0)
    where += (rows * len(SLOTS))[:, None]
    pieces += np.take(values.reshape(-1), where)
    shifts = (np.arange(patterns.width) * 5 % 30).astype(np.uint32)
    halves = [(words >> np.uint64(shift)).astype(np.uint32) for shift in (0, 30)]
    bits = np.concatenate(
        [
            halves[start // 6 % 2][:, None] >> shifts[start : start + 6]
            for start in range(0, patterns.width, 6)
        ],
        axis=1,
    )
    pieces += bits.view(np.int32) & np.take(patterns.mask, chosen, axis=0)
    return pieces


@dataclass(frozen=True)
class Texts:
    """Texts laid end to end, and the offset in bytes of each of their pieces: shape (texts, width)."""

    array: pa.Array
    offsets: Pieces


def join_pieces(pool: pa.Array, pieces: Pieces) -> Texts:
    """The texts that the rows of pieces spell; two gibibytes at most, as Arrow's `string` holds."""
    count, width = pieces.shape
    fragments = pool.take(pa.array(pieces.reshape(-1)))
    _, borders, data = fragments.buffers()
    offsets = np.frombuffer(borders, np.int32, count * width + 1)
    array = pa.StringArray.from_buffers(count, pa.py_buffer(offsets[::width].tobytes()), data)
    return Texts(array, offsets[:-1].reshape(count, width))
