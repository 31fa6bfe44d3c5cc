"""Texts as term ids: the analyser's terms, numbered as they are met, whatever the blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.indexers.analysis import named_analysis, well_formed
from pinakes.indexers.sparse_bm25 import analyse as sparse_bm25_analyse
from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, analyse_documents

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


def read_one_by_one(texts: list[str | None], name: str) -> Read:
    """What the analyser says of each text, with its terms numbered as they are met."""
    analyse = named_analysis(name).build().analyze
    vocabulary: dict[str, int] = {}
    found = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in analyse(well_formed(text or ""))]
        for text in texts
    ]
    return list(range(len(texts))), found, list(vocabulary)


def read_in_blocks(texts: list[str | None], name: str, block_rows: int) -> Read:
    vocabulary = GrowingVocabulary()
    blocks = list(analyse_documents(enumerate(texts), named_analysis(name), vocabulary, block_rows, None))
    found = []
    for block in blocks:
        ends = np.cumsum(block.lengths)
        assert len(block.term_ids) == block.lengths.sum()
        found += [part.tolist() for part in np.split(block.term_ids, ends[:-1])]
    return [int(paper) for block in blocks for paper in block.paper_ids], found, list(vocabulary)


@pytest.mark.parametrize("name", ["lucene", "english"])
@pytest.mark.parametrize("block_rows", [1, 2, 4, 100])
def test_blocks_have_the_terms_of_the_analyser_text_by_text(name: str, block_rows: int) -> None:
    expected = read_one_by_one(TEXTS, name)
    assert expected[2][:3] == ["graph", "citat", "retriev"]
    assert read_in_blocks(TEXTS, name, block_rows) == expected


@given(st.lists(st.text(max_size=40) | st.none(), max_size=12), st.integers(1, 5))
@settings(max_examples=200)
def test_any_texts_are_read_as_the_analyser_reads_them(texts: list[str | None], block_rows: int) -> None:
    assert read_in_blocks(texts, "english", block_rows) == read_one_by_one(texts, "english")


def test_forgetting_runs_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_bm25_analyse, "MOST_KNOWN_RUNS", 2)
    assert read_in_blocks(TEXTS, "lucene", 3) == read_one_by_one(TEXTS, "lucene")


@pytest.mark.parametrize(("block_rows", "told"), [(4, [12, 20, 24]), (10, [10, 20, 24]), (100, [24, 24])])
def test_progress_is_told_now_and_then_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, block_rows: int, told: list[int]
) -> None:
    monkeypatch.setattr(sparse_bm25_analyse, "PROGRESS_EVERY", 10)
    heard: list[int] = []
    documents = ((number, "graph") for number in range(24))
    blocks = analyse_documents(
        documents, named_analysis("lucene"), GrowingVocabulary(), block_rows, heard.append
    )
    assert sum(len(block.paper_ids) for block in blocks) == 24
    assert heard == told
