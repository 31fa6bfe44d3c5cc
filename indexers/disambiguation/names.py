"""Names and texts as S2AND compares them: one spelling, the parts of a name, and how near two names are.

Source: s2and/text.py and s2and/data.py (Subramanian et al. 2021). Letters are brought to ASCII by taking their
accents off, not by transliteration: a name in another script has no letter left, and says nothing.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Final

_NOT_LETTERS: Final = re.compile(r"[^a-z]+")
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "’": "'"}
)
"""letters that have no decomposition in Unicode"""
_PREFIXES: Final = frozenset(
    ["dr", "prof", "professor", "mr", "miss", "mrs", "ms", "mx", "sir", "phd", "md", "doctor"]  # before the first name
)
STOP_WORDS: Final = frozenset(
    ["i", "me", "my", "myself", "we", "our", "ours", "ourselves", "you", "your", "yours", "yourself", "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves", "what", "which", "who", "whom", "this", "that", "these", "those", "am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do", "does", "did", "doing", "a", "an", "the", "and", "but", "if", "or", "because", "as", "until", "while", "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during", "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on", "off", "over", "under", "again", "further", "then", "once", "here", "there", "when", "where", "why", "how", "all", "any", "both", "each", "few", "more", "most", "other", "some", "such", "no", "nor", "not", "only", "own", "same", "so", "than", "too", "very", "s", "t", "can", "will", "just", "don", "should", "now"]
)
AFFILIATION_STOP_WORDS: Final = STOP_WORDS | frozenset(
    ["university", "college", "lab", "organization", "department", "research", "institute", "school", "academy", "national", "laboratory"]
)
VENUE_STOP_WORDS: Final = STOP_WORDS | frozenset(
    ["proceedings", "journal", "conference", "transactions", "international", "society", "letters", "official", "research", "association"]
)


def normalise_text(text: str | None, *, join_apostrophes: bool = False) -> str:
    """The text in lower-case ASCII letters, words apart by one space; all else is a space.

    >>> normalise_text("Łukasz  O'Brien-Núñez, 2nd"), normalise_text("O'Brien", join_apostrophes=True)
    ('lukasz o brien nunez nd', 'obrien')
    """
    lowered = unicodedata.normalize("NFKD", (text or "").lower().translate(_LETTERS))
    plain = "".join(letter for letter in lowered if not unicodedata.combining(letter))
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
    """The parts of a name, told apart anew: a first name of two words has its second in the middle.

    >>> split_name("Dr A'bdul K.", "B", "Sattar")
    NameParts(first='abdul', middle=('k', 'b'), last='sattar')
    """
    given = normalise_text(first, join_apostrophes=True).split() + normalise_text(middle).split()
    if given and given[0] in _PREFIXES:
        given = given[1:]
    return NameParts(given[0] if given else "", tuple(given[1:]), normalise_text(last))


def find_block(name: str) -> str:
    """The block of a normal name: its first letter and its last word.

    >>> find_block("ada king lovelace"), find_block("ada"), find_block("")
    ('a lovelace', 'ada', '')
    """
    words = name.split()
    return f"{words[0][0]} {words[-1]}" if len(words) > 1 else name


def count_letters(text: str, stop_words: frozenset[str] | None = STOP_WORDS) -> Counter[str]:
    """How often each run of two, three or four letters within a word of a normal text stands there.

    Stop words and words of one or two letters are left out; nothing is where `stop_words` is None.

    >>> sorted(count_letters("the cats").items())
    [('at', 1), ('ats', 1), ('ca', 1), ('cat', 1), ('cats', 1), ('ts', 1)]
    """
    words = text.split()
    if stop_words is not None:
        words = [word for word in words if word not in stop_words and len(word) > 2]
    return Counter(
        word[start : start + length]
        for word in words
        for length in (2, 3, 4)
        for start in range(len(word) - length + 1)
    )


def count_words(text: str, stop_words: frozenset[str] = STOP_WORDS) -> Counter[str]:
    """How often each run of one, two or three words of a normal text stands there, stop words left out.

    >>> sorted(count_words("the big cats"))
    ['big', 'big cats', 'cats']
    """
    words = [word for word in text.split() if word not in stop_words and len(word) > 1]
    return Counter(
        " ".join(words[start : start + length])
        for length in (1, 2, 3)
        for start in range(len(words) - length + 1)
    )


def compare_first_names(one: str, other: str) -> tuple[float, float, float, float]:
    """How far two first names are apart by edits, beginning and common subsequence; and Jaro-Winkler's similarity.

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
