"""What a topic is called: its concepts and coined names, as values that fill the slots of patterns.

Topics of one theme share the object and differ in setting and property. A theme's object may come back in
other themes of a large world; then the coined name is what tells the topics apart.
"""

from typing import Final

import numpy as np

from pinakes.loaders.synthetic.hashing import Integers, Words, scale_words
from pinakes.loaders.synthetic.wording import COLUMN, FORMS, SLOTS, Pieces, Wording
from pinakes.loaders.synthetic.world import ASPECTS, FIELD_CYCLE, THEME_TOPICS, VARIANTS, World

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
