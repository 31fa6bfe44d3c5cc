"""Noun phrases found again in a text, counted over a corpus, and the more important half of them chosen."""

import math
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from pinakes.texts.neighbours.analysis import AnalysedText

_END = ""
"""the key of a tree of words where a phrase ends; no word is empty"""


def find_phrases(text: AnalysedText, phrases: Set[str]) -> list[int]:
    """The positions, ascending, of the tokens that belong to one of the phrases, whatever their case.

    From the left, the longest phrase at each token is taken, and the next is looked for behind it.
    """
    tree = _plant(phrases)
    words = text.lower_words
    found: list[int] = []
    behind = 0
    for at in [position for position, word in enumerate(words) if word in tree]:
        if at >= behind:
            behind = at + _measure_longest(words, at, tree)
            found.extend(range(at, behind))
    return found


def _plant(phrases: Iterable[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for phrase in phrases:
        node = tree
        for word in phrase.split(" "):
            node = node.setdefault(word, {})
        node[_END] = {}
    return tree


def _measure_longest(words: list[str], at: int, tree: dict[str, Any]) -> int:
    longest = 0
    node = tree
    for position in range(at, len(words)):
        found = node.get(words[position])
        if found is None:
            break
        node = found
        if _END in node:
            longest = position + 1 - at
    return longest


@dataclass(slots=True)
class PhraseCounts:
    """How often each noun phrase is in the abstracts of a corpus, and in how many of them.

    Attributes:
        occurrences: phrase -> how often, over all abstracts.
        papers_with: phrase -> in how many abstracts.
        papers: how many papers were counted, with and without an abstract.
    """

    occurrences: Counter[str] = field(default_factory=Counter)
    papers_with: Counter[str] = field(default_factory=Counter)
    papers: int = 0

    def add(self, other: "PhraseCounts") -> None:
        """Count the other's papers too."""
        self.occurrences.update(other.occurrences)
        self.papers_with.update(other.papers_with)
        self.papers += other.papers


def count_phrases(abstracts: Iterable[AnalysedText | None]) -> PhraseCounts:
    """The noun phrases of some papers' abstracts, None where a paper has none."""
    counts = PhraseCounts()
    for abstract in abstracts:
        counts.papers += 1
        if abstract is not None and abstract.phrases:
            counts.occurrences.update(abstract.phrase_texts)
            counts.papers_with.update(set(abstract.phrase_texts))
    return counts


def choose_top_phrases(counts: PhraseCounts) -> list[str]:
    """The more important half of the phrases, rounded down, the most important first.

    A phrase weighs tf · log2(1 + (N − df + 0.5) / (df + 0.5)), the published code's measure. Phrases with the
    same weight are in the order of their characters, so that the order of papers does not matter.
    """
    weights = {phrase: _weigh(counts, phrase) for phrase in counts.occurrences}
    ranked = sorted(weights, key=lambda phrase: (-weights[phrase], phrase))
    return ranked[: len(ranked) // 2]


def _weigh(counts: PhraseCounts, phrase: str) -> float:
    with_it = counts.papers_with[phrase]
    return counts.occurrences[phrase] * math.log2(1 + (counts.papers - with_it + 0.5) / (with_it + 0.5))
