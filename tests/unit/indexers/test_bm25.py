"""BM25: Lucene's formula by hand, the total order, pools, free text, and folders that are whole or absent."""

import csv
import gzip
import json
import math
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import english_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.lexical import Documents, Ranked, trec_tie_order
from tests.real_data import REAL_DATA, needs_real_data
from tests.searching import search_many

Build = Callable[..., Bm25Index]

CORPUS = {
    10: "alpha beta",
    20: "beta gamma beta",
    -3: "",
    40: "alpha alpha delta gamma",
    50: "the of and",
}
"""5 documents of 2, 3, 0, 4 and 0 terms: avgdl 9/5"""


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def build_and_open(texts: Mapping[int, str] | list[tuple[int, str]], **options: Any) -> Bm25Index:
        items = texts.items() if isinstance(texts, Mapping) else texts
        build_bm25(tmp_path / "index", [(paper, {"text": text}) for paper, text in items], **options)
        return Bm25Index.open(tmp_path / "index")

    return build_and_open


def approx(value: float, within: float = 1e-6) -> Any:
    return pytest.approx(value, abs=within)


def pairs(ranked: Ranked) -> list[tuple[int, float]]:
    return list(zip(ranked.paper_ids.tolist(), ranked.scores.tolist(), strict=True))


def lucene(tf: int, df: int, length: float, documents: int = 5, mean_length: float = 9 / 5) -> float:
    idf = math.log(1 + (documents - df + 0.5) / (df + 0.5))
    return idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean_length))


def test_scores_are_lucenes_formula_by_hand(build: Build) -> None:
    # idf(df 2 of 5) = ln(1 + 3.5/2.5) = 0.875469; alpha in 40: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 1.8))
    # = 4.4 / 4.3 = 1.023256; alpha in 10: 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.8)) = 2.2 / 2.3 = 0.956522
    found = build(CORPUS).search("alpha", 10)
    assert found.paper_ids.dtype == np.int64
    assert found.scores.dtype == np.float32
    assert pairs(found) == [(40, approx(0.895829)), (10, approx(0.837405))]


def test_terms_add_up_and_a_repeated_query_term_counts_each_time(build: Build) -> None:
    assert pairs(build(CORPUS).search("beta alpha Beta", 10)) == [
        (10, approx(lucene(1, 2, 2) + 2 * lucene(1, 2, 2))),
        (20, approx(2 * lucene(2, 2, 3))),
        (40, approx(lucene(2, 2, 4))),
    ]


def test_document_length_is_rounded_down_above_forty_but_the_mean_is_exact(build: Build) -> None:
    index = build({1: "alpha " + "filler " * 40, 2: "alpha " + "filler " * 99, 3: "beta"})
    mean = (41 + 100 + 1) / 3
    assert pairs(index.search("alpha", 2)) == [
        (1, approx(lucene(1, 2, 40, 3, mean))),
        (2, approx(lucene(1, 2, 96, 3, mean))),
    ]


def test_fields_have_their_own_statistics_and_add_up_by_weight(tmp_path: Path) -> None:
    documents: Documents = [
        (1, {"title": "alpha", "abstract": "beta alpha"}),
        (2, {"title": "beta gamma", "abstract": None}),
        (3, {"abstract": "alpha"}),
    ]
    build_bm25(tmp_path / "index", documents, ["title", "abstract"], weights={"title": 0.5})
    assert pairs(Bm25Index.open(tmp_path / "index").search("alpha", 3)) == [
        (1, approx(0.5 * lucene(1, 1, 1, 3, 1) + lucene(1, 2, 2, 3, 1))),
        (3, approx(lucene(1, 2, 1, 3, 1))),
    ]


def test_equal_scores_come_in_the_order_that_the_caller_gives(build: Build) -> None:
    index = build(dict.fromkeys(range(1, 8), "alpha") | {9: "beta"})
    sources = trec_tie_order({1: "B", 2: "a", 3: "é", 4: "b", 5: "10", 6: "9", 7: "z", 9: "c"})
    assert index.search("alpha", 3).paper_ids.tolist() == [1, 2, 3]
    assert index.search("alpha", 7, tie_order=sources).paper_ids.tolist() == [3, 7, 4, 2, 1, 6, 5]
    assert index.search("alpha", 2, tie_order=sources).paper_ids.tolist() == [3, 7]


def test_a_tie_at_the_last_rank_is_settled_among_all_tied_papers(build: Build) -> None:
    texts = dict.fromkeys(range(1, 501), "alpha") | {600: "alpha alpha"}
    latest_first = build(texts).search("alpha", 3, tie_order=lambda paper_ids: -paper_ids)
    assert latest_first.paper_ids.tolist() == [600, 500, 499]


def test_a_tie_order_that_does_not_know_a_paper_is_an_error(build: Build) -> None:
    with pytest.raises(IndexingError, match="1 paper ids are not in the tie order \\(the first: 40\\)"):
        build(CORPUS).search("alpha", 5, tie_order=trec_tie_order({10: "a"}))


@pytest.mark.parametrize("text", ["", "   ", "the and of", "?!\"'", "zeppelin", "\u3000", "\ud800"])
def test_a_text_without_an_indexed_term_finds_nothing_and_scores_zero(build: Build, text: str) -> None:
    index = build(CORPUS)
    assert pairs(index.search(text, 5)) == []
    assert index.score_pool(text, np.array([50, 10])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "text", ['alpha AND (b" OR: ~', "+alpha -beta^2 [x TO", "title:alpha*", "alpha\\", "NOT alpha", "{alpha}"]
)
def test_query_syntax_is_only_text(build: Build, text: str) -> None:
    assert 40 in build(CORPUS).search(text, 5).paper_ids.tolist()


def test_stop_words_case_accents_and_endings_do_not_matter(build: Build) -> None:
    index = build({1: "the naïve cell was running", 2: "α-synuclein", 3: "細胞"})
    assert index.search("NAIVE", 5).paper_ids.tolist() == [1]
    assert index.search("cells run", 5).paper_ids.tolist() == [1]
    assert index.search("Α", 5).paper_ids.tolist() == [2]
    assert index.search("細胞", 5).paper_ids.tolist() == [3]


def test_pool_scores_are_those_of_the_search_with_zero_where_nothing_matches(build: Build) -> None:
    index = build(CORPUS)
    assert index.score_pool("alpha", np.array([50, 40, -3, 10, 40])).tolist() == [
        0.0,
        *index.search("alpha", 1).scores.tolist(),
        0.0,
        index.search("alpha", 2).scores.tolist()[1],
        index.search("alpha", 1).scores.tolist()[0],
    ]
    assert index.score_pool("alpha", np.array([], dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("text", ["alpha", ""])
def test_a_pool_with_a_paper_that_is_not_indexed_is_an_error(build: Build, text: str) -> None:
    with pytest.raises(IndexingError, match="1 paper ids are not in the BM25 index \\(the first: 99\\)"):
        build(CORPUS).score_pool(text, np.array([10, 99]))


def random_corpus(documents: int = 3000) -> dict[int, str]:
    generator = np.random.default_rng(7)
    words = np.array([f"w{number}" for number in range(400)])
    lengths = generator.integers(0, 60, documents)
    return {n: " ".join(words[generator.zipf(1.3, length) % 400]) for n, length in enumerate(lengths)}


QUERIES = [" ".join(f"w{n * step % 400}" for n in range(12)) for step in range(1, 40)]


def test_small_pools_whole_scans_and_top_ranks_agree_to_the_last_bit(build: Build) -> None:
    index = build(random_corpus())
    everyone = np.arange(3000)
    small = np.random.default_rng(1).permutation(3000)[:200]
    for text in QUERIES:
        scores = index.score_pool(text, everyone)
        assert index.score_pool(text, small).tolist() == scores[small].tolist()
        top = index.search(text, 50)
        expected = np.lexsort((everyone, -scores))[:50]
        assert pairs(top) == list(zip(expected.tolist(), scores[expected].tolist(), strict=True))


def test_scores_depend_on_neither_the_order_of_documents_nor_on_the_segments(
    build: Build, tmp_path: Path
) -> None:
    corpus = random_corpus()
    expected = [pairs(ranked) for ranked in search_many(build(corpus), QUERIES, 100)]
    reverse = build(list(reversed(corpus.items())))
    assert [pairs(ranked) for ranked in search_many(reverse, QUERIES, 100)] == expected
    long = {
        paper: text + " " + " ".join(f"x{paper}y{n}" for n in range(150)) for paper, text in corpus.items()
    }
    one = [pairs(ranked) for ranked in search_many(build(long), QUERIES, 100)]
    many = build(long, heap_bytes=15_000_000)
    assert many.segment_count > 1
    assert [pairs(ranked) for ranked in search_many(many, QUERIES, 100)] == one


def test_threads_change_nothing(build: Build) -> None:
    index = build(random_corpus())
    alone = [pairs(ranked) for ranked in search_many(index, QUERIES, 20)]
    assert [pairs(ranked) for ranked in search_many(index, QUERIES, 20, threads=4)] == alone


def test_a_build_reports_rows_settings_and_progress(tmp_path: Path) -> None:
    seen: list[int] = []
    built = build_bm25(tmp_path / "i", [(n, {"text": t}) for n, t in CORPUS.items()], progress=seen.append)
    assert (built.row_count, seen) == (5, [5])
    assert json.loads(json.dumps(built.parameters)) == built.parameters
    library = built.parameters.pop("library")
    analysis = built.parameters.pop("analysis")
    assert library.startswith("tantivy ")
    assert analysis == english_analysis().parameters()
    assert (analysis["stemmer"], analysis["stop_list"], analysis["stop_word_count"]) == (
        "english",
        "scikit-learn",
        318,
    )
    assert built.parameters == {
        "formula": "Lucene BM25",
        "k1": 1.2,
        "b": 0.75,
        "document_length": "one byte, as Lucene's SmallFloat",
        "field_weights": {"text": 1.0},
    }


def test_an_index_is_opened_with_the_analysis_that_it_was_built_with(tmp_path: Path) -> None:
    plain = english_analysis("none", "none")
    build_bm25(tmp_path / "i", [(1, {"text": "the cells"})], analysis=plain)
    index = Bm25Index.open(tmp_path / "i")
    assert index.search("the", 5).paper_ids.tolist() == [1]
    assert index.search("cell", 5).paper_ids.tolist() == []


def test_an_index_without_documents_finds_nothing(build: Build) -> None:
    index = build({})
    assert index.row_count == 0
    assert pairs(index.search("alpha", 3)) == []
    with pytest.raises(IndexingError, match="not in the BM25 index"):
        index.score_pool("alpha", np.array([1]))


class KilledError(BaseException):
    """Stands for a signal in the middle of a build."""


def dying(texts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for paper, text in texts:
        yield paper, {"text": text}
    raise KilledError


def test_a_killed_build_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        build_bm25(tmp_path / "index", dying(CORPUS.items()))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(IndexingError, match=r"is not a finished bm25 index .*; build the index again"):
        Bm25Index.open(tmp_path / "index")


def test_a_killed_rebuild_keeps_the_old_index_and_a_finished_one_replaces_it(
    build: Build, tmp_path: Path
) -> None:
    build(CORPUS)
    with pytest.raises(KilledError):
        build_bm25(tmp_path / "index", dying([(77, "alpha")]))
    assert Bm25Index.open(tmp_path / "index").search("delta", 5).paper_ids.tolist() == [40]
    assert build({77: "delta"}).search("delta", 5).paper_ids.tolist() == [77]
    assert [entry.name for entry in tmp_path.iterdir()] == ["index"]


def test_what_a_killed_process_left_is_not_taken_into_the_next_build(build: Build, tmp_path: Path) -> None:
    (tmp_path / ".index.building" / "old").mkdir(parents=True)
    (tmp_path / ".index.building" / "meta.json").write_text("{")
    assert build(CORPUS).row_count == 5
    assert not (tmp_path / "index" / "old").exists()


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        ([(1, {"text": "a"}), (1, {"text": "b"})], {}, "paper id 1 was given 2 times"),
        ([(1, {"body": "a"})], {}, "paper 1 has the fields \\['body'\\], the index is of \\['text'\\]"),
        ([], {"fields": []}, "expected at least one field"),
        ([], {"fields": ["text", "text"]}, "each named once"),
        ([], {"weights": {"title": 2.0}}, "no weight without its field"),
        ([], {"weights": {"text": 0.0}}, "expected a number above 0"),
        ([], {"fields": ["paper_id"]}, "'paper_id' cannot name a field"),
        ([], {"heap_bytes": 1}, "tantivy refused a heap of 1 bytes"),
    ],
)
def test_a_wrong_build_says_what_is_wrong_and_leaves_nothing(
    tmp_path: Path,
    documents: Documents,
    options: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(IndexingError, match=message):
        build_bm25(tmp_path / "index", documents, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_ranking_of_no_papers_is_an_error(build: Build) -> None:
    with pytest.raises(IndexingError, match="expected k of at least 1"):
        build(CORPUS).search("alpha", 0)


Benchmark = tuple[list[tuple[str, str]], dict[str, str], dict[str, dict[str, int]]]


def scifact() -> Benchmark:
    folder = REAL_DATA / "scifact"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [(row["_id"], f"{row['title']} {row['text']}") for row in map(json.loads, lines)]
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        texts = {row["_id"]: row["text"] for row in map(json.loads, lines)}
    grades: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return documents, {query: texts[query] for query in grades}, grades


def smart_records(text: str) -> list[dict[str, str]]:
    records: list[dict[str, str]] = []
    field = ""
    for line in text.splitlines():
        if line.startswith(".I"):
            records.append({"T": "", "W": ""})
        elif line.strip() in {".T", ".A", ".B", ".W"}:
            field = line.strip()[1]
        else:
            records[-1][field] = f"{records[-1].get(field, '')} {line}"
    return records


def cranfield() -> Benchmark:
    with tarfile.open(REAL_DATA / "smart" / "cran.tar.gz") as archive:
        parts = {name: archive.extractfile(name) for name in archive.getnames()}
        text = {name: part.read().decode("latin-1") for name, part in parts.items() if part}
    papers = enumerate(smart_records(text["cran.all.1400"]), 1)
    documents = [(str(number), f"{paper['T']} {paper['W']}") for number, paper in papers]
    queries = {str(n): query["W"] for n, query in enumerate(smart_records(text["cran.qry"]), 1)}
    grades: dict[str, dict[str, int]] = {}
    for line in filter(str.strip, text["cranqrel"].splitlines()):
        query, paper, *_ = line.split()
        grades.setdefault(query, {})[paper] = 1
    return documents, queries, grades


def measure(index: Bm25Index, benchmark: Benchmark) -> tuple[float, float]:
    documents, queries, grades = benchmark
    order = trec_tie_order({number: source for number, (source, _) in enumerate(documents)})
    rankings = search_many(index, list(queries.values()), 100, tie_order=order, threads=2)
    run = {
        query: {documents[paper][0]: score for paper, score in pairs(ranked)}
        for query, ranked in zip(queries, rankings, strict=True)
    }
    measures = [ir_measures.nDCG @ 10, ir_measures.R @ 100]
    values = ir_measures.calc_aggregate(measures, grades, run)
    return values[measures[0]], values[measures[1]]


@needs_real_data
@pytest.mark.parametrize(
    ("benchmark", "ndcg_at_10", "recall_at_100"),
    [(scifact, 0.6862, 0.9249), (cranfield, 0.5266, 0.7629)],
)
def test_one_field_of_title_and_abstract_ranks_as_measured(
    build: Build, benchmark: Callable[[], Benchmark], ndcg_at_10: float, recall_at_100: float
) -> None:
    loaded = benchmark()
    index = build({number: text for number, (_, text) in enumerate(loaded[0])})
    assert measure(index, loaded) == (
        approx(ndcg_at_10, within=5e-4),
        approx(recall_at_100, within=5e-4),
    )
