"""The plan of the synthetic world: which topic, aspects and year a paper has, and which papers a topic has.

Papers come in blocks; every block holds each topic once, twice or four times, in a rotated order. So topic
and paper can be found from each other by arithmetic alone. And what a topic is called: topics of one theme
share the object and differ in setting and property. A theme's object may come back in other themes of a large
world; then the coined name is what tells the topics apart.
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
from pinakes.loaders.synthetic.wording import COLUMN, FORMS, SLOTS, Pieces, Wording

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
_OBJECTS: Final = 16
_SETTINGS: Final = 12
_PROPERTIES: Final = 10
_METHODS: Final = 10
_SHARED: Final = 24
_CHOSEN: Final = ("object", "setting", "property", "problem", "method", "outcome")
# A step without a common factor with the number of pairs: the four topics of a theme never share a name.
_PAIRS: Final = _SETTINGS * _PROPERTIES
_PAIR_STEP: Final = 49
_RANK = np.array([int(np.sum(FIELD_CYCLE[:place] == field)) for place, field in enumerate(FIELD_CYCLE)])
"""place in the cycle of fields -> how many places before it have the same field"""
_PER_CYCLE = np.bincount(FIELD_CYCLE)


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


def _find_pairs(world: World, topics: Integers) -> tuple[Integers, Integers]:
    """For each topic its object within the field and its pair of setting and property."""
    themes = topics // THEME_TOPICS
    fields = world.find_fields(topics)
    ranks = themes // len(FIELD_CYCLE) * _PER_CYCLE[fields] + _RANK[themes % len(FIELD_CYCLE)]
    objects = (ranks + scale_words(world.draw("object", fields), _OBJECTS)) % _OBJECTS
    numbers = ranks // _OBJECTS * THEME_TOPICS + topics % THEME_TOPICS
    starts = scale_words(world.draw("pair", fields * _OBJECTS + objects), _PAIRS)
    return objects, (numbers * _PAIR_STEP + starts) % _PAIRS


def _choose_forms(values: Pieces, habits: Words) -> None:
    """Turns concept numbers into pieces; bit i of a text's habits is set where it prefers synonym i."""
    for bit, slot in enumerate(_CHOSEN):
        habit = ((habits >> np.uint64(bit)) & np.uint64(1)).astype(np.int32)
        values[:, COLUMN[slot]] = values[:, COLUMN[slot]] * FORMS + habit * (FORMS // 2)
    for slot in ("rival", "aside"):
        values[:, COLUMN[slot]] *= FORMS


def find_aspects(world: World, wording: Wording, topics: Integers, variants: Integers) -> Integers:
    """The problem, the method and the outcome of each topic's variants: shape (aspects, topics)."""
    words = world.draw("aspects", topics)
    problems = (scale_words(words, _SHARED) + variants[0] * 7) % _SHARED
    methods = (scale_words(words << np.uint64(20), _METHODS) + variants[1] * 3) % _METHODS
    outcomes = (scale_words(words << np.uint64(40), _SHARED) + variants[2] * 7) % _SHARED
    return np.stack(
        [
            wording.concepts["problems"] + problems,
            _find_starts(world, wording, topics, "methods") + methods,
            wording.concepts["outcomes"] + outcomes,
        ]
    )


def _find_starts(world: World, wording: Wording, topics: Integers, kind: str) -> Integers:
    starts = np.array([wording.concepts[f"{field}:{kind}"] for field in wording.fields])
    return starts[world.find_fields(topics)]


def name_topics(
    world: World,
    wording: Wording,
    topics: Integers,
    variants: Integers,
    words: Words,
    *,
    synonyms: bool = False,
) -> Pieces:
    """What fills the slots for texts about `topics`: shape (texts, slots).

    `variants` has shape (aspects, texts). `words` choose between a concept's two names: a text prefers the
    term in seven of eight cases; if `synonyms`, the synonym, as people who ask do not know the words of those
    who write. They also pick what a text mentions aside.
    """
    values = np.zeros((len(topics), len(SLOTS)), dtype=np.int32)
    objects, pairs = _find_pairs(world, topics)
    first_object = _find_starts(world, wording, topics, "objects")
    first_property = _find_starts(world, wording, topics, "properties")
    values[:, COLUMN["object"]] = first_object + objects
    values[:, COLUMN["setting"]] = _find_starts(world, wording, topics, "settings") + pairs % _SETTINGS
    values[:, COLUMN["property"]] = first_property + pairs // _SETTINGS
    problem = COLUMN["problem"]
    values[:, problem : problem + len(ASPECTS)] = find_aspects(world, wording, topics, variants).T
    shift = 1 + scale_words(world.draw("rival", topics // THEME_TOPICS), _OBJECTS - 1)
    values[:, COLUMN["rival"]] = first_object + (objects + shift) % _OBJECTS
    shift = 1 + scale_words(words << np.uint64(40), _PROPERTIES - 1)
    values[:, COLUMN["aside"]] = first_property + (pairs // _SETTINGS + shift) % _PROPERTIES
    other = words >> np.uint64(len(_CHOSEN))
    third = words >> np.uint64(12)
    _choose_forms(values, words | other | third if synonyms else words & other & third)
    _coin_names(world, wording, topics, variants[1], values)
    values[:, COLUMN["field"]] = wording.starts["fields"] + world.find_fields(topics)
    return values


def _coin_names(world: World, wording: Wording, topics: Integers, methods: Integers, values: Pieces) -> None:
    names = world.draw("name", topics)
    tools = world.draw("tool", topics * VARIANTS + methods)
    for slot, words, heads, endings in (
        ("name", names, "heads", "endings"),
        ("tool", tools, "HEADS", "ENDINGS"),
    ):
        values[:, COLUMN[slot]] = wording.starts[heads] + scale_words(words, wording.head_count)
        last = scale_words(words << np.uint64(32), wording.ending_count)
        values[:, COLUMN[f"{slot}_end"]] = wording.starts[endings] + last
