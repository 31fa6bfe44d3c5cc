"""The folder of a benchmark for a loaded collection: written, read, ranked and scored."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.run.run import RunRequest, run
from pinakes.sample.new_benchmark import NewBenchmark, make_benchmark
from pinakes.settings import Settings
from pinakes.systems.base import SystemOptions
from tests.loading import write_beir

pytestmark = pytest.mark.in_turn

QRELS = "q1\tp1\t2\nq1\tp2\t0\nq2\tp2\t1\n"
NAME = 'Group\'s 50%: "old" {texts}'


@pytest.fixture
def loaded(database: Database, tmp_path: Path) -> Database:
    papers = [{"_id": f"p{n}", "title": f"query {n}", "text": "x"} for n in (1, 2, 3)]
    folder = write_beir(tmp_path / "beir", papers, QRELS, queries=3)
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\tp3\t1\n", encoding="utf-8")
    load(database, LoadRequest("beir", folder, corpus=NAME))
    return database


def test_a_collection_is_ranked_and_scored_by_the_folder_that_is_written(
    loaded: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = tmp_path / "benchmarks"
    made = make_benchmark(loaded, NAME, parent)
    assert made == NewBenchmark(
        "group_s_50_old_texts", str(parent / "group_s_50_old_texts"), NAME, "test", 2, 0, 3
    )
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(parent))
    assert made.benchmark in initialise(loaded, Settings(benchmark_folders=(parent,)))
    options = SystemOptions(tmp_path / "indexes")
    index(loaded, made.benchmark, "bm25", options=options)
    run(loaded, RunRequest(made.benchmark, "bm25", options))
    (result,) = evaluate(loaded, made.benchmark)
    found = {one.measure: one.value for one in result.scores if one.query_id is None and one.subset == "all"}
    assert (found["nDCG@10"], found["RR"]) == (1.0, 1.0)
    with pytest.raises(BenchmarkError, match="there is a benchmark group_s_50_old_texts already"):
        make_benchmark(loaded, NAME, parent)
    assert make_benchmark(loaded, NAME, parent, "mine", "dev").queries == 1


def test_what_makes_no_benchmark_is_said(loaded: Database, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown corpus 'other'"):
        make_benchmark(loaded, "other", tmp_path)
    with pytest.raises(UnknownNameError, match="unknown split 'train'; known: dev, test"):
        make_benchmark(loaded, NAME, tmp_path, split="train")
    with pytest.raises(BenchmarkError, match="'1' cannot name a benchmark"):
        make_benchmark(loaded, NAME, tmp_path, "1")
    with pytest.raises(BenchmarkError, match="there is a benchmark scifact already"):
        make_benchmark(loaded, NAME, tmp_path, "scifact")
    with loaded.begin() as session:
        session.execute("UPDATE judgments SET split = 'train' WHERE split = 'test'")
    with pytest.raises(InputError, match="has judgments of dev, train; say which with --split"):
        make_benchmark(loaded, NAME, tmp_path)
    with loaded.begin() as session:
        session.execute("UPDATE benchmark_queries SET text = NULL")
    with pytest.raises(BenchmarkError, match="judges no query with a text"):
        make_benchmark(loaded, NAME, tmp_path, split="dev")
    with loaded.begin() as session:
        session.execute("DELETE FROM judgments")
    with pytest.raises(BenchmarkError, match="has no judgments; load them first"):
        make_benchmark(loaded, NAME, tmp_path)
    assert not list(tmp_path.rglob("*.toml"))
