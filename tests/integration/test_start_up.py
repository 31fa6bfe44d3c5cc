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
PROGRAM = f"""
import json, sys
from pinakes.cli import run_command
code = run_command(sys.argv[1:])
print(json.dumps([code, [name for name in {UNNEEDED} if name in sys.modules]]), file=sys.stderr)
"""


def test_a_search_by_bm25_loads_no_library_of_vectors_or_statistics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    command = [sys.executable, "-c", PROGRAM, "search", "tiny", "ranked papers", "--json", "--db", database]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stderr.splitlines()[-1]) == [0, []]
    assert [hit["source_id"] for hit in json.loads(done.stdout)] == ["p1"]
