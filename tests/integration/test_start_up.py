"""What a command has loaded when it is done: a library that it does not need would be waited for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calling import make_call

UNNEEDED = (
    "faiss",
    "gensim",
    "matplotlib",
    "numba",
    "pandas",
    "psycopg",
    "scipy",
    "sklearn",
    "torch",
    "transformers",
)
SLOW = "pyarrow.compute"
"""takes a tenth of a second, which commands that compute may take"""
PROGRAM = f"""
import json, sys
from pinakes.cli import run_command
code = run_command(sys.argv[1:])
names = {(*UNNEEDED, SLOW)}
print(json.dumps([code, [name for name in names if name in sys.modules]]), file=sys.stderr)
"""


@pytest.fixture
def indexed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The URL of a DuckDB file with a corpus of one paper and one query, indexed by bm25."""
    paper = {"_id": "p1", "title": "Graphs", "text": "Ranking papers by their citations."}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(paper) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "citations"}) + "\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\n")
    database = f"duckdb:///{tmp_path / 'pinakes.duckdb'}"
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
    done = call_alone("search", "tiny", "ranked papers", "--json", "--db", indexed, needs=(SLOW,))
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
