"""The views of a benchmark's own folder: made after the three, renewed, dropped, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import read_benchmark
from pinakes.queries.install import install_benchmark
from pinakes.queries.sentence_relations import select_query_sentences
from tests.benching import count, read_view, write_benchmark

GRADED = """-- How many papers are judged,
-- by grade: 'all' 100 % of them.

SELECT grade, COUNT(*) AS papers FROM own.judgments GROUP BY grade -- of the main view
"""
OF_GRADED = "SELECT SUM(papers) AS papers FROM own.graded"


def install(database: Database, folder: Path, **views: str) -> bool:
    """The benchmark `own` over csfcube, with these views and no others."""
    folders = write_benchmark(folder, corpus="csfcube", pool="per_query", candidates=CANDIDATES)
    home = folders / "own" / "views"
    home.mkdir(exist_ok=True)
    for old in home.iterdir():
        old.unlink()
    for view, text in views.items():
        (home / f"{view}.sql").write_text(text, encoding="utf-8")
    return install_benchmark(database, read_benchmark("own", [folders]))


CANDIDATES = (
    "SELECT query_id, paper_id FROM judged_papers WHERE corpus = 'csfcube' AND assessor = 'adjudicated'"
)


def list_views(database: Database) -> list[str]:
    with database.read() as session:
        rows = session.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'own'")
    return sorted(row["table_name"] for row in rows)


def read_comment(database: Database, view: str) -> str:
    statement = (
        f"SELECT comment FROM duckdb_views() WHERE schema_name = 'own' AND view_name = '{view}'"
        if database.name == "duckdb"
        else f"SELECT obj_description(CAST('own.{view}' AS REGCLASS), 'pg_class')"
    )
    with database.read() as session:
        return str(session.scalar(statement))


def test_own_views_stand_beside_the_three_which_they_read(prepared: Database, tmp_path: Path) -> None:
    assert install(prepared, tmp_path, graded=GRADED)
    assert list_views(prepared) == ["candidates", "graded", "judgments", "queries"]
    # Two assessors agree on each of the 19 pairs.
    assert read_view(prepared, "own", "graded") == [(0, 12), (1, 8), (2, 10), (3, 8)]
    assert not install(prepared, tmp_path, graded=GRADED)


def test_an_own_view_is_told_by_its_files_first_comment(prepared: Database, tmp_path: Path) -> None:
    install(prepared, tmp_path, graded=GRADED, silent="SELECT 1 AS one -- one")
    assert read_comment(prepared, "graded") == (
        "A benchmark of a test: How many papers are judged, by grade: 'all' 100 % of them."
    )
    assert read_comment(prepared, "silent") == "A benchmark of a test: silent"


def test_a_renewal_changes_adds_and_drops_own_views(prepared: Database, tmp_path: Path) -> None:
    install(prepared, tmp_path, graded=GRADED, of_graded=OF_GRADED)
    assert [int(row[0]) for row in read_view(prepared, "own", "of_graded")] == [38]
    assert install(prepared, tmp_path, graded="SELECT query_id FROM own.queries", more="SELECT 1 AS one")
    assert list_views(prepared) == ["candidates", "graded", "judgments", "more", "queries"]
    assert read_view(prepared, "own", "graded")[0] == ("1_background",)
    assert install(prepared, tmp_path)
    assert list_views(prepared) == ["candidates", "judgments", "queries"]


REFUSED = {
    "no SQL": ({"graded": "SELEC grade"}, "own/views/graded.sql makes no view: "),
    "two statements": (
        {"graded": "SELECT 1 AS a; DROP TABLE papers"},
        "own/views/graded.sql makes no view: ",
    ),
    "of a later one": (
        {"graded": "SELECT papers FROM own.later", "later": GRADED},
        "own/views/graded.sql makes no view: ",
    ),
    "no position": (
        {"query_sentences": "SELECT query_id, paper_id FROM own.queries"},
        "own/views/query_sentences.sql lacks the columns position; it gives paper_id, query_id.",
    ),
    "a name of the three": ({"queries": "SELECT 1 AS a"}, "own/views/queries.sql cannot name a view: "),
    "no name": ({"My-View": "SELECT 1 AS a"}, "own/views/My-View.sql cannot name a view: "),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_an_own_view_that_is_not_as_expected_is_refused_and_the_old_ones_stay(
    prepared: Database, tmp_path: Path, case: str
) -> None:
    views, message = REFUSED[case]
    install(prepared, tmp_path, graded=GRADED)
    papers = count(prepared, "papers")
    with pytest.raises(BenchmarkError) as raised:
        install(prepared, tmp_path, **views)
    assert message in str(raised.value)
    assert list_views(prepared) == ["candidates", "graded", "judgments", "queries"]
    assert (count(prepared, "own.graded"), count(prepared, "papers")) == (4, papers)


def read_sentences(database: Database, folder: Path) -> list[tuple[Any, ...]]:
    benchmark = read_benchmark("own", [folder])
    with database.read() as session:
        rows = session.rows(select_query_sentences(benchmark))
    return sorted((row["query_id"], row["position"], row["text"]) for row in rows)


def test_a_query_asks_with_the_sentences_that_its_own_view_lists(prepared: Database, tmp_path: Path) -> None:
    # The last sentence of each paper; without the view, all of them.
    last = (
        "SELECT queries.query_id, queries.paper_id, MAX(sentences.position) AS position FROM own.queries "
        "AS queries INNER JOIN sentences ON queries.paper_id = sentences.paper_id "
        "GROUP BY queries.query_id, queries.paper_id"
    )
    install(prepared, tmp_path, query_sentences=last)
    of_2 = "The model wins."
    assert read_sentences(prepared, tmp_path) == [
        ("1_background", 2, "A model of the graph."),
        ("1_method", 2, "A model of the graph."),
        ("2_background", 2, of_2),
        ("2_method", 2, of_2),
        ("2_result", 2, of_2),
    ]
    install(prepared, tmp_path)
    assert len(read_sentences(prepared, tmp_path)) == 10


def test_a_sentence_of_another_paper_or_of_the_body_is_none_of_a_querys(
    prepared: Database, tmp_path: Path
) -> None:
    strange = (
        "SELECT query_id, paper_id + 1 AS paper_id, 1 AS position FROM own.queries UNION ALL "
        "SELECT query_id, paper_id, 99 AS position FROM own.queries"
    )
    install(prepared, tmp_path, query_sentences=strange)
    assert read_sentences(prepared, tmp_path) == []


def test_csfcube_asks_with_the_sentences_of_the_facet(untouched: Database) -> None:
    with untouched.read() as session:
        rows = session.rows(select_query_sentences(read_benchmark("csfcube")))
    assert sorted((row["query_id"], row["position"], row["text"]) for row in rows) == [
        ("1_background", 1, "Citation graph retrieval."),
        ("1_method", 2, "A model of the graph."),
        ("2_background", 1, "Query the paper."),
        ("2_result", 2, "The model wins."),
    ]
