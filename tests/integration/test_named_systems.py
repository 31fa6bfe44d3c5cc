"""Baselines by their papers' names: fixed options, one run on any machine, and counts of another corpus."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.index.index import index, index_corpus
from pinakes.run.run import RunRequest, run
from pinakes.schema import runs
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from pinakes.systems.names import NAMED, list_systems
from pinakes.systems.registry import find_system
from pinakes.tune.tune import TuneRequest, tune_bm25
from tests.benching import change, count, read_hits
from tests.long import alternate, sample

pytestmark = pytest.mark.in_turn

FABS = ("fabs_bm25", "fabs_cbow200", "fabs_tfidf", "fabs_tfidfcbow200")
LEXICAL = ("fabs_bm25", "fabs_tfidf")
DATABASES = ("duckdb", "postgresql")

Hits = list[tuple[str, str, int, float]]


@pytest.fixture(autouse=True)
def _few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word vectors are trained in a tenth of the time; nothing here is about how good they are."""
    monkeypatch.setattr("pinakes.indexers.word2vec.MOST_PASSES", 5)


def choose(folder: Path, **parameters: str) -> SystemOptions:
    return SystemOptions(folder, parameters=parameters)


def rank(
    database: Database, benchmark: str, system: str, options: SystemOptions, *, again: bool = False
) -> tuple[Hits, dict[str, Any]]:
    """The hits of a run, and its parameters."""
    stored = run(database, RunRequest(benchmark, system, options, again=again))
    with database.read() as session:
        row = session.first(sa.select(runs).where(runs.c.run_id == stored.run_id))
    assert row is not None
    assert row["system"] == system
    return read_hits(database, stored.run_id), orjson.loads(row["parameters"])


def pick(hits: Iterable[tuple[str, str, int, float]], query: str) -> list[tuple[str, float]]:
    return [(paper, score) for query_id, paper, _, score in hits if query_id == query]


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_named_baseline_is_a_system_of_its_name(tmp_path: Path, name: str) -> None:
    assert find_system(name, SystemOptions(tmp_path)).name == name
    assert list_systems().count(name) == 1
    with pytest.raises(UnknownNameError, match=name):
        find_system("nothing", SystemOptions(tmp_path))


def test_what_a_named_baseline_fixes_nobody_else_may_set(tmp_path: Path) -> None:
    fixed: dict[str, dict[str, str]] = {
        "fabs_bm25": {"k1": "1.2"},
        "fabs_tfidf": {"sublinear_tf": "yes"},
        "fabs_cbow200": {"dimensions": "100"},
    }
    for name, parameters in fixed.items():
        (option,) = parameters
        with pytest.raises(UnknownNameError, match=f"option of {name} '{option}'; known: trained_on$"):
            find_system(name, choose(tmp_path, **parameters))
    with pytest.raises(
        InputError, match="fabs_cbow200 compares by l2, as published; for cosine use word2vec"
    ):
        find_system("fabs_cbow200", SystemOptions(tmp_path, distance="cosine"))
    assert find_system("fabs_cbow200", SystemOptions(tmp_path, distance="l2")).name == "fabs_cbow200"


def test_options_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sublinear_tf is 'off'; expected yes or no"):
        find_system("tfidf", choose(tmp_path, sublinear_tf="off"))
    with pytest.raises(InputError, match="formula is 'atire'; expected lucene or okapi"):
        find_system("sparse_bm25", choose(tmp_path, formula="atire"))
    with pytest.raises(InputError, match="analysis is 'german'; expected one of english, lucene, words"):
        find_system("tfidf", choose(tmp_path, analysis="german"))
    with pytest.raises(InputError, match="weights is 'idf'; expected none or tfidf"):
        find_system("word2vec", choose(tmp_path, weights="idf"))


@pytest.mark.parametrize("name", sample(FABS, 2))
def test_rankings_are_the_same_on_both_databases_again_and_at_any_thread_count(
    both_prepared: tuple[Database, Database], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number, database in enumerate(both_prepared):
        monkeypatch.setattr("os.cpu_count", lambda: 1)
        options = SystemOptions(tmp_path / str(number))
        index(database, "synthetic", name, options=options)
        found.append(rank(database, "synthetic", name, options))
        assert run(database, RunRequest("synthetic", name, options)).existing
        monkeypatch.setattr("os.cpu_count", lambda: 3)
        found.append(rank(database, "synthetic", name, options, again=True))
    hits = [one for one, _ in found]
    assert len(hits[0]) > 1_000
    assert hits[1] == hits[2] == hits[3] == hits[0]


def test_a_named_baseline_ranks_as_its_system_with_its_options(prepared: Database, tmp_path: Path) -> None:
    for name, baseline in NAMED.items():
        named, plain = tmp_path / name, tmp_path / f"{name}_plain"
        index(prepared, "synthetic", name, options=SystemOptions(named))
        index(prepared, "synthetic", baseline.system, options=choose(plain, **baseline.options))
        hits, parameters = rank(prepared, "synthetic", name, SystemOptions(named))
        assert (hits, parameters) == rank(
            prepared, "synthetic", baseline.system, choose(plain, **baseline.options)
        )


def test_a_run_records_what_its_baseline_is(prepared: Database, tmp_path: Path) -> None:
    told = {}
    for name in FABS:
        index(prepared, "synthetic", name, options=SystemOptions(tmp_path))
        told[name] = rank(prepared, "synthetic", name, SystemOptions(tmp_path))[1]
    bm25, tfidf = told["fabs_bm25"], told["fabs_tfidf"]
    names = ("formula", "epsilon", "k1", "b", "tuning", "document_length")
    assert [bm25[name] for name in names] == ["Okapi BM25", 0.25, 1.5, 0.75, "given", "exact"]
    assert (tfidf["sublinear_tf"], tfidf["smooth_idf"], tfidf["norm"]) == (False, True, "l2")
    analyses = [told[name]["analysis"] for name in FABS]
    assert analyses == [analyses[0]] * 4
    assert (analyses[0]["stop_list"], analyses[0]["stemmer"], analyses[0]["lowercase"]) == (
        "none",
        "none",
        True,
    )
    weights = [told[name]["weights"] for name in ("fabs_cbow200", "fabs_tfidfcbow200")]
    assert weights == ["none", "tfidf"]
    assert {told[name]["distance"] for name in ("fabs_cbow200", "fabs_tfidfcbow200")} == {"l2"}


def test_word_vectors_are_shared_and_other_indexes_lie_side_by_side(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    assert index(prepared, "synthetic", "fabs_cbow200", options=options).added == 300
    for name in ("fabs_tfidfcbow200", "word2vec", "word2vec_tfidf"):
        assert index(prepared, "synthetic", name, options=options).existing == 300
    for name in ("tfidf", "fabs_tfidf", "sparse_bm25", "fabs_bm25"):
        assert index(prepared, "synthetic", name, options=options).added == 300
    assert count(prepared, "side_indexes") == 5
    for name in ("tfidf", "fabs_tfidf", "sparse_bm25", "fabs_bm25", "word2vec", "fabs_tfidfcbow200"):
        assert run(prepared, RunRequest("synthetic", name, options)).hit_count > 0


@pytest.mark.parametrize(("prepared_url", "name"), alternate(DATABASES, FABS), indirect=["prepared_url"])
def test_equal_texts_tie_and_a_facet_without_sentences_has_no_answer(
    prepared: Database, tmp_path: Path, name: str
) -> None:
    options = choose(tmp_path, trained_on="synthetic") if "cbow" in name else SystemOptions(tmp_path)
    if "cbow" in name:  # nine papers have too few words to train on
        text = "UPDATE papers SET abstract = 'A graph model retrieval' WHERE source_id = 'syn-0000000{}'"
        for number in range(1, 7):
            change(prepared, text.format(number))
    index(prepared, "csfcube", name, options=options)
    hits, _ = rank(prepared, "csfcube", name, options)
    assert pick(hits, "2_method") == []
    ranked = pick(hits, "1_method")
    scores = dict(ranked)
    assert scores["5"] == scores["6"]
    assert len(set(scores.values())) == len(scores) - 1
    papers = [paper for paper, _ in ranked]
    assert papers.index("6") + 1 == papers.index("5")


@pytest.mark.parametrize(("prepared_url", "name"), alternate(DATABASES, LEXICAL), indirect=["prepared_url"])
def test_terms_can_be_counted_in_another_corpus(prepared: Database, tmp_path: Path, name: str) -> None:
    # Of the query "A model of the graph." the other corpus has graph and model in one of 4 papers each.
    change(prepared, "UPDATE papers SET abstract = 'A graph.' WHERE source_id = 'p1'")
    change(prepared, "UPDATE papers SET abstract = 'Model, model!' WHERE source_id = 'p2'")
    change(prepared, "UPDATE papers SET abstract = NULL WHERE source_id IN ('p3', 'p10')")
    own, counted = SystemOptions(tmp_path), choose(tmp_path, trained_on="scifact")
    for options in (own, counted):
        assert index(prepared, "csfcube", name, options=options).added == 9
    before, parameters = rank(prepared, "csfcube", name, own)
    assert "trained_on" not in parameters
    after, parameters = rank(prepared, "csfcube", name, counted)
    assert parameters["trained_on"] == "scifact"
    assert pick(before, "1_method") != pick(after, "1_method")
    # Neither `of` nor `the` is in the other corpus: paper 9 has `the` in the query's own words, 4 none.
    assert [paper for paper, _ in pick(after, "1_method")] == ["6", "5", "9", "4"]
    assert pick(after, "1_method")[-1] == ("4", 0.0)
    # "Query the paper.": no word of it is in the other corpus, so that every candidate has 0.
    assert pick(after, "2_background") == [("9", 0.0), ("7", 0.0), ("5", 0.0), ("4", 0.0)]
    assert rank(prepared, "csfcube", name, own)[0] == before


@pytest.mark.parametrize(("prepared_url", "name"), alternate(DATABASES, FABS), indirect=["prepared_url"])
def test_the_benchmarks_own_corpus_by_name_is_the_same_run(
    prepared: Database, tmp_path: Path, name: str
) -> None:
    index(prepared, "synthetic", name, options=SystemOptions(tmp_path))
    named = choose(tmp_path, trained_on="synthetic")
    assert index(prepared, "synthetic", name, options=named).existing == 300
    made = run(prepared, RunRequest("synthetic", name, SystemOptions(tmp_path)))
    assert run(prepared, RunRequest("synthetic", name, named)).run_id == made.run_id


@pytest.mark.parametrize(("prepared_url", "name"), alternate(DATABASES, LEXICAL), indirect=["prepared_url"])
def test_a_change_in_either_corpus_makes_the_index_stale(
    prepared: Database, tmp_path: Path, name: str
) -> None:
    options = choose(tmp_path, trained_on="scifact")
    command = f"`pinakes index csfcube --system {name} --option trained_on=scifact`"
    with pytest.raises(RunError, match=f"there is no {name} index of the corpus csfcube .*{command}"):
        rank(prepared, "csfcube", name, options)
    index(prepared, "csfcube", name, options=options)
    for corpus in ("p1", "4"):
        change(prepared, f"UPDATE papers SET abstract = 'A model.' WHERE source_id = '{corpus}'")
        with pytest.raises(RunError, match=f"other texts or settings .*{command}"):
            rank(prepared, "csfcube", name, options)
        assert index(prepared, "csfcube", name, options=options).added == 9
        assert rank(prepared, "csfcube", name, options)[0]
    assert len(list((tmp_path / name).iterdir())) == 1


@pytest.mark.parametrize(("name", "purpose"), [("fabs_tfidf", "count terms in"), ("fabs_cbow200", "train")])
def test_a_corpus_that_is_not_loaded_is_named(
    untouched: Database, tmp_path: Path, name: str, purpose: str
) -> None:
    with pytest.raises(RunError, match=f"no corpus absent is loaded to {purpose}.*csfcube, scifact"):
        index(untouched, "csfcube", name, options=choose(tmp_path, trained_on="absent"))


def test_a_corpus_can_be_searched_by_a_named_baseline_that_compares_terms(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    for name in LEXICAL:
        index_corpus(prepared, "csfcube", name, options=options, paper_template="abstract")
        requested = SearchRequest("csfcube", "weather", name, paper_template="abstract", options=options)
        assert [found.source_id for found in search(prepared, requested)] == ["4"]
        with pytest.raises(
            InputError, match=f"{name} cannot search through an approx.* Systems that can: an encoder"
        ):
            search(
                prepared,
                SearchRequest("csfcube", "weather", name, options=SystemOptions(tmp_path, through="x")),
            )
    with pytest.raises(
        InputError,
        match=r"fabs_cbow200 cannot search a corpus: it can rank .*; give .* Systems that can: bm25, ",
    ):
        search(prepared, SearchRequest("csfcube", "weather", "fabs_cbow200", options=options))


def test_a_pair_that_was_tuned_by_one_formula_is_not_taken_by_the_other(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    index(prepared, "synthetic", "sparse_bm25", options=options)
    tune_bm25(prepared, TuneRequest("synthetic", [2.0], [0.4], options=options))
    assert rank(prepared, "synthetic", "sparse_bm25", options)[1]["k1"] == 2.0
    okapi = choose(tmp_path, formula="okapi")
    assert rank(prepared, "synthetic", "sparse_bm25", okapi)[1]["k1"] == 1.2
