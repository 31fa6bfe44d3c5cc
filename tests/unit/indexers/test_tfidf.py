"""TF-IDF: the cosine by hand and as scikit-learn has it, the total order, pools, and CSFCube's gold pools."""

import gzip
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import english_analysis, named_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.lexical import Documents, Ranked, trec_tie_order
from pinakes.indexers.side_folder import whole_folder
from pinakes.indexers.term_statistics import count_terms
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf
from tests.real_data import REAL_DATA, needs_real_data
from tests.searching import search_many

CORPUS = {10: "alpha beta", 20: "beta gamma beta", -3: "", 40: "alpha alpha alpha gamma", 50: "the of and"}

Build = Callable[..., TfidfIndex]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def build_and_open(texts: Mapping[int, str], **options: Any) -> TfidfIndex:
        build_tfidf(tmp_path / "index", [(n, {"text": text}) for n, text in texts.items()], **options)
        return TfidfIndex.open(tmp_path / "index")

    return build_and_open


def approx(value: float) -> Any:
    return pytest.approx(value, abs=1e-6)


def pairs(ranked: Ranked) -> list[tuple[int, float]]:
    return list(zip(ranked.paper_ids.tolist(), ranked.scores.tolist(), strict=True))


def test_scores_are_the_cosine_by_hand(build: Build) -> None:
    # N 5; every term is in 2 documents: idf = ln(6/3) + 1 for each, so it cancels out of the cosine.
    # 40: alpha 1 + ln 3 = 2.098612, gamma 1, length sqrt(4.404173 + 1) = 2.324688; 10: 1 and 1, sqrt 2.
    found = build(CORPUS).search("alpha", 10)
    assert found.paper_ids.dtype == np.int64
    assert found.scores.dtype == np.float32
    assert pairs(found) == [(40, approx(0.902750)), (10, approx(0.707107))]
    # without sublinear tf: 3 / sqrt(9 + 1)
    plain = build(CORPUS, sublinear_tf=False).search("alpha", 1)
    assert pairs(plain) == [(40, approx(3 / math.sqrt(10)))]


def test_scores_are_those_of_scikit_learn(build: Build) -> None:
    generator = np.random.default_rng(3)
    texts = {n: " ".join(f"w{word}" for word in generator.zipf(1.5, 30) % 90) for n in range(300)}
    analysis = english_analysis()
    vectorizer = TfidfVectorizer(analyzer=analysis.build().analyze, sublinear_tf=True)
    matrix = vectorizer.fit_transform(texts.values())
    index = build(texts)
    for query in ("w1 w2 w2 w7", "w5", "w80 unknown w3"):
        expected = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
        np.testing.assert_allclose(index.score_pool(query, np.arange(300)), expected, atol=1e-6)


def test_counts_of_a_collection_of_the_same_texts_change_no_bit(build: Build) -> None:
    generator = np.random.default_rng(3)
    texts = {n: " ".join(f"w{word}" for word in generator.zipf(1.5, 30) % 90) for n in range(300)}
    own = search_many(build(texts), ["w1 w2 w2 w7", "w5", "w80 unknown w3"], 300)
    counted = build(texts, statistics=count_terms(texts.values(), english_analysis()))
    for one, other in zip(
        own, search_many(counted, ["w1 w2 w2 w7", "w5", "w80 unknown w3"], 300), strict=True
    ):
        assert pairs(one) == pairs(other)


def test_terms_are_weighed_by_the_counts_of_another_collection(build: Build) -> None:
    # N 3: idf of alpha, in 1, is ln(4/2) + 1 = 1.693147; of beta, in 3, ln(4/4) + 1 = 1.
    others = count_terms(["alpha beta", "beta beta", "beta"], named_analysis("words"))
    index = build(CORPUS, sublinear_tf=False, analysis=named_analysis("words"), statistics=others)
    alpha = math.log(2) + 1
    length = math.hypot(alpha, 1)
    # 20 is beta alone, 40 alpha alone: gamma, which the others lack, does not lengthen a document.
    expected = [(40, approx(alpha / length)), (20, approx(1 / length))]
    assert pairs(index.search("alpha beta", 10)) == [(10, approx(1.0)), *expected]


def test_a_term_that_the_other_collection_lacks_weighs_nothing(build: Build) -> None:
    others = count_terms(["alpha beta"], named_analysis("words"))
    index = build(CORPUS, analysis=named_analysis("words"), statistics=others)
    assert pairs(index.search("gamma the", 10)) == []
    assert pairs(index.search("alpha gamma", 10)) == pairs(index.search("alpha", 10)) != []
    assert index.score_pool("gamma", np.array([20, 50])).tolist() == [0, 0]


def test_a_collection_without_a_term_is_refused(build: Build) -> None:
    with pytest.raises(IndexingError, match="the 2 texts to count terms in have none"):
        build(CORPUS, statistics=count_terms(["", "the of"], english_analysis()))


def test_the_fields_of_a_document_are_joined(tmp_path: Path) -> None:
    documents: Documents = [
        (1, {"title": "alpha", "abstract": "beta"}),
        (2, {"abstract": "gamma", "title": None}),
    ]
    built = build_tfidf(tmp_path / "index", documents, ["title", "abstract"])
    assert built.row_count == 2
    assert pairs(TfidfIndex.open(tmp_path / "index").search("alpha beta", 5)) == [(1, approx(1.0))]


def test_equal_scores_come_in_the_order_that_the_caller_gives(build: Build) -> None:
    index = build(dict.fromkeys((4, 2, 3, 1), "alpha") | {9: "beta"})
    sources = trec_tie_order({1: "B", 2: "a", 3: "é", 4: "b", 9: "c"})
    assert index.search("alpha", 4).paper_ids.tolist() == [1, 2, 3, 4]
    assert index.search("alpha", 3, tie_order=sources).paper_ids.tolist() == [3, 4, 2]


@pytest.mark.parametrize("text", ["", "the and of", "zeppelin", '?!"', "\ud800"])
def test_a_text_without_an_indexed_term_finds_nothing_and_scores_zero(build: Build, text: str) -> None:
    index = build(CORPUS)
    assert pairs(index.search(text, 5)) == []
    assert index.score_pool(text, np.array([50, 10])).tolist() == [0.0, 0.0]


def test_query_syntax_is_only_text(build: Build) -> None:
    assert build(CORPUS).search('alpha AND (b" OR: ~', 1).paper_ids.tolist() == [40]


def test_pool_scores_are_those_of_the_search_with_zero_where_nothing_matches(build: Build) -> None:
    index = build(CORPUS)
    (first, second) = index.search("alpha", 5).scores.tolist()
    assert index.score_pool("alpha", np.array([50, 40, -3, 10, 40])).tolist() == [
        0.0,
        first,
        0.0,
        second,
        first,
    ]


def test_a_pool_with_a_paper_that_is_not_indexed_is_an_error(build: Build) -> None:
    with pytest.raises(
        IndexingError, match="2 paper ids are not in the TF-IDF index \\(the first: 99, 11\\)"
    ):
        build(CORPUS).score_pool("alpha", np.array([10, 99, 11]))


def test_threads_change_nothing(build: Build) -> None:
    index = build({n: f"alpha w{n % 7} w{n % 3}" for n in range(500)})
    queries = [f"alpha w{n} w{n + 1}" for n in range(60)]
    alone = [pairs(ranked) for ranked in search_many(index, queries, 20)]
    assert [pairs(ranked) for ranked in search_many(index, queries, 20, threads=4)] == alone


def test_a_build_reports_rows_settings_and_progress(tmp_path: Path) -> None:
    seen: list[int] = []
    documents: Documents = [(paper, {"text": text}) for paper, text in CORPUS.items()]
    built = build_tfidf(tmp_path / "index", documents, progress=seen.append)
    assert (built.row_count, seen) == (5, [5])
    assert built.parameters.pop("library").startswith("scikit-learn ")
    assert built.parameters == {
        "fields": ["text"],
        "sublinear_tf": True,
        "smooth_idf": True,
        "norm": "l2",
        "ngram_range": [1, 1],
        "min_df": 1,
        "max_df": 1.0,
        "dtype": "float32",
        "analysis": english_analysis().parameters(),
    }


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "0 documents gave no TF-IDF matrix"),
        ([(1, {"text": "the of"})], "1 documents gave no TF-IDF matrix \\(empty vocabulary"),
        ([(1, {"text": "a1"}), (1, {"text": "b1"})], "paper id 1 was given 2 times"),
        ([(1, {"body": "a1"})], "paper 1 has the fields \\['body'\\]"),
    ],
)
def test_a_wrong_build_says_what_is_wrong_and_leaves_nothing(
    tmp_path: Path, documents: Documents, message: str
) -> None:
    with pytest.raises(IndexingError, match=message):
        build_tfidf(tmp_path / "index", documents)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_tfidf_index_is_an_error(build: Build, tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="is not a finished tfidf index"):
        TfidfIndex.open(tmp_path / "nowhere")
    build_bm25(tmp_path / "other", [(1, {"text": "alpha"})])
    with pytest.raises(IndexingError, match="does not describe a tfidf index"):
        TfidfIndex.open(tmp_path / "other")
    build(CORPUS)
    (tmp_path / "index" / "matrix.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(IndexingError, match=r"is damaged: matrix\.npz .* build the index again"):
        TfidfIndex.open(tmp_path / "index")


def test_a_folder_is_built_by_one_process_at_a_time(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "index") as building:
        (building / "first").touch()
        with (
            pytest.raises(IndexingError, match="is being built by another process"),
            whole_folder(tmp_path / "index"),
        ):
            raise AssertionError("the second build must not start")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == [
        "index",
        os.path.join("index", "files.json"),
        os.path.join("index", "first"),
    ]


FACETS = {
    "background": {"background_label", "objective_label"},
    "method": {"method_label"},
    "result": {"result_label"},
}


def ndcg_at_a_fifth(grades: list[int]) -> float:
    """CSFCube's NDCG%20: linear gains, discount 1 at ranks 1 and 2, then log2(rank), cut at n // 5."""
    cut = len(grades) // 5
    discounts = np.log2(np.maximum(np.arange(1, cut + 1), 2))
    ideal = float((np.sort(grades)[::-1][:cut] / discounts).sum())
    return float((np.array(grades[:cut]) / discounts).sum()) / ideal


def csfcube_scores(index: TfidfIndex | Bm25Index, papers: dict[int, dict[str, Any]]) -> list[float]:
    folder = REAL_DATA / "csfcube"
    splits = json.loads((folder / "evaluation_splits.json").read_text())
    values: dict[str, float] = {}
    order = trec_tie_order({number: str(number) for number in papers})
    for facet, labels in FACETS.items():
        pools = json.loads((folder / f"test-pid2anns-csfcube-{facet}.json").read_text())
        for query, pool in pools.items():
            sentences = zip(papers[int(query)]["abstract"], papers[int(query)]["pred_labels"], strict=True)
            text = " ".join(sentence for sentence, label in sentences if label in labels)
            grade = dict(zip(map(int, pool["cands"]), pool["relevance_adju"], strict=True))
            ids = np.array([paper for paper in grade if paper != int(query)])
            scores = index.score_pool(text, ids)
            ranked = ids[np.lexsort((order(ids), -scores))]
            values[f"{query}_{facet}"] = ndcg_at_a_fifth([grade[paper] for paper in ranked.tolist()])
    folds = [[splits[facet][f"fold{n}_test"] for n in (1, 2)] for facet in (*FACETS, "all")]
    return [100 * float(np.mean([np.mean([values[q] for q in fold]) for fold in pair])) for pair in folds]


def csfcube_papers() -> dict[int, dict[str, Any]]:
    with gzip.open(
        REAL_DATA / "csfcube" / "abstracts-csfcube-preds.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return {int(row["paper_id"]): row for row in map(json.loads, lines)}


@needs_real_data
def test_facet_sentences_rank_csfcubes_gold_pools_as_measured(build: Build, tmp_path: Path) -> None:
    papers = csfcube_papers()
    texts = {paper: " ".join(row["abstract"]) for paper, row in papers.items()}
    words = english_analysis("none", "none")
    plain = build(texts, sublinear_tf=False, analysis=words)
    build_bm25(tmp_path / "bm25", [(paper, {"text": text}) for paper, text in texts.items()])
    measured = {
        "tf-idf": csfcube_scores(build(texts), papers),
        "tf-idf, plain": csfcube_scores(plain, papers),
        "bm25": csfcube_scores(Bm25Index.open(tmp_path / "bm25"), papers),
    }
    assert {name: [round(value, 2) for value in row] for name, row in measured.items()} == {
        "tf-idf": [65.22, 39.55, 49.86, 51.24],
        "tf-idf, plain": [59.17, 32.83, 42.82, 44.65],
        "bm25": [64.88, 40.11, 50.70, 51.61],
    }
