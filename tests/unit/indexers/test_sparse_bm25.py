"""Sparse BM25: Lucene's formula by hand, the total order, pools, k1 and b, and folders whole or absent."""

import gzip
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.analysis import WHOLE_RUNS, english_analysis, named_analysis
from pinakes.indexers.lexical import Ranked, trec_tie_order
from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, TermIds, list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25, write_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.sparse_bm25.kernels import keep_best
from tests.real_data import REAL_DATA, needs_real_data

CORPUS = {
    10: "alpha beta",
    20: "beta gamma beta",
    -3: "",
    40: "alpha alpha delta gamma",
    50: "the of and",
}
"""5 documents of 2, 3, 0, 4 and 0 terms: avgdl 9/5"""


def build(
    folder: Path, texts: dict[int, str] | list[tuple[int, str | None]], **options: Any
) -> SparseBm25Index:
    items: Iterable[tuple[int, str | None]] = texts.items() if isinstance(texts, dict) else texts
    build_sparse_bm25(folder / "index", list_blocks(items), **options)
    return SparseBm25Index.open(folder / "index")


def pairs(ranked: Ranked) -> list[tuple[int, float]]:
    return list(zip(ranked.paper_ids.tolist(), ranked.scores.tolist(), strict=True))


def lucene(
    tf: int,
    df: int,
    length: float,
    k1: float = 1.2,
    b: float = 0.75,
    documents: int = 5,
    mean_length: float = 9 / 5,
) -> float:
    idf = math.log(1 + (documents - df + 0.5) / (df + 0.5))
    return idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))


def test_scores_are_lucenes_formula_by_hand(tmp_path: Path) -> None:
    # idf(df 2 of 5) = ln(1 + 3.5/2.5) = 0.875469; alpha in 40: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 1.8))
    # = 4.4 / 4.3 = 1.023256; alpha in 10: 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.8)) = 2.2 / 2.3 = 0.956522
    found = build(tmp_path, CORPUS).search_many(["alpha"], 10)[0]
    assert found.paper_ids.tolist() == [40, 10]
    assert found.scores.tolist() == pytest.approx([0.875469 * 1.023256, 0.875469 * 0.956522], rel=1e-6)


def test_a_repeated_query_term_counts_each_time(tmp_path: Path) -> None:
    index = build(tmp_path, CORPUS)
    once, twice = index.search_many(["delta", "delta unknown delta"], 1)
    assert dict(pairs(once)) == pytest.approx({40: lucene(1, 1, 4)})
    assert dict(pairs(twice)) == pytest.approx({40: 2 * lucene(1, 1, 4)})


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (0.0, 0.5), (2.0, 0.0), (1.2, 1.0)])
def test_k1_and_b_are_arguments_of_one_index(tmp_path: Path, k1: float, b: float) -> None:
    found = build(tmp_path, CORPUS).search_many(["beta"], 10, k1, b)[0]
    expected = {20: lucene(2, 2, 3, k1, b), 10: lucene(1, 2, 2, k1, b)}
    assert dict(pairs(found)) == pytest.approx(expected, rel=1e-6)


def test_equal_scores_are_in_the_given_order_even_where_k_cuts_them(tmp_path: Path) -> None:
    index = build(tmp_path, {1: "same words", 2: "same words", 3: "same words", 4: "other"})
    assert index.search_many(["same"], 2)[0].paper_ids.tolist() == [1, 2]
    order = trec_tie_order({1: "a", 2: "c", 3: "b", 4: "d"})
    assert index.search_many(["same"], 2, tie_order=order)[0].paper_ids.tolist() == [2, 3]


def test_without_a_pool_only_papers_that_share_a_term_are_found(tmp_path: Path) -> None:
    found = build(tmp_path, CORPUS).search_many(["alpha", "the", "", "unheard"], 10)
    assert [len(ranked.paper_ids) for ranked in found] == [2, 0, 0, 0]


def test_a_pool_gives_as_many_as_it_has_or_k(tmp_path: Path) -> None:
    index = build(tmp_path, CORPUS)
    pool = np.array([50, 10, -3])
    assert pairs(index.search_many(["alpha"], 10, pool=pool)[0]) == [
        (10, pytest.approx(lucene(1, 2, 2))),
        (-3, 0.0),
        (50, 0.0),
    ]
    assert index.search_many(["alpha", "unheard"], 2, pool=pool)[1].paper_ids.tolist() == [-3, 10]
    assert index.search_many(["alpha"], 3, pool=pool[:0])[0].paper_ids.tolist() == []


def test_a_paper_that_the_index_lacks_is_refused(tmp_path: Path) -> None:
    index = build(tmp_path, CORPUS)
    for ask in (
        lambda: index.score_pool("alpha", np.array([10, 11])),
        lambda: index.search_many(["alpha"], 1, pool=np.array([10, 11])),
    ):
        with pytest.raises(IndexingError, match=r"1 paper ids are not in the sparse BM25 index .*: 11"):
            ask()


def test_impossible_k1_b_and_k_are_refused(tmp_path: Path) -> None:
    index = build(tmp_path, CORPUS)
    for k1, b in ((-1.0, 0.5), (math.inf, 0.5), (math.nan, 0.5), (1.2, 1.1), (1.2, -0.1)):
        with pytest.raises(IndexingError, match="expected k1 from 0 to 1,000,000, and b from 0 to 1"):
            index.search_many(["alpha"], 1, k1, b)
    with pytest.raises(IndexingError, match="ranking of 0 papers"):
        index.search_many(["alpha"], 0)


def make_random(folder: Path, **options: Any) -> tuple[SparseBm25Index, list[list[int]], list[Any]]:
    """An index of 700 documents of 0 to 60 Zipfian terms, its documents, and 20 queries of term ids."""
    generator = np.random.default_rng(7)
    lengths = generator.integers(0, 60, 700)
    ends = np.cumsum(lengths)[:-1]
    documents = np.split((300 ** generator.random(lengths.sum()) - 1).astype(np.int32), ends)
    rows = options["block_rows"]
    blocks = [
        TermIds(
            np.arange(start, min(start + rows, 700)) * 3,
            lengths[start : start + rows],
            np.concatenate(documents[start : start + rows]),
            np.arange(300, dtype=np.int32),
        )
        for start in range(0, 700, rows)
    ]
    vocabulary = GrowingVocabulary((f"t{number}", number) for number in range(300))
    write_sparse_bm25(folder / "random", blocks, vocabulary, **options)
    queries = [(300 ** generator.random(40) - 1).astype(np.int32) for _ in range(20)]
    return SparseBm25Index.open(folder / "random"), [list(document) for document in documents], queries


def score_all(documents: list[list[int]], query: Any, k1: float, b: float) -> list[float]:
    """The formula in float64, document by document."""
    counts = [Counter(document) for document in documents]
    mean = sum(map(len, documents)) / len(documents)
    df = {term: sum(term in count for count in counts) for term in set(query.tolist())}
    return [
        sum(
            times * lucene(count[term], df[term], len(document), k1, b, len(documents), mean)
            for term, times in Counter(query.tolist()).items()
            if count[term]
        )
        for document, count in zip(documents, counts, strict=True)
    ]


def test_every_score_and_every_rank_is_that_of_the_formula(tmp_path: Path) -> None:
    index, documents, queries = make_random(tmp_path, block_rows=64)
    for k1, b in ((1.2, 0.75), (0.9, 0.4)):
        for query, found in zip(queries[:5], index.search_terms(queries[:5], 1000, k1, b), strict=True):
            expected = score_all(documents, query, k1, b)
            assert len(found.paper_ids) == sum(score > 0 for score in expected)
            assert found.scores.tolist() == pytest.approx(
                [expected[paper // 3] for paper in found.paper_ids], rel=1e-5
            )
            assert (np.diff(found.scores) <= 0).all()


def test_results_are_the_same_bits_at_any_block_size_number_of_threads_and_k(tmp_path: Path) -> None:
    index, _, queries = make_random(tmp_path, block_rows=700)
    whole = index.search_terms(queries, 600)
    for block_rows, threads in ((1, 1), (64, 3), (699, 2)):
        other, _, _ = make_random(tmp_path, block_rows=block_rows, threads=threads)
        for expected, found in zip(whole, other.search_terms(queries, 50, threads=threads), strict=True):
            assert pairs(found) == pairs(expected)[:50]


def test_a_pool_is_scored_to_the_bits_of_a_search(tmp_path: Path) -> None:
    index, _, queries = make_random(tmp_path, block_rows=64)
    texts = [" ".join(f"t{term}" for term in query) for query in queries]
    drawn = [np.random.default_rng(number).permutation(700) * 3 for number in range(20)]
    pools = [rows[: 70 * (number // 2)] for number, rows in enumerate(drawn)]  # few and many of a block
    found = index.search_many(texts, 700)
    for threads in (1, 3):
        scored = index.score_pools(texts, pools, threads=threads)
        for ranked, pool, scores in zip(found, pools, scored, strict=True):
            expected = dict(pairs(ranked))
            assert scores.tolist() == [expected.get(paper, 0.0) for paper in pool.tolist()]


def test_pools_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    index, _, _ = make_random(tmp_path, block_rows=64)
    assert index.score_pools([], []) == []
    with pytest.raises(IndexingError, match="1 pools for 2 queries; expected one for each"):
        index.score_pools(["t1", "t2"], [np.array([3])])
    for paper in (-3, 1, 2_100):
        with pytest.raises(IndexingError, match=rf"1 paper ids are not in .*the first: {paper}"):
            index.score_pools(["t1", "t2"], [np.array([3]), np.array([6, paper])])


def test_papers_numbered_without_a_gap_are_found(tmp_path: Path) -> None:
    index = build(tmp_path, {5: "alpha", 6: "alpha beta", 7: "gamma"})
    assert (index.score_pool("gamma", np.array([7, 5, 6])) > 0).tolist() == [True, False, False]
    for paper in (4, 8):
        with pytest.raises(IndexingError, match=rf"the first: {paper}"):
            index.score_pool("gamma", np.array([7, paper]))


def test_a_search_in_a_pool_is_the_whole_ranking_without_the_others(tmp_path: Path) -> None:
    index, _, queries = make_random(tmp_path, block_rows=64)
    pool = np.arange(0, 700, 7) * 3
    for whole, found in zip(
        index.search_terms(queries, 700), index.search_terms(queries, 20, pool=pool), strict=True
    ):
        assert pairs(found) == [pair for pair in pairs(whole) if pair[0] % 21 == 0][:20]


def test_papers_in_any_order_are_found_by_their_ids(tmp_path: Path) -> None:
    index = build(tmp_path, {7: "alpha", 3: "alpha beta", 5: "gamma"})
    assert index.score_pool("beta", np.array([3, 5, 7])).tolist() == [
        pytest.approx(lucene(1, 1, 2, documents=3, mean_length=4 / 3)),
        0.0,
        0.0,
    ]


def test_an_empty_collection_is_an_index(tmp_path: Path) -> None:
    index = build(tmp_path, {})
    assert index.row_count == 0
    assert index.search_many(["alpha"], 5)[0].paper_ids.tolist() == []


def test_a_paper_given_twice_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="paper id 1 was given 2 times"):
        build(tmp_path, [(1, "alpha"), (2, None), (1, "beta")])
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_is_killed_leaves_no_index_and_a_rerun_equals_an_undisturbed_one(tmp_path: Path) -> None:
    def killed() -> Iterator[tuple[int, str]]:
        yield 1, "alpha beta"
        yield 2, "beta"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_sparse_bm25(tmp_path / "index", list_blocks(killed()), block_rows=1)
    with pytest.raises(IndexingError, match="build the index again"):
        SparseBm25Index.open(tmp_path / "index")
    for name in ("index", "undisturbed"):
        build_sparse_bm25(tmp_path / name, list_blocks(CORPUS.items()), threads=2)
    for file in (tmp_path / "undisturbed").iterdir():
        assert (tmp_path / "index" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", ["documents.npy", "run_terms.npy", "vocabulary.arrow", "parameters.json"])
def test_a_damaged_file_is_never_searched(tmp_path: Path, name: str) -> None:
    build(tmp_path, CORPUS)
    file = tmp_path / "index" / name
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(IndexingError, match=rf"damaged: {name}"):
        SparseBm25Index.open(tmp_path / "index")


def test_an_index_reads_queries_by_the_analysis_it_was_built_with(tmp_path: Path) -> None:
    index = build(tmp_path, {1: "x of genes"}, analysis=english_analysis("none", "none"))
    assert [len(ranked.paper_ids) for ranked in index.search_many(["of", "x", "gene"], 1)] == [1, 1, 0]


def test_a_term_that_one_document_has_too_often_is_refused(tmp_path: Path) -> None:
    def write(count: int) -> None:
        tokens, term_ids = np.zeros(count, np.int32), np.zeros(1, np.int32)
        block = TermIds(np.array([1]), np.array([count]), tokens, term_ids)
        write_sparse_bm25(tmp_path / "index", [block], GrowingVocabulary({"graph": 0}))

    write(65_535)
    assert SparseBm25Index.open(tmp_path / "index").postings.counts.tolist() == [65_535]
    with pytest.raises(IndexingError, match="a term 65536 times; expected at most 65535"):
        write(65_536)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=80, unique=True), st.data())
@settings(max_examples=50)
def test_the_best_keys_are_moved_to_the_front(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    keys = np.array(values, dtype=np.int64)
    least = keep_best(keys, len(values), k)
    assert sorted(keys[:k].tolist(), reverse=True) == sorted(values, reverse=True)[:k]
    assert least == min(keys[:k])


@given(st.text(max_size=60))
@settings(max_examples=200)
@pytest.mark.parametrize("name", ["english", "lucene"])
def test_a_text_run_by_run_gives_the_terms_of_the_whole_text(name: str, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    analyse = named_analysis(name).build().analyze
    assert [term for run in WHOLE_RUNS.findall(text) for term in analyse(run)] == analyse(text)


def test_an_analysis_is_saved_with_all_that_it_is() -> None:
    for name in ("english", "lucene"):
        analysis = named_analysis(name)
        assert type(analysis).from_json(json.loads(json.dumps(analysis.to_json()))) == analysis
    assert named_analysis("lucene").parameters() | {"stop_words_md5": ""} == {
        "tokenizer": r"\w+",
        "longest_token_bytes": 255,
        "lowercase": True,
        "ascii_folding": True,
        "stop_list": "lucene",
        "stop_word_count": 33,
        "stop_words_md5": "",
        "stemmer": "english",
        "shortest_token": 2,
    }
    with pytest.raises(UnknownNameError, match="lucene"):
        named_analysis("luzene")


@needs_real_data
def test_scifact_gives_the_figures_that_others_measured(tmp_path: Path) -> None:
    folder = REAL_DATA / "scifact"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    queries = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        queries[query["_id"]] = query["text"]
    judged = [
        line.split("\t") for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()
    ]
    qrels = [ir_measures.Qrel(query, paper, int(grade)) for query, paper, grade in judged[1:]]
    requested = sorted({qrel.query_id for qrel in qrels})
    index = build(tmp_path, [(row, f"{paper['title']} {paper['text']}") for row, paper in enumerate(papers)])
    found = index.search_many([queries[query] for query in requested], 100)
    run = [
        ir_measures.ScoredDoc(query, papers[row]["_id"], score)
        for query, ranked in zip(requested, found, strict=True)
        for row, score in pairs(ranked)
    ]
    measures = [ir_measures.nDCG @ 10, ir_measures.R @ 100]
    scores = ir_measures.calc_aggregate(measures, qrels, run)
    assert [scores[measure] for measure in measures] == pytest.approx([0.6791, 0.9127], abs=2e-3)
