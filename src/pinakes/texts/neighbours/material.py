"""What a transformation is given beside the text."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from pinakes.texts.neighbours.analysis import AnalysedText


@dataclass(frozen=True, slots=True)
class Material:
    """What a transformation may use.

    Attributes:
        random: seeded for one paper and code.
        find_antonym: an adjective -> its antonym, or None.
        top_phrases: the more important half of the corpus's noun phrases.
    """

    random: Random
    find_antonym: Callable[[str], str | None]
    top_phrases: frozenset[str]


Transformation = Callable[[AnalysedText, Material], str | None]
"""A text -> the text as a code has it, or None where what the code changes is not in it."""
