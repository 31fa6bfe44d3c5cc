"""Scores from stored hits and from the judgments as they are now."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.database import Database, connect
from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluate.compare import read_query_values
from pinakes.evaluate.evaluate import evaluate
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.stored_runs import find_runs
from tests.benching import change, count, write_benchmark

pytestmark = pytest.mark.in_turn

RUN = "q1 Q0 p1 1 0.9 t\nq1 Q0 p2 2 0.8 t\n"


def bring(database: Database, tmp_path: Path, text: str = RUN, system: str = "theirs") -> int:
    path = tmp_path / f"{system}.txt"
    path.write_text(text)
    return import_run(database, ImportRequest("scifact", system, [path])).run_id


def values(database: Database, measure: str = "nDCG@10") -> dict[tuple[int, str], float]:
    with database.read() as session:
        rows = session.rows(
            "SELECT run_id, COALESCE(query_id, subset) AS unit, value FROM scores WHERE measure = :measure",
            {"measure": measure},
        )
    return {(row["run_id"], row["unit"]): row["value"] for row in rows}


def test_scores_are_stored_with_their_coverage(prepared: Database, tmp_path: Path) -> None:
    change(prepared, "UPDATE judgments SET query_id = 'q1' WHERE query_id = 'q2'")
    run_id = bring(prepared, tmp_path)
    (result,) = evaluate(prepared, "scifact", measures=["nDCG@10", "RR"])
    assert [(score.measure, score.subset, score.query_id) for score in result.scores] == [
        ("nDCG@10", "all", "q1"),
        ("RR", "all", "q1"),
        ("nDCG@10", "all", None),
        ("RR", "all", None),
    ]
    with prepared.read() as session:
        rows = session.rows("SELECT * FROM scores WHERE measure = 'RR' ORDER BY query_id")
    coverage = {"queries_expected": 1, "queries_answered": 1, "queries_missing": 0}
    assert {row["query_id"] for row in rows} == {"q1", None}
    for row in rows:
        del row["query_id"]
        assert row == {"run_id": run_id, "measure": "RR", "subset": "all", "value": 1.0, **coverage}


def test_a_query_that_a_run_lacks_counts_as_zero(prepared: Database, tmp_path: Path) -> None:
    path = tmp_path / "half.txt"
    path.write_text("1_background Q0 3 1 1 t\n1_background Q0 4 2 0.5 t\n")
    import_run(prepared, ImportRequest("csfcube", "half", [path]))
    (result,) = evaluate(prepared, "csfcube", measures=["RR(rel=2)"])
    aggregates = {score.subset: score for score in result.aggregates()}
    whole, method = aggregates["all"], aggregates["facet=method"]
    assert (whole.value, whole.queries_expected, whole.queries_answered, whole.queries_missing) == (
        0.2,
        5,
        1,
        4,
    )
    assert (method.value, method.queries_expected, method.queries_missing) == (0.0, 2, 2)
    assert aggregates["all/test"].value == pytest.approx((0 / 3 + 1 / 2) / 2)
    assert aggregates["all/dev"].value == 0.5
    assert "facet=result/test" not in aggregates


def test_evaluating_again_replaces_and_other_measures_stay(prepared: Database, tmp_path: Path) -> None:
    bring(prepared, tmp_path)
    first = evaluate(prepared, "scifact", measures=["nDCG@10"])
    evaluate(prepared, "scifact", measures=["P@10"])
    again = evaluate(prepared, "scifact", measures=["nDCG@10"])
    assert first == again
    assert count(prepared, "scores") == 4


def test_judgments_are_read_as_they_are_now(prepared: Database, tmp_path: Path) -> None:
    run_id = bring(prepared, tmp_path)
    evaluate(prepared, "scifact", measures=["nDCG@10"])
    assert values(prepared)[run_id, "all"] == 1.0
    change(
        prepared,
        "UPDATE judgments SET paper_id = (SELECT paper_id FROM papers WHERE source_id = 'p2') "
        "WHERE query_id = 'q1'",
    )
    evaluate(prepared, "scifact", measures=["nDCG@10"])
    assert values(prepared)[run_id, "all"] == pytest.approx(1 / math.log2(3))


def test_runs_are_chosen_and_a_missing_one_is_named(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="scifact has no run yet; make one with `pinakes run scifact"):
        evaluate(prepared, "scifact")
    first, second = bring(prepared, tmp_path), bring(prepared, tmp_path, system="others")
    assert [row["run_id"] for row in find_runs(prepared, "scifact")] == [first, second]
    assert [result.run_id for result in evaluate(prepared, "scifact", run_ids=[second])] == [second]
    assert {run_id for run_id, _ in values(prepared)} == {second}
    with pytest.raises(EvaluationError, match="scifact has no run 9; its runs: 1, 2"):
        evaluate(prepared, "scifact", run_ids=[1, 9])
    with pytest.raises(EvaluationError, match=r"run 1 has no scores by nDCG@10; .*`pinakes evaluate`"):
        read_query_values(prepared, first, "nDCG@10")
    with pytest.raises(UnknownNameError, match="unknown measure"):
        evaluate(prepared, "scifact", measures=["nDGC@10"])


SCRIPT = """
import sys
from pinakes.cli import run_command
code = run_command(["evaluate", "scifact", "-m", "nDCG@10", "-m", "AP(rel=2)", *sys.argv[1:]])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""
RANKS = {"torch", "transformers", "faiss", "sklearn", "tantivy", "gensim", "numba", "ot", "scipy"}
DOWNLOADS = {"pinakes.load.download", "pinakes.load.fetch", "huggingface_hub", "urllib.request"}


def test_scoring_loads_nothing_that_ranks_or_downloads(prepared_duckdb_url: str, tmp_path: Path) -> None:
    with connect(prepared_duckdb_url) as database:
        change(database, "UPDATE judgments SET query_id = 'q1' WHERE query_id = 'q2'")
        bring(database, tmp_path)
    found = {}
    for measures in ((), ("-m", "Bpref")):
        command = [sys.executable, "-c", SCRIPT, "--db", prepared_duckdb_url, "--quiet", *measures]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[measures] = set(done.stderr.split())
        assert "nDCG@10" in done.stdout
        assert {"pinakes.tasks.ranking.task", "pinakes.evaluators.array_measures"} <= found[measures]
        assert not found[measures] & (RANKS | DOWNLOADS)
    # trec_eval's own code is loaded for the measures that have no kernel
    assert ["ir_measures" in modules for modules in found.values()] == [False, True]


WRONG = {
    "judgments of no query": (
        {"queries": "SELECT query_id, paper_id, text FROM benchmark_queries WHERE query_id = '1_background'"},
        "own.judgments judges query 1_method, which own.queries lacks",
    ),
    "two grades for a pair": (
        {
            "judgments": "SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = 'csfcube' "
            "UNION ALL SELECT query_id, paper_id, 0 FROM judged_papers WHERE corpus = 'csfcube'"
        },
        "own.judgments judges 1 twice for 1_background; expected one grade",
    ),
    "a grade with a fraction": (
        {
            "judgments": "SELECT query_id, paper_id, CAST(0.5 AS DOUBLE PRECISION) AS grade "
            "FROM judged_papers WHERE corpus = 'csfcube' AND assessor = 'adjudicated'"
        },
        "query '1_background' has a grade that is not a whole number",
    ),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_judgments_that_do_not_fit_are_refused(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    files, message = WRONG[case]
    judgments = "SELECT query_id, paper_id, grade FROM judged_papers WHERE assessor = 'adjudicated'"
    folder = write_benchmark(tmp_path / "own", corpus="csfcube", **({"judgments": judgments} | files))
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    path = tmp_path / "run.txt"
    path.write_text("1_background Q0 3 1 1 t\n")
    import_run(prepared, ImportRequest("own", "theirs", [path]))
    with pytest.raises(EvaluationError, match=message):
        evaluate(prepared, "own")
    assert count(prepared, "scores") == 0
