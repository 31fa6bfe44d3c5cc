"""Which candidate holds which n-gram: what every candidate loses when n-grams are used up.

An entry is the r-th occurrence of an n-gram in a candidate. It counts as long as at least r of that n-gram
are wanted; so each entry is looked at once in a whole run, when it stops counting.
"""

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


class Postings:
    """The entries of n-grams, by n-gram.

    Attributes:
        keys: (n-grams,) different ones, ascending.
        starts: (n-grams + 1,) where the entries of each begin.
        owners, ranks: (entries,) the candidate and r.
        distinct: (candidates,) how many different n-grams each holds.
    """

    def __init__(self, keys: Longs, owners: NDArray[np.int32], candidates: int) -> None:
        ordered, order = sort_stably(keys)
        self.candidates = candidates
        self.owners = owners[order]
        is_new = np.ones(len(keys), bool)
        is_new[1:] = ordered[1:] != ordered[:-1]
        self.keys = ordered[is_new]
        self.starts = np.append(np.flatnonzero(is_new), len(keys))
        is_new[1:] |= self.owners[1:] != self.owners[:-1]
        places = np.arange(len(keys))
        self.ranks = places - np.maximum.accumulate(np.where(is_new, places, 0)) + 1
        self.distinct = np.bincount(self.owners[is_new], minlength=candidates)

    def count(self, keys: Longs, before: Longs, after: Longs) -> Longs:
        """(candidates,) how many entries of the n-grams `keys` have before >= r > after.

        An n-gram that no candidate holds adds nothing.
        """
        held, entries, lengths = self._find(keys)
        ranks = self.ranks[entries]
        counting = (ranks <= before[held].repeat(lengths)) & (ranks > after[held].repeat(lengths))
        return np.bincount(self.owners[entries[counting]], minlength=self.candidates)

    def count_distinct(self, keys: Longs) -> Longs:
        """(candidates,) how many of the n-grams `keys`, which are different ones, each holds."""
        _, entries, _ = self._find(keys)
        return np.bincount(self.owners[entries[self.ranks[entries] == 1]], minlength=self.candidates)

    def _find(self, keys: Longs) -> tuple[Longs, Longs, Longs]:
        """Places of the keys that are held, their entries one behind the other, and how many each has."""
        at = self.keys.searchsorted(keys)
        at[at == len(self.keys)] = 0
        held = (self.keys[at] == keys).nonzero()[0] if len(self.keys) else at[:0]
        firsts = self.starts[at[held]]
        lengths = self.starts[at[held] + 1] - firsts
        ends = lengths.cumsum()
        entries = np.arange(ends[-1] if len(ends) else 0) + (firsts - ends + lengths).repeat(lengths)
        return held, entries, lengths


def sort_stably(keys: Longs) -> tuple[Longs, Longs]:
    """The keys ascending, and their places; equal keys in the order of their places.

    Key and place are sorted as one number where both have room in 63 bits, several times as fast.
    """
    bits = len(keys).bit_length()
    if len(keys) and int(keys.max()).bit_length() + bits < 64:
        packed = np.sort(keys << bits | np.arange(len(keys)))
        return packed >> bits, packed & ((1 << bits) - 1)
    order = np.argsort(keys, kind="stable")
    return keys[order], order
