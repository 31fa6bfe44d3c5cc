"""The plan of the synthetic world: which topic, aspects and year a paper has, and which papers a topic has.

Papers come in blocks; every block holds each topic once, twice or four times, in a rotated order. So topic
and paper can be found from each other by arithmetic alone. Leaves out: words (`wording`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from pinakes.loaders.synthetic.hashing import (
    Integers,
    Words,
    draw_words,
    find_step,
    make_key,
    scale_words,
)

THEME_SLOTS: Final = 8
"""slots that a theme has in a block; its four topics share them"""
THEME_TOPICS: Final = 4
TOPIC_OF_SLOT: Final[Integers] = np.array([0, 1, 2, 2, 3, 3, 3, 3])
FIRST_SLOT: Final[Integers] = np.array([0, 1, 2, 4])
"""a topic's number within its theme -> its first slot"""
SLOT_COUNT: Final[Integers] = np.array([1, 1, 2, 4])
"""a topic's number within its theme -> how many papers a block holds of it"""
ASPECTS: Final = ("background", "method", "result")
"""the facets that a query can ask about; a topic has three variants of each"""
VARIANTS: Final = 3
_VARIANT: Final[Integers] = np.array([0, 0, 0, 1, 1, 2])
FIELD_CYCLE: Final[Integers] = np.array([*range(19), 13, 1, 4, 13, 3, 6, 13, 11, 15, 17, 4, 1, 5])
"""a theme's number modulo 32 -> its field; 13 is Medicine, the largest"""
_FIRST_YEAR: Final = 1970
_YEARS: Final = 55


@dataclass(frozen=True)
class World:
    """A world of `papers` papers; a paper is its number from 0, all arithmetic is over arrays of them."""

    papers: int
    seed: int

    @cached_property
    def themes(self) -> int:
        """Number of themes: at least one for each field where there is room.

        A theme has about 96 papers; in large worlds more, or their topics would be more than the vocabulary
        can tell apart.
        """
        papers_per_theme = 96 + self.papers // 2500
        return min(self.papers // THEME_SLOTS, max(19, self.papers // papers_per_theme))

    @property
    def topics(self) -> int:
        """Number of topics."""
        return self.themes * THEME_TOPICS

    @property
    def slots(self) -> int:
        """Papers of a block."""
        return self.themes * THEME_SLOTS

    @property
    def whole_blocks(self) -> int:
        """Blocks of which no paper is missing; at least one."""
        return self.papers // self.slots

    @cached_property
    def _step(self) -> int:
        return find_step(self.slots)

    @cached_property
    def _inverse(self) -> int:
        return pow(self._step, -1, self.slots)

    def draw(self, stream: str, counters: Integers) -> Words:
        """One random word for each counter from a named stream of this world's seed."""
        return draw_words(make_key(self.seed, stream), counters)

    def _rotate(self, blocks: Integers) -> Integers:
        return scale_words(self.draw("rotation", blocks), self.slots)

    def find_slots(self, papers: Integers) -> Integers:
        """The slot of each paper within its block."""
        return ((papers % self.slots) * self._step + self._rotate(papers // self.slots)) % self.slots

    def find_papers(self, blocks: Integers, slots: Integers) -> Integers:
        """The paper in each slot of each block; of the last block, it may lie beyond the last paper."""
        within = ((slots - self._rotate(blocks)) % self.slots * self._inverse) % self.slots
        return blocks * self.slots + within

    def find_topics(self, papers: Integers) -> Integers:
        """The topic of each paper."""
        slots = self.find_slots(papers)
        return slots // THEME_SLOTS * THEME_TOPICS + TOPIC_OF_SLOT[slots % THEME_SLOTS]

    def find_fields(self, topics: Integers) -> Integers:
        """The field of study of each topic, as its number."""
        return FIELD_CYCLE[topics // THEME_TOPICS % len(FIELD_CYCLE)]

    def find_variants(self, papers: Integers) -> Integers:
        """Which variant of each aspect each paper has: shape (aspects, papers); the first is common."""
        words = self.draw("variant", papers)
        shifts = (np.arange(len(ASPECTS)) * 16).astype(np.uint64)
        return _VARIANT[scale_words(words << shifts[:, None], len(_VARIANT))]

    @cached_property
    def _year_starts(self) -> Integers:
        # Volume grows by 6 per cent a year, in integers so that no machine rounds it differently.
        weights = [1_000_000]
        for _ in range(_YEARS - 1):
            weights.append(weights[-1] * 53 // 50)
        starts = np.cumsum(np.array(weights, dtype=np.int64))
        return self.papers * starts // int(starts[-1])

    def find_years(self, papers: Integers) -> Integers:
        """The year of each paper; later papers are never older."""
        return _FIRST_YEAR + np.searchsorted(self._year_starts, papers, side="right").astype(np.int64)
