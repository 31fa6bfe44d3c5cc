"""Tallies of rougeL: the longest common subsequence with the query, and the union that rouge 1.0.1 takes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.rouge.document import EMPTY, OPEN, Document, Piece, Table
from pinakes.indexers.rouge.subsequences import (
    Prefix,
    Segments,
    extend_row,
    mask_all,
    mask_tokens,
    measure_row,
)
from pinakes.indexers.rouge.tallies import Longs, State

_WORD: Final = 8  # bytes


class Subsequence:
    """The length of the longest common subsequence of summary and query.

    The table's row of the summary is kept; a candidate extends it by those of its tokens that the query has.
    """

    def __init__(self, document: Document, query: Sequence[int]) -> None:
        self._masks = mask_tokens(query)
        self._length = len(query)
        self._row = (1 << self._length) - 1
        self._candidates = _mask_candidates(document.find_table(OPEN), self._masks)

    def extend(self, state: State) -> Longs:
        """The length with each candidate."""
        lengths = np.zeros(len(self._candidates), np.int64)
        for number in np.flatnonzero(state.remaining).tolist():
            lengths[number] = measure_row(extend_row(self._row, self._candidates[number]), self._length)
        return lengths

    def take(self, piece: Piece, state: State) -> None:
        """Extend the row."""
        row = extend_row(self._row, mask_all(piece.segments[0], self._masks))
        self._row = row & ((1 << self._length) - 1)


class UnionSubsequence:
    """How many different tokens the unions of longest common subsequences cover, over all pairs of segments.

    A segment between two full stops of one sentence covers the same in every summary; so does a head behind a
    full stop. Only a head that continues an open segment is computed again at a step.
    """

    def __init__(self, document: Document, query: Sequence[Sequence[int]]) -> None:
        self._reference = Segments(query)
        self._words = max(1, -(-len(self._reference.tokens) // (8 * _WORD)))
        self._pieces = [document.find_piece(number) for number in range(len(document.texts))]
        self._heads = [self._reference.keep(piece.segments[0]) for piece in self._pieces]
        self._rests = self._pack([self._cover_rest(piece) for piece in self._pieces])
        self._alone = self._pack([self._reference.cover(head) for head in self._heads])
        self._empty = self._reference.cover(self._reference.keep([EMPTY]))
        self._closed = 0
        self._prefix: Prefix[int] = Prefix()

    def extend(self, state: State) -> Longs:
        """The number with each candidate."""
        heads = self._continue(state) if self._prefix.tokens else self._lead(state.end)
        covered = heads | self._rests | self._pack([self._closed])
        counts: Longs = np.bitwise_count(covered).sum(axis=1, dtype=np.int64)
        return counts

    def take(self, piece: Piece, state: State) -> None:
        """Close the segments that end, and open the one that does not."""
        merged = [*self._prefix.tokens, *self._reference.keep(piece.segments[0])]
        opened = merged
        if len(piece.segments) > 1:
            self._closed |= self._reference.cover(merged)
            for segment in piece.segments[1:-1]:
                self._closed |= self._reference.cover(self._reference.keep(segment))
            if piece.needs_lead(state.end):
                self._closed |= self._empty
            opened = self._reference.keep(piece.segments[-1])
        full = self._reference.full
        self._prefix = Prefix(opened, [full, *self._reference.extend(full, opened)])

    def _cover_rest(self, piece: Piece) -> int:
        covered = 0
        for segment in piece.segments[1:]:
            covered |= self._reference.cover(self._reference.keep(segment))
        return covered | self._reference.cover(self._reference.keep([EMPTY])) if piece.blank_tail else covered

    def _lead(self, end: int) -> NDArray[np.uint64]:
        if not self._empty or end == OPEN:
            return self._alone
        leads = np.array([piece.needs_lead(end) for piece in self._pieces], bool)
        return np.where(leads[:, None], self._pack([self._empty]), self._alone)

    def _continue(self, state: State) -> NDArray[np.uint64]:
        prefix, last = self._prefix, self._prefix.rows[-1]
        unchanged = self._reference.cover_after((), [last], prefix)
        covered = [unchanged] * len(self._heads)
        for number in np.flatnonzero(state.remaining).tolist():
            head = self._heads[number]
            if head:
                rows = [last, *self._reference.extend(last, head)]
                covered[number] = self._reference.cover_after(head, rows, prefix)
        return self._pack(covered)

    def _pack(self, covered: Sequence[int]) -> NDArray[np.uint64]:
        """(sets, words) the sets as words of 64 bits."""
        width = self._words * _WORD
        packed = b"".join(bits.to_bytes(width, "little") for bits in covered)
        return np.frombuffer(packed, "<u8").reshape(len(covered), self._words)


def _mask_candidates(table: Table, masks: Mapping[int, int]) -> list[list[int]]:
    """The masks of those tokens of each candidate that the query has."""
    known = np.fromiter(masks, np.int32, len(masks))
    held = np.flatnonzero(np.isin(table.tokens, known))
    found = list(map(masks.__getitem__, table.tokens[held].tolist()))
    stops = np.cumsum(np.bincount(table.owners[held], minlength=len(table.lengths))).tolist()
    return [found[first:stop] for first, stop in pairwise([0, *stops])]
