"""Texts cut into runs of characters without a separator, each distinct run kept once: one pass over bytes.

A run is known by its first 16 bytes and, where it is longer, by all of them: no hash decides what is equal.
Numbers are in the order in which runs are met. Trap: words are read as a little-endian processor has them.
"""

import secrets
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.indexers.analysis import WHOLE_RUNS
from pinakes.jit import jit

Array = NDArray[Any]

FIRST_ROOM: Final = 1 << 14
"""distinct runs that a table has room for, before there have to be more"""

SECRET: Final = np.uint64(secrets.randbits(64) | 1)
"""makes which runs fall into one slot of a table unforeseeable"""

_PADDING: Final = 32  # bytes that may be read beyond a text

# The first bytes of a word of 8, by how many.
_FIRST_BYTES: Final = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)


def _read_letters() -> NDArray[np.uint8]:
    """What a byte becomes: 0 where it separates, the small letter of a capital one of ASCII, else itself."""
    letters = np.arange(256, dtype=np.uint8)
    for byte in range(128):
        letters[byte] = ord(chr(byte).lower()) if WHOLE_RUNS.match(chr(byte)) else 0
    return letters


_LETTERS: Final = _read_letters()


class Runs(NamedTuple):
    """Some texts as runs.

    Attributes:
        counts: runs of each text (n,) int64.
        runs: the number of each, one text after the other (r,) int32.
        spellings: the distinct runs in the order in which they were met, capitals of ASCII as small letters.
    """

    counts: NDArray[np.int64]
    runs: NDArray[np.int32]
    spellings: pa.LargeStringArray


def find_runs(texts: pa.LargeStringArray) -> Runs:
    """The runs of some texts, none of them null."""
    _, offsets, values = texts.buffers()
    ends = np.frombuffer(offsets, np.int64, texts.offset + len(texts) + 1)[texts.offset :]
    letters = np.frombuffer(values or b"", np.uint8)[ends[0] : ends[-1]]
    ends = ends - ends[0]
    longest = int(np.diff(ends).max(initial=0))
    words = np.zeros((longest + _PADDING) // 8, np.uint64)
    bounds = np.empty(longest + 2, np.int64)
    counts = np.empty(len(texts), np.int64)
    runs = np.empty(len(letters) // 2 + len(texts), np.int32)
    spelt = np.empty(len(letters), np.uint8)
    scratch = (words, words.view(np.uint8), bounds)
    room, distinct = FIRST_ROOM, -1
    while distinct < 0:
        slots, keys = np.full(2 * room, -1, np.int32), np.empty((room, 2), np.uint64)
        spelt_ends = np.zeros(room + 1, np.int64)
        table = (slots, keys, spelt, spelt_ends)
        distinct = split_texts(letters, ends, _LETTERS, _FIRST_BYTES, SECRET, *scratch, counts, runs, *table)
        room *= 4
    buffers = [None, pa.py_buffer(spelt_ends), pa.py_buffer(spelt)]
    return Runs(counts, runs[: counts.sum()], pa.Array.from_buffers(pa.large_string(), distinct, buffers))


@jit
def read_word(words: Array, place: int) -> Any:
    """The 8 bytes from `place` on, the first the lowest."""
    word = place >> 3
    shift = np.uint64((place & 7) * 8)
    return (words[word] >> shift) | ((words[word + 1] << np.uint64(1)) << (np.uint64(63) - shift))


@jit
def find_bounds(texts: Array, first: int, end: int, letters: Array, written: Array, bounds: Array) -> int:
    """Where each run of the text from `first` to `end` starts and ends, into `bounds`; how many these are.

    `written` is the text as `letters` has its bytes, zeros behind it.
    """
    length = end - first
    found = 0
    before = False
    for place in range(length):
        letter = letters[texts[first + place]]
        written[place] = letter
        inside = letter != 0
        bounds[found] = place
        found += inside != before  # no branch: where a run ends would be guessed wrongly
        before = inside
    bounds[found] = length
    for place in range(length, length + 24):
        written[place] = 0
    return found + before


@jit
def split_texts(
    texts: Array,
    ends: Array,
    letters: Array,
    first_bytes: Array,
    secret: Any,
    words: Array,
    written: Array,
    bounds: Array,
    counts: Array,
    runs: Array,
    slots: Array,
    keys: Array,
    spelt: Array,
    spelt_ends: Array,
) -> int:
    """How many distinct runs the texts have; -1 where the table has no room for them.

    `words` and `written` are the same memory, of the longest text. Writes the number of `runs` of each text
    into `counts` (n,), and of the distinct ones the spellings and where each of these ends. `slots` is a
    table of open addresses, `keys` (room, 2) what finds a run in it.
    """
    last_slot = slots.shape[0] - 1
    distinct, total = 0, 0
    for number in range(counts.shape[0]):
        before = total
        found = find_bounds(texts, ends[number], ends[number + 1], letters, written, bounds)
        for bound in range(0, found, 2):
            start = bounds[bound]
            length = bounds[bound + 1] - start
            head = read_word(words, start) & first_bytes[min(length, 8)]
            tail = read_word(words, start + 8) & first_bytes[max(min(length, 16) - 8, 0)]
            for place in range(16, length, 8):
                rest = read_word(words, start + place) & first_bytes[min(length - place, 8)]
                tail = (tail ^ (tail >> np.uint64(29)) ^ rest) * secret
            key = (head * secret) ^ (tail * np.uint64(0xC2B2AE3D27D4EB4F))
            key = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(key >> np.uint64(32)) & last_slot
            run = slots[slot]
            while run >= 0:
                if keys[run, 0] == head and keys[run, 1] == tail:
                    first = spelt_ends[run]
                    same = spelt_ends[run + 1] - first == length
                    if length > 16:  # the tail is a hash
                        for place in range(8, length):
                            same = same and spelt[first + place] == written[start + place]
                    if same:
                        break
                slot = (slot + 1) & last_slot
                run = slots[slot]
            if run < 0:
                if distinct == keys.shape[0]:
                    return -1
                run = distinct
                slots[slot] = run
                keys[run, 0], keys[run, 1] = head, tail
                first = spelt_ends[run]
                for place in range(length):
                    spelt[first + place] = written[start + place]
                distinct += 1
                spelt_ends[distinct] = first + length
            runs[total] = run
            total += 1
        counts[number] = total - before
    return distinct
