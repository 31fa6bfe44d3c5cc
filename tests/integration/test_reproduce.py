"""`pinakes reproduce`: baselines are run, those that cannot be are named, a second call goes on."""

import shutil
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.database.read_only import ask
from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.evaluate.reproduce import ReproduceRequest, reproduce
from tests.calling import Call

pytestmark = pytest.mark.in_turn

SYNTHETIC = Path(__file__).parents[2] / "queries" / "synthetic"
BASELINES = """
[[baselines]]
system = "bm25"
published = "BM25"

[[baselines]]
system = "sparse_bm25"
label = "flat"
options = { k1 = "0", b = "0" }
query_template = "title_abstract"
paper_template = "title"

[[baselines]]
system = "mean:nobody/has-this-model,minilm"
published = "Ensemble"
"""


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A benchmark that is the bundled one with baselines."""
    folder = tmp_path / "benchmarks" / "reproduced"
    shutil.copytree(SYNTHETIC, folder)
    with (folder / "benchmark.toml").open("a", encoding="utf-8") as file:
        file.write(BASELINES)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "indexes"))
    return folder.name


def test_baselines_are_run_as_their_folder_says_and_scored(prepared: Database, benchmark: str) -> None:
    said: list[str] = []
    made = reproduce(prepared, ReproduceRequest(benchmark), report=said.append)
    assert [(one.baseline, one.system, one.published) for one in made] == [
        ("BM25", "bm25", "BM25"),
        ("flat", "sparse_bm25", ""),
        ("Ensemble", "mean:nobody/has-this-model,minilm", "Ensemble"),
    ]
    absent = "the model nobody/has-this-model at revision main is not on this machine"
    assert (made[2].run_id, made[2].left_out) == (None, absent)
    assert said[-1] == f"Ensemble: left out, {absent}"
    query = (
        "SELECT runs.run_id, runs.system, runs.query_template, runs.paper_template, COUNT(*) AS scores "
        "FROM runs INNER JOIN scores ON runs.run_id = scores.run_id "
        "WHERE scores.subset = 'all' AND scores.query_id IS NULL AND scores.measure = 'nDCG@10' "
        "GROUP BY runs.run_id, runs.system, runs.query_template, runs.paper_template ORDER BY runs.run_id"
    )
    with ask(prepared, query) as result:
        rows = [tuple(row) for row in result.rows]
    assert rows == [
        (made[0].run_id, "bm25", "text", "title_abstract", 1),
        (made[1].run_id, "sparse_bm25", "title_abstract", "title", 1),
    ]


def test_a_second_call_finds_the_runs_of_the_first(prepared: Database, benchmark: str) -> None:
    first = reproduce(prepared, ReproduceRequest(benchmark, only=["BM25"]))
    again = reproduce(prepared, ReproduceRequest(benchmark))
    assert [one.run_id for one in again[:1]] == [one.run_id for one in first]


def test_a_benchmark_without_baselines_and_an_unknown_one_are_refused(
    prepared: Database, benchmark: str
) -> None:
    with pytest.raises(BenchmarkError, match="cranfield names no baselines"):
        reproduce(prepared, ReproduceRequest("cranfield"))
    with pytest.raises(UnknownNameError, match=r"baseline of reproduced 'BM52'.*BM25"):
        reproduce(prepared, ReproduceRequest(benchmark, only=["BM52"]))


def test_the_command_writes_the_report_and_fails_where_nothing_can_be_run(
    call: Call, benchmark: str, tmp_path: Path
) -> None:
    done = call("reproduce", benchmark, "--only", "BM25", "--only", "Ensemble", "--json", "-q")
    assert [(row["baseline"], row["run_id"] is None) for row in done.data] == [
        ("BM25", False),
        ("Ensemble", True),
    ]
    assert "bm25" in (tmp_path / f"{benchmark}-report" / "report.md").read_text(encoding="utf-8")
    failed = call("reproduce", benchmark, "--only", "Ensemble", "-q")
    assert (failed.code, failed.out) == (1, "")
    assert f"no baseline of {benchmark} can be run here. Ensemble: the model nobody/has" in failed.err
