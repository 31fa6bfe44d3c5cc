"""Who cites whom in the synthetic world, in which words, and how often a paper is cited.

How many mentions a paper makes follows a fixed schedule for each 64 papers, so that the number of a mention
says which paper makes it. What it cites follows a copying model (Kleinberg et al. 1999): half of the
mentions cite what the paper that they first hit cites, which gives in-degrees a heavy tail. The first 64
papers cite nothing.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.loaders.synthetic.hashing import Integers, Words, scale_squares, scale_words
from pinakes.loaders.synthetic.papers import count_within, spell_papers, stage_table
from pinakes.loaders.synthetic.wording import (
    COLUMN,
    Wording,
    choose_patterns,
    fill_patterns,
    join_pieces,
    load_wording,
)
from pinakes.loaders.synthetic.world import (
    FIELD_CYCLE,
    FIRST_SLOT,
    SLOT_COUNT,
    THEME_SLOTS,
    TOPIC_OF_SLOT,
    World,
    name_topics,
)

_GROUP: Final = 64
GROUP_MENTIONS: Final = 640
"""mentions of a group of papers; ten on average"""
_TALLY: Final = {
    4: 10, 5: 8, 6: 7, 7: 6, 8: 6, 9: 5, 10: 4, 11: 3, 12: 3, 14: 3, 16: 2, 18: 2, 22: 1, 26: 1, 32: 1, 36: 1,
    48: 1,
}  # fmt: skip
"""mentions that a paper makes -> how many papers of a group make so many"""
_SCHEDULE: Final[Integers] = np.repeat(list(_TALLY), list(_TALLY.values()))[np.arange(_GROUP) * 27 % _GROUP]
_FEWEST: Final = min(_TALLY)
_STEP: Final = 31 * GROUP_MENTIONS
"""mentions that are in memory at once"""
_PATTERN_CYCLE: Final = 20_000
"""mentions after which the patterns begin again"""
_LONGEST_COPY: Final = 6


def _count_mentions(world: World, groups: Integers) -> Integers:
    """Mentions that each paper of each group makes: shape (groups, 64)."""
    turns = scale_words(world.draw("mentions", groups), _GROUP)
    return np.take(_SCHEDULE, (np.arange(_GROUP) + turns[:, None]) % _GROUP)


def count_citations(world: World) -> int:
    """How many mentions the world holds."""
    groups, rest = divmod(world.papers, _GROUP)
    if not groups:
        return 0
    return (groups - 1) * GROUP_MENTIONS + int(_count_mentions(world, np.array([groups]))[0, :rest].sum())


def _hit(world: World, citing: Integers, words: Words) -> Integers:
    """An earlier paper: of the same topic in nine of sixteen cases, of the field in four, any in three."""
    kinds = (words & np.uint64(15)).astype(np.int64)
    blocks = citing // world.slots
    slots = world.find_slots(citing)
    themes, places = slots // THEME_SLOTS, TOPIC_OF_SLOT[slots % THEME_SLOTS]
    cycle = len(FIELD_CYCLE)
    fellows = (world.themes - 1 - themes % cycle) // cycle + 1
    picks = words << np.uint64(24)
    same_topic = themes * THEME_SLOTS + FIRST_SLOT[places] + scale_words(picks, SLOT_COUNT[places])
    fellow = themes % cycle + cycle * scale_words(picks, fellows)
    same_field = fellow * THEME_SLOTS + ((words >> np.uint64(4)) & np.uint64(7)).astype(np.int64)
    ages = words << np.uint64(8)
    near = world.find_papers(
        np.maximum(blocks - 1 - scale_squares(ages, blocks), 0), np.where(kinds < 9, same_topic, same_field)
    )
    return np.where((kinds < 13) & (blocks > 0), near, citing - 1 - scale_squares(ages, citing))


def find_cited(world: World, citing: Integers, mentions: Integers) -> Integers:
    """The paper that each mention cites; it stands before the citing one. `mentions` count from 0."""
    words = world.draw("cited", citing * _GROUP + mentions)
    cited = _hit(world, citing, words)
    copies = np.arange(len(citing))
    for _ in range(_LONGEST_COPY):
        copied = ((words >> np.uint64(7)) & np.uint64(1)).astype(bool) & (cited[copies] >= _GROUP)
        copies, words = copies[copied], words[copied]
        source = cited[copies]
        mention = (words >> np.uint64(56)).astype(np.int64) % _FEWEST
        words = world.draw("cited", source * _GROUP + mention)
        cited[copies] = _hit(world, source, words)
    return cited


def list_mentions(world: World, first: int, last: int) -> tuple[Integers, Integers]:
    """The citing paper and its mention's number, for all mentions from `first` to `last` - 1, from 0.

    Papers at both ends are whole, so there may be more mentions than asked for: these of whole groups.
    """
    groups = np.arange(1 + first // GROUP_MENTIONS, 2 + (last - 1) // GROUP_MENTIONS)
    counts = _count_mentions(world, groups).reshape(-1)
    papers = (groups[:, None] * _GROUP + np.arange(_GROUP)).reshape(-1)
    counts[papers >= world.papers] = 0
    return np.repeat(papers, counts), count_within(counts)


def step_mentions(part: range) -> Iterator[tuple[int, int]]:
    """The first mention and the last + 1 of chunks of the part; each begins with a new paper."""
    for first in range(part.start, part.stop, _STEP):
        yield first, min(first + _STEP, part.stop)


def find_pairs(world: World) -> Iterator[tuple[Integers, Integers]]:
    """Who cites whom, each pair once and in order: `citing << 32 | cited`; and its number of mentions.

    Papers cite older ones only and are numbered below 2**27, so a pair fits one sortable integer.
    """
    for first, last in step_mentions(range(count_citations(world))):
        citing, mentions = list_mentions(world, first, last)
        yield np.unique((citing << 32) | find_cited(world, citing, mentions), return_counts=True)


def count_citing(world: World) -> npt.NDArray[np.int32]:
    """How many papers cite each paper: one pass over all mentions, four bytes a paper."""
    cited = np.zeros(world.papers, dtype=np.int32)
    for pairs, _ in find_pairs(world):
        np.add.at(cited, pairs & 0xFFFFFFFF, np.int32(1))
    return cited


def build_citations(world: World, first: int, last: int) -> pa.Table:
    """The staged mentions from `first` to `last` - 1, counted from 0."""
    wording = load_wording()
    citing, mentions = list_mentions(world, first, last)
    cited = find_cited(world, citing, mentions)
    _, firsts, pairs = np.unique((citing << 32) | cited, return_index=True, return_inverse=True)
    references = mentions[firsts][pairs] + 1
    start = first % GROUP_MENTIONS
    part = slice(start, start + last - first)
    return _write_mentions(world, wording, first, citing[part], cited[part], references[part])


def _write_mentions(
    world: World, wording: Wording, first: int, citing: Integers, cited: Integers, references: Integers
) -> pa.Table:
    numbers = np.arange(first, first + len(citing))
    words = world.draw("context", numbers)
    habits = world.draw("habit", citing)
    values = name_topics(world, wording, world.find_topics(cited), world.find_variants(cited), habits)
    values[:, COLUMN["mark"]] = wording.starts["marks"] + references - 1
    patterns = wording.patterns["context"]
    rows = np.arange(len(citing))
    positions = numbers % _PATTERN_CYCLE
    chosen = choose_patterns(patterns, np.zeros_like(rows), words >> np.uint64(45), positions)
    texts = join_pieces(wording.pool, fill_patterns(patterns, chosen, values, rows, words))
    marks = patterns.marks[chosen]
    starts = texts.offsets[rows, marks] - texts.offsets[:, 0]
    ends = texts.offsets[rows, marks + 1] - texts.offsets[:, 0]
    return stage_table(
        "citations",
        row_number=numbers + 1,
        citing_source_id=spell_papers(citing),
        reference_key=spell_papers(cited),
        source_reference_id=wording.reference_ids.take(pa.array(references - 1)),
        context=texts.array,
        context_start=starts,
        context_end=ends,
    )
