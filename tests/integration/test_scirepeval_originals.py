"""SciRepEval's tasks over the collections that they were made of: labels that are built by views."""

import hashlib
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from pinakes.database import Database, connect
from pinakes.load.load import LoadRequest, load
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.install import initialise
from pinakes.workload.examples import read_labelled
from tests.benching import read_named_rows
from tests.long import long
from tests.original_collections import GOLD, LISTED, REVIEWS, load_originals
from tests.real_data import REAL_DATA, needs_real_data

Pair = tuple[Database, Database]


@pytest.fixture(scope="module")
def both(both_initialised: Pair, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """DuckDB and Postgres with every collection."""
    folder = tmp_path_factory.mktemp("originals")
    for name, database in zip(("duck", "post"), both_initialised, strict=True):
        load_originals(database, folder / name)
    return both_initialised


def read_examples(both: Pair, benchmark: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    """query_id -> (split, the columns) of the examples in the order of position, alike on both databases."""
    statement = sa.text(
        f"SELECT query_id, split, {', '.join(columns)} FROM {benchmark}.examples ORDER BY position, query_id"
    )
    found = []
    for database in both:
        with database.read() as session:
            rows = [tuple(row.values()) for row in session.rows(statement)]
        assert len({row[0] for row in rows}) == len(rows)
        found.append({row[0]: row[1:] for row in rows})
    assert list(found[0].items()) == list(found[1].items())
    return found[0]


def split_of(corpus: str, source_id: str) -> str:
    digest = hashlib.md5(f"{corpus}:{source_id}".encode()).hexdigest()
    return "test" if int(digest[:8], 16) % 10 < 3 else "train"


def order(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: hashlib.md5(name.encode()).hexdigest())


def test_every_view_gives_equal_rows_on_both_databases(both: Pair) -> None:
    duck, post = both
    compared = 0
    for name in (name for name in list_benchmarks() if name.startswith("scirepeval_")):
        benchmark = read_benchmark(name)
        for view in benchmark.sql:
            rows = read_named_rows(duck, name, view)
            assert rows == read_named_rows(post, name, view), (name, view)
            compared += bool(rows)
    assert compared > 30


def test_drsm_has_the_gold_papers_of_the_recipe_in_the_order_of_their_file(both: Pair) -> None:
    counts = Counter(category for _, category in GOLD)
    assert min(counts["1.1. A"], counts["2.1. B"]) >= 60 > counts["3.3. C"] > 0 < counts[""]
    expected = {
        name: (
            split_of("drsm", name),
            category.split()[0].rstrip(".") if counts[category] >= 60 and category else "other",
        )
        for name, category in GOLD
    }
    found = read_examples(both, "scirepeval_drsm", "label")
    assert list(found.items()) == list(expected.items())
    assert {label for _, label in found.values()} == {"1.1", "2.1", "other"}


def test_biomimicry_of_petal_is_the_function_that_most_papers_have(both: Pair) -> None:
    labels = {"0": "0", "1": "1", "3": "1", "4": "1", "5": "0"}
    assert read_examples(both, "scirepeval_biomimicry", "label") == {
        name: (split_of("petal", name), label) for name, label in labels.items()
    }


def test_mesh_labels_are_frequent_descriptors_that_a_paper_has_with_one_qualifier(both: Pair) -> None:
    labels = {"1": "Asthma", "2": "Lung", "3": "Lung"}
    found = read_examples(both, "scirepeval_mesh_descriptors", "label")
    assert found == {name: (split_of("pubmed", name), label) for name, label in labels.items()}
    assert list(found) == order(list(found))


def test_citation_counts_are_natural_logarithms_of_cited_papers(both: Pair) -> None:
    counts = {
        f"{paper['venue']}{paper['year']}/{paper['id']}": paper["gs_citation"]
        for paper in LISTED
        if paper["gs_citation"] > 0
    }
    found = read_examples(both, "scirepeval_cite_count", "value")
    assert list(found) == order(list(counts))
    assert found == {name: (split_of("paperlists", name), math.log(count)) for name, count in counts.items()}


def test_years_after_2005_are_scaled_and_also_by_the_mean_of_the_logarithms(both: Pair) -> None:
    logs = [math.log(paper["gs_citation"]) for paper in LISTED if paper["gs_citation"] > 0]
    scaled = {"nips2006/2": 0, "nips2010/3": 4, "iclr2016/4": 10, "iclr2016/5": 10, "iclr2011/6": 5}
    found = read_examples(both, "scirepeval_pub_year", "value", "scaled_by_citations")
    assert {name: row[:2] for name, row in found.items()} == {
        name: (split_of("paperlists", name), years / 10) for name, years in scaled.items()
    }
    mean = sum(logs) / len(logs)
    assert {name: row[2] for name, row in found.items()} == {
        name: pytest.approx(years / 10 * mean, abs=1e-8) for name, years in scaled.items()
    }


def test_the_greatest_h_index_of_the_authors_is_a_share_of_the_greatest_of_all(both: Pair) -> None:
    greatest = {"nips2005/1": 2, "nips2006/2": 2, "nips2010/3": 2, "iclr2016/4": 1, "iclr2016/5": 1}
    assert read_examples(both, "scirepeval_hindex", "value") == {
        name: (split_of("paperlists", name), value / 2)
        for name, value in sorted(greatest.items(), key=lambda item: order(list(greatest)).index(item[0]))
    }


def test_review_scores_are_the_mean_rating_with_the_venue(both: Pair) -> None:
    assert read_examples(both, "scirepeval_peer_review_score", "value", "venue") == {
        name: (split_of("openreview", name), float(Fraction(int(sum(scores)), len(scores))), venue)
        for name, (venue, scores) in REVIEWS.items()
        if scores
    }


def test_tweets_are_shares_summed_over_papers_whose_text_another_corpus_has(both: Pair) -> None:
    values = {"1501.00001": 4 / 8 + 0 / 10, "1601.00004": 1 / 8 + 10 / 10}
    assert read_examples(both, "scirepeval_tweet_mentions", "value") == {
        name: (split_of("tweetpap", name), value) for name, value in values.items()
    }
    for database in both:
        with database.read() as session:
            found = session.rows(
                "SELECT papers.source_id, examples.query_id FROM scirepeval_tweet_mentions.examples "
                "INNER JOIN papers ON examples.paper_id = papers.paper_id ORDER BY 1"
            )
            assert [tuple(row.values()) for row in found] == [
                ("iclr2016/4", "1601.00004"),
                ("nips2005/1", "1501.00001"),
            ]
            (coverage,) = session.rows("SELECT * FROM scirepeval_tweet_mentions.coverage")
            assert coverage == {"papers_with_tweets": 3, "papers_with_text": 2}


JUDGED = {
    # Five works with four mentions or more; itself and a work that we do not hold are no candidates.
    "scirepeval_high_influence_cite": [("w1", 1, f"w{n}") for n in range(2, 7)] + [("w1", 0, "w7")],
    # Two assessors: 2 and 0, 1 and 2, 0 and 1; halves upwards.
    "scirepeval_relish": [("1", 1, "2"), ("1", 2, "3"), ("1", 1, "4")],
    "scirepeval_trec_covid": [("1", 2, "a1"), ("1", 0, "b2")],
    "scirepeval_nfcorpus": [("P-1", 2, "MED-2")],
    # Of the first split that there is, here dev.
    "scirepeval_cite_prediction": [("p1", 1, "p2"), ("p1", 0, "p3")],
    **{
        f"scirepeval_scidocs_{task}": [(f"{own}:s1", 1, "s2"), (f"{own}:s1", 0, "s3")]
        for task, own in (("cite", "cite"), ("cocite", "cocite"), ("view", "coview"), ("read", "coread"))
    },
}
POOLED = {"scirepeval_nfcorpus": [("P-1", f"MED-{n}") for n in (1, 2, 3)]}


@pytest.mark.parametrize("benchmark", JUDGED)
def test_grades_and_pools_are_those_of_the_collection(both: Pair, benchmark: str) -> None:
    expected = JUDGED[benchmark]
    pooled = POOLED.get(benchmark, [(query, paper) for query, _, paper in expected])
    for database in both:
        assert read_named_rows(database, benchmark, "judgments") == sorted(expected, key=repr)
        candidates = read_named_rows(database, benchmark, "candidates")
        assert sorted((row[0], row[2]) for row in candidates) == sorted(pooled)
        queries = read_named_rows(database, benchmark, "queries")
        assert {row[0] for row in queries} == {row[0] for row in expected}


def test_a_topic_is_its_title_question_and_narrative(both: Pair) -> None:
    for database in both:
        assert read_named_rows(database, "scirepeval_trec_covid", "queries") == [
            ("1", "origin [SEP] what is the origin [SEP] seeking studies", None)
        ]


def test_scidocs_own_validation_papers_are_in_no_split(both: Pair) -> None:
    assert read_examples(both, "scirepeval_scidocs_mag", "label") == {
        "s1": ("train", "4"),
        "s3": ("test", "5"),
    }


KNOWN = {
    "drsm": {"drsm": (791, 335)},
    "petal": {"biomimicry": (806, 378)},
    "paperlists": {"cite_count": (15386, 6651), "pub_year": (16444, 7070), "hindex": (18413, 7963)},
    "openreview": {"peer_review_score": (4461, 1899)},
}
"""collection -> task of it -> examples for training and for tests"""


@needs_real_data
@pytest.mark.parametrize("collections", [("drsm", "petal"), long(tuple(KNOWN))])
def test_real_collections_give_the_known_counts(collections: tuple[str, ...]) -> None:
    sizes: dict[str, tuple[int, int]] = {}
    with connect("duckdb:///:memory:") as database:
        initialise(database)
        for loader in collections:
            load(database, LoadRequest(loader, REAL_DATA / loader))
        for task in (task for loader in collections for task in KNOWN[loader]):
            target = "label" if task in ("drsm", "biomimicry") else "value"
            found = read_labelled(database, read_benchmark(f"scirepeval_{task}"), target)
            sizes[task] = (len(found.train), len(found.test))
            assert found.leaked == 0
        drsm = read_labelled(database, read_benchmark("scirepeval_drsm"), "label")
    assert sizes == {task: size for loader in collections for task, size in KNOWN[loader].items()}
    assert drsm.names == ["1.1", "1.3", "2.1", "3.4", "other"]
    assert drsm.train.query_ids[:3] == ["19403253", "19923167", "19942457"]


@needs_real_data
def test_drsm_of_its_view_gives_the_published_evaluators_figure() -> None:
    """The figure of the authors' evaluator, scikit-learn branch, on TF-IDF with SVD: 74.22 and 77.01, C 1."""
    with connect("duckdb:///:memory:") as database:
        initialise(database)
        load(database, LoadRequest("drsm", REAL_DATA / "drsm"))
        with database.read() as session:
            rows = session.rows(
                "SELECT examples.split, examples.label, "
                "TRIM(COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, '')) AS text "
                "FROM scirepeval_drsm.examples INNER JOIN papers ON examples.paper_id = papers.paper_id "
                "ORDER BY examples.position"
            )
    words = TfidfVectorizer().fit_transform([row["text"] for row in rows])
    vectors = TruncatedSVD(128, random_state=42).fit_transform(words)
    labels = np.array([row["label"] for row in rows])
    is_test = np.array([row["split"] == "test" for row in rows])
    svm = LinearSVC(loss="squared_hinge", random_state=42)
    grid = GridSearchCV(svm, {"C": np.logspace(-2, 2, 5)}, cv=3).fit(vectors[~is_test], labels[~is_test])
    predicted = grid.predict(vectors[is_test])
    assert round(100 * accuracy_score(labels[is_test], predicted), 2) == 77.01
    assert round(100 * f1_score(labels[is_test], predicted, average="macro"), 2) == pytest.approx(
        74.22, abs=0.1
    )
    assert grid.best_params_ == {"C": 1.0}
