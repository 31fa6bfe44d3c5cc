"""What the tokens of a text are, in each of three semantics.

`rouge_score` is the default of the package rouge-score 0.1.2: lower case, runs of `[a-z0-9]`, Porter's stems of
words above three characters, n-grams counted. `rouge_score_plain` is the same without stems. `rouge` is the
package rouge 1.0.1: segments between full stops, their words between white space, case and punctuation kept,
each different n-gram counted once; a segment of white space alone is one empty token.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from pinakes.errors import UnknownNameError

SemanticsName = Literal["rouge_score", "rouge_score_plain", "rouge"]

_ALPHANUMERIC: Final = b"abcdefghijklmnopqrstuvwxyz0123456789"
_TO_SPACES: Final = bytes(byte if byte in _ALPHANUMERIC else 32 for byte in range(256))
_UNSTEMMED: Final = 3  # characters of the longest word that rouge-score does not stem


def split_words(text: str) -> list[str]:
    """The runs of `[a-z0-9]` in the lower-cased text: rouge-score's tokens before stemming.

    >>> split_words("The F1-score of GPT-4 is 0.93.")
    ['the', 'f1', 'score', 'of', 'gpt', '4', 'is', '0', '93']
    """
    return text.lower().encode("ascii", "replace").translate(_TO_SPACES).decode("ascii").split()


@functools.cache
def _load_stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@functools.lru_cache(maxsize=1 << 18)
def stem_word(word: str) -> str:
    """Porter's stem in NLTK's variant; words of up to three characters stay as they are.

    >>> stem_word("ranking"), stem_word("has")
    ('rank', 'has')
    """
    return _load_stemmer()(word) if len(word) > _UNSTEMMED else word


def split_segments(text: str) -> list[list[str]]:
    """The segments of a whole text in the semantics `rouge`, each as its tokens.

    >>> split_segments("The cat sat.. A b. ")
    [['The', 'cat', 'sat'], ['A', 'b'], ['']]
    """
    return [piece.split() or [""] for piece in text.split(".") if piece]


@dataclass(frozen=True, slots=True)
class Part:
    """A text that is joined with others by single spaces, in the semantics `rouge`.

    Joining merges the last piece of what stands before with this part's first piece, its head; so an empty
    or blank head becomes an empty token where what stands before ends in a full stop, and a blank tail is an
    empty token only as long as nothing is joined to it.

    Attributes:
        segments: tokens between full stops; the first is the head and the last the tail, both perhaps without
            tokens; of those between, empty ones are left out and blank ones are `[""]`.
        blank_head: the head is white space, of at least one character.
        blank_tail: there is a full stop, and what follows the last one is white space.
    """

    segments: list[list[str]]
    blank_head: bool
    blank_tail: bool


def split_part(text: str) -> Part:
    """A text as a part of a joined one, in the semantics `rouge`.

    >>> split_part("a b. . c. ")
    Part(segments=[['a', 'b'], [''], ['c'], []], blank_head=False, blank_tail=True)
    """
    head, *others = text.split(".")
    segments = [words := head.split()]
    blank_head = not words and head != ""
    if not others:
        return Part(segments, blank_head, blank_tail=False)
    tail = others.pop()
    segments += [piece.split() or [""] for piece in others if piece]
    segments.append(words := tail.split())
    return Part(segments, blank_head, blank_tail=not words and tail != "")


@dataclass(frozen=True, slots=True)
class Semantics:
    """How texts become tokens.

    Attributes:
        distinct: each different n-gram counts once, as in rouge 1.0.1.
        split: words of a text, before `normalise`.
        normalise: the token of a word; None: the word.
    """

    name: SemanticsName
    distinct: bool
    split: Callable[[str], list[str]]
    normalise: Callable[[str], str] | None = None

    def tokens(self, text: str) -> list[str]:
        """The tokens of one text that stands alone."""
        words = self.split(text)
        return words if self.normalise is None else list(map(self.normalise, words))


def _split_tokens(text: str) -> list[str]:
    return [token for segment in split_segments(text) for token in segment]


SEMANTICS: Final[dict[str, Semantics]] = {
    "rouge_score": Semantics("rouge_score", False, split_words, stem_word),
    "rouge_score_plain": Semantics("rouge_score_plain", False, split_words),
    "rouge": Semantics("rouge", True, _split_tokens),
}


def find_semantics(name: str) -> Semantics:
    """The semantics of a name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in SEMANTICS:
        raise UnknownNameError("ROUGE semantics", name, list(SEMANTICS))
    return SEMANTICS[name]
