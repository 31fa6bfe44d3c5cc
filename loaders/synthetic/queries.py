"""Text queries of the synthetic world, each about one aspect of one topic, and their graded judgments.

A grade follows from what a paper was made to be about, never from its text: 2 is the same topic and the same
variant of the aspect, 1 the same topic, 0 another topic of the same theme. Every paper of the topic is
judged.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.loaders.synthetic.hashing import Integers, Words, find_step, scale_words
from pinakes.loaders.synthetic.papers import count_within, spell_ids, spell_papers, stage_table
from pinakes.loaders.synthetic.wording import (
    COLUMN,
    FORMS,
    Pieces,
    choose_patterns,
    fill_patterns,
    join_pieces,
    load_wording,
)
from pinakes.loaders.synthetic.world import (
    ASPECTS,
    FIRST_SLOT,
    SLOT_COUNT,
    THEME_SLOTS,
    THEME_TOPICS,
    World,
    find_aspects,
    name_topics,
)

Flags = npt.NDArray[np.bool_]

_NEAR_MISSES: Final = 12
_DEV_SHARE: Final = 5
"""one query in so many is of the split dev, the others are of test"""


@dataclass(frozen=True)
class QuerySet:
    """The first `count` queries of a world; a query is its number from 0."""

    world: World
    count: int

    def find_subjects(self, queries: Integers) -> tuple[Integers, Integers]:
        """The topic and the aspect of each query; no two queries have both in common."""
        pairs = self.world.topics * len(ASPECTS)
        start = scale_words(self.world.draw("query subject", np.zeros(1, dtype=np.int64)), pairs)
        numbers = (queries * find_step(pairs) + start) % pairs
        return numbers // len(ASPECTS), numbers % len(ASPECTS)

    def find_variants(self, queries: Integers) -> Integers:
        """The variant that each query asks for, by aspect: those of one paper of its topic."""
        topics, _ = self.find_subjects(queries)
        words = self.world.draw("query seed", queries)
        width = SLOT_COUNT[topics % THEME_TOPICS]
        slots = self._first_slots(topics) + scale_words(words, width)
        blocks = scale_words(words << np.uint64(32), self.world.whole_blocks)
        return self.world.find_variants(self.world.find_papers(blocks, slots))

    def _first_slots(self, topics: Integers) -> Integers:
        return topics // THEME_TOPICS * THEME_SLOTS + FIRST_SLOT[topics % THEME_TOPICS]

    @cached_property
    def judgment_ends(self) -> Integers:
        """How many judgments the queries up to each one have together."""
        topics, _ = self.find_subjects(np.arange(self.count))
        width = SLOT_COUNT[topics % THEME_TOPICS]
        counts = width * self.world.whole_blocks + self._count_near_misses(width)
        for place in range(int(SLOT_COUNT.max())):
            blocks = np.full(self.count, self.world.whole_blocks)
            papers = self.world.find_papers(blocks, self._first_slots(topics) + place)
            counts += (place < width) & (papers < self.world.papers)
        return np.cumsum(counts)

    def _count_near_misses(self, width: Integers) -> Integers:
        return np.minimum(_NEAR_MISSES, (THEME_SLOTS - width) * self.world.whole_blocks)

    def list_candidates(self, queries: Integers) -> tuple[Integers, Integers, Flags]:
        """The judged papers of the queries: index of the query, paper, and whether it is of the topic.

        Papers of the last block that the world does not hold are left out.
        """
        topics, _ = self.find_subjects(queries)
        width = SLOT_COUNT[topics % THEME_TOPICS]
        own = width * (self.world.whole_blocks + 1)
        counts = own + self._count_near_misses(width)
        rows, numbers = np.repeat(np.arange(len(queries)), counts), count_within(counts)
        relevant = numbers < own[rows]
        numbers = np.where(relevant, numbers, numbers - own[rows])
        lanes = np.where(relevant, width[rows], THEME_SLOTS - width[rows])
        offsets = self.world.draw("near miss", queries)
        turns = scale_words(offsets, self.world.whole_blocks)[rows]
        blocks = np.where(relevant, numbers // lanes, (numbers // lanes + turns) % self.world.whole_blocks)
        within = (
            FIRST_SLOT[topics % THEME_TOPICS][rows] + np.where(relevant, 0, width[rows]) + numbers % lanes
        )
        slots = topics[rows] // THEME_TOPICS * THEME_SLOTS + within % THEME_SLOTS
        papers = self.world.find_papers(blocks, slots)
        held = papers < self.world.papers
        return rows[held], papers[held], relevant[held]


def _spell_queries(queries: Integers) -> pa.Array:
    return spell_ids(b"qry-", queries + 1)


def _name_splits(queries: Integers) -> pa.Array:
    return pa.array(["dev", "test"]).take(pa.array((queries % _DEV_SHARE != 0).astype(np.int8)))


def build_queries(query_set: QuerySet, queries: Integers) -> pa.Table:
    """The staged queries, which have a text, a narrative, the aspect as their facet, a field and a split."""
    wording, world = load_wording(), query_set.world
    topics, aspects = query_set.find_subjects(queries)
    variants = query_set.find_variants(queries)
    words = world.draw("query", queries)
    values = name_topics(world, wording, topics, variants, words, synonyms=True)
    texts = _fill("query", aspects, values, words)
    concepts = find_aspects(world, wording, topics, variants)
    values = name_topics(world, wording, topics, variants, np.zeros_like(words))
    values[:, COLUMN["aspect"]] = np.choose(aspects, concepts) * FORMS
    narratives = _fill("narrative", np.zeros_like(aspects), values, np.zeros_like(words))
    nothing = pa.nulls(len(queries), pa.string())
    return stage_table(
        "queries",
        row_number=queries + 1,
        query_id=_spell_queries(queries),
        paper_source_id=nothing,
        text=texts,
        description=nothing,
        narrative=narratives,
        facet=pa.array(ASPECTS).take(pa.array(aspects)),
        field=pa.array(wording.fields).take(pa.array(world.find_fields(topics))),
        fold=_name_splits(queries),
    )


def _fill(group: str, kinds: Integers, values: Pieces, words: Words) -> pa.Array:
    wording = load_wording()
    patterns = wording.patterns[group]
    chosen = choose_patterns(patterns, kinds, words >> np.uint64(45), np.zeros_like(kinds))
    pieces = fill_patterns(patterns, chosen, values, np.arange(len(kinds)), words)
    return join_pieces(wording.pool, pieces).array


def build_judgments(query_set: QuerySet, first: int, last: int) -> pa.Table:
    """The staged judgments from `first` to `last` - 1, counted from 0, query by query."""
    ends = query_set.judgment_ends
    start, stop = np.searchsorted(ends, [first, last - 1], side="right")
    queries = np.arange(start, stop + 1)
    rows, papers, relevant = query_set.list_candidates(queries)
    skipped = first - (int(ends[start - 1]) if start else 0)
    part = slice(skipped, skipped + last - first)
    rows, papers, relevant = rows[part], papers[part], relevant[part]
    _, aspects = query_set.find_subjects(queries)
    requested = np.choose(aspects, query_set.find_variants(queries))[rows]
    given = np.choose(aspects[rows], query_set.world.find_variants(papers))
    return stage_table(
        "judgments",
        row_number=np.arange(first, last) + 1,
        query_id=_spell_queries(queries[rows]),
        source_id=spell_papers(papers),
        assessor=pa.repeat("synthetic", last - first),
        split=_name_splits(queries[rows]),
        grade=np.where(relevant, 1 + (requested == given), 0),
    )
