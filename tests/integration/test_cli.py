"""The command line: exit codes, data on stdout and chatter on stderr, JSON, the environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.database import connect
from tests.benching import BENCHMARK_TOML, write_benchmark, write_csfcube
from tests.calling import Call, make_call
from tests.loading import paper, write_beir

pytestmark = pytest.mark.in_turn

COMMAND = [sys.executable, "-c", "from pinakes.cli import main; main()"]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_call(capsys)


@pytest.fixture
def here(prepared_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The database with the corpora, as the environment names it."""
    monkeypatch.setenv("PINAKES_DATABASE_URL", prepared_url)
    monkeypatch.chdir(tmp_path)
    return prepared_url


def start(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def test_the_whole_way_from_files_to_scores(database_url: str, tmp_path: Path, call: Call) -> None:
    db = ("--db", database_url)
    assert call("init", *db).code == 0
    source = write_csfcube(tmp_path / "csfcube")
    loaded = call("load", "csfcube", source, *db, "--json")
    assert loaded.code == 0
    assert (loaded.data["corpus"], loaded.data["papers"]) == ("csfcube", 9)
    assert [file["rows_rejected"] for file in loaded.data["files"]] == [0] * 6
    indexed = call("index", "csfcube", "-s", "bm25", "-s", "tfidf", *db, "--json", "--quiet")
    assert [(row["system"], row["added"]) for row in indexed.data] == [("bm25", 9), ("tfidf", 9)]
    ranked = call("run", "csfcube", "-s", "bm25", "-s", "tfidf", *db, "--json", "-q")
    assert [(row["run_id"], row["existing"], row["hit_count"]) for row in ranked.data] == [
        (1, False, 16),
        (2, False, 16),
    ]
    scored = call("evaluate", "csfcube", *db, "--json", "-m", "RR(rel=2)")
    assert scored.code == 0
    whole = next(row for row in scored.data if row["run_id"] == 1 and row["subset"] == "all")
    assert (whole["queries_expected"], whole["queries_missing"]) == (5, 1)
    compared = call("compare", "csfcube", "-m", "RR(rel=2)", *db, "--json")
    assert [row["queries"] for row in compared.data] == [5]
    status = call("status", "--check", *db, "--json")
    assert status.code == 0
    assert [row["system"] for row in status.data["runs"]] == ["bm25", "tfidf"]
    out = tmp_path / "run.txt"
    exported = call("export", "run", 1, out, *db)
    assert (exported.code, exported.out, exported.err) == (0, "", f"{out}: 16 hits\n")
    imported = call("import-run", "csfcube", out, "--system", "back", *db, "--json")
    assert imported.data[0]["hit_count"] == 16
    assert call("export", "qrels", "csfcube", tmp_path / "q", "-q", *db) == (0, "", "")


def test_data_is_on_stdout_and_chatter_on_stderr(here: str, call: Call) -> None:
    indexed = call("index", "scifact", "-s", "bm25")
    assert "bm25" in indexed.out
    assert "index scifact for bm25" in indexed.err
    assert "index scifact" not in indexed.out
    call("run", "scifact", "-s", "bm25", "-q")
    evaluated = call("evaluate", "scifact")
    assert "nDCG@10" in evaluated.out
    quiet = call("evaluate", "scifact", "--quiet", "--json")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.data


def test_missing_queries_are_told_on_stderr(here: str, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "run.txt"
    path.write_text("1_background Q0 3 1 1 t\n")
    assert call("import-run", "csfcube", path, "--system", "half").code == 0
    told = call("evaluate", "csfcube", "-m", "AP(rel=2)", "--json")
    assert "run 1 (half) answers 1 of 5 queries; each missing one counts as zero" in told.err
    assert len(told.data) > 0


def test_what_could_not_be_done_exits_1_with_one_line(here: str, tmp_path: Path, call: Call) -> None:
    nothing = tmp_path / "none"
    for arguments, message in (
        (("run", "scifact", "-s", "bm25"), "`pinakes index scifact --system bm25`"),
        (("run", "scifact", "-s", "bm26"), "Did you mean bm25"),
        (("run", "nowhere", "-s", "bm25"), "unknown benchmark 'nowhere'; known: cranfield, csfcube"),
        (("run", "cranfield", "-s", "bm25"), "load its corpus cranfield first"),
        (("evaluate", "scifact"), "scifact has no run yet"),
        (("compare", "scifact"), "scifact has no run yet"),
        (("load", "beer", nothing), "unknown loader 'beer'"),
        (("load", "beir", nothing), "none"),
        (("load", "trec", nothing, "--option", "split"), "--option 'split': expected name=value"),
        (("import-run", "scifact", nothing, "--system", "x"), "there is no file"),
        (("export", "run", 9, nothing), "there is no run 9"),
        (("export", "paper", nothing.with_suffix(".csv")), "unknown table or view 'paper'"),
        (("export", "papers"), "expected pinakes export NAME FILE, found 1 words"),
        (("export", "papers", nothing), "none shows no format by its name"),
        (("export", "--sql", "DROP TABLE papers", nothing.with_suffix(".csv")), "refuses the query"),
        (("export", "beir", nothing), "expected either a benchmark or a corpus"),
        (("sql", "SELECT nothing FROM papers"), "refuses the query"),
        (("status", "--db", "sqlite:///x"), "not in 'sqlite'"),
        (("status", "--db", f"duckdb:///{nothing}"), "there is no database file"),
    ):
        outcome = call(*arguments)
        assert (outcome.code, outcome.out) == (1, ""), arguments
        assert message in outcome.err, arguments
        assert outcome.err.startswith("pinakes: ")
        assert "Traceback" not in outcome.err


def test_a_wrong_command_line_exits_2(call: Call) -> None:
    for arguments in (
        ("run",),
        ("run", "scifact"),
        ("run", "scifact", "-s", "bm25", "--depth", "0"),
        ("run", "scifact", "-s", "bm25", "--depth", "many"),
        ("no-such-command",),
        ("status", "--no-such-option"),
        ("sql", "SELECT 1", "--format", "xml"),
        ("load", "beir", "--max-rejects", "2"),
    ):
        outcome = call(*arguments)
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert outcome.err


def test_a_defect_of_ours_exits_70_with_its_traceback(
    here: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise ZeroDivisionError("seven")

    monkeypatch.setattr("pinakes.report.status.read_status", fail)
    outcome = call("status")
    assert (outcome.code, outcome.out) == (70, "")
    assert "ZeroDivisionError: seven" in outcome.err
    assert "this is a defect of Pinakes" in outcome.err


def test_an_interruption_exits_130(here: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pinakes.report.status.read_status", interrupt)
    outcome = call("status")
    assert outcome.code == 130
    assert outcome.err == "pinakes: interrupted.\n"  # status goes on with nothing


def test_help_and_version_exit_0(call: Call) -> None:
    assert call("--version").out.startswith("pinakes ")
    commands = "init load index run import-run export evaluate compare report sql status demo"
    for command in commands.split():
        outcome = call(command, "--help")
        assert (outcome.code, outcome.err) == (0, ""), command
        assert "Usage" in outcome.out


def test_options_come_from_the_environment(here: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_INDEX_SYSTEM", "tfidf")
    monkeypatch.setenv("PINAKES_RUN_SYSTEM", "tfidf")
    monkeypatch.setenv("PINAKES_RUN_DEPTH", "2")
    monkeypatch.setenv("PINAKES_JSON", "1")
    monkeypatch.setenv("PINAKES_QUIET", "1")
    assert [row["system"] for row in call("index", "scifact").data] == ["tfidf"]
    ranked = call("run", "scifact")
    assert ranked.err == ""
    assert [(row["system"], row["hit_count"]) for row in ranked.data] == [("tfidf", 2)]
    other = call("run", "scifact", "--depth", "1")
    assert [row["hit_count"] for row in other.data] == [1]


def test_own_benchmarks_come_from_the_environment(
    here: str, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path / "mine")))
    assert "views made or renewed: own" in call("init").err
    write_benchmark(tmp_path / "mine", toml=BENCHMARK_TOML.replace("title", "titel"))
    outcome = call("init")
    assert (outcome.code, outcome.err) == (1, "pinakes: own/benchmark.toml lacks title.\n")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "nowhere"))
    failed = call("init")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.count(f"{tmp_path / 'nowhere'} is not there") == 1


def test_a_load_with_too_many_rejects_exits_1_and_keeps_what_is_sound(
    here: str, tmp_path: Path, call: Call
) -> None:
    source = write_beir(tmp_path / "few", [paper(1), b"{broken", paper(2)], "q1\tp1\t1\n")
    few = ("--corpus", "few")
    outcome = call("load", "beir", source, *few, "--json", "-q")
    assert outcome.code == 1
    assert "20.00% of the files' records were rejected, more than --max-rejects 0.01 allows" in outcome.err
    assert outcome.data["papers"] == 2
    again = call("load", "beir", source, *few, "--json", "-q")
    assert (again.code, again.data["papers"]) == (1, 2)
    assert "20.00% of the files' records were rejected" in again.err
    raised = call("load", "beir", source, *few, "--max-rejects", "0.2", "-q")
    assert raised.code == 0
    tolerant = call("load", "beir", source, "--corpus", "other", "--max-rejects", "0.5")
    assert tolerant.code == 0


def test_sql_prints_tables_csv_and_json(here: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT source_id, title, 2 AS two FROM papers WHERE source_id IN ('p1', 'p2') ORDER BY source_id"
    assert call("sql", query, "--format", "csv") == (0, "source_id,title,two\np1,Graphs,2\np2,,2\n", "")
    assert call("sql", query, "--format", "json").data == [
        {"source_id": "p1", "title": "Graphs", "two": 2},
        {"source_id": "p2", "title": None, "two": 2},
    ]
    drawn = call("sql", query).out.splitlines()
    assert drawn[0].split() == ["source_id", "title", "two"]
    assert drawn[-1].split() == ["p2", "NULL", "2"]
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO(query))
    assert call("sql", "-", "--format", "csv").out.startswith("source_id,title,two\np1")


def test_sql_changes_nothing(here: str, call: Call) -> None:
    for query in ("DROP TABLE papers", "SELECT 1; DROP TABLE papers", "COMMIT; CREATE TABLE mine (one INT)"):
        outcome = call("sql", query)
        assert (outcome.code, outcome.out) == (1, "")
        assert "refuses the query" in outcome.err
    assert call("sql", "SELECT COUNT(*) AS n FROM papers", "--format", "csv").out == "n\n313\n"


def test_status_tells_of_rows_without_a_home(here: str, call: Call) -> None:
    assert call("status", "--check").code == 0
    with connect() as database, database.begin() as session:
        session.execute("DELETE FROM papers WHERE source_id = 'p1'")
    assert call("status").code == 0
    outcome = call("status", "--check")
    assert outcome.code == 1
    assert "rows name rows that are not there: judgments.paper_id (1)." in outcome.err
    assert "scifact" in outcome.out


def test_a_held_duckdb_file_is_told_with_its_holder(prepared_duckdb_url: str) -> None:
    with connect(prepared_duckdb_url):
        busy = start("init", "--db", prepared_duckdb_url)
    assert busy.returncode == 4
    assert f"held by process {os.getpid()} " in busy.stderr
    assert "--wait SECONDS" in busy.stderr
    assert busy.stdout == ""


def test_a_process_of_its_own_exits_with_the_same_codes(prepared_duckdb_url: str) -> None:
    given = {"PINAKES_DATABASE_URL": prepared_duckdb_url}
    requested = start("sql", "SELECT COUNT(*) AS n FROM papers", "--format", "json", **given)
    assert (requested.returncode, json.loads(requested.stdout), requested.stderr) == (0, [{"n": 313}], "")
    refused = start("run", "scifact", "-s", "bm25", **given)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert start("run", **given).returncode == 2


def test_a_reader_that_stops_early_is_no_defect(prepared_duckdb_url: str) -> None:
    query = "SELECT paper_id, abstract FROM papers, range(200)"
    command = [
        *COMMAND,
        "sql",
        query,
        "--format",
        "csv",
        "--db",
        prepared_duckdb_url,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "paper_id,abstract\n"
        process.stdout.close()
        told = process.stderr.read()
        process.wait(60)
    assert "Traceback" not in told
    assert "defect" not in told
    assert process.returncode == 1


LOST_AT_COMMIT = """
import duckdb
import duckdb_engine

from pinakes.cli import main


def fail(*_):
    duckdb_engine.Dialect.do_rollback = fail
    raise duckdb.FatalException("FATAL Error: fsync failed!")


duckdb_engine.Dialect.do_commit = fail
main()
"""


def test_a_disk_that_fails_at_a_commit_is_told_in_words_only(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST_AT_COMMIT, "init", "--db", str(tmp_path / "x.duckdb")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pinakes: the disk of the database cannot be read or written")
    assert "Traceback" not in done.stderr
