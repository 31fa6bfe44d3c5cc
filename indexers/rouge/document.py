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

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.rouge.postings import Postings
from pinakes.indexers.rouge.semantics import Semantics, find_semantics, split_part, split_words

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

OPEN: Final = 0
CLOSED: Final = 1
START: Final = 2
_MARK: Final = "\x01"  # ends a sentence where all are split at once
KEY_BASE: Final = 1 << 31  # a bigram's key is left * KEY_BASE + right
EMPTY: Final = 0  # the empty token's number
_BLANK: Final = re.compile(r"\.\s+\.")  # a segment of white space between two full stops


class Numbering(dict[str, int]):
    """Numbers of words, those of one token alike; an unknown word gets the next number."""

    def __init__(self, normalise: Callable[[str], str] | None) -> None:
        super().__init__()
        self._normalise = normalise
        self._tokens: dict[str, int] = self if normalise is None else {}
        self._tokens[""] = EMPTY

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

    def number_all(self, words: Sequence[str]) -> Ints:
        """The same of many words, as an array."""
        new = [word for word in dict.fromkeys(words) if word not in self]
        tokens = new if self._normalise is None else list(map(self._normalise, new))
        known = self._tokens
        unknown = new if known is self else [token for token in dict.fromkeys(tokens) if token not in known]
        known.update(zip(unknown, range(len(known), len(known) + len(unknown)), strict=True))
        if known is not self:
            self.update(zip(new, map(known.__getitem__, tokens), strict=True))
        return np.fromiter(map(self.__getitem__, words), np.int32, len(words))


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or the seed, as it is joined; see `semantics.Part`.

    In other semantics than `rouge` it is one segment.
    """

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


class Table:
    """The tokens of all candidates, flat, as they follow one end of a summary.

    Attributes:
        tokens: (tokens,); owners: (tokens,) whose they are, ascending.
        lengths: (candidates,) tokens of each.
        first: (candidates,) the first token of each, -1 where there is none.
    """

    def __init__(self, tokens: Ints, lengths: Ints) -> None:
        self.tokens, self.lengths = tokens, lengths
        self.owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        self.first = np.full(len(lengths), -1, np.int32)
        self.first[lengths > 0] = tokens[(np.cumsum(lengths) - lengths)[lengths > 0]]
        self._postings: dict[int, Postings] = {}
        self._counted: tuple[int, Longs] | None = None  # of count_own: a step asks for one last token twice
        self._inside = self.owners[1:] == self.owners[:-1]  # bigrams within one candidate

    def count_own(self, last: int) -> Longs:
        """(candidates,) how often each has its bigram of the joint, (last, first token), within itself."""
        if self._counted is None or self._counted[0] != last:
            at = np.flatnonzero(self.tokens[:-1] == last)
            at = at[self._inside[at]]
            owners = self.owners[at]
            same = self.tokens[at + 1] == self.first[owners]
            self._counted = last, np.bincount(owners[same], minlength=len(self.lengths))
        return self._counted[1]

    def find_postings(self, order: int) -> Postings:
        """All n-grams of `order` tokens, by their keys; built once."""
        if order not in self._postings:
            if order == 1:
                postings = Postings(self.tokens.astype(np.int64), self.owners, len(self.lengths))
            else:
                at = np.flatnonzero(self._inside)
                base = int(self.tokens.max(initial=0)) + 1  # small keys are sorted faster
                keys = self.tokens[at].astype(np.int64) * base + self.tokens[at + 1]
                postings = Postings(keys, self.owners[at], len(self.lengths))
                left, right = np.divmod(postings.keys, base)
                postings.keys = left * KEY_BASE + right
            self._postings[order] = postings
        return self._postings[order]


class Document:
    """Sentences in one semantics; made by `read_document`, read by `augment` for one query after another."""

    def __init__(self, texts: Sequence[str], semantics: Semantics) -> None:
        self.texts, self.semantics = texts, semantics
        self.numbering = Numbering(semantics.normalise)
        self._odd: dict[int, Piece] = {}
        self._tables = {OPEN: self._read()}

    def read_piece(self, text: str) -> Piece:
        """A text in this document's numbers, which grow by its new words."""
        if not self.semantics.distinct:
            return Piece([self.numbering.number(self.semantics.split(text))])
        part = split_part(text)
        segments = [self.numbering.number(words) for words in part.segments]
        return Piece(segments, part.blank_head, part.blank_tail)

    def find_piece(self, number: int) -> Piece:
        """A sentence as it is joined."""
        return self._odd[number] if number in self._odd else self.read_piece(self.texts[number])

    def find_table(self, end: int) -> Table:
        """The candidates' tokens behind a summary of that end."""
        if end not in self._tables:
            table = self._tables[OPEN]
            leads = [number for number, piece in self._odd.items() if piece.needs_lead(end)]
            if leads:
                lengths = table.lengths.copy()
                lengths[leads] += 1
                starts = np.cumsum(table.lengths) - table.lengths
                table = Table(np.insert(table.tokens, starts[leads], EMPTY), lengths)
            self._tables[end] = table
        return self._tables[end]

    def _read(self) -> Table:
        """The tokens of all sentences behind an open end: split at once, where no sentence is odd."""
        if self.semantics.distinct:
            blanks = _BLANK.search("\n".join(self.texts)) is not None
            for number, text in enumerate(self.texts):
                if _is_odd(text) or (blanks and _BLANK.search(text)):
                    self._odd[number] = self.read_piece(text)
        marked = f" {_MARK} ".join([*self.texts, ""])
        if self._odd or marked.count(_MARK) > len(self.texts):
            return self._read_singly()
        words = marked.replace(".", " ").split() if self.semantics.distinct else split_words(marked, _MARK)
        numbers = self.numbering.number_all(words)
        stops = np.flatnonzero(numbers == self.numbering[_MARK])
        lengths = np.diff(stops, prepend=-1) - 1
        return Table(np.delete(numbers, stops), lengths.astype(np.int32))

    def _read_singly(self) -> Table:
        words: list[str] = []
        lengths = []
        for number, text in enumerate(self.texts):
            if number in self._odd:
                part = split_part(text)
                split = [word for segment in part.segments for word in segment] + [""] * part.blank_tail
            else:
                split = text.replace(".", " ").split() if self.semantics.distinct else split_words(text)
            words += split
            lengths.append(len(split))
        return Table(self.numbering.number_all(words), np.array(lengths, np.int32))


def read_document(sentences: Sequence[str], semantics: str) -> Document:
    """The sentences' tokens.

    Raises:
        UnknownNameError: there is no such semantics.
    """
    return Document(sentences, find_semantics(semantics))


def _is_odd(text: str) -> bool:
    """Whether head or tail may be empty or blank, other than by a full stop at the end."""
    head = text[:1]
    return not head or head == "." or head.isspace() or text[-1].isspace()
