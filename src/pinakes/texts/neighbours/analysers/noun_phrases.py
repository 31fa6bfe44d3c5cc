"""Noun phrases of a tagged sentence, by the rules of TextBlob's FastNPExtractor.

TextBlob's own extractor tags with what it learns of the Brown corpus, which is not installed with it; without
it the rules are applied to the analyser's own tags.
"""

from collections.abc import Sequence
from typing import Final

LONGEST: Final = 30
"""tokens of a noun phrase; a longer run is cut, so that phrases are found again in linear time"""

_RULES: Final = {
    ("NNP", "NNP"): "NNP",
    ("NN", "NN"): "NNI",
    ("NNI", "NN"): "NNI",
    ("JJ", "JJ"): "JJ",
    ("JJ", "NN"): "NNI",
}
_PHRASES: Final = ("NNP", "NNI")


def normalise_brown(tag: str) -> str:
    """A tag of the Brown corpus as the rules know it.

    >>> [normalise_brown(tag) for tag in ("NP", "NP-TL", "NNS", "NN-TL")]
    ['NNP', 'NNP', 'NN', 'NN']
    """
    if tag in ("NP", "NP-TL"):
        return "NNP"
    return tag.removesuffix("-TL").removesuffix("S")


def find_noun_phrases(tags: Sequence[str]) -> list[tuple[int, int]]:
    """(first token, token after the last) of each noun phrase, of Penn tags or normalised Brown tags.

    The first two neighbours that a rule joins are joined, again and again: adjectives with nouns behind them,
    nouns with nouns, names with names; a single name is a phrase too.

    >>> find_noun_phrases(["DT", "JJ", "JJ", "NNS", "IN", "NNP", "."])
    [(1, 4), (5, 6)]
    """
    joined: list[tuple[str, int]] = []  # (tag, first token), of parts that no rule joins
    for position, tag in enumerate(tags):
        part = (tag.removesuffix("S"), position)
        while joined and (joined[-1][0], part[0]) in _RULES:
            before, first = joined.pop()
            part = (_RULES[before, part[0]], first)
        joined.append(part)
    edges = [first for _, first in joined] + [len(tags)]
    found = [(edges[i], edges[i + 1]) for i, (tag, _) in enumerate(joined) if tag in _PHRASES]
    return [
        (start, min(start + LONGEST, last)) for first, last in found for start in range(first, last, LONGEST)
    ]
