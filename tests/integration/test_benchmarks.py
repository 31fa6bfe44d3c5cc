"""Benchmarks in the database: their views, the same on both, and what installing refuses."""

import hashlib
import os
from importlib.resources import files
from pathlib import Path

import orjson
import pytest

from pinakes.database import Database, connect
from pinakes.errors import BenchmarkError, SchemaVersionError, UnknownNameError
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.install import initialise, install_benchmark
from pinakes.settings import Settings
from pinakes.tasks.ranking.task import VIEWS
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import read_workload
from tests.benching import POOLS, change, count, read_named_rows, read_view, write_benchmark

Pair = tuple[Database, Database]

SCHEMA_VIEWS = [path.name for path in files("pinakes.schema").joinpath("views").iterdir()]
SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


@pytest.mark.parametrize("benchmark", ["synthetic", "csfcube", "csfcube_sentences", "scifact"])
def test_a_benchmarks_views_give_equal_rows_on_both_databases(both_prepared: Pair, benchmark: str) -> None:
    duck, post = both_prepared
    for view in VIEWS:
        assert read_view(duck, benchmark, view) == read_view(post, benchmark, view)
        assert read_named_rows(duck, benchmark, view) == read_named_rows(post, benchmark, view) != []


def test_csfcube_pools_are_the_judged_papers_without_the_query_itself(untouched: Database) -> None:
    expected = {
        (f"{query}_{facet}", candidate, grade)
        for facet, pools in POOLS.items()
        for query, pool in pools.items()
        for candidate, grade in pool.items()
        if candidate != query
    }
    judged = read_named_rows(untouched, "csfcube", "judgments")
    pooled = read_named_rows(untouched, "csfcube", "candidates")
    assert {(row[0], row[2], row[1]) for row in judged} == expected
    assert len(judged) == len(pooled) == len(expected) == 18
    assert {(row[0], row[2]) for row in pooled} == {(query, candidate) for query, candidate, _ in expected}
    assert {row[1] for row in pooled} == {"cited,specter", "abs_tfidf", None}


def test_synthetic_rows_are_those_of_the_snapshot(untouched: Database) -> None:
    shown = {}
    for view in VIEWS:
        rows = read_named_rows(untouched, "synthetic", view)
        shown[view] = {
            "rows": len(rows),
            "sha256": hashlib.sha256(orjson.dumps(rows)).hexdigest(),
            "head": [list(row) for row in rows[:3]],
        }
    file = SNAPSHOTS / "synthetic_views.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_bytes(orjson.dumps(shown, option=orjson.OPT_INDENT_2) + b"\n")
    assert shown == orjson.loads(file.read_bytes())


def test_a_workload_has_the_same_digest_whatever_ids_papers_have(both_prepared: Pair) -> None:
    duck, post = both_prepared
    change(post, "UPDATE judgments SET paper_id = paper_id + 5000")
    change(post, "UPDATE pool_sources SET paper_id = paper_id + 5000")
    change(post, "UPDATE sentences SET paper_id = paper_id + 5000")
    change(post, "UPDATE benchmark_queries SET paper_id = paper_id + 5000")
    change(post, "UPDATE papers SET paper_id = paper_id + 5000")
    benchmark = read_benchmark("csfcube")
    ours, theirs = read_workload(duck, benchmark), read_workload(post, benchmark)
    assert ours.digest == theirs.digest
    assert ours.query_texts == theirs.query_texts
    assert ours.source_ids.tolist() == theirs.source_ids.tolist()
    assert (ours.paper_ids + 5000).tolist() == theirs.paper_ids.tolist()


KNOWN_DIGESTS = {
    "csfcube": "6bde0f5819876d2c33c2fb5f3c8ac699051d25c51e987fb12757f1a5f019b3b1",
    "scifact": "b2a39949ec754e6202ad518ea237c76cf3948049c176e3d9a25c367369771874",
}


@pytest.mark.parametrize("benchmark", list(KNOWN_DIGESTS))
def test_a_workload_keeps_the_digest_that_stored_runs_have(untouched: Database, benchmark: str) -> None:
    assert read_workload(untouched, read_benchmark(benchmark)).digest == KNOWN_DIGESTS[benchmark]


def test_templates_trim_spaces_alone_on_both_databases(both_prepared: Pair) -> None:
    texts = []
    for database in both_prepared:
        change(
            database,
            "UPDATE papers SET title = ' \u00a0 edge\u2003 ', abstract = NULL WHERE source_id = 'p1'",
        )
        read = read_workload(database, read_benchmark("scifact"))
        texts.append(read.digest)
    assert texts[0] == texts[1]


def test_installing_again_changes_nothing_and_a_changed_definition_is_renewed(
    prepared: Database, tmp_path: Path
) -> None:
    settings = Settings(benchmark_folders=(write_benchmark(tmp_path),))
    assert initialise(prepared, settings) == ["own"]
    assert initialise(prepared, settings) == []
    before = count(prepared, "own.candidates")
    smaller = "SELECT papers.paper_id FROM papers WHERE source_id LIKE '%1' AND source_id <> ' :x'"
    write_benchmark(tmp_path, candidates=smaller)
    assert initialise(prepared, settings) == ["own"]
    assert 0 < count(prepared, "own.candidates") < before
    assert count(prepared, "benchmarks WHERE name = 'own'") == 1


def test_a_column_that_a_view_no_longer_has_is_gone_after_a_renewal(
    prepared: Database, tmp_path: Path
) -> None:
    folders = [
        write_benchmark(
            tmp_path, queries="SELECT query_id, paper_id, text, 1 AS extra FROM benchmark_queries"
        )
    ]
    assert install_benchmark(prepared, read_benchmark("own", folders))
    assert len(read_view(prepared, "own", "queries")[0]) == 4
    write_benchmark(tmp_path)
    assert install_benchmark(prepared, read_benchmark("own", folders))
    assert len(read_view(prepared, "own", "queries")[0]) == 3


def test_published_figures_are_stored_as_printed_and_on_our_scale(untouched: Database) -> None:
    with untouched.read() as session:
        rows = session.rows(
            "SELECT value, printed, source FROM published_scores WHERE benchmark = 'csfcube' "
            "AND system = 'SPECTER' AND subset = 'all/test' AND measure = 'CSFCube.nDCG%20'"
        )
    assert rows == [{"value": 0.5328, "printed": "53.28", "source": "Mysore et al. 2021, Table 4"}]
    assert count(untouched, "published_scores WHERE benchmark = 'csfcube'") == 10 * 5 * 4


REFUSED = {
    "no SQL": ("SELEC query_id", "own/queries.sql makes no view: "),
    "two statements": ("SELECT 1 AS a; DROP TABLE papers", "own/queries.sql makes no view: "),
    "no such table": ("SELECT query_id FROM nowhere", "nowhere"),
    "no query_id": (
        "SELECT paper_id, text FROM benchmark_queries",
        "own/queries.sql lacks the columns query_id; it gives paper_id, text.",
    ),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_a_view_that_is_not_as_expected_is_refused_and_nothing_of_it_stays(
    untouched: Database, tmp_path: Path, case: str
) -> None:
    statement, message = REFUSED[case]
    folders = [write_benchmark(tmp_path, queries=statement)]
    papers = count(untouched, "papers")
    with pytest.raises(BenchmarkError) as raised:
        install_benchmark(untouched, read_benchmark("own", folders))
    assert message in str(raised.value)
    assert count(untouched, "papers") == papers
    assert count(untouched, "information_schema.schemata WHERE schema_name = 'own'") == 0
    assert count(untouched, "benchmarks WHERE name = 'own'") == 0


def test_a_view_over_its_own_name_is_refused_with_the_view_to_read_instead(
    prepared_duckdb_url: str, tmp_path: Path
) -> None:
    judgments = "SELECT query_id, paper_id, grade FROM judgments"
    folders = [write_benchmark(tmp_path, judgments=judgments)]
    with (
        connect(prepared_duckdb_url) as duck,
        pytest.raises(
            BenchmarkError, match=r"own/judgments\.sql makes no view: .* from the view judged_papers"
        ),
    ):
        install_benchmark(duck, read_benchmark("own", folders))


def test_a_benchmark_is_found_through_the_environment(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"unknown benchmark 'own'; known: cranfield, csfcube, csfcube_sentences, field_level, ",
    ):
        open_benchmark(prepared, "own")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path)))
    assert open_benchmark(prepared, "own").corpus == "synthetic"
    assert "own" in list_benchmarks([tmp_path])


def test_a_duckdb_file_with_the_name_of_a_benchmark_is_refused(tmp_path: Path) -> None:
    with (
        connect(f"duckdb:///{tmp_path / 'scifact.duckdb'}") as duck,
        pytest.raises(BenchmarkError, match=r"the DuckDB file is called scifact, as a benchmark is.*Rename"),
    ):
        initialise(duck)


def test_a_database_without_tables_is_refused(database_url: str) -> None:
    with connect(database_url) as empty, pytest.raises(SchemaVersionError, match="`pinakes init`"):
        open_benchmark(empty, "synthetic")


def test_a_corpus_that_is_not_loaded_is_named(untouched: Database) -> None:
    with pytest.raises(BenchmarkError, match=r"cranfield has no queries .*load its corpus cranfield first"):
        read_workload(untouched, open_benchmark(untouched, "cranfield"))


ALL_PAIRS = (
    "SELECT benchmark_queries.query_id, papers.paper_id FROM benchmark_queries "
    "INNER JOIN papers ON benchmark_queries.corpus_id = papers.corpus_id "
    "INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id WHERE corpora.name = 'csfcube'"
)
WRONG = {
    "query twice": (
        "shared",
        {"queries": "SELECT query_id, paper_id, text FROM benchmark_queries UNION ALL "
                    "SELECT query_id, paper_id, text FROM benchmark_queries"},
        "the view own.queries gives a query_id twice",
    ),
    "null query": (
        "shared",
        {"queries": "SELECT CAST(NULL AS TEXT) AS query_id, paper_id, text FROM benchmark_queries"},
        "the view own.queries gives a query_id that is null",
    ),
    "candidate twice in the shared pool": (
        "shared",
        {"candidates": "SELECT paper_id FROM papers UNION ALL SELECT paper_id FROM papers"},
        "the view own.candidates gives a paper twice",
    ),
    "candidate twice in a pool": (
        "per_query",
        {"candidates": f"{ALL_PAIRS} UNION ALL {ALL_PAIRS}"},
        "the view own.candidates gives query 1_background a paper twice",
    ),
    "query without a pool": (
        "per_query",
        {"candidates": f"{ALL_PAIRS} AND benchmark_queries.query_id <> '2_method'"},
        "1 queries of own have no candidate, as 2_method",
    ),
    "pool without a query": (
        "per_query",
        {"candidates": ALL_PAIRS, "queries": "SELECT query_id, paper_id, text FROM benchmark_queries "
                                             "WHERE query_id LIKE '1%'"},
        "own.candidates has a pool for 2_background, which own.queries lacks",
    ),
}  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize("case", list(WRONG))
def test_a_view_that_gives_what_it_must_not_is_refused(prepared: Database, tmp_path: Path, case: str) -> None:
    pool, files, message = WRONG[case]
    write_benchmark(tmp_path, corpus="csfcube", pool=pool, **files)
    benchmark = open_benchmark(prepared, "own", Settings(benchmark_folders=(tmp_path,)))
    with pytest.raises(BenchmarkError, match=message):
        read_workload(prepared, benchmark)


def test_every_view_says_what_it_is(both_databases: tuple[Database, Database]) -> None:
    duck, post = both_databases
    for database in both_databases:
        install_benchmark(database, read_benchmark("csfcube"))
    with duck.read() as session:
        in_duckdb = session.rows(
            "SELECT schema_name AS schema, view_name AS view, comment FROM duckdb_views() "
            "WHERE NOT internal ORDER BY schema_name, view_name"
        )
    with post.read() as session:
        in_postgres = session.rows(
            "SELECT CASE schemaname WHEN 'public' THEN 'main' ELSE CAST(schemaname AS TEXT) END AS schema, "
            "CAST(viewname AS TEXT) AS view, "
            "obj_description(CAST(schemaname || '.' || viewname AS REGCLASS), 'pg_class') AS comment "
            "FROM pg_views WHERE schemaname IN ('public', 'csfcube') ORDER BY schemaname, viewname"
        )
    key = ("schema", "view", "comment")
    found = sorted(tuple(row[name] for name in key) for row in in_duckdb)
    assert found == sorted(tuple(row[name] for name in key) for row in in_postgres)
    assert len(found) == len(SCHEMA_VIEWS) + len(VIEWS) + len(read_benchmark("csfcube").own_views)
    assert all(comment for _, _, comment in found)
    assert found[0][2].startswith("CSFCube: faceted query by example")
