"""BM25's weights: Okapi's formula by hand, terms of most documents, and another collection's counts."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.lexical import Ranked
from pinakes.indexers.sparse_bm25.analyse import list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.sparse_bm25.weights import mean_inverse_frequency
from pinakes.indexers.term_statistics import count_terms

WORDS = named_analysis("words")
TEXTS = {1: "alpha beta alpha", 2: "alpha gamma", 3: "alpha delta", 4: "epsilon zeta zeta zeta", 5: ""}
"""N 5; 3, 2, 2, 4 and 0 terms, so that the mean length is 11/5; alpha is in 3, each other term in 1"""

RARE = math.log(4.5) - math.log(1.5)  # 1.098612, of a term in one document of five
COMMON = math.log(2.5) - math.log(3.5)  # -0.336472, of alpha
FLOOR = 0.25 * (5 * RARE + COMMON) / 6  # 0.214858: five rare terms and alpha


def build(folder: Path, texts: dict[int, str], formula: str = "okapi", **options: Any) -> SparseBm25Index:
    build_sparse_bm25(folder / "index", list_blocks(texts.items()), analysis=WORDS, **options)
    return SparseBm25Index.open(folder / "index", formula)


def okapi(idf: float, tf: int, length: int, mean_length: float = 11 / 5) -> float:
    """k1 1.5 and b 0.75."""
    return idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * length / mean_length))


def search(index: SparseBm25Index, text: str, k: int = 10) -> Ranked:
    return index.search_many([text], k, 1.5, 0.75)[0]


def pairs(ranked: Ranked) -> list[tuple[int, float]]:
    return list(zip(ranked.paper_ids.tolist(), ranked.scores.tolist(), strict=True))


def approx(value: float) -> Any:
    return pytest.approx(value, rel=1e-6)


def test_scores_are_okapis_formula_by_hand(tmp_path: Path) -> None:
    index = build(tmp_path, TEXTS)
    # 1.098612 * 3 * 2.5 / (3 + 1.5 * (0.25 + 0.75 * 4 / 2.2)) = 1.520092
    assert pairs(search(index, "zeta")) == [(4, approx(1.520092))]
    assert pairs(search(index, "gamma")) == [(2, approx(okapi(RARE, 1, 2)))]


def test_a_term_of_more_than_half_of_the_documents_has_a_quarter_of_the_mean_idf(tmp_path: Path) -> None:
    found = search(build(tmp_path, TEXTS), "alpha")
    assert pytest.approx(0.2148579, abs=1e-7) == FLOOR
    # 2 and 3 are equal: without another order the lower id is first.
    expected = [(1, okapi(FLOOR, 2, 3)), (2, okapi(FLOOR, 1, 2)), (3, okapi(FLOOR, 1, 2))]
    assert pairs(found) == [(paper, approx(score)) for paper, score in expected]


def test_a_term_of_exactly_half_of_the_documents_weighs_nothing(tmp_path: Path) -> None:
    index = build(tmp_path, {1: "alpha", 2: "alpha", 3: "beta", 4: "gamma"})
    assert index.score_pool("alpha", np.array([1, 2, 3]), 1.5, 0.75).tolist() == [0, 0, 0]
    assert pairs(search(index, "alpha")) == []


def test_a_term_counts_as_often_as_the_query_has_it(tmp_path: Path) -> None:
    index = build(tmp_path, TEXTS)
    once, thrice = search(index, "beta gamma"), search(index, "beta beta gamma beta")
    assert dict(pairs(once)) == {1: approx(okapi(RARE, 1, 3)), 2: approx(okapi(RARE, 1, 2))}
    assert dict(pairs(thrice)) == {1: approx(3 * okapi(RARE, 1, 3)), 2: approx(okapi(RARE, 1, 2))}


def test_a_query_without_a_known_term_finds_nothing_and_scores_zero(tmp_path: Path) -> None:
    index = build(tmp_path, TEXTS)
    for text in ("", "  .", "unheard"):
        assert pairs(search(index, text)) == []
        assert index.score_pool(text, np.array([4, 1]), 1.5, 0.75).tolist() == [0, 0]


def test_where_the_mean_idf_is_below_zero_a_common_term_weighs_nothing(tmp_path: Path) -> None:
    # Both terms are in 2 of 3 documents: each idf is ln 1.5 - ln 2.5, and so is the mean.
    index = build(tmp_path, {1: "alpha beta", 2: "alpha beta", 3: ""})
    assert index.score_pool("alpha", np.array([1, 3]), 1.5, 0.75).tolist() == [0, 0]


def test_the_mean_idf_is_the_same_in_any_order_of_the_terms() -> None:
    frequencies = np.random.default_rng(0).integers(0, 900, 5_000).astype(np.int32)
    found = mean_inverse_frequency(frequencies, 1_000)
    assert found == mean_inverse_frequency(frequencies[::-1].copy(), 1_000)
    held = frequencies[frequencies > 0].astype(float)
    assert found == pytest.approx(float(np.mean(np.log(1000 - held + 0.5) - np.log(held + 0.5))))
    assert mean_inverse_frequency(np.zeros(3, np.int32), 5) == 0


@pytest.mark.parametrize("formula", ["lucene", "okapi"])
def test_an_index_cut_to_a_pool_has_the_pools_own_weights(tmp_path: Path, formula: str) -> None:
    kept = [1, 3, 4]
    cut = build(tmp_path / "whole", TEXTS, formula).restrict(np.array(kept))
    alone = build(tmp_path / "alone", {paper: TEXTS[paper] for paper in kept}, formula)
    for text in ("alpha", "zeta delta", "gamma"):
        assert pairs(search(cut, text)) == pairs(search(alone, text))


@pytest.mark.parametrize("formula", ["lucene", "okapi"])
def test_counts_of_a_collection_of_the_same_texts_change_no_bit(tmp_path: Path, formula: str) -> None:
    own = build(tmp_path / "own", TEXTS, formula)
    counted = build(tmp_path / "counted", TEXTS, formula, statistics=count_terms(TEXTS.values(), WORDS))
    for text in ("alpha", "zeta alpha alpha", "gamma delta"):
        assert pairs(search(own, text)) == pairs(search(counted, text))


def test_terms_are_weighed_by_the_counts_of_another_collection(tmp_path: Path) -> None:
    # N 4, mean length 2; alpha in 1, beta in 3; gamma in none.
    others = count_terms(["alpha beta beta", "beta", "beta delta", "delta delta"], WORDS)
    index = build(tmp_path, TEXTS, statistics=others)
    idf = math.log(3.5) - math.log(1.5)
    expected = {1: okapi(idf, 2, 3, 2), 2: okapi(idf, 1, 2, 2), 3: okapi(idf, 1, 2, 2)}
    assert dict(pairs(search(index, "alpha"))) == {paper: approx(score) for paper, score in expected.items()}
    # The mean of the idf of alpha, beta and delta (2 of 4: 0) is (ln 7/3 - ln 7/3) / 3 = 0.
    assert index.score_pool("beta", np.array([1]), 1.5, 0.75).tolist() == [0]
    lucene = SparseBm25Index.open(tmp_path / "index", "lucene")
    assert lucene.score_pool("beta", np.array([1]), 1.5, 0.75).tolist() == [
        approx(okapi(math.log(1 + 1.5 / 3.5), 1, 3, 2))
    ]


@pytest.mark.parametrize("formula", ["lucene", "okapi"])
def test_a_term_that_the_other_collection_lacks_weighs_nothing(tmp_path: Path, formula: str) -> None:
    others = count_terms(["alpha beta beta", "beta", "delta", ""], WORDS)
    index = build(tmp_path, TEXTS, formula, statistics=others)
    assert pairs(search(index, "gamma zeta")) == []
    assert pairs(search(index, "gamma delta")) == pairs(search(index, "delta")) != []


def test_another_collections_counts_stay_when_the_index_is_cut(tmp_path: Path) -> None:
    index = build(tmp_path, TEXTS, statistics=count_terms(["alpha", "beta beta", "delta", "delta"], WORDS))
    cut = index.restrict(np.array([2, 1]))
    assert pairs(search(cut, "alpha beta")) == pairs(search(index, "alpha beta"))[: cut.row_count]
    assert cut.row_count == 2


def test_no_number_of_threads_and_no_size_of_blocks_changes_a_bit(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    texts = {paper: " ".join(f"w{word}" for word in generator.zipf(1.4, 60) % 500) for paper in range(1, 400)}
    queries = [texts[paper] for paper in (3, 70, 399)]
    found = []
    for number, block_rows in enumerate((7, 64, 2048)):
        index = build(tmp_path / str(number), texts, block_rows=block_rows)
        for threads in (1, 3):
            ranked = index.search_many(queries, 50, 1.5, 0.75, threads=threads)
            found.append([pairs(one) for one in ranked])
        scored = index.score_pools(queries, [np.arange(1, 400)] * 3, 1.5, 0.75)
        best = [np.sort(scores)[::-1][:50].tolist() for scores in scored]
        assert best == [[score for _, score in one] for one in found[-1]]
    assert all(one == found[0] for one in found)
