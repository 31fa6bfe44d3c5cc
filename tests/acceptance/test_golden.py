"""The figures that are known for the real corpora, through both databases, to their printed digits."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.evaluate.evaluate import RunScores, evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.tasks.ranking.task import VIEWS
from tests.benching import count, read_hits, read_named_rows, read_view
from tests.real_data import REAL_DATA, needs_real_data
from tests.trec_names import translate_trec_name

Pair = tuple[Database, Database]

BENCHMARKS = Path(__file__).parents[1] / "data" / "benchmarks"


@pytest.fixture(scope="module")
def both(both_initialised: Pair) -> Pair:
    """DuckDB and Postgres side by side, with whatever corpora the module's tests have loaded."""
    return both_initialised


def load_both(pair: Pair, loader: str, source: str, corpus: str, **options: str) -> None:
    """Load on both; what is in already is passed over."""
    for database in pair:
        load(database, LoadRequest(loader, REAL_DATA / source, options, corpus=corpus))


def require_equal_views(pair: Pair, benchmark: str) -> None:
    for view in VIEWS:
        assert read_named_rows(pair[0], benchmark, view) == read_named_rows(pair[1], benchmark, view)


def read_aggregates(result: RunScores) -> dict[tuple[str, str], float]:
    return {(score.subset, score.measure): score.value for score in result.aggregates()}


@needs_real_data
def test_csfcube_has_its_50_queries_and_6242_candidates(both: Pair) -> None:
    load_both(both, "csfcube", "csfcube", "csfcube")
    require_equal_views(both, "csfcube")
    queries, candidates, judgments = (read_view(both[0], "csfcube", view) for view in VIEWS)
    own = {query_id: paper_id for query_id, paper_id, *_ in queries}
    assert (len(queries), len(set(own.values())), len(candidates), len(judgments)) == (50, 34, 6242, 6242)
    assert Counter(facet for *_, facet, _ in queries) == {"background": 16, "method": 17, "result": 17}
    assert Counter(fold for *_, fold in queries) == {"A": 24, "B": 26}
    assert [query_id for query_id, paper_id, _ in candidates if own[query_id] == paper_id] == []
    assert Counter(grade for *_, grade in judgments) == {0: 4400, 1: 1348, 2: 412, 3: 82}
    assert [source for *_, source in candidates if source is None] == []


CSFCUBE_MEASURES = [
    "CSFCube.RP",
    "Rprec(rel=2)",
    "CSFCube.P@20",
    "CSFCube.R@20",
    "CSFCube.nDCG%100",
    "CSFCube.nDCG@20",
    "CSFCube.nDCG%20",
    "nDCG%20",
    "CSFCube.AP",
    "CSFCube.RR",
]
CSFCUBE_TABLE = {
    "facet=background/test": "24.81 39.87 35.31 57.45 82.24 66.24 66.70 67.22 43.95 71.61",
    "facet=method/test": "11.72 17.44 13.58 40.81 62.77 37.65 37.41 37.80 22.44 44.46",
    "facet=result/test": "18.62 31.74 23.78 52.72 75.47 56.43 56.67 57.41 36.79 70.28",
    "all/test": "18.29 29.46 23.97 50.14 73.30 53.14 53.28 53.82 34.23 61.81",
    "all/dev": "19.29 29.79 23.33 49.35 73.79 53.39 53.02 53.49 35.43 67.24",
    "all": "18.25 29.44 24.00 50.17 73.28 53.13 53.29 53.83 34.18 61.59",
}


@needs_real_data
def test_csfcubes_sample_rankings_give_the_whole_table_and_the_published_rows(both: Pair) -> None:
    load_both(both, "csfcube", "csfcube", "csfcube")
    files = sorted((REAL_DATA / "csfcube" / "eval_scripts" / "sample_ranked_pools").glob("*.json"))
    found = []
    for database in both:
        made = import_run(database, ImportRequest("csfcube", "SPECTER", files, "csfcube"))
        assert (made.queries_expected, made.queries_answered, made.hit_count) == (50, 50, 6242)
        found.append(read_aggregates(evaluate(database, "csfcube", run_ids=[made.run_id])[0]))
        assert compare_published(database, made.run_id) == dict.fromkeys(
            ("all/test", "facet=background/test", "facet=method/test", "facet=result/test"), (5, 5)
        )
    table = {
        subset: " ".join(f"{100 * found[0][subset, measure]:.2f}" for measure in CSFCUBE_MEASURES)
        for subset in CSFCUBE_TABLE
    }
    assert table == CSFCUBE_TABLE
    assert found[0] == found[1]


def compare_published(database: Database, run_id: int) -> dict[str, tuple[int, int]]:
    """Subset -> published figures of the run's system, and how many of them it reproduces as printed."""
    with database.read() as session:
        rows = session.rows(
            "SELECT scores.subset, scores.value, published_scores.printed FROM scores "
            "INNER JOIN runs ON scores.run_id = runs.run_id "
            "INNER JOIN published_scores ON runs.benchmark = published_scores.benchmark "
            "AND runs.system = published_scores.system AND scores.subset = published_scores.subset "
            "AND scores.measure = published_scores.measure "
            "WHERE scores.query_id IS NULL AND scores.run_id = :run_id",
            {"run_id": run_id},
        )
    expected = Counter(row["subset"] for row in rows)
    equal = Counter(row["subset"] for row in rows if f"{100 * row['value']:05.2f}" == row["printed"])
    return {subset: (expected[subset], equal[subset]) for subset in sorted(expected)}


def rank_and_score(
    pair: Pair, benchmark: str, folder: Path, depth: int | None = None
) -> list[dict[tuple[str, str], float]]:
    """The aggregates of BM25 on both; the hits must be equal, bit by bit."""
    hits, found = [], []
    for database in pair:
        options = SystemOptions(folder / database.name)
        index(database, benchmark, "bm25", options=options)
        made = run(database, RunRequest(benchmark, "bm25", options, depth))
        hits.append(read_hits(database, made.run_id))
        found.append(read_aggregates(evaluate(database, benchmark, run_ids=[made.run_id])[0]))
    assert hits[0] == hits[1]
    return found


@needs_real_data
def test_scifact_by_bm25_is_as_good_as_it_is_known_to_be(both: Pair, tmp_path: Path) -> None:
    load_both(both, "beir", "scifact", "scifact")
    require_equal_views(both, "scifact")
    assert [count(both[0], f"scifact.{view}") for view in VIEWS] == [300, 5183, 339]
    assert {grade for *_, grade in read_view(both[0], "scifact", "judgments")} == {1}
    duck, post = rank_and_score(both, "scifact", tmp_path, depth=100)
    assert duck == post
    assert duck["all", "nDCG@10"] >= 0.68
    assert duck["all", "R@100"] >= 0.915


@needs_real_data
def test_cranfield_has_its_grades_turned_round_and_bm25_gives_these_values(
    both: Pair, tmp_path: Path
) -> None:
    load_both(both, "smart", "smart/cran.tar.gz", "cranfield")
    require_equal_views(both, "cranfield")
    assert [count(both[0], f"cranfield.{view}") for view in VIEWS] == [225, 1400, 1837]
    with both[0].read() as session:
        rows = session.rows("SELECT grade FROM judged_papers WHERE corpus = 'cranfield'")
    turned = Counter(grade for *_, grade in read_view(both[0], "cranfield", "judgments"))
    assert Counter(row["grade"] for row in rows) == {-1: 225, 1: 128, 2: 387, 3: 734, 4: 363}
    assert turned == {4: 128, 3: 387, 2: 734, 1: 363 + 225}
    duck, post = rank_and_score(both, "cranfield", tmp_path)
    assert duck == post
    assert {measure: f"{value:.4f}" for (_, measure), value in duck.items()} == {
        "nDCG@10": "0.4296",
        "AP": "0.4221",
        "P@10": "0.3062",
        "R@100": "0.7618",
        "RR": "0.8178",
        "Rprec": "0.3994",
        "nDCG": "0.5826",
    }


TREC = REAL_DATA / "trec" / "trec_eval"
VERSION_9 = {
    ("iprec_at_recall_0.10", "301"): "0.2096",
    ("iprec_at_recall_0.10", "all"): "0.3884",
    ("iprec_at_recall_0.60", "302"): "0.1420",
    ("iprec_at_recall_0.60", "all"): "0.0822",
}
"""what version 9 gives; the published file is of version 10, which rounds the level's number of papers"""


def is_known(trec_name: str) -> bool:
    try:
        return bool(translate_trec_name(trec_name))
    except UnknownNameError:
        return False


@needs_real_data
def test_trec_evals_own_run_gives_its_published_output(both: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(BENCHMARKS))
    load_both(both, "trec", "trec/trec_eval/qrels.test", "trec_test", unknown="create")
    lines = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    published = {(name, query_id): value for name, query_id, value in lines if is_known(name)}
    assert len(published) == 256
    measures = sorted({translate_trec_name(name) for name, _ in published})
    request = ImportRequest("trec_test", "results", [TREC / "results.test"], unknown="create")
    stored = []
    for database in both:
        made = import_run(database, request)
        assert (made.queries_expected, made.queries_answered, made.hit_count) == (3, 3, 1500)
        (result,) = evaluate(database, "trec_test", run_ids=[made.run_id], measures=measures)
        stored.append(read_scores(database, made.run_id))
        assert stored[-1] == {
            (score.measure, score.query_id or score.subset): score.value for score in result.scores
        }
    ours = {
        (name, query_id): write_like(value, stored[0][translate_trec_name(name), query_id])
        for (name, query_id), value in published.items()
    }
    assert ours == published | VERSION_9
    assert stored[0] == stored[1]


def read_scores(database: Database, run_id: int) -> dict[tuple[str, str], Any]:
    with database.read() as session:
        rows = session.rows("SELECT * FROM scores WHERE run_id = :run_id", {"run_id": run_id})
    return {(row["measure"], row["query_id"] or row["subset"]): row["value"] for row in rows}


def write_like(published: str, value: float) -> str:
    return f"{value:.4f}" if "." in published else f"{value:.0f}"
