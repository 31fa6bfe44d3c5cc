"""The second task of CSFCube: a query is a paper and some of its sentences, on both databases."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import select_queries
from pinakes.queries.sentence_relations import select_query_sentences
from pinakes.run.run import RunRequest
from pinakes.tasks.ranking.task import VIEWS
from tests.benching import POOLS, change, read_hits, read_named_rows
from tests.integration.test_runs import make
from tests.long import long

pytestmark = pytest.mark.in_turn

Pair = tuple[Database, Database]

SELECTIONS = """query_id,selection,positions
1_method,both,2 1
1_background,other,2
2_method,both,1 2
"""


@pytest.fixture
def selected(prepared: Database, tmp_path: Path) -> Database:
    """A database in which a user has selected sentences under two names."""
    (tmp_path / "mine.csv").write_text(SELECTIONS)
    load(prepared, LoadRequest("sentence-selections", tmp_path / "mine.csv", corpus="csfcube"))
    return prepared


def read_texts(database: Database, benchmark: str, template: str | None = None) -> dict[str, str]:
    with database.read() as session:
        rows = session.rows(select_queries(read_benchmark(benchmark), template))
    return {row["query_id"]: row["text"] for row in rows}


def test_without_selections_the_queries_are_those_of_csfcube(untouched: Database) -> None:
    assert read_texts(untouched, "csfcube_sentences") == read_texts(untouched, "csfcube")
    for view in ("candidates", "judgments"):
        ours = read_named_rows(untouched, "csfcube_sentences", view)
        assert ours == read_named_rows(untouched, "csfcube", view) != []
    assert {row[1:] for row in read_named_rows(untouched, "csfcube_sentences", "queries")} == {
        ("Citation graph retrieval.", "facet", "background", "A", "1_background", "1"),
        ("A model of the graph.", "facet", "method", "A", "1_method", "1"),
        ("Query the paper.", "facet", "background", "B", "2_background", "2"),
        ("", "facet", "method", "B", "2_method", "2"),
        ("The model wins.", "facet", "result", "B", "2_result", "2"),
    }


@pytest.mark.parametrize("system", ["bm25", long("tfidf"), long("toy"), "sentences"])
def test_without_selections_every_system_gives_the_hits_and_scores_of_csfcube(
    both_prepared: Pair, tmp_path: Path, toy_folder: str, system: str
) -> None:
    name = {"toy": toy_folder, "sentences": f"sentences:{toy_folder}"}.get(system, system)
    found = []
    for database in both_prepared:
        for benchmark in ("csfcube", "csfcube_sentences"):
            made = make(database, RunRequest(benchmark, name), tmp_path)
            (result,) = evaluate(database, benchmark, run_ids=[made.run_id])
            scores = {
                (score.measure, score.subset, score.query_id): score.value
                for score in result.scores
                if not score.subset.startswith("selection=")
            }
            found.append((read_hits(database, made.run_id), scores))
    assert found[0][0] != []
    assert all(one == found[0] for one in found[1:])


def test_a_selection_asks_with_its_sentences_in_their_order(selected: Database) -> None:
    of_1, of_2 = "Citation graph retrieval. A model of the graph.", "Query the paper. The model wins."
    assert read_texts(selected, "csfcube_sentences") == {
        **read_texts(selected, "csfcube"),
        "1_method/both": of_1,
        "1_background/other": "A model of the graph.",
        "2_method/both": of_2,
    }
    with selected.read() as session:
        rows = session.rows(select_query_sentences(read_benchmark("csfcube_sentences")))
    requested = sorted((row["query_id"], row["position"]) for row in rows)
    assert requested == [
        ("1_background", 1),
        ("1_background/other", 2),
        ("1_method", 2),
        ("1_method/both", 1),
        ("1_method/both", 2),
        ("2_background", 1),
        ("2_method/both", 1),
        ("2_method/both", 2),
        ("2_result", 2),
    ]


def test_a_selection_has_the_pool_and_the_grades_of_its_query(selected: Database) -> None:
    judged = read_named_rows(selected, "csfcube_sentences", "judgments")
    assert sorted((row[2], row[1]) for row in judged if row[0] == "1_background/other") == [
        (candidate, grade)
        for candidate, grade in sorted(POOLS["background"]["1"].items())
        if candidate != "1"
    ]
    pooled = read_named_rows(selected, "csfcube_sentences", "candidates")
    assert {(row[0], row[-1]) for row in pooled} == {(row[0], row[2]) for row in judged}
    assert {row[1] for row in pooled if row[0] == "1_background/other"} == {
        "cited,specter",
        "abs_tfidf",
        None,
    }


def test_means_by_facet_stay_those_of_the_facets_own_sentences(selected: Database, tmp_path: Path) -> None:
    made = make(selected, RunRequest("csfcube_sentences", "tfidf"), tmp_path)
    (ours,) = evaluate(selected, "csfcube_sentences", run_ids=[made.run_id], measures=["AP"])
    made = make(selected, RunRequest("csfcube", "tfidf"), tmp_path)
    (theirs,) = evaluate(selected, "csfcube", run_ids=[made.run_id], measures=["AP"])
    csfcube = {score.subset: (score.value, score.queries_expected) for score in theirs.aggregates()}
    subsets = {score.subset: (score.value, score.queries_expected) for score in ours.aggregates()}
    for subset, value in csfcube.items():
        selection = subset.replace("all", "selection=facet")
        assert subsets[selection] == value
        if subset.startswith("facet="):
            assert subsets[subset] == value
    assert {
        subset: expected for subset, (_, expected) in subsets.items() if subset.startswith("selection=")
    } == {
        "selection=facet": 5,
        "selection=facet/dev": 2,
        "selection=facet/test": 5,
        "selection=both": 2,
        "selection=both/dev": 1,
        "selection=both/test": 2,
        "selection=other": 1,
        "selection=other/dev": 1,
    }
    assert subsets["all"][1] == 8


def test_a_selection_whose_sentence_is_gone_is_requested_with_an_empty_text(selected: Database) -> None:
    change(selected, "DELETE FROM sentences WHERE text = 'A model of the graph.'")
    texts = read_texts(selected, "csfcube_sentences")
    assert texts["1_background/other"] == ""
    assert texts["1_method/both"] == "Citation graph retrieval."


def test_both_databases_ask_the_same_selections(both_prepared: Pair, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(SELECTIONS)
    request = LoadRequest("sentence-selections", tmp_path / "mine.csv", corpus="csfcube")
    for database in both_prepared:
        load(database, request)
    for view in (*VIEWS, "query_sentences"):
        duck, post = (read_named_rows(database, "csfcube_sentences", view) for database in both_prepared)
        assert duck == post != []


def test_a_query_says_its_title_and_its_sentences(selected: Database) -> None:
    texts = read_texts(selected, "csfcube_sentences", "title_text")
    assert (texts["1_background/other"], texts["2_method"]) == ("Title 1 A model of the graph.", "Title 2")
    texts = read_texts(selected, "csfcube", "title_facet_sentences")
    assert (texts["1_method"], texts["2_method"]) == ("Title 1 A model of the graph.", "Title 2")
    change(selected, "UPDATE papers SET title = NULL")
    assert read_texts(selected, "csfcube", "title_facet_sentences")["1_method"] == "A model of the graph."
    assert read_texts(selected, "csfcube_sentences", "title_text")["2_method"] == ""
