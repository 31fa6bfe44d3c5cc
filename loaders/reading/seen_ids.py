"""The ids that a file has brought so far, in a few bytes each, on disk where they are many.

An id of decimal digits is kept as its number, any other as 128 bits of its BLAKE2b digest, which stand for
the id as a file's digest stands for the file.
"""

import hashlib
import mmap
import tempfile
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SPILL_CODES: Final = 1 << 22
"""A run of this many codes goes to a temporary file, from where the system reads what is asked for."""

Codes = np.ndarray[Any, np.dtype[Any]]

_IS_NUMBER: Final = r"^(?:0|[1-9][0-9]{0,17})$"


class SeenIds:
    """A set of ids that only grows.

    >>> seen = SeenIds()
    >>> seen.add(pa.array(["7", "W7"]))
    >>> seen.find(pa.array(["7", "07", "W7"])).tolist()
    [True, False, True]
    """

    def __init__(self) -> None:
        self._numbers = _Runs()
        self._digests = _Runs()
        self._last: tuple[pa.Array, _Encoded] | None = None

    def add(self, ids: pa.Array) -> None:
        """Put ids into the set."""
        _, numbers, digests = self._encode(ids)
        self._last = None
        self._numbers.add(numbers)
        self._digests.add(digests)

    def find(self, ids: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each id whether it is in the set."""
        is_number, numbers, digests = self._encode(ids)
        found = np.zeros(len(ids), dtype=np.bool_)
        found[is_number] = self._numbers.find(numbers)
        found[~is_number] = self._digests.find(digests)
        return found

    def _encode(self, ids: pa.Array) -> "_Encoded":
        """The codes of the ids; those that were looked for are often added next."""
        if self._last is None or self._last[0] is not ids:
            self._last = ids, _encode(ids)
        return self._last[1]


_Encoded = tuple[np.ndarray[Any, np.dtype[np.bool_]], Codes, Codes]


def _encode(ids: pa.Array) -> _Encoded:
    """Which ids are numbers, the numbers, and the others' digests as texts of 16 bytes."""
    is_number = pc.match_substring_regex(ids, _IS_NUMBER)
    numbers = pc.cast(ids.filter(is_number), pa.int64()).to_numpy(zero_copy_only=False)
    others = ids.filter(pc.invert(is_number)).to_pylist()
    return is_number.to_numpy(zero_copy_only=False), numbers, _digest(others)


def _digest(ids: Iterable[str]) -> Codes:
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in ids)
    # Of type S, which NumPy can sort; that it drops zeros at the end makes no two digests the same.
    return np.frombuffer(digests, dtype="S16")


class _Runs:
    """Sorted runs of codes, the shorter ones merged when one has grown to half the one before."""

    def __init__(self) -> None:
        self._runs: list[Codes] = []

    def add(self, codes: Codes) -> None:
        if not len(codes):
            return
        self._runs.append(np.sort(codes))
        while len(self._runs) > 1 and self._may_merge():
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate((self._runs[-1], last)), kind="stable")
        if len(self._runs[-1]) >= SPILL_CODES:
            self._runs[-1] = _spill(self._runs[-1])

    def _may_merge(self) -> bool:
        before, last = self._runs[-2:]
        return not isinstance(before, np.memmap) and len(before) < 2 * len(last)

    def find(self, codes: Codes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        order = np.argsort(codes)
        requested = codes[order]  # in order, each search begins near where the one before it ended
        found = np.zeros(len(codes), dtype=np.bool_)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, requested), len(run) - 1)
            found[order] |= run[places] == requested
            if isinstance(run, np.memmap):
                _let_go(run)
        return found


def _spill(codes: Codes) -> Codes:
    with tempfile.TemporaryFile() as stream:  # the map keeps the file, which has no name to be left behind
        codes.tofile(stream)
        return np.memmap(stream, dtype=codes.dtype, mode="r", shape=codes.shape)


def _let_go(codes: "np.memmap[Any, Any]") -> None:
    """Have the pages that were read count no longer as memory of this process; the system may keep them."""
    pages = getattr(codes, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
