"""The sentences of a document as numbered tokens, once for any number of queries.

In the semantics `rouge` the tokens that a sentence adds to a summary depend on where the summary ends:

- `CLOSED` (it ends in a full stop, or in white space behind one): a sentence whose head has no token brings
  an empty token;
- `OPEN` (words stand behind the last full stop): the head continues them, and brings none;
- `START` (no summary yet): an empty head brings nothing, a blank one an empty token.

A blank tail is an empty token too, but only of the summary that it ends. So a candidate's tokens are one of
three lists that differ in the first token, and what remains of them when the next one is joined is the list
without that last token. In the other semantics a summary is always `OPEN`: tokens are simply joined.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.rouge.semantics import Semantics, find_semantics, split_part

Longs = NDArray[np.int64]

OPEN: Final = 0
CLOSED: Final = 1
START: Final = 2
EMPTY: Final = 0  # the empty token's number


class Numbering(dict[str, int]):
    """Numbers of words, those of one token alike; an unknown word gets the next number."""

    def __init__(self, normalise: Callable[[str], str] | None) -> None:
        super().__init__()
        self._normalise = normalise
        self._tokens = {"": EMPTY}

    def __missing__(self, word: str) -> int:
        token = word if self._normalise is None else self._normalise(word)
        number = self[word] = self._tokens.setdefault(token, len(self._tokens))
        return number

    @property
    def size(self) -> int:
        """How many different tokens there are, the empty one included."""
        return len(self._tokens)

    def number(self, words: Iterable[str]) -> list[int]:
        """The numbers of words."""
        return list(map(self.__getitem__, words))


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or the seed, as it is joined; see `semantics.Part`. Without full stops it is one segment."""

    segments: list[list[int]]
    blank_head: bool = False
    blank_tail: bool = False

    def needs_lead(self, end: int) -> bool:
        """Whether it begins with an empty token behind a summary of that end."""
        return not self.segments[0] and (end == CLOSED or (end == START and self.blank_head))

    def list_kept(self, end: int) -> list[int]:
        """The tokens that stay in the summary whatever is joined to it next."""
        lead = [EMPTY] if len(self.segments) > 1 and self.needs_lead(end) else []
        return lead + [token for segment in self.segments for token in segment]

    def end_after(self, end: int) -> int:
        """How a summary ends that ended so before this was joined to it."""
        continues = end == OPEN and len(self.segments) == 1
        return OPEN if continues or self.segments[-1] else CLOSED


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The tokens of all candidates, flat, as they follow one end of a summary.

    Attributes:
        tokens: (tokens,); owners: (tokens,) whose they are, ascending.
        lengths: (candidates,) tokens of each.
        first: (candidates,) the first token of each, -1 where there is none.
        inner: (bigrams,) places of the tokens that have a next one in the same candidate.
    """

    tokens: Longs
    owners: Longs
    lengths: Longs
    first: Longs
    inner: Longs

    def count_own(self, last: int) -> Longs:
        """(candidates,) how often each candidate has its bigram of joint, (last, first token), within itself."""
        at = self.inner[self.tokens[self.inner] == last]
        owners = self.owners[at]
        same = self.tokens[at + 1] == self.first[owners]
        return np.bincount(owners[same], minlength=len(self.lengths))

    def list_keys(self, order: int, base: int) -> tuple[Longs, Longs]:
        """Keys of all n-grams, a token or left * base + right, and whose they are."""
        if order == 1:
            return self.tokens, self.owners
        return self.tokens[self.inner] * base + self.tokens[self.inner + 1], self.owners[self.inner]


@dataclass(slots=True)
class Document:
    """Sentences in one semantics; made by `read_document`, read by `augment` for one query after another."""

    semantics: Semantics
    numbering: Numbering
    pieces: list[Piece]
    _tables: dict[int, Table] = field(default_factory=dict)

    def read_piece(self, text: str) -> Piece:
        """A text in this document's numbers, which grow by its new words."""
        return _read_piece(text, self.semantics, self.numbering)

    def find_table(self, end: int) -> Table:
        """The candidates' tokens behind a summary of that end."""
        if end not in self._tables:
            leads = [piece.needs_lead(end) for piece in self.pieces]
            if end != OPEN and not any(leads):
                self._tables[end] = self.find_table(OPEN)
            else:
                self._tables[end] = _tabulate(self.pieces, leads)
        return self._tables[end]


def read_document(sentences: Iterable[str], semantics: str) -> Document:
    """The sentences' tokens.

    Raises:
        UnknownNameError: there is no such semantics.
    """
    chosen = find_semantics(semantics)
    numbering = Numbering(chosen.normalise)
    return Document(chosen, numbering, [_read_piece(text, chosen, numbering) for text in sentences])


def _read_piece(text: str, semantics: Semantics, numbering: Numbering) -> Piece:
    if not semantics.distinct:
        return Piece([numbering.number(semantics.split(text))])
    part = split_part(text)
    return Piece([numbering.number(words) for words in part.segments], part.blank_head, part.blank_tail)


def _tabulate(pieces: Sequence[Piece], leads: Sequence[bool]) -> Table:
    flat: list[int] = []
    starts = [0]
    for piece, leading in zip(pieces, leads, strict=True):
        if leading:
            flat.append(EMPTY)
        for segment in piece.segments:
            flat += segment
        if piece.blank_tail:
            flat.append(EMPTY)
        starts.append(len(flat))
    tokens, bounds = np.array(flat, np.int64), np.array(starts, np.int64)
    lengths = np.diff(bounds)
    owners = np.repeat(np.arange(len(pieces)), lengths)
    first = np.full(len(pieces), -1)
    first[lengths > 0] = tokens[bounds[:-1][lengths > 0]]
    inner = np.flatnonzero(owners[1:] == owners[:-1])
    return Table(tokens, owners, lengths, first, inner)
