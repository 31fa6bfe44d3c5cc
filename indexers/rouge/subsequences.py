"""Longest common subsequences by bits: a row of the table is one whole number of a bit per reference token.

A bit of a row is 0 where the length grows by one at that token (Hyyrö 2004; Crochemore et al. 2001), so one
token costs four operations on whole numbers, whatever the reference's length up to some hundred tokens.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

Token = TypeVar("Token", bound=Hashable)


def mask_tokens(tokens: Iterable[Token]) -> dict[Token, int]:
    """Where each token stands, bit 0 being the first place.

    >>> mask_tokens("aba")
    {'a': 5, 'b': 2}
    """
    masks: dict[Token, int] = {}
    for place, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << place
    return masks


def extend_row(row: int, masks: Iterable[int]) -> int:
    """The row after more tokens, given as the masks of their places; bits above the reference mean nothing."""
    for mask in masks:
        both = row & mask
        row = (row + both) | (row ^ both)
    return row


def measure_row(row: int, length: int) -> int:
    """The length of the longest common subsequence with a reference of `length` tokens.

    >>> masks = mask_tokens("abcd")
    >>> measure_row(extend_row(0b1111, [masks["a"], masks["d"], masks["c"]]), 4)
    2
    """
    return length - (row & ((1 << length) - 1)).bit_count()


class Segments(Generic[Token]):
    """A reference in segments: which tokens the union of longest common subsequences with a segment covers.

    rouge 1.0.1 takes one longest common subsequence for each pair of segments, the one that it finds going back
    from the end: equal tokens are taken; else it drops the reference's token where that alone keeps the
    length, and the other's where not. All segments share one row; a bit between two stops the carry. A column
    is one token of the hypothesis; going back costs a few operations a column and segment, and no table.

    Attributes:
        tokens: the different tokens; a covered set is a whole number with a bit for each.
    """

    def __init__(self, segments: Sequence[Sequence[Token]]) -> None:
        self.masks: Final[dict[Token, int]] = {}
        self.bounds: Final[list[tuple[int, int]]] = []
        self.full = 0
        first = 0
        for segment in segments:
            for place, token in enumerate(segment, first):
                self.masks[token] = self.masks.get(token, 0) | 1 << place
            stop = first + len(segment)
            self.bounds.append((first, stop))
            self.full |= (1 << stop) - (1 << first)
            first = stop + 1
        self.tokens: Final = {token: 1 << number for number, token in enumerate(self.masks)}

    def keep(self, tokens: Iterable[Token]) -> list[Token]:
        """The tokens that occur in the reference; the others change nothing."""
        return [token for token in tokens if token in self.masks]

    def extend(self, row: int, tokens: Iterable[Token]) -> list[int]:
        """The rows after each further token (kept ones); the first row of all is `full`."""
        rows = []
        for token in tokens:
            both = row & self.masks[token]
            row = ((row + both) | (row ^ both)) & self.full
            rows.append(row)
        return rows

    def cover(self, tokens: Sequence[Token]) -> int:
        """The covered tokens of one segment (kept tokens) with all of the reference's segments.

        >>> reference = Segments(["the cat sat".split(), "a mat".split()])
        >>> reference.cover(["sat", "cat", "mat"]).bit_count()
        2
        """
        return self.cover_after(tokens, [self.full, *self.extend(self.full, tokens)], Prefix())

    def cover_after(self, tokens: Sequence[Token], rows: Sequence[int], prefix: "Prefix[Token]") -> int:
        """The same for a prefix and the tokens behind it; `rows` start with the prefix's last one."""
        covered = 0
        reached = self.full & ~rows[-1]
        for first, stop in self.bounds:
            if reached & ((1 << stop) - (1 << first)):
                taken, row = self._go_back(first, stop, tokens, rows)
                covered |= taken
                if prefix.tokens and row > first:
                    covered |= self._find_in_prefix(first, row, prefix)
        return covered

    def _go_back(
        self, first: int, place: int, tokens: Sequence[Token], rows: Sequence[int]
    ) -> tuple[int, int]:
        """What is taken going back from `place` of a segment over all tokens, and at which place that ends."""
        taken = 0
        below = (1 << place) - (1 << first)
        for number in range(len(tokens) - 1, -1, -1):
            found = self.masks[tokens[number]] & below
            if found:
                last = found.bit_length()
                if (
                    last == place
                    or (rows[number] & below).bit_count() != (rows[number + 1] & below).bit_count()
                ):
                    taken |= self.tokens[tokens[number]]
                    place = last - 1
                    below = (1 << place) - (1 << first)
        return taken, place

    def _find_in_prefix(self, first: int, place: int, prefix: "Prefix[Token]") -> int:
        if place not in prefix.covered:
            prefix.covered[place] = self._go_back(first, place, prefix.tokens, prefix.rows)[0]
        return prefix.covered[place]


class Prefix(Generic[Token]):
    """An open segment that candidates continue: its kept tokens, their rows, and what is covered from each place."""

    def __init__(self, tokens: Sequence[Token] = (), rows: Sequence[int] = ()) -> None:
        self.tokens = tokens
        self.rows = rows  # one more than tokens
        self.covered: dict[int, int] = {}


def mask_all(tokens: Iterable[Token], masks: Mapping[Token, int]) -> list[int]:
    """The masks of those tokens that have one."""
    return [masks[token] for token in tokens if token in masks]
