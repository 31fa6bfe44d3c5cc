"""Names and texts as S2AND compares them: one spelling, the parts of a name, and how near two names are.

Source: s2and/text.py and s2and/data.py (Subramanian et al. 2021). Letters are brought to ASCII by taking
their accents off, not by transliteration: a name in another script has no letter left, and says nothing.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Final


def read_words(path: Path) -> dict[str, frozenset[str]]:
    """The words of a file by section: a line in brackets begins one, a line after # says what it is."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words.extend(line.split())
    return {name: frozenset(words) for name, words in sections.items()}


_NOT_LETTERS: Final = re.compile(r"[^a-z]+")
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "’": "'"}
)
"""letters that have no decomposition in Unicode"""
_WORDS: Final = read_words(Path(__file__).with_name("stop_words.txt"))
PREFIXES: Final = _WORDS["titles"]
"""what may stand before a first name, and is none"""
STOP_WORDS: Final = _WORDS["english"]
AFFILIATION_STOP_WORDS: Final = STOP_WORDS | _WORDS["affiliations"]
VENUE_STOP_WORDS: Final = STOP_WORDS | _WORDS["venues"]


def normalise_text(text: str | None, *, join_apostrophes: bool = False) -> str:
    """The text in lower-case ASCII letters, words apart by one space; all else is a space.

    >>> normalise_text("Łukasz  O'Brien-Núñez, 2nd"), normalise_text("O'Brien", join_apostrophes=True)
    ('lukasz o brien nunez nd', 'obrien')
    """
    plain = (text or "").lower()
    if not plain.isascii():
        apart = unicodedata.normalize("NFKD", plain.translate(_LETTERS))
        plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    if join_apostrophes:
        plain = plain.replace("'", "")
    return _NOT_LETTERS.sub(" ", plain).strip()


@dataclass(frozen=True, slots=True)
class NameParts:
    """A name in its normal spelling; a part may be empty.

    Attributes:
        first: the first word of the first and middle names, without a title.
        middle: their other words.
    """

    first: str
    middle: tuple[str, ...]
    last: str


def split_name(first: str | None, middle: str | None, last: str | None) -> NameParts:
    """The parts of a name, split again: a first name of two words has its second in the middle.

    >>> split_name("Dr A'bdul K.", "B", "Sattar")
    NameParts(first='abdul', middle=('k', 'b'), last='sattar')
    """
    # Where there is no first name, the middle one does not take its place.
    given = f"{normalise_text(first, join_apostrophes=True)} {normalise_text(middle)}".split(" ")
    if given[0] in PREFIXES:
        given = given[1:]
    return NameParts(given[0], tuple(filter(None, given[1:])), normalise_text(last))


def find_block(name: str) -> str:
    """The block of a normal name: its first letter and its last word.

    >>> find_block("ada king lovelace"), find_block("ada"), find_block("")
    ('a lovelace', 'ada', '')
    """
    words = name.split()
    return f"{words[0][0]} {words[-1]}" if len(words) > 1 else name


def list_long_words(text: str, stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """The words of a normal text from three letters on, stop words left out: what `cut_letters` is of.

    >>> list_long_words("the cats of yore do")
    ['cats', 'yore']
    """
    return [word for word in text.split() if len(word) > 2 and word not in stop_words]


def cut_letters(word: str) -> list[str]:
    """The runs of two, three and four letters of a word.

    >>> cut_letters("cats")
    ['ca', 'at', 'ts', 'cat', 'ats', 'cats']
    """
    return [word[start : start + size] for size in (2, 3, 4) for start in range(len(word) - size + 1)]


def list_phrases(text: str, stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """The runs of one, two and three words of a normal text, stop words and single letters left out.

    >>> list_phrases("the big cats")
    ['big', 'cats', 'big cats']
    """
    words = [word for word in text.split() if len(word) > 1 and word not in stop_words]
    return [
        " ".join(words[start : start + size]) for size in (1, 2, 3) for start in range(len(words) - size + 1)
    ]


def compare_first_names(one: str, other: str) -> tuple[float, float, float, float]:
    """How far two first names are apart: by edits, beginning, common subsequence; and Jaro-Winkler's measure.

    The first three are from 0 (the same) to 1. All are nan where a name is empty or an initial.

    >>> [round(value, 3) for value in compare_first_names("martha", "marhta")]
    [0.333, 0.5, 0.167, 0.961]
    """
    from rapidfuzz.distance import JaroWinkler, LCSseq, Levenshtein, Prefix  # late: only clusterings need it

    if len(one) < 2 or len(other) < 2:
        return (float("nan"),) * 4
    return (
        Levenshtein.normalized_distance(one, other),
        1.0 - Prefix.similarity(one, other) / min(len(one), len(other)),
        LCSseq.normalized_distance(one, other),
        JaroWinkler.similarity(one, other),
    )
