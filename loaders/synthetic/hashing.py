"""Counter-based random draws in integer arithmetic: the same on every machine, in any order.

A draw is a function of a key and a counter (splitmix64's finaliser), so that any part of the world can be
made without what stands before it.
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_GAMMA: Final = 0x9E3779B97F4A7C15
_WORD: Final = (1 << 64) - 1


def mix_words(words: Words) -> Words:
    """The finaliser of splitmix64 over each word (Steele, Lea and Flood 2014).

    >>> [hex(word) for word in mix_words(np.array([0, 1], dtype=np.uint64)).tolist()]
    ['0x0', '0x5692161d100b05e5']
    """
    mixed = words >> np.uint64(30)
    shifted = mixed.copy()
    mixed ^= words
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= np.right_shift(mixed, np.uint64(27), out=shifted)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= np.right_shift(mixed, np.uint64(31), out=shifted)
    return mixed


@cache
def make_key(seed: int, stream: str) -> int:
    """The key of one named stream of draws of one seed; streams of one seed do not overlap in practice.

    >>> make_key(1, "year") != make_key(1, "venue") != make_key(2, "venue")
    True
    """
    key = seed & _WORD
    for byte in stream.encode():
        key = int(mix_words(np.array([(key * 257 + byte + 1) & _WORD], dtype=np.uint64))[0])
    return key


def draw_words(key: int, counters: Integers) -> Words:
    """One random 64-bit word for each counter."""
    words = counters.astype(np.uint64)
    words *= np.uint64(_GAMMA)
    words += np.uint64(key)
    return mix_words(words)


def scale_words(words: Words, bound: int | Integers) -> Integers:
    """Each word's upper half as an integer from 0 to `bound` - 1, evenly; `bound` is below 2**31.

    >>> scale_words(np.array([0, 1 << 63, _WORD], dtype=np.uint64), 10).tolist()
    [0, 5, 9]
    """
    return ((words >> np.uint64(32)).astype(np.int64) * bound) >> 32


def scale_squares(words: Words, bound: int | Integers) -> Integers:
    """Like `scale_words`, but the square of an even draw: half of the values lie in the first quarter.

    >>> scale_squares(np.array([0, 1 << 63, _WORD], dtype=np.uint64), 100).tolist()
    [0, 25, 99]
    """
    upper = (words >> np.uint64(33)).astype(np.int64)
    return (((upper * upper) >> 31) * bound) >> 31


def find_step(size: int) -> int:
    """A step near 0.618 `size` without a common factor: multiples of it visit every residue, spread out.

    >>> [find_step(size) for size in (1, 2, 10, 152)]
    [1, 1, 7, 93]
    """
    step = max(1, size * 618 // 1000)
    while np.gcd(step, size) != 1:
        step += 1
    return step
