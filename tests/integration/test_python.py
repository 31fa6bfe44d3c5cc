"""Pinakes from Python: a connection's methods do what the commands do, by the same names."""

import errno
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import pinakes
from pinakes.cli import evaluating, exporting, indexing, loading, running, searching, training
from pinakes.database import connect as open_database
from pinakes.errors import InputError, UnknownNameError
from tests.calling import Call
from tests.notebooks import FIRST_STEPS, run
from tests.python_manual import METHODS, PAGE, render

pytestmark = pytest.mark.in_turn

COMMANDS: dict[str, Any] = {
    "init": loading.init,
    "load": loading.load,
    "import_corpora": exporting.import_corpora,
    "index": indexing.index,
    "train": training.train,
    "compare_methods": training.compare_methods,
    "run": running.run,
    "evaluate": evaluating.evaluate,
    "accept": evaluating.accept,
    "compare": evaluating.compare,
    "search": searching.search,
    "searcher": searching.search,
    "explain": searching.explain,
    "export_partitioned": exporting.export_partitioned,
}
OF_ONE_SEARCH = {"text", "k", "paper", "sentences"}
OF_THE_TERMINAL = {
    "queries",
    "trec",
    "db",
    "wait",
    "memory",
    "quiet",
    "json",
    "csv",
    "wide",
    "expanded",
    "guard_formulas",
    "timeout",
    "log",
}


@pytest.fixture
def work(call: Call) -> pinakes.Connection:
    """The database with the corpora, which the environment names."""
    return pinakes.connect(read_only=False)


def list_parameters(command: Any) -> dict[str, Any]:
    found = inspect.signature(command).parameters.values()
    return {one.name: one.default for one in found if one.name not in {"self", *OF_THE_TERMINAL}}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_what_its_command_takes(name: str) -> None:
    from pinakes.cli.option_sets import takes_option_sets

    asked = list_parameters(takes_option_sets(COMMANDS[name]))
    given = list_parameters(getattr(pinakes.Connection, name))
    if name == "searcher":
        asked = {key: value for key, value in asked.items() if key not in OF_ONE_SEARCH}
    assert set(given) == set(asked)
    empty: tuple[Any, ...] = (None, (), "", [], inspect.Parameter.empty)
    plain = {key: value for key, value in given.items() if value not in empty}
    assert plain == {key: value for key, value in asked.items() if value not in empty}


def test_methods_give_what_the_commands_print(call: Call, work: pinakes.Connection) -> None:
    asked: list[tuple[tuple[Any, ...], Any]] = [
        (("index", "synthetic", "-s", "bm25"), lambda: work.index("synthetic", system="bm25")),
        (("run", "synthetic", "-s", "bm25"), lambda: work.run("synthetic", system="bm25")),
        (("evaluate", "synthetic"), lambda: work.evaluate("synthetic")),
        (("evaluate", "--all"), lambda: work.evaluate(all_benchmarks=True)),
        (("accept", "synthetic"), lambda: work.accept("synthetic")),
        (("evaluate", "synthetic", "--per-query"), lambda: work.evaluate("synthetic", per_query=True)),
        (("search", "synthetic", "market", "-k", 2), lambda: work.search("synthetic", "market", k=2)),
    ]
    for words, method in asked:
        method()  # so that both find what exists already
        assert without_times(call(*words, "--json").data) == without_times(method())
    work.index("synthetic", system="tfidf")
    work.run("synthetic", system="tfidf")
    work.evaluate("synthetic")
    printed = call("compare", "synthetic", "-m", "nDCG@10", "--json")
    assert printed.code == 0, printed.err
    assert printed.data == list(work.compare("synthetic", measure="nDCG@10"))
    assert len(printed.data) == 1


def without_times(rows: Any) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "elapsed_s"} for row in rows]


def test_rows_are_handed_on(work: pinakes.Connection) -> None:
    result = work.sql("SELECT 1 AS a, 'x' AS b, NULL AS b UNION ALL SELECT 2, 'y', NULL ORDER BY a")
    assert result.columns == ["a", "b", "b_2"]
    assert list(result) == [(1, "x", None), (2, "y", None)]
    assert result.records() == [{"a": 1, "b": "x", "b_2": None}, {"a": 2, "b": "y", "b_2": None}]
    assert result.arrow().num_rows == len(result) == len(result.pandas()) == 2
    assert result.records().pandas()["a"].tolist() == [1, 2]
    assert len(work.sql("SELECT 1 AS a WHERE 1 = 0")) == 0
    many = work.sql("SELECT title, abstract FROM papers ORDER BY paper_id")
    assert f"{len(many)} rows; the first 20 are shown" in repr(many)
    assert max(map(len, repr(many).splitlines())) < 200
    assert repr(pinakes.Records()).endswith("0 rows")


def test_polars_takes_the_rows(work: pinakes.Connection) -> None:
    pytest.importorskip("polars")
    assert work.sql("SELECT 1 AS a").polars()["a"].to_list() == [1]
    assert pinakes.Records([{"a": 2}]).polars()["a"].to_list() == [2]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_what_is_not_installed_is_named(
    work: pinakes.Connection, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(pinakes.PinakesError, match=f"{name} is not installed; run `pip install {name}`"):
        getattr(work.sql("SELECT 1 AS a"), name)()


def test_a_connection_only_reads_unless_told(call: Call, tmp_path: Path) -> None:
    db = pinakes.connect()
    for write in (
        lambda: db.init(over=tmp_path),
        lambda: db.load("synthetic"),
        lambda: db.import_corpora(tmp_path),
        lambda: db.index("scifact", system="bm25"),
        lambda: db.run("scifact", system="bm25"),
        lambda: db.evaluate("scifact"),
        lambda: db.accept("scifact"),
    ):
        with pytest.raises(pinakes.PinakesError, match=r"only reads; make one .*read_only=False"):
            write()
    for text in ("DELETE FROM papers", "CREATE TABLE x (n INTEGER)", "SELECT 1; DELETE FROM papers"):
        for one in (db, pinakes.connect(read_only=False)):
            with pytest.raises(pinakes.PinakesError):
                one.sql(text)
    with pytest.raises(pinakes.PinakesError, match="there is no database file"):
        pinakes.connect(tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()
    with pytest.raises(pinakes.PinakesError, match="more than the 2 rows"):
        db.sql("SELECT paper_id FROM papers", max_rows=2)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (ModuleNotFoundError("No module named 'gensim'", name="gensim"), r"pip install 'pinakes\[compute\]'"),
    ],
)
def test_what_a_machine_or_an_installation_refuses_is_told_in_words(
    work: pinakes.Connection, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def refuse(*_given: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr("pinakes.extras.find_spec", lambda _name: None)
    monkeypatch.setattr("pinakes.search.search.search", refuse)
    with pytest.raises(pinakes.PinakesError, match=said):
        work.search("scifact", "graph")
    monkeypatch.setattr("pinakes.search.search.search", lambda *_given: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        work.search("scifact", "graph")


def test_the_password_is_hidden() -> None:
    db = pinakes.connect("postgresql://me:secret@nowhere.invalid/x", read_only=False)
    assert "secret" not in repr(db)
    assert "secret" not in str([db])


def test_an_open_connection_holds_no_file(prepared_duckdb_url: str) -> None:
    db = pinakes.connect(prepared_duckdb_url)
    before = len(db.sql("SELECT paper_id FROM papers"))
    with open_database(prepared_duckdb_url) as other, other.begin() as session:
        session.execute(sa.text("DELETE FROM papers WHERE source_id = 'p1'"))
    assert len(db.sql("SELECT paper_id FROM papers")) == before - 1


def test_a_file_that_is_missing_is_made_by_a_load(tmp_path: Path) -> None:
    db = pinakes.connect(tmp_path / "new.duckdb", read_only=False)
    summary = db.load("synthetic", papers=20, seed=1)
    assert (summary.papers, summary.rows_in) == (20, summary.rows_loaded + summary.rows_rejected)
    with pytest.raises(pinakes.PinakesError, match="needs a source"):
        db.load("beir")
    with pytest.raises(pinakes.PinakesError, match="unknown loader 'nothing'"):
        db.load("nothing", tmp_path)


def test_corpora_are_exported_imported_and_read_in_place(
    call: Call, work: pinakes.Connection, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    printed = call("export", "partitioned", folder, "--buckets", 2, "--json")
    only_reads = pinakes.connect()
    assert only_reads.export_partitioned(folder, buckets=2) == printed.data
    rows = {str(one["corpus"]): one["rows"] for one in printed.data}
    assert list(rows) == ["csfcube", "scifact", "synthetic"]
    (one,) = work.export_partitioned(str(tmp_path / "one"), corpus="scifact")
    assert (one["corpus"], one["rows"], one["buckets"]) == ("scifact", rows["scifact"], 1)
    counted = (
        "SELECT name, COUNT(*) AS n FROM papers INNER JOIN corpora USING (corpus_id) GROUP BY 1 ORDER BY 1"
    )
    expected = work.sql(counted).records()

    taken = pinakes.connect(tmp_path / "taken.duckdb", read_only=False)
    with pytest.raises(pinakes.PinakesError, match="there is no database file"):
        taken.import_corpora(folder)
    assert taken.init() == []
    imported = taken.import_corpora(folder)
    assert {one["corpus"]: one["rows"] for one in imported} == rows
    assert taken.sql(counted).records() == expected
    assert taken.export_partitioned(tmp_path / "again", buckets=2) == printed.data

    over = pinakes.connect(tmp_path / "over.duckdb", read_only=False)
    assert over.init(over=folder) == [{"corpus": name} for name in rows]
    assert over.sql(counted).records() == expected
    assert over.init(over=tmp_path / "one") == [{"corpus": "scifact"}]
    assert pinakes.connect(tmp_path / "over.duckdb").sql(counted).records() == expected[1:2]


def test_what_cannot_be_exported_imported_or_read_in_place_is_told(
    work: pinakes.Connection, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    work.export_partitioned(folder, corpus=["scifact", "csfcube"])
    new = pinakes.connect(tmp_path / "new.duckdb", read_only=False)
    with pytest.raises(InputError, match=r"expected corpora\.json"):
        new.init(over=tmp_path / "none")
    with pytest.raises(InputError, match="no address of an object store"):
        new.init(over="s4://bucket/corpora")
    new.init()
    with pytest.raises(UnknownNameError, match="unknown corpus 'synthetic'"):
        new.import_corpora(folder, corpus=["synthetic"])
    new.import_corpora(folder, corpus="scifact")
    with pytest.raises(InputError, match="has a corpus scifact already"):
        new.import_corpora(folder)
    with pytest.raises(InputError, match=r"1 corpora of its own|Postgres reads no Parquet"):
        new.init(over=folder)
    with pytest.raises(UnknownNameError, match="unknown corpus 'nobody'"):
        work.export_partitioned(folder, corpus="nobody")
    with pytest.raises(InputError, match="0 buckets"):
        work.export_partitioned(folder, buckets=0)
    over = pinakes.connect(tmp_path / "over.duckdb", read_only=False)
    over.init(over=folder)
    with pytest.raises(pinakes.PinakesError, match=r"already|cannot be changed"):
        over.import_corpora(folder)
    with pytest.raises(pinakes.PinakesError, match="cannot be changed"):
        over.load("synthetic", papers=20, seed=1)


def test_importing_waits_for_nothing() -> None:
    heavy = ("duckdb", "sqlalchemy", "pyarrow", "pandas", "numpy", "torch")
    code = f"import sys, pinakes; print([name for name in {heavy} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_the_manuals_page_is_made_from_the_docstrings() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run `python -m tests.python_manual`"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = run(FIRST_STEPS, names)
    read, loaded, rejected = shown[0]
    assert read == loaded + rejected > 300
    assert all(len(one) for one in shown[1:])
    assert names["scores"]["value"].between(0, 1).all()
