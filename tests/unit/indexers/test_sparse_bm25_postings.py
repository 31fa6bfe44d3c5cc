"""What a sparse BM25 index holds, read term by term and paper by paper; a score and its parts."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.sparse_bm25.analyse import list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.explain import explain_score
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.sparse_bm25.postings import read_by_term, read_document
from pinakes.indexers.term_statistics import count_terms

CORPUS = {10: "alpha beta", 20: "beta gamma beta", -3: "", 40: "alpha alpha delta gamma", 50: "the of and"}


def build(folder: Path, texts: dict[int, str], **options: object) -> SparseBm25Index:
    build_sparse_bm25(folder / "index", list_blocks(texts.items()), **options)  # type: ignore[arg-type]
    return SparseBm25Index.open(folder / "index")


def read_all(index: SparseBm25Index, at_once: int) -> list[tuple[str, int, int]]:
    """(term, paper id, frequency) in the order in which postings are read."""
    found = []
    for part in read_by_term(index.postings, at_once):
        terms = index.vocabulary.spell(part.term_ids)
        ids = np.asarray(index.paper_ids)[part.rows].tolist()
        found += list(zip(terms, ids, part.counts.tolist(), strict=True))
    return found


@pytest.mark.parametrize("at_once", [1, 2, 3, 1000])
@pytest.mark.parametrize("block_rows", [1, 2, 2048])
def test_postings_come_by_term_and_document(tmp_path: Path, at_once: int, block_rows: int) -> None:
    index = build(tmp_path, CORPUS, block_rows=block_rows)
    assert read_all(index, at_once) == [
        ("alpha", 10, 1),
        ("alpha", 40, 2),
        ("beta", 10, 1),
        ("beta", 20, 2),
        ("gamma", 20, 1),
        ("gamma", 40, 1),
        ("delta", 40, 1),
    ]
    assert all(
        len(part.term_ids) <= max(at_once, 2) or len(set(part.term_ids.tolist())) == 1
        for part in read_by_term(index.postings, at_once)
    )


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee"]), max_size=8), min_size=1, max_size=9),
    st.integers(1, 4),
    st.integers(1, 12),
)
def test_all_ways_of_reading_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], block_rows: int, at_once: int
) -> None:
    documents = {number: " ".join(words) for number, words in enumerate(texts)}
    index = build(tmp_path_factory.mktemp("index"), documents, block_rows=block_rows)
    expected = {
        (word, number, times) for number, words in enumerate(texts) for word, times in Counter(words).items()
    }
    assert set(read_all(index, at_once)) == expected
    for row in range(len(texts)):
        held = read_document(index.postings, row)
        counts = zip(index.vocabulary.spell(held.term_ids), held.counts.tolist(), strict=True)
        assert {(term, row, times) for term, times in counts} == {one for one in expected if one[1] == row}


def test_an_index_of_nothing_has_no_postings(tmp_path: Path) -> None:
    for texts in ({}, {1: "", 2: "the"}):
        index = build(tmp_path, texts)
        assert list(read_by_term(index.postings)) == []
    assert explain_score(index, "alpha the", 2, 1.2, 0.75).total == 0


def test_a_score_by_hand(tmp_path: Path) -> None:
    index = build(tmp_path, CORPUS, block_rows=2)
    found = explain_score(index, "Alpha gamma, the alpha x zeta beta", 40, 1.5, 0.5)
    norm = 1.5 * (0.5 + 0.5 * 4 / 1.8)
    idf = math.log(1 + 3.5 / 2.5)
    alpha, gamma = idf * 2 * 2.5 / (2 + norm), idf * 2.5 / (1 + norm)
    told = [(one.term, one.times, one.frequency, one.document_frequency) for one in found.terms]
    assert told == [("alpha", 2, 2, 2), ("gamma", 1, 1, 2), ("beta", 1, 0, 2), ("zeta", 1, 0, 0)]
    assert [one.weight for one in found.terms] == pytest.approx([alpha, gamma, 0, 0], rel=1e-15)
    assert [one.score for one in found.terms] == pytest.approx([2 * alpha, gamma, 0, 0], rel=1e-15)
    assert found.terms[0].words == ("Alpha", "alpha")
    assert found.terms[0].share == pytest.approx(2 * alpha / (2 * alpha + gamma))
    assert found.score == index.score_pool("Alpha gamma, the alpha x zeta beta", np.array([40]), 1.5, 0.5)[0]
    assert found.score == pytest.approx(found.total, rel=5 * 2**-24)
    assert [(one.word, one.reason) for one in found.dropped] == [
        ("the", "a stop word"),
        ("x", "shorter than 2 characters"),
    ]
    with pytest.raises(IndexingError, match="not in the sparse BM25 index"):
        explain_score(index, "alpha", 41, 1.2, 0.75)
    with pytest.raises(IndexingError, match="expected k1 from 0"):
        explain_score(index, "alpha", 40, -1, 0.75)


def test_statistics_of_others_are_those_of_the_score(tmp_path: Path) -> None:
    analysis = named_analysis("lucene")
    others = count_terms(["alpha", "alpha alpha", "omega"], analysis)
    index = build(tmp_path, CORPUS, statistics=others)
    found = explain_score(index, "alpha delta omega", 40, 1.2, 0.75)
    told = {one.term: (one.frequency, one.document_frequency, one.score > 0) for one in found.terms}
    assert told == {"alpha": (2, 2, True), "delta": (1, 0, False), "omega": (0, 0, False)}
    assert (found.papers, found.average_length) == (3, 4 / 3)
    pool = index.restrict(np.array([10, 40]))
    assert explain_score(pool, "alpha", 40, 1.2, 0.75).papers == 3
    own = build(tmp_path, CORPUS).restrict(np.array([10, 40]))
    cut = explain_score(own, "alpha gamma", 40, 1.2, 0.75)
    assert (cut.papers, cut.average_length) == (2, 3)
    assert {one.term: one.document_frequency for one in cut.terms} == {"alpha": 2, "gamma": 1}


def test_a_word_is_told_with_its_term() -> None:
    words = named_analysis("english").read_words("Naïve a_b, p53-dependent THE\0 \u202e x" + "y" * 300)
    assert [(word.text, word.term) for word in words][:6] == [
        ("Naïve", "naiv"),
        ("a", None),
        ("b", "b"),
        ("p53", "p53"),
        ("dependent", "depend"),
        ("THE", None),
    ]
    assert words[-1].why_not == "longer than 255 bytes"


@settings(max_examples=50)
@given(st.text(max_size=60), st.sampled_from(["english", "lucene", "words"]))
def test_the_terms_of_words_are_the_terms_of_their_text(text: str, name: str) -> None:
    analysis = named_analysis(name)
    told = [word.term for word in analysis.read_words(text) if word.term is not None]
    assert told == analysis.build().analyze(text.encode("utf-8", "replace").decode())
