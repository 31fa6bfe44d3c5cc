"""Queries that nobody judged: left out of every score and told, or errors where a benchmark says so."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, EvaluationError
from pinakes.evaluate.evaluate import evaluate
from pinakes.report.gather import gather_report
from pinakes.report.present.evaluate import describe_coverage
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.workload.benchmark import open_benchmark
from tests.benching import count, write_benchmark
from tests.calling import Call

pytestmark = pytest.mark.in_turn

JUDGED = "SELECT query_id, paper_id, grade FROM judged_papers WHERE assessor = 'adjudicated'"
OF_TWO = f"{JUDGED} AND query_id IN ('1_background', '2_method')"
TOLD = "3 of 5 queries have no judgment (1_method, 2_background, 2_result)"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A benchmark of five queries, two of which are judged."""
    folder = write_benchmark(tmp_path / "own", corpus="csfcube", judgments=OF_TWO)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    return folder / "own" / "benchmark.toml"


def bring(database: Database, tmp_path: Path) -> int:
    """A run that answers a judged query and one that is not judged."""
    path = tmp_path / "run.txt"
    path.write_text("1_background Q0 3 1 1 t\n1_method Q0 5 1 1 t\n")
    return import_run(database, ImportRequest("own", "theirs", [path])).run_id


def test_unjudged_queries_are_left_out_and_told(prepared: Database, tmp_path: Path, own: Path) -> None:
    bring(prepared, tmp_path)
    (result,) = evaluate(prepared, "own", measures=["P@1", "NumQ"])
    assert {score.query_id for score in result.scores} == {None, "1_background", "2_method"}
    of_all = {score.measure: score for score in result.aggregates() if score.subset == "all"}
    # the judged query that the run does not answer counts as zero, as before
    assert (of_all["P@1"].value, of_all["P@1"].queries_expected, of_all["P@1"].queries_missing) == (0.5, 2, 1)
    assert of_all["NumQ"].value == 2
    assert list(result.unjudged.query_ids) == ["1_method", "2_background", "2_result"]
    assert list(describe_coverage([result])) == [
        f"{TOLD}; they are left out of every score",
        "run 1 (theirs) answers 1 of 2 queries; each missing one counts as zero, or as wrong",
    ]


def test_a_report_says_over_how_many_queries_it_is(prepared: Database, tmp_path: Path, own: Path) -> None:
    bring(prepared, tmp_path)
    evaluate(prepared, "own")
    report = gather_report(prepared, "own")
    assert report.warnings[0] == f"{TOLD}; they are left out of every score."
    assert {score.queries_expected for score in report.scores if score.subset == "all"} == {2}


def test_the_command_tells_them(prepared_url: str, call: Call, tmp_path: Path, own: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("1_background Q0 3 1 1 t\n")
    assert call("import-run", "own", str(path), "--system", "theirs", "--db", prepared_url).code == 0
    done = call("evaluate", "own", "--measure", "ndcg_cut_10", "--db", prepared_url)
    assert (done.code, TOLD in done.err) == (0, True)
    assert "nDCG@10" in done.out


def test_a_benchmark_may_say_that_they_are_errors(prepared: Database, tmp_path: Path, own: Path) -> None:
    run_id = bring(prepared, tmp_path)
    own.write_text(f'unjudged = "error"\n{own.read_text()}')
    message = (
        f"{TOLD}, and own/benchmark.toml says that this is an error; load their judgments, or take "
        "`unjudged` out of it."
    )
    calls = (
        lambda: run(prepared, RunRequest("own", "tfidf")),
        lambda: bring(prepared, tmp_path),
        lambda: evaluate(prepared, "own", run_ids=[run_id]),
    )
    for one in calls:
        with pytest.raises(EvaluationError) as caught:
            one()
        assert str(caught.value) == message
    assert (count(prepared, "scores"), count(prepared, "runs")) == (0, 1)


def test_a_word_that_unjudged_does_not_take_is_refused(prepared: Database, own: Path) -> None:
    own.write_text(f'unjudged = "fatal"\n{own.read_text()}')
    with pytest.raises(BenchmarkError, match="unjudged is 'fatal'; expected one of left_out, error"):
        open_benchmark(prepared, "own")


def test_a_benchmark_that_nobody_judged_is_refused(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_benchmark(tmp_path / "own", corpus="csfcube", judgments=f"{JUDGED} AND query_id = 'none'")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    bring(prepared, tmp_path)
    with pytest.raises(EvaluationError, match=r"own.judgments judges none of the 5 queries of own.queries"):
        evaluate(prepared, "own")
