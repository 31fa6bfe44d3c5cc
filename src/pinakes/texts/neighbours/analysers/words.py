"""Tokens of a sentence as NLTK's tokeniser finds them, with their places in the text."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nltk.tokenize import NLTKWordTokenizer

_QUOTES: Final = ('"', "''", "``")
_PLAIN: Final = re.compile(r"\w+|[^\w\s]")


def split_words(text: str, start: int = 0) -> tuple[list[int], list[int], dict[int, str]]:
    """The starts and ends of a sentence's tokens, counted from `start`, and the forms that NLTK alters.

    NLTK's tokeniser adds and drops nothing but white space, and writes a double quotation mark as `` or ''.

    >>> split_words('a "b".')
    ([0, 2, 3, 4, 5], [1, 3, 4, 5, 6], {1: '``', 3: "''"})
    """
    starts: list[int] = []
    ends: list[int] = []
    altered: dict[int, str] = {}
    at = 0
    for token in _make_tokenizer().tokenize(text):
        while text[at : at + 1].isspace():
            at += 1
        found = token
        if not text.startswith(token, at):
            found = next((quote for quote in _QUOTES if text.startswith(quote, at)), "")
            if not found or token not in _QUOTES:
                return _split_plainly(text, start)
            altered[len(starts)] = token
        starts.append(start + at)
        at += len(found)
        ends.append(start + at)
    return starts, ends, altered


def _split_plainly(text: str, start: int) -> tuple[list[int], list[int], dict[int, str]]:
    """Words and single marks: of a sentence whose quotation marks cannot be told apart."""
    spans = [found.span() for found in _PLAIN.finditer(text)]
    return [start + first for first, _ in spans], [start + last for _, last in spans], {}


@lru_cache(maxsize=1)
def _make_tokenizer() -> "NLTKWordTokenizer":
    """NLTK's tokeniser with patterns of the standard library, which are faster and have no limit of time."""
    from nltk.tokenize import NLTKWordTokenizer

    made = NLTKWordTokenizer()
    for name in ("STARTING_QUOTES", "PUNCTUATION", "ENDING_QUOTES"):
        setattr(made, name, [_compile(rule) for rule in getattr(NLTKWordTokenizer, name)])
    for name in ("PARENS_BRACKETS", "DOUBLE_DASHES"):
        setattr(made, name, _compile(getattr(NLTKWordTokenizer, name)))
    return made


def _compile(rule: tuple[Any, str]) -> tuple[re.Pattern[str], str]:
    pattern, replacement = rule
    return re.compile(pattern.pattern), replacement
