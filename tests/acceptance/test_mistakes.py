"""What a stranger types wrong at the command line: what is said of it, and that nothing is left behind."""

import json
import shutil
from pathlib import Path

import orjson
import pytest

from tests.calling import Call, make_call
from tests.long import long

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line in an empty folder, as a shell without any settings has it."""
    for name in ("PINAKES_DATABASE_URL", "PINAKES_INDEX_FOLDER", "PINAKES_BENCHMARKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return make_call(capsys)


@pytest.fixture
def made(benchmarks_duckdb: Path, tmp_path: Path) -> None:
    """A database, where what is tested is not how it is made."""
    shutil.copy(benchmarks_duckdb, tmp_path / "pinakes.duckdb")


def list_here() -> list[str]:
    return sorted(path.name for path in Path.cwd().iterdir())


READING = (
    ("status",),
    ("sql", "SELECT 1"),
    ("run", "scifact", "-s", "bm25"),
    ("index", "scifact", "-s", "bm25"),
    ("index", "--corpus", "scifact", "-s", "bm25"),
    ("search", "scifact", "graphs"),
    ("evaluate", "scifact"),
    ("compare", "scifact"),
    ("report", "scifact"),
    ("errors", "scifact"),
    ("reproduce", "csfcube"),
    ("agreement", "csfcube"),
    ("use-corpus", "synthetic", "toy"),
    ("export", "run", "1", "out"),
    ("export-pools", "mdcr", "out"),
    ("export", "summaries", "out.jsonl", "--corpus", "toy"),
    ("derive", "neighbours", "--corpus", "toy"),
    ("derive", "summaries", "--corpus", "toy"),
    ("sample", "large_scale", "--corpus", "toy"),
    ("construct", "mdcr_constructed"),
    ("tune", "bm25", "scifact"),
    ("resolve", "toy"),
    ("deduplicate", "toy"),
)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_in_the_wrong_folder_makes_no_database_and_names_the_file(
    words: tuple[str, ...], tmp_path: Path, call: Call
) -> None:
    outcome = call(*words)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"there is no database file {tmp_path / 'pinakes.duckdb'}; `pinakes load` or" in outcome.err
    assert list_here() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("load", "beir", "nowhere"), "nowhere"),
        (("load", "beir", "nowhere", "--db", "new.db"), "nowhere"),
        (("load", "jsonl", "nowhere.jsonl"), "there is no file or folder nowhere.jsonl"),
        (("load", "beir"), "needs a source: `pinakes load beir FILE_OR_FOLDER`"),
        (("load", "bier", "x"), "Did you mean beir?"),
        (("load", "scifact", "x"), "`pinakes fetch scifact`, then `pinakes load beir scifact`"),
        (("load", str(DATA / "beir"), "beir"), "The loader comes before its source"),
        (("load", "beir", str(DATA / "beir"), "--corpus", ""), "--corpus is empty"),
        (("load", "beir", str(DATA / "beir"), "--option", "split"), "'split': expected name=value"),
        (("load", "trec", str(DATA / "trec"), "--corpus", "toy"), "unknown corpus 'toy'; known: none"),
        (("init", "--db", "duckdb://x.duckdb"), "duckdb:///x.duckdb"),
        (("init", "--db", "pinakes"), "Did you mean ./pinakes?"),
        (("init", "--db", ""), "is empty"),
        (("init", "--db", "postgress://me@host/x"), "Did you mean postgresql?"),
        (("search", "", "graphs"), "CORPUS is empty"),
        (("run", "scifact", "-s", ""), "--system is empty"),
        (("status", "--db", "no/such/folder/x.duckdb"), "no/such/folder/x.duckdb"),
        (("fetch", "scifct"), "Did you mean scifact"),
    ],
)
def test_a_command_that_fails_at_once_leaves_nothing(words: tuple[str, ...], said: str, call: Call) -> None:
    outcome = call(*words)
    assert (outcome.code, outcome.out) == (1, ""), outcome
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert list_here() == []


def test_a_dry_run_leaves_no_new_database(call: Call) -> None:
    assert call("load", "beir", DATA / "beir", "--dry-run").code == 0
    assert list_here() == []


def test_a_path_is_a_database(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert call("load", "beir", DATA / "beir", "--corpus", "toy", "--db", "../pinakes.duckdb").code == 0
    for address in (tmp_path / "pinakes.duckdb", f"duckdb:///{tmp_path / 'pinakes.duckdb'}"):
        monkeypatch.setenv("PINAKES_DATABASE_URL", str(address))
        found = call("status", "--json")
        assert [corpus["corpus"] for corpus in found.data["corpora"]] == ["toy"]
    assert list_here() == []
    monkeypatch.setenv("PINAKES_DATABASE_URL", "")
    assert "PINAKES_DATABASE_URL, is empty" in call("load", "beir", DATA / "beir").err
    assert list_here() == []


@pytest.mark.usefixtures("made")
def test_wrong_names_in_a_database_say_what_was_meant(call: Call) -> None:
    assert call("load", "synthetic", "--papers", 120).code == 0
    for words, said in (
        (
            ("search", "sinthetic", "graphs"),
            "`pinakes load` loads one. Did you mean synthetic?",
        ),
        (("index", "--corpus", "Synthetic", "-s", "bm25"), "Did you mean synthetic?"),
        (("run", "synthetik", "-s", "bm25"), "Did you mean synthetic?"),
        (("run", "synthetic", "-s", "bm52"), "Did you mean bm25"),
        (("run", "synthetic", "-s", "bm25", "--option", "k1=0.9"), "--system sparse_bm25 --option k1=0.9"),
        (("run", "synthetic", "-s", "tfidf", "--option", "analysys=words"), "Did you mean analysis?"),
        (("run", "synthetic", "-s", "tfidf", "--option", "analysis=word"), "Did you mean words?"),
        (("run", "synthetic", "-s", "bm25", "--mode", "publish"), "Did you mean published?"),
        (("run", "synthetic", "-s", "minilm", "--precision", "fp23"), "Did you mean fp32"),
        (("load", "synthetic", "--option", "paper=3"), "Did you mean papers?"),
        (("load", "jsonl", "--corpus", "x"), "the loader jsonl needs a source"),
    ):
        outcome = call(*words)
        assert (outcome.code, outcome.out) == (1, ""), (words, outcome)
        assert said in outcome.err, (words, outcome.err)
    assert "Did you mean 'status'?" in call("statsu").err
    assert "--system" in call("run", "synthetic", "--sytem", "bm25").err
    assert call("index", "synthetic", "-s", "bm25", "-q").code == 0
    assert call("run", "synthetic", "-s", "bm25", "-q").code == 0
    assert "Did you mean NDCG, nDCG" in call("evaluate", "synthetic", "-m", "nDGC@10").err


def test_a_folder_of_benchmarks_that_is_not_there_stops_only_what_needs_it(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "mine"))
    warning = (
        f"pinakes: warning: of the folders that PINAKES_BENCHMARKS names, {tmp_path / 'mine'} is not there."
    )
    loaded = call("load", "beir", DATA / "beir")
    assert loaded.code == 0
    assert warning in loaded.err
    status = call("status", "--json")
    assert (status.code, status.err) == (0, f"{warning}\n")
    needed = call("run", "own", "-s", "bm25")
    assert needed.code == 1
    assert "unknown benchmark 'own'; known: cranfield, " in needed.err
    assert f"{tmp_path / 'mine'} is not there" in needed.err.splitlines()[-1]
    assert call("init").code == 1
    (tmp_path / "mine").write_text("a file")
    assert f"{tmp_path / 'mine'} is a file" in call("status").err


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("indented", [True, False])
def test_a_json_array_is_read_as_its_records(indented: bool, tmp_path: Path, call: Call) -> None:
    records = [{"source_id": f"p{number}", "title": f"Title {number}"} for number in range(1_175)]
    text = json.dumps(records, indent=1 if indented else None)
    (tmp_path / "papers.json").write_text(text)
    loaded = call("load", "jsonl", tmp_path / "papers.json")
    assert loaded.code == 0, loaded
    found = call("sql", "SELECT COUNT(*) AS n, MIN(title) AS first FROM papers", "--format", "json")
    assert found.data == [{"n": 1_175, "first": "Title 0"}]
    again = call("load", "jsonl", tmp_path / "papers.json", "--json")
    assert again.code == 0
    (tmp_path / "lines.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in records))
    assert call("load", "jsonl", tmp_path / "lines.jsonl", "--corpus", "papers").code == 0
    assert call("sql", "SELECT COUNT(*) AS n FROM papers", "--format", "json").data == [{"n": 1_175}]


def test_what_is_no_database_is_told_and_left(tmp_path: Path, call: Call) -> None:
    (tmp_path / "notes.duckdb").write_text("my notes")
    for words in (("status",), ("load", "beir", DATA / "beir"), ("init",)):
        outcome = call(*words, "--db", "notes.duckdb")
        assert outcome.code == 1
        assert "notes.duckdb is not a valid DuckDB database file, and is left as it is" in outcome.err
    assert (tmp_path / "notes.duckdb").read_text() == "my notes"
    assert f"{tmp_path} is a folder" in call("status", "--db", tmp_path).err


def test_a_server_that_is_down_is_told_without_the_password(call: Call) -> None:
    outcome = call("status", "--db", "postgresql://me:secret@localhost:1/x")
    assert outcome.code == 1
    assert "Postgres cannot be reached" in outcome.err
    assert "secret" not in outcome.err


def test_no_message_is_longer_than_a_page_or_moves_the_cursor(call: Call) -> None:
    for words in (
        ("run", "b" * 500_000, "-s", "bm25"),
        ("load", "\x1b[2J" + "b" * 500_000),
        ("load", "beir", "x", "--option", "\x1b[2J" + "b" * 500_000),
        ("init", "--db", "\x1b[2J" + "b" * 500_000),
        ("init", "--db", "./" + "b" * 500_000),
        ("fetch", "\x1b[2J"),
    ):
        outcome = call(*words)
        assert outcome.code == 1
        assert len(outcome.err) < 5_000
        assert "\x1b" not in outcome.err


@pytest.mark.parametrize("name", ["x" * 10_000, long(" "), long("a\x1b[2J"), long("a\u202eb")])
def test_a_name_that_no_folder_or_page_can_have_is_refused_at_the_door(name: str, call: Call) -> None:
    outcome = call("load", "beir", DATA / "beir", "--corpus", name)
    assert (outcome.code, outcome.out) == (1, "")
    assert "cannot name a corpus" in outcome.err
    assert "Give another with --corpus." in outcome.err
    assert list_here() == []


@pytest.mark.usefixtures("made")
def test_a_system_without_a_name_is_not_imported(call: Call) -> None:
    assert call("load", "synthetic", "--papers", 120, "-q").code == 0
    Path("run.txt").write_text("q1 Q0 p1 1 1 t\n")
    outcome = call("import-run", "synthetic", "run.txt", "--system", " ")
    assert outcome.code == 1
    assert "cannot name a system: it is empty" in outcome.err


@pytest.mark.usefixtures("made")
def test_cells_that_a_spreadsheet_would_compute_are_guarded_in_files(call: Call) -> None:
    query = "SELECT '=1+1' AS t, -5 AS n UNION ALL SELECT 'a=b', 1 ORDER BY n"
    assert call("export", "--sql", query, "guarded.csv", "--guard-formulas").code == 0
    assert Path("guarded.csv").read_text() == '"t","n"\n"\'=1+1",-5\n"a=b",1\n'
    assert call("export", "--sql", query, "plain.tsv").code == 0
    assert Path("plain.tsv").read_text() == '"t"\t"n"\n"=1+1"\t-5\n"a=b"\t1\n'
    outcome = call("export", "--sql", query, "x.parquet", "--guard-formulas")
    assert "is for CSV and TSV; leave it out for parquet" in outcome.err
    outcome = call("sql", query, "--format", "csv", "--guard-formulas")
    assert outcome.out == "t,n\n'=1+1,-5\na=b,1\n"
