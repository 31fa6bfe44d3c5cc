"""Texts as term ids: the analyser's terms, numbered as they are met, whatever the blocks."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.indexers.analysis import Analysis, english_analysis, named_analysis, well_formed
from pinakes.indexers.sparse_bm25 import analyse as sparse_bm25_analyse
from pinakes.indexers.sparse_bm25 import runs as sparse_bm25_runs
from pinakes.indexers.sparse_bm25.analyse import (
    RUNS_AT_ONCE,
    GrowingVocabulary,
    TextBlock,
    analyse_documents,
    list_blocks,
)
from tests.long import long

Read = tuple[list[int], list[list[int]], list[str]]

TEXTS = [
    "Graphs of graphs: citation-graph retrieval, p53 and m_x.",
    None,
    "",
    " ...\t\n -- ",
    "naïve Über-models\u00a0naïve\u2003x\u2028ŒUVRE",
    "graphs\x00retrieval\x7fof  the the THE\x0b\x0c\x1f m_x",
    "\ud800lone surrogates\udfff",
    "日本語 model 日本語、model",
    "w" * 300 + " w",
]


ANALYSES = [
    *map(named_analysis, ("english", "lucene", "words")),
    *(
        replace(english_analysis(stop_list, stemmer), shortest_token=shortest)
        for stop_list in ("scikit-learn", "lucene", "none")
        for stemmer in ("english", "none")
        for shortest in (1, 2, 3)
    ),
]

ODD = [
    *"aAbBzZ019_-.'’\u00adßẞİıſKÅΣςσéÉÿœŒﬁﬀŁłñÑÞþ",
    *["e\u0301", "A\u030a", "\u200b", "\u200c", "\u200d", "\ufeff", "\u00a0", "\u2003", "\u2028", "\x85"],
    *["٣", "४", "２", "²", "Ⅷ", "①", "ａ", "Ｚ", "𝐀", "𝟗", "日本", "語", "한국", "ไทย", "हिन्दी", "עברית"],
    *["😀", "👩\u200d🔬", "🇩🇪", "❤\ufe0f", "—", "…", "“", "、", "×", "∑", "\x00", "\x7f", "\x1f", " ", "\n"],
    *[
        "The",
        "the",
        "OF",
        "running",
        "Genes",
        "naïve",
        "NAÏVE",
        "p53",
        "w" * 254,
        "é" * 127,
        "x" * 17,
        "b" * 8,
    ],
]


def read_one_by_one(texts: list[str | None], analysis: Analysis) -> Read:
    """What the analyser says of each text, with its terms numbered as they are met."""
    analyse = analysis.build().analyze
    vocabulary: dict[str, int] = {}
    found = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in analyse(well_formed(text or ""))]
        for text in texts
    ]
    return list(range(len(texts))), found, list(vocabulary)


def read_in_blocks(
    texts: list[str | None], analysis: Analysis, block_rows: int = 2048, threads: int = 1
) -> Read:
    return read_blocks(list_blocks(enumerate(texts)), analysis, block_rows, threads)


def read_blocks(
    documents: Iterable[TextBlock], analysis: Analysis, block_rows: int, threads: int = 1
) -> Read:
    vocabulary = GrowingVocabulary()
    blocks = list(analyse_documents(documents, analysis, vocabulary, block_rows, None, threads))
    found = []
    for block in blocks:
        ends = np.cumsum(block.lengths)
        assert len(block.tokens) == block.lengths.sum()
        assert (np.diff(block.term_ids) > 0).all()
        found += [part.tolist() for part in np.split(block.term_ids[block.tokens], ends[:-1])]
    return [int(paper) for block in blocks for paper in block.paper_ids], found, list(vocabulary)


@pytest.mark.parametrize("name", ["lucene", "english", "words"])
@pytest.mark.parametrize("block_rows", [1, 2, 4, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_have_the_terms_of_the_analyser_text_by_text(name: str, block_rows: int, threads: int) -> None:
    analysis = named_analysis(name)
    expected = read_one_by_one(TEXTS, analysis)
    assert "citat" in expected[2] or name == "words"
    assert read_in_blocks(TEXTS, analysis, block_rows, threads) == expected


@pytest.mark.parametrize("layout", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("rows", [[10], [0, 3, 0, 7], [1, 1, 1, 1, 1, 5]])
def test_blocks_of_any_size_and_layout_have_the_terms_of_the_texts(
    layout: pa.DataType, rows: list[int]
) -> None:
    texts = [text and well_formed(text) for text in [*TEXTS, *TEXTS][: sum(rows)]]
    whole = pa.chunked_array([pa.array(["cut off", *texts[:4]], layout)[1:], pa.array(texts[4:], layout)])
    analysis, ends = named_analysis("lucene"), np.cumsum(rows)
    parts = [
        TextBlock(np.arange(end - count, end), whole[end - count : end])
        for end, count in zip(ends, rows, strict=True)
    ]
    expected = read_one_by_one(texts, analysis)
    for block_rows in (1, 4, 100):
        assert read_blocks(parts, analysis, block_rows) == expected


@given(st.lists(st.text(max_size=40) | st.none(), max_size=12), st.integers(1, 5), st.sampled_from(ANALYSES))
@settings(max_examples=200)
def test_any_texts_are_read_as_the_analyser_reads_them(
    texts: list[str | None], block_rows: int, analysis: Analysis
) -> None:
    assert read_in_blocks(texts, analysis, block_rows) == read_one_by_one(texts, analysis)


@given(
    st.lists(st.lists(st.sampled_from(ODD), max_size=30).map("".join), max_size=8), st.sampled_from(ANALYSES)
)
@settings(max_examples=400)
def test_odd_characters_are_read_as_the_analyser_reads_them(texts: list[str], analysis: Analysis) -> None:
    assert read_in_blocks([*texts], analysis) == read_one_by_one([*texts], analysis)


ASSIGNED = {*range(0, 0x38000, 0x8000), 0xE0000, 0xF0000}
"""blocks with assigned characters, and one of private use; `make test-long` reads the other blocks too"""


@pytest.mark.parametrize(
    "code", [code if code in ASSIGNED else long(code) for code in range(0, 0x110000, 0x8000)]
)
def test_every_character_separates_or_joins_as_in_the_analyser(code: int) -> None:
    """Each between letters, alone, and after a capital."""
    characters = [chr(number) for number in range(code, code + 0x8000)]
    texts = ["".join(f"A{one}b {one} X{one}" for one in characters[start::256]) for start in range(256)]
    analysis = named_analysis("lucene")
    assert read_in_blocks([*texts], analysis) == read_one_by_one([*texts], analysis)


LENGTHS = [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 40, 254, 255, 256]
CLOSE = [
    "q" * place + letter + "q" * (length - place - 1)
    for length in LENGTHS
    for place in sorted({0, length // 2, min(7, length - 1), min(8, length - 1), length - 1})
    for letter in "xy"
]
"""runs that differ by one byte or by their length"""


@pytest.mark.parametrize("secret", [0, 1, 1 << 63])
@pytest.mark.parametrize("room", [1, 16, 1 << 14])
def test_runs_are_told_apart_by_their_bytes_not_by_a_hash(
    monkeypatch: pytest.MonkeyPatch, secret: int, room: int
) -> None:
    """With these secrets nearly all runs fall into one slot, and the long ones have one hash."""
    monkeypatch.setattr(sparse_bm25_runs, "SECRET", np.uint64(secret))
    monkeypatch.setattr(sparse_bm25_runs, "FIRST_ROOM", room)
    texts = [" ".join(CLOSE), "".join(f"({run})" for run in reversed(CLOSE)), "", *CLOSE, CLOSE[-1].upper()]
    analysis = replace(named_analysis("words"), stop_words=("q" * 8 + "x",))
    assert read_in_blocks([*texts], analysis) == read_one_by_one([*texts], analysis)
    assert len(read_in_blocks([*texts], analysis)[2]) > 60


def test_a_block_has_room_for_any_number_of_runs() -> None:
    texts = [
        " ".join(f"w{number:x}" for number in range(start, start + 5_000))
        for start in range(0, 80_000, 4_000)
    ]
    analysis = named_analysis("lucene")
    assert read_in_blocks([*texts], analysis) == read_one_by_one([*texts], analysis)


def test_stop_words_among_other_words_are_left_out() -> None:
    words = [f"w{number}" for number in range(RUNS_AT_ONCE)]
    analysis = named_analysis("lucene")
    for place in (0, 1, RUNS_AT_ONCE - 1, RUNS_AT_ONCE):
        texts: list[str | None] = [" ".join([*words[:place], "the", "Ünlaut", "a", *words[place:]])]
        assert read_in_blocks(texts, analysis) == read_one_by_one(texts, analysis)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_forgetting_runs_changes_nothing(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(sparse_bm25_analyse, "MOST_KNOWN_RUNS", most)
    for rows in (1, 3):
        analysis = named_analysis("lucene")
        assert read_in_blocks(TEXTS * 3, analysis, rows) == read_one_by_one(TEXTS * 3, analysis)


@pytest.mark.parametrize(("block_rows", "told"), [(4, [12, 20, 24]), (10, [10, 20, 24]), (100, [24, 24])])
def test_progress_is_told_now_and_then_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, block_rows: int, told: list[int]
) -> None:
    monkeypatch.setattr(sparse_bm25_analyse, "PROGRESS_EVERY", 10)
    heard: list[int] = []
    documents = ((number, "graph") for number in range(24))
    blocks = analyse_documents(
        list_blocks(documents), named_analysis("lucene"), GrowingVocabulary(), block_rows, heard.append
    )
    assert sum(len(block.paper_ids) for block in blocks) == 24
    assert heard == told
