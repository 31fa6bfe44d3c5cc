"""Papers of the synthetic world with their fields, authorships and sentences, a chunk at a time.

And what all streams of the world share: ids, numbering within groups, and staged tables.
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.staging import STAGED
from pinakes.loaders.synthetic.hashing import Integers, scale_squares, scale_words
from pinakes.loaders.synthetic.wording import (
    Pieces,
    Wording,
    choose_patterns,
    fill_patterns,
    join_pieces,
    load_wording,
)
from pinakes.loaders.synthetic.world import THEME_TOPICS, World, name_topics

FACETS: Final = ("background", "method", "result", "other")
_SHAPES: Final = (
    "BMRO", "BMMR", "BBMRO", "BMMRR", "BBMMRO", "BMMRRO", "OBBMMRR", "BBMMRRO", "BBMMRRRO", "BBBMMRRO",
)  # fmt: skip
"""facets of an abstract's sentences; one shape is drawn for each paper"""
_LENGTHS: Final = np.array([len(shape) for shape in _SHAPES])
_SHAPE_STARTS: Final = np.cumsum(_LENGTHS) - _LENGTHS
_SHAPE_FACETS: Final = np.array(["BMRO".index(facet) for facet in "".join(_SHAPES)])

_AUTHOR_COUNTS: Final = np.array([1, 2, 2, 3, 3, 4, 5, 6])
_COMMUNITY: Final = 41
"""authors of a theme; prime, so that multiples of any step below it are distinct"""
_FIELDS: Final = 19
_VENUES: Final = 8


def build_papers(world: World, papers: Integers, cited: npt.NDArray[np.int32]) -> dict[str, pa.Table]:
    """The staged tables of consecutive papers; `cited` says how many papers cite each."""
    wording = load_wording()
    topics = world.find_topics(papers)
    habits = world.draw("habit", papers)
    values = name_topics(world, wording, topics, world.find_variants(papers), habits)
    sentences, abstracts = _write_abstracts(world, wording, papers, values)
    return {
        "papers": stage_table(
            "papers",
            row_number=papers + 1,
            source_id=spell_papers(papers),
            title=_write_titles(world, wording, papers, values),
            abstract=abstracts,
            year=world.find_years(papers),
            venue=_choose_venues(world, wording, papers, topics),
            citation_count=cited,
        ),
        "fields": _label_fields(world, wording, papers, topics),
        "authorships": _list_authors(world, wording, papers, topics),
        "sentences": sentences,
    }


@cache
def _spell_four_digits() -> npt.NDArray[np.uint32]:
    """Four digits as the four bytes of one integer, so that an id is written in three steps."""
    return np.array([f"{number:04}" for number in range(10_000)], dtype="S4").view(np.uint32)


def spell_ids(prefix: bytes, numbers: Integers) -> pa.Array:
    """Ids of twelve characters: a prefix of four and eight digits.

    >>> spell_ids(b"syn-", np.array([1, 12345678])).to_pylist()
    ['syn-00000001', 'syn-12345678']
    """
    digits = _spell_four_digits()
    spelt = np.empty((len(numbers), 3), dtype=np.uint32)
    spelt[:, 0] = np.frombuffer(prefix, np.uint32)
    spelt[:, 1] = digits[numbers // 10_000]
    spelt[:, 2] = digits[numbers % 10_000]
    borders = np.arange(len(numbers) + 1, dtype=np.int32) * 12
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(borders), pa.py_buffer(spelt))


def spell_papers(papers: Integers) -> pa.Array:
    """The source ids of papers, which count from 0: paper 0 is `syn-00000001`."""
    return spell_ids(b"syn-", papers + 1)


def stage_table(name: str, **columns: object) -> pa.Table:
    """A staged table from its columns, in any order: numpy's get their type, a missing one is null."""
    rows = len(columns["row_number"])  # type: ignore[arg-type]
    arrays = [_stage_column(field, columns.get(field.name), rows) for field in STAGED[name]]
    return pa.Table.from_arrays(arrays, schema=STAGED[name])


def _stage_column(field: pa.Field, values: object, rows: int) -> object:
    if values is None:
        return pa.nulls(rows, field.type)
    return pa.array(values).cast(field.type) if isinstance(values, np.ndarray) else values


def count_within(counts: Integers) -> Integers:
    """Numbers the members of each group from 0, the groups one after the other.

    >>> count_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _write_titles(world: World, wording: Wording, papers: Integers, values: Pieces) -> pa.Array:
    words = world.draw("title", papers)
    patterns = wording.patterns["title"]
    zeros = np.zeros(len(papers), dtype=np.int64)
    chosen = choose_patterns(patterns, zeros, words >> np.uint64(45), zeros)
    pieces = fill_patterns(patterns, chosen, values, np.arange(len(papers)), words)
    return join_pieces(wording.pool, pieces).array


def _write_abstracts(
    world: World, wording: Wording, papers: Integers, values: Pieces
) -> tuple[pa.Table, pa.Array]:
    """The sentences, and the abstracts that they make, joined by one space."""
    draws = world.draw("abstract", papers)
    shapes = scale_words(draws, len(_SHAPES))
    counts = _LENGTHS[shapes]
    rows = np.repeat(np.arange(len(papers)), counts)
    positions = count_within(counts)
    facets = _SHAPE_FACETS[_SHAPE_STARTS[shapes][rows] + positions]
    patterns = wording.patterns["abstract"]
    chosen = choose_patterns(patterns, facets, draws[rows], positions)
    words = world.draw("sentence", papers[rows] * 16 + positions)
    texts = join_pieces(wording.pool, fill_patterns(patterns, chosen, values, rows, words)).array
    labels = pa.array(FACETS).take(pa.array(facets))
    table = stage_table(
        "sentences",
        row_number=papers[rows] + 1,
        source_id=spell_papers(papers[rows]),
        section_number=np.zeros(len(rows), dtype=np.int32),
        position=positions + 1,
        text=texts,
        facet=labels,
        source_label=labels,
    )
    borders = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    return table, pc.binary_join(pa.ListArray.from_arrays(borders, texts), " ")


def _choose_venues(world: World, wording: Wording, papers: Integers, topics: Integers) -> pa.Array:
    chosen = scale_squares(world.draw("venue", papers), _VENUES)
    return wording.venues.take(pa.array(world.find_fields(topics) * _VENUES + chosen))


def _label_fields(world: World, wording: Wording, papers: Integers, topics: Integers) -> pa.Table:
    """The field of a paper's topic and, for a quarter of the papers, the neighbouring field of its theme."""
    first = world.find_fields(topics)
    shift = 1 + scale_words(world.draw("second field", topics // THEME_TOPICS), _FIELDS - 1)
    counts = 1 + (scale_words(world.draw("two fields", papers), 4) == 0)
    rows = np.repeat(np.arange(len(papers)), counts)
    labels = np.where(count_within(counts) == 0, first[rows], (first + shift)[rows] % _FIELDS)
    return stage_table(
        "fields",
        row_number=papers[rows] + 1,
        source_id=spell_papers(papers[rows]),
        field=pa.array(wording.fields).take(pa.array(labels)),
        assigned_by=pa.repeat("synthetic", len(rows)),
    )


def _list_authors(world: World, wording: Wording, papers: Integers, topics: Integers) -> pa.Table:
    """Authors from the theme's community, some of them prolific; the last may come from another theme."""
    draws = world.draw("authors", papers)
    counts = _AUTHOR_COUNTS[(draws & np.uint64(7)).astype(np.int64)]
    rows = np.repeat(np.arange(len(papers)), counts)
    positions = count_within(counts)
    steps = 1 + scale_words(draws << np.uint64(32), _COMMUNITY - 1)
    ranks = (scale_squares(draws, _COMMUNITY)[rows] + positions * steps[rows]) % _COMMUNITY
    themes = topics // THEME_TOPICS
    guests = world.draw("guest", papers)
    moves = np.where(scale_words(guests << np.uint64(32), 10) == 0, scale_words(guests, world.themes), 0)
    last = (positions > 0) & (positions == counts[rows] - 1)
    authors = (themes[rows] + moves[rows] * last) % world.themes * _COMMUNITY + ranks
    return stage_table(
        "authorships",
        row_number=papers[rows] + 1,
        source_id=spell_papers(papers[rows]),
        position=positions + 1,
        author_source_id=spell_ids(b"aut-", authors + 1),
        author_name=_name_authors(world, wording, authors),
    )


def _name_authors(world: World, wording: Wording, authors: Integers) -> pa.Array:
    words = world.draw("author name", authors)
    pieces = np.empty((len(authors), 4), dtype=np.int32)
    parts = (
        ("given", wording.given_count),
        ("initials", 26),
        ("heads", wording.head_count),
        ("endings", wording.ending_count),
    )
    for column, (part, count) in enumerate(parts):
        share = (words << np.uint64(16 * column)) & np.uint64(0xFFFF << 48)
        pieces[:, column] = wording.starts[part] + scale_words(share, count)
    return join_pieces(wording.pool, pieces).array
