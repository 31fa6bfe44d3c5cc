"""What a summary and one more sentence would count, kept up to date: n-grams shared, and how many there are.

A tally answers for all candidates at once, and takes the chosen one in. The bigram across the joint, of the
summary's last token and the candidate's first, is added for each step: the last token changes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.rouge.document import KEY_BASE, OPEN, Document, Piece, Table
from pinakes.indexers.rouge.postings import Postings

Longs = NDArray[np.int64]


@dataclass(slots=True)
class State:
    """A summary as far as it matters to what is joined to it.

    Attributes:
        end: OPEN, CLOSED or START.
        last: its last token, -1 where it has none.
        remaining: (candidates,) those not picked; a tally may say anything of the others.
    """

    end: int
    last: int
    remaining: NDArray[np.bool_]


class Tally(Protocol):
    """A count over a summary."""

    def extend(self, state: State) -> Longs:
        """(candidates,) the count of the summary with each candidate."""

    def take(self, piece: Piece, state: State) -> None:
        """Take a candidate or the seed in; `state` is that before it."""


class TokenCount:
    """How many n-grams there are, repeated ones included."""

    def __init__(self, document: Document, order: int) -> None:
        self._lengths = document.find_table(OPEN).lengths
        self._order = order
        self._tokens = 0

    def extend(self, state: State) -> Longs:
        """Tokens of both less those that begin no n-gram."""
        return np.maximum(self._lengths + (self._tokens - self._order + 1), 0)

    def take(self, piece: Piece, state: State) -> None:
        """Count its tokens."""
        self._tokens += len(piece.list_kept(state.end))


class SharedGrams:
    """N-grams shared with the query, each at most as often as the query has it; distinct: once.

    `wanted` is what is left of the query's n-grams. A candidate gains the occurrences that are still wanted.
    """

    def __init__(self, document: Document, keys: Sequence[int], order: int, *, distinct: bool) -> None:
        self._document = document
        self._order = order
        counts = Counter(keys)
        self._wanted = dict.fromkeys(counts, 1) if distinct else dict(counts)
        self._total = 0
        self._views: dict[Table, tuple[Postings, Longs]] = {}
        self._followers: dict[int, list[int]] = {}
        if order > 1:
            for key in self._wanted:
                self._followers.setdefault(key // KEY_BASE, []).append(key)
        self._room = np.zeros(document.numbering.size + 1, np.int64)

    def extend(self, state: State) -> Longs:
        """The total with each candidate's own n-grams and that of the joint."""
        table = self._document.find_table(state.end)
        sums: Longs = self._view(table)[1] + self._total
        wanted = [key for key in self._followers.get(state.last, ()) if self._wanted[key]]
        if wanted:
            at = np.array(wanted) % KEY_BASE
            self._room[at] = [self._wanted[key] for key in wanted]
            sums += self._room[table.first] > table.count_own(state.last)
            self._room[at] = 0
        return sums

    def take(self, piece: Piece, state: State) -> None:
        """Use the query's n-grams up."""
        before: dict[int, int] = {}
        for key in make_keys(state.last, piece.list_kept(state.end), self._order):
            wanted = self._wanted.get(key, 0)
            if wanted:
                before.setdefault(key, wanted)
                self._wanted[key] = wanted - 1
                self._total += 1
        if before:
            keys = np.array(list(before))
            olds, news = np.array(list(before.values())), np.array([self._wanted[key] for key in before])
            for postings, gains in self._views.values():
                gains -= postings.count(keys, olds, news)

    def _view(self, table: Table) -> tuple[Postings, Longs]:
        if table not in self._views:
            postings = table.find_postings(self._order)
            keys = np.array(list(self._wanted), np.int64)
            wanted = np.array(list(self._wanted.values()), np.int64)
            self._views[table] = postings, postings.count(keys, wanted, np.zeros_like(wanted))
        return self._views[table]


class DistinctGrams:
    """How many different n-grams there are."""

    def __init__(self, document: Document, order: int) -> None:
        self._document = document
        self._order = order
        self._held: set[int] = set()
        self._followers: dict[int, list[int]] = {}
        self._views: dict[Table, tuple[Postings, Longs]] = {}
        self._known = np.zeros(document.numbering.size + 1, bool)
        self._known[-1] = True  # the first token of a candidate that has none

    def extend(self, state: State) -> Longs:
        """The number with each candidate's new n-grams and that of the joint."""
        table = self._document.find_table(state.end)
        sums: Longs = self._view(table)[1] + len(self._held)
        if self._order > 1 and state.last >= 0:
            followers = self._followers.get(state.last, [])
            self._known[followers] = True
            sums += ~self._known[table.first] & (table.count_own(state.last) == 0)
            self._known[followers] = False
        return sums

    def take(self, piece: Piece, state: State) -> None:
        """Hold the new ones."""
        keys = make_keys(state.last, piece.list_kept(state.end), self._order)
        added = [key for key in dict.fromkeys(keys) if key not in self._held]
        self._held.update(added)
        if self._order > 1:
            for key in added:
                self._followers.setdefault(key // KEY_BASE, []).append(key % KEY_BASE)
        new = np.array(added, np.int64)
        for postings, gains in self._views.values():
            gains -= postings.count_distinct(new)

    def _view(self, table: Table) -> tuple[Postings, Longs]:
        if table not in self._views:
            postings = table.find_postings(self._order)
            self._views[table] = (
                postings,
                postings.distinct - postings.count_distinct(np.array(list(self._held), np.int64)),
            )
        return self._views[table]


def make_keys(last: int, tokens: Sequence[int], order: int) -> list[int]:
    """Keys of the n-grams of tokens, that of the joint with a last token (-1: none) included.

    >>> [divmod(key, KEY_BASE) for key in make_keys(7, [1, 2], 2)]
    [(7, 1), (1, 2)]
    """
    if order == 1:
        return list(tokens)
    joined = [last, *tokens] if last >= 0 else tokens
    return [left * KEY_BASE + right for left, right in pairwise(joined)]
