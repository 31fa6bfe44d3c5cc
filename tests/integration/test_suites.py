"""A suite from its folder to its report: what runs, what is listed, what is ranked."""

import math
import re
import shutil
from collections.abc import Iterator
from itertools import count as count_up
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.errors import EvaluationError, RunError, UnknownNameError
from pinakes.evaluate.compare import compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.resample import open_resampling
from pinakes.evaluate.suite import evaluate_suite, name_entry, run_suite
from pinakes.evaluators.bootstrap import find_interval
from pinakes.report.present.suite import render_suite, render_suite_html
from pinakes.report.site import write
from pinakes.report.site.write import SiteRequest, write_site
from pinakes.report.suite.gather import gather_suite
from pinakes.run.run import RunRequest
from pinakes.run.stored_runs import delete_run
from pinakes.schema import scores
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change, count
from tests.calling import Call
from tests.html_pages import Page
from tests.postgres import PostgresServer
from tests.toy_encoder import build_toy_encoder
from tests.toy_suite import write_suite

pytestmark = pytest.mark.in_turn

MEMBERS = ["little_class", "little_beside", "little_rank", "little_year"]

_NUMBERS = count_up(1)


@pytest.fixture(scope="session")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two tiny encoders, called first and second."""
    folder = tmp_path_factory.mktemp("models")
    return [str(build_toy_encoder(folder / name, seed)) for name, seed in (("first", 7), ("second", 8))]


@pytest.fixture
def suite_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_suite(tmp_path / "benchmarks")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    return folder


def request(database: Database, **given: Any) -> RunRequest:
    from pinakes.workload.benchmark import find_index_folder

    return RunRequest("little", "", SystemOptions(find_index_folder(database), precision="fp32"), **given)


def _score(url: str, folder: Path, encoders: list[str]) -> None:
    """Run two encoders on the suite and score them."""
    with pytest.MonkeyPatch.context() as patch, connect(url) as database:
        patch.setenv("PINAKES_BENCHMARKS", str(write_suite(folder / "benchmarks")))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        run_suite(database, request(database), encoders)
        evaluate_suite(database, "little")


@pytest.fixture(scope="module")
def scored_duckdb(
    prepared_duckdb: Path, encoders: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A DuckDB file where the suite is scored."""
    folder = tmp_path_factory.mktemp("scored")
    shutil.copy(prepared_duckdb, folder / "scored.duckdb")
    _score(f"duckdb:///{folder / 'scored.duckdb'}", folder, encoders)
    return folder / "scored.duckdb"


@pytest.fixture(scope="module")
def scored_postgres(
    postgres_server: PostgresServer,
    prepared_postgres: str,
    encoders: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The name of a Postgres database where the suite is scored."""
    name = f"{prepared_postgres}_scored"
    with postgres_server.create(name, prepared_postgres) as url:
        _score(url, tmp_path_factory.mktemp("scored"), encoders)
        yield name


@pytest.fixture
def copy_of_duckdb(scored_duckdb: Path, suite_folder: Path, tmp_path: Path) -> Iterator[Database]:
    copied = shutil.copy(scored_duckdb, tmp_path / "scored.duckdb")
    with connect(f"duckdb:///{copied}") as opened:
        yield opened


@pytest.fixture
def copy_of_postgres(
    scored_postgres: str, suite_folder: Path, postgres_server: PostgresServer
) -> Iterator[Database]:
    name = f"{scored_postgres}_{next(_NUMBERS)}"
    with postgres_server.create(name, scored_postgres) as url, connect(url) as opened:
        yield opened


@pytest.fixture(params=["copy_of_duckdb", "copy_of_postgres"], ids=["duckdb", "postgresql"])
def scored(request: pytest.FixtureRequest) -> Database:
    """A database where two encoders were run on the suite and scored: DuckDB, then Postgres."""
    copied: Database = request.getfixturevalue(request.param)
    return copied


def read(database: Database, query: str) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(query)


def test_a_suite_runs_what_is_loaded_lists_the_rest_and_can_be_repeated(
    prepared: Database, suite_folder: Path, encoders: list[str]
) -> None:
    said: list[str] = []
    done = run_suite(prepared, request(prepared), encoders[:1], report=said.append)
    assert [(one.benchmark, one.system, one.existing) for one in done.made] == [
        (name, "first", False) for name in MEMBERS
    ]
    assert done.failed == []
    assert [(one.benchmark, one.command) for one in done.missing] == [
        ("little_absent", "`pinakes load FORMAT FOLDER --corpus absent-one`")
    ]
    assert [line.partition(":")[0].replace(encoders[0], "first") for line in said] == [
        line for name in MEMBERS for line in (f"index first for {name}", f"run first on {name}")
    ]
    again = run_suite(prepared, request(prepared), encoders[:1])
    assert [(one.run_id, one.existing) for one in again.made] == [(one.run_id, True) for one in done.made]
    assert count(prepared, "suite_runs") == 4


def test_what_fails_is_named_and_the_others_finish(
    prepared: Database, suite_folder: Path, encoders: list[str]
) -> None:
    done = run_suite(prepared, request(prepared), ["bm25", encoders[0]])
    assert [(one.benchmark, one.system) for one in done.made if one.system == "first"] == [
        (name, "first") for name in MEMBERS
    ]
    assert [(one.benchmark, one.system) for one in done.failed] == [
        ("little_class", "bm25"),
        ("little_year", "bm25"),
    ]
    assert all(one.reason.startswith("bm25 cannot give the vectors of papers") for one in done.failed)
    with pytest.raises(UnknownNameError, match="unknown system 'nothing'"):
        run_suite(prepared, request(prepared), [encoders[0], "nothing"])


def test_a_system_is_entered_as_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    options = SystemOptions(tmp_path, distance="l2", parameters={"k1": "2"}, format="PRX")
    named = [
        name_entry(RunRequest("little", "formats:CLF=a,PRX=b")),
        name_entry(RunRequest("little", str(tmp_path / "mine"))),
        name_entry(RunRequest("little", "bm25", options)),
    ]
    assert named == ["formats:CLF=a,PRX=b", "mine", "bm25 --option k1=2 --distance l2 --format PRX"]


def test_nothing_loaded_and_nothing_run_are_said(
    database: Database, suite_folder: Path, encoders: list[str]
) -> None:
    with pytest.raises(
        RunError, match=r"no benchmark of little is loaded\. little_absent is not loaded: `pinak"
    ):
        run_suite(database, request(database), encoders)
    with pytest.raises(EvaluationError, match="little has no run yet; make some with `pinakes run little"):
        evaluate_suite(database, "little")
    with pytest.raises(EvaluationError, match="little has no scores yet"):
        gather_suite(database, "little")


def test_the_views_have_every_figure_its_interval_and_the_averages(scored: Database) -> None:
    figures = read(scored, "SELECT * FROM suite_scores WHERE system = 'first' ORDER BY benchmark, figure")
    assert [(row["benchmark"], row["figure"], row["suite_group"], row["in_average"]) for row in figures] == [
        ("little_beside", 1, "Unseen", False),
        ("little_class", 1, "Seen", True),
        ("little_rank", 1, "Unseen", True),
        ("little_rank", 2, "Unseen", True),
        ("little_year", 1, "Unseen", True),
    ]
    for row in figures:
        assert row["low"] < row["value"] < row["high"]
        assert row["queries_expected"] == row["queries_answered"] > 0
    values = {(row["benchmark"], row["figure"]): row["value"] for row in figures}
    parts = read(
        scored,
        "SELECT scores.subset, scores.value FROM scores INNER JOIN runs ON scores.run_id = runs.run_id "
        "WHERE benchmark = 'little_class' AND system = 'first' AND measure = 'F1_macro' AND query_id IS NULL",
    )
    of_subset = {row["subset"]: row["value"] for row in parts}
    assert values["little_class", 1] == pytest.approx((of_subset["all"] + of_subset["30-shot"]) / 2)
    unseen = [value for (name, _), value in values.items() if name in ("little_rank", "little_year")]
    board = read(scored, "SELECT * FROM leaderboard WHERE system = 'first' ORDER BY format, suite_group")
    shown = [
        (row["format"], row["suite_group"], row["figures_scored"], row["figures_expected"]) for row in board
    ]
    # little_absent is expected all the same: no average is complete by silence
    assert shown == [
        ("CLF", "Average", 1, 2),
        ("CLF", "Seen", 1, 2),
        ("PRX", "Average", 2, 2),
        ("PRX", "Unseen", 2, 2),
        ("RGN", "Average", 1, 1),
        ("RGN", "Unseen", 1, 1),
        ("all", "Average", 4, 5),
        ("all", "Seen", 1, 2),
        ("all", "Unseen", 3, 3),
    ]
    averages = {row["suite_group"]: row["value"] for row in board if row["format"] == "all"}
    expected = {
        "Seen": values["little_class", 1],
        "Unseen": sum(unseen) / 3,
        "Average": (values["little_class", 1] + sum(unseen)) / 4,
    }
    assert averages == pytest.approx(expected)
    assert {row["coverage"] for row in board} == {1.0}


def test_both_databases_have_the_same_rows(copy_of_duckdb: Database, copy_of_postgres: Database) -> None:
    found = []
    for database in (copy_of_duckdb, copy_of_postgres):
        run_suite(database, request(database), ["bm25"])
        evaluate_suite(database, "little")
        rows = [
            tuple(f"{value:.12f}" if isinstance(value, float) else value for value in row.values())
            for view in ("suite_scores", "leaderboard", "score_intervals", "suite_intervals")
            for row in read(database, f"SELECT * FROM {view}")
        ]
        found.append((sorted(rows, key=repr), render_suite(gather_suite(database, "little"))))
    assert found[0] == found[1]


def test_intervals_are_percentiles_of_the_same_resamples(scored: Database) -> None:
    benchmark = open_benchmark(scored, "little_rank")
    (row,) = read(scored, "SELECT run_id FROM runs WHERE benchmark = 'little_rank' AND system = 'first'")
    of_run = f"WHERE run_id = {row['run_id']}"
    resampled = open_resampling(scored, benchmark, ["AP", "nDCG"])(row["run_id"])
    rows = read(scored, f"SELECT * FROM score_intervals {of_run}")
    assert {(row["subset"], row["measure"]) for row in rows} == {("all", "AP"), ("all", "nDCG")}
    for row in rows:
        values = resampled[row["subset"], row["measure"]]
        assert (row["low"], row["high"]) == find_interval(values)
        assert (len(values), row["resamples"], row["seed"]) == (1000, 1000, 0)
    queries = read(scored, f"SELECT value FROM scores {of_run} AND measure = 'AP' AND query_id IS NOT NULL")
    values = np.array([row["value"] for row in queries])
    assert resampled["all", "AP"].mean() == pytest.approx(values.mean(), rel=0.05)
    assert resampled["all", "AP"].std() == pytest.approx(values.std() / math.sqrt(len(values)), rel=0.1)


def test_scoring_again_replaces_intervals_and_a_deleted_run_takes_them_along(scored: Database) -> None:
    before = read(scored, "SELECT * FROM score_intervals ORDER BY run_id, measure, subset")
    figures = read(scored, "SELECT * FROM suite_intervals ORDER BY run_id, figure")
    change(scored, "UPDATE score_intervals SET low = -5")
    change(scored, "UPDATE suite_intervals SET low = -5")
    evaluate_suite(scored, "little")
    assert read(scored, "SELECT * FROM score_intervals ORDER BY run_id, measure, subset") == before
    assert read(scored, "SELECT * FROM suite_intervals ORDER BY run_id, figure") == figures
    # a measure that is scored alone leaves the figures of the others as they are
    evaluate(scored, "little_rank", measures=["AP"])
    assert read(scored, "SELECT * FROM suite_intervals ORDER BY run_id, figure") == figures
    run_ids = [row["run_id"] for row in read(scored, "SELECT run_id FROM runs")]
    with scored.begin() as session:
        for run_id in run_ids:
            delete_run(session, run_id)
    for table in ("score_intervals", "suite_intervals", "suite_runs"):
        assert count(scored, table) == 0


def test_the_report_ranks_those_with_the_same_figures_and_sets_the_others_apart(
    scored: Database,
) -> None:
    run_suite(scored, request(scored), ["bm25"])
    evaluate_suite(scored, "little")
    report = gather_suite(scored, "little")
    board, proximity = report.boards
    assert (board.mode, board.format, len(board.figures), len(board.expected)) == ("corrected", None, 4, 5)
    assert {standing.system for standing in board.ranked} == {"first", "second"}
    assert board.apart == {"bm25": 2}
    averages = [standing.averages["Average"] for standing in board.ranked]
    assert averages == sorted(averages, reverse=True)
    rows = read(scored, "SELECT * FROM leaderboard WHERE format = 'all' AND figures_scored = 4")
    stored = {(row["system"], row["suite_group"]): row["value"] for row in rows}
    for standing in board.ranked:
        assert standing.averages["Average"] == pytest.approx(stored[standing.system, "Average"])
    # of proximity all systems have all figures, and bm25 reads words that random vectors cannot
    assert [standing.letters for standing in proximity.ranked] == ["a", "b", "b"]
    assert proximity.ranked[0].system == "bm25"
    text = render_suite(report)
    assert "| *Toy (A paper, Table 2)* | *–* | *40.1* | *–* |  |  |  |" in text
    assert "| bm25 | 2 of 4 |" in text
    assert "⚠ **The averages of the mode corrected go over 4 of 5 figures" in text
    assert "Leaderboard (corrected, proximity alone): averages over 2 figures" in text
    page = render_suite_html(report)
    assert page.count("<b>") > 3
    assert "<u>" in page
    assert "http" not in page.partition("</style>")[2]


def test_modes_have_tables_of_their_own(scored: Database, encoders: list[str]) -> None:
    run_suite(scored, request(scored, mode="published"), encoders)
    evaluate_suite(scored, "little")
    report = gather_suite(scored, "little")
    assert [(board.mode, board.format) for board in report.boards] == [
        ("corrected", None),
        ("corrected", "PRX"),
        ("published", None),
        ("published", "PRX"),
    ]
    assert all(len(board.ranked) == 2 for board in report.boards)
    pairs = compare_subsets(scored, "little_class").resampled
    modes = {row["run_id"]: row["mode"] for row in read(scored, "SELECT run_id, mode FROM runs")}
    assert [(modes[pair.run_a], modes[pair.run_b]) for pair in pairs] == [
        ("corrected", "corrected"),
        ("published", "published"),
    ]


def test_an_encoder_for_each_format_is_one_row(scored: Database) -> None:
    # what a system of several encoders leaves: a run of its own name for each format, entered under one
    counted = "SELECT system, COUNT(value) AS figures FROM suite_scores GROUP BY system ORDER BY system"
    rows = read(scored, "SELECT run_id, benchmark, system FROM runs")
    change(scored, "DELETE FROM suite_runs")
    for row in rows:
        wanted = "first" if row["benchmark"] == "little_class" else "second"
        if row["system"] == wanted:
            values = f"('little', 'both', 'corrected', '{row['benchmark']}', {row['run_id']})"
            change(scored, f"INSERT INTO suite_runs VALUES {values}")
    found = read(scored, counted)
    # first and second have runs of their own besides
    assert [tuple(row.values()) for row in found] == [("both", 5), ("first", 5), ("second", 5)]
    change(scored, "DELETE FROM runs WHERE system = 'first' AND benchmark <> 'little_class'")
    change(scored, "DELETE FROM runs WHERE system = 'second' AND benchmark = 'little_class'")
    found = read(scored, counted)
    assert [tuple(row.values()) for row in found] == [("both", 5)]


def test_runs_made_one_by_one_are_in_the_suite_too(scored: Database) -> None:
    change(scored, "DELETE FROM suite_runs")
    systems = {row["system"] for row in read(scored, "SELECT system FROM suite_scores")}
    assert systems == {"first", "second"}
    assert len(gather_suite(scored, "little").boards[0].ranked) == 2


def test_probes_are_compared_by_the_paired_bootstrap(scored: Database) -> None:
    (pair,) = compare_subsets(scored, "little_year").resampled
    values = {
        row["system"]: row["value"]
        for row in read(
            scored,
            "SELECT system, value FROM scores INNER JOIN runs ON scores.run_id = runs.run_id "
            "WHERE benchmark = 'little_year' AND subset = 'all'",
        )
    }
    assert pair.difference.difference == pytest.approx(values["second"] - values["first"])
    low, high = pair.difference.interval
    assert low < pair.difference.difference < high
    assert pair.difference.p == pair.difference.holm_p > 0


def test_the_commands(call: Call, suite_folder: Path, encoders: list[str], tmp_path: Path) -> None:
    ran = call("run", "little", "-s", encoders[0], "--precision", "fp32", "--json")
    assert ran.code == 0
    assert [row["benchmark"] for row in ran.data] == MEMBERS
    assert "little_absent is not loaded: `pinakes load FORMAT FOLDER --corpus absent-one`." in ran.err
    failed = call("run", "little", "-s", "bm25", "--json", "--quiet")
    assert failed.code == 1
    assert [row["benchmark"] for row in failed.data] == ["little_beside", "little_rank"]
    assert "2 benchmarks could not be done, the others are. little_class by bm25" in failed.err
    scored = call("evaluate", "little", "--json")
    assert scored.code == 0
    assert len(scored.data) == 5 + 3
    assert call("evaluate", "little", "--per-query").code == 1
    report = call("report", "little")
    assert report.code == 0, report.err
    assert "Leaderboard (corrected): averages over 4 of 5 figures" in report.out
    assert (tmp_path / "little-report" / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert call("report", "little", "--mode", "published").code == 1
    one = call("report", "little_class")
    assert one.code == 0
    assert "F1_macro" in one.out


def test_a_site_has_a_page_of_the_suite_and_of_its_benchmarks(
    copy_of_duckdb: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    done = write_site(copy_of_duckdb, folder, SiteRequest(["little"]))
    assert (done.benchmarks, done.failed) == (len(MEMBERS), [])
    text = (folder / "suites" / "little" / "index.html").read_text()
    page = Page(text)
    assert page.open == []
    assert 'class="published follows"' in text
    led = {one for one in page.values("href") if one.startswith("../../benchmarks/")}
    assert led == {f"../../benchmarks/{name}/index.html" for name in MEMBERS}
    for address in led:
        assert (folder / "suites" / "little" / address).is_file()
    benchmarks = text[text.index('id="benchmarks"') : text.index('id="notes"')]
    assert '<th scope="row">little_absent</th>' in benchmarks
    assert '<a href="../../benchmarks/little_year/index.html">little_year</a>' in benchmarks
    for label in ("first", "second"):
        assert re.search(rf'<span class="look c\d m\d">{label}</span>', benchmarks + text)
    assert 'href="suites/little/index.html"' in (folder / "index.html").read_text()


@pytest.mark.long
def test_a_sites_page_of_a_suite_is_written_again_where_it_changed_and_goes_with_the_suite(
    copy_of_duckdb: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    write_site(copy_of_duckdb, folder, SiteRequest(["little"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "gather_suite", lambda *_: pytest.fail("gathered again"))
        assert write_site(copy_of_duckdb, folder, SiteRequest(["little"])).files.written == 0
    with copy_of_duckdb.begin() as session:
        session.execute(sa.update(scores).where(scores.c.measure == "KendallTau").values(value=0.123))
    write_site(copy_of_duckdb, folder, SiteRequest(["little"]))
    assert "12.30" in (folder / "suites" / "little" / "index.html").read_text()
    write_site(copy_of_duckdb, folder, SiteRequest(["little_year"]))
    assert not (folder / "suites").exists()


def test_a_site_of_an_unknown_benchmark_is_refused(copy_of_duckdb: Database, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="benchmarks that have: little_beside, little_class"):
        write_site(copy_of_duckdb, tmp_path / "site", SiteRequest(["another"]))
