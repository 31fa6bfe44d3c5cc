"""What a command has loaded when it is done: a library that it does not need would be waited for."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calling import make_call
from tests.long import long

UNNEEDED = (
    "faiss",
    "gensim",
    "ir_measures",
    "jinja2",
    "matplotlib",
    "nltk",
    "numba",
    "pandas",
    "polars",
    "psycopg",
    "ray",
    "scipy",
    "sklearn",
    "tantivy",
    "torch",
    "transformers",
)
SLOW = "pyarrow.compute"
"""takes a tenth of a second, which commands that compute may take"""
PROGRAM = f"""
import json, os, sys
from pinakes.cli import main
names = {(*UNNEEDED, SLOW)}
def leave(code):
    print(json.dumps([code, [name for name in names if name in sys.modules]]), file=sys.stderr, flush=True)
    end(0)
end, os._exit = os._exit, leave
main()
"""
TREC = "q1 Q0 p1 1 1.0 other\nq2 Q0 p1 1 1.0 other\n"
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "index": (("index", "tiny", "--system", "bm25"), ("tantivy",)),
    "run": (("run", "tiny", "--system", "bm25"), ("tantivy",)),
    "import-run": (("import-run", "tiny", "{folder}/other.trec", "--system", "other"), ()),
    "evaluate": (("evaluate", "tiny"), ()),
    "compare": (("compare", "tiny"), ("scipy",)),
    "report": (("report", "tiny", "--folder", "{folder}/report"), ("jinja2", "matplotlib", "scipy")),
    "sql": (("sql", "SELECT COUNT(*) FROM papers"), ()),
    "status": (("status",), ()),
}
"""in this order: the command line, and which of the heavy libraries it may load"""


@pytest.fixture
def indexed(benchmarks_duckdb: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The URL of a DuckDB file with a corpus of one paper and two queries, indexed by bm25."""
    paper = {"_id": "p1", "title": "Graphs", "text": "Ranking papers by their citations."}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(paper) + "\n")
    queries = [{"_id": name, "text": "citations"} for name in ("q1", "q2")]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp1\t1\n")
    database = f"duckdb:///{shutil.copy(benchmarks_duckdb, tmp_path / 'pinakes.duckdb')}"
    call = make_call(capsys)
    loaded = call("load", "beir", tmp_path, "--corpus", "tiny", "--db", database)
    assert loaded.code == 0, loaded.err
    indexed = call("index", "benchmark", "--corpus", "tiny", "--system", "bm25", "--db", database)
    assert indexed.code == 0, indexed.err
    return database


def call_alone(*words: str, needs: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    """A command in a process of its own, which ends well and has loaded no library that it does not need."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert set(loaded) <= set(needs)
    return done


def test_a_search_by_bm25_loads_no_library_of_vectors_or_statistics(indexed: str) -> None:
    done = call_alone("search", "tiny", "ranked papers", "--json", "--db", indexed, needs=(SLOW, "tantivy"))
    assert [hit["source_id"] for hit in json.loads(done.stdout)] == ["p1"]


def test_an_evaluation_of_what_has_not_changed_loads_nothing_that_only_scores_need(
    indexed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = make_call(capsys)
    folder = tmp_path / "benchmarks"
    made = call("new-benchmark", "tiny", "--folder", folder, "--db", indexed)
    assert made.code == 0, made.err
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    for words in (["run", "tiny", "--system", "bm25"], ["evaluate", "tiny"]):
        done = call(*words, "--db", indexed)
        assert done.code == 0, done.err
    assert "nothing changed in 1" in call_alone("evaluate", "--all", "--changed", "--db", indexed).stderr


@pytest.mark.parametrize("alone", [("run", "report", "sql"), long((*COMMANDS, "load"))])
def test_each_command_loads_the_libraries_that_it_uses_and_no_other(
    indexed: str,
    alone: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands that are not called alone make what the others need."""
    pytest.importorskip("pandas")  # which pyarrow would import wherever it is installed
    call, folder = make_call(capsys), tmp_path / "benchmarks"
    made = call("new-benchmark", "tiny", "--folder", folder, "--db", indexed)
    assert made.code == 0, made.err
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    (tmp_path / "other.trec").write_text(TREC)
    for name, (words, needs) in COMMANDS.items():
        line = [one.format(folder=tmp_path) for one in words]
        if name in alone:
            call_alone(*line, "--db", indexed, needs=(*needs, SLOW))
        else:
            assert call(*line, "--db", indexed).code == 0
    if "load" in alone:
        call_alone("load", "beir", str(tmp_path), "--corpus", "again", "--db", indexed, needs=(SLOW,))
