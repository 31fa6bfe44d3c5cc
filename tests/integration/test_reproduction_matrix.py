"""The matrix of reproduction: every published figure, what is measured of it, and why the rest is not."""

import json
import shutil
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.suite import evaluate_suite, run_suite
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.suites import list_suites, read_suite
from pinakes.report.reproduction.data import Figure, Matrix
from pinakes.report.reproduction.gather import gather_matrix
from pinakes.report.reproduction.match import find_target
from pinakes.report.reproduction.page import render_page, render_text
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.calling import Call
from tests.toy_encoder import build_toy_encoder
from tests.toy_suite import write_suite

pytestmark = pytest.mark.in_turn

SYNTHETIC = Path(__file__).parents[2] / "queries" / "synthetic"
PUBLISHED = """
[[baselines]]
system = "bm25"
published = "Their BM25"

[[baselines]]
system = "nobody/has-this-model"
published = "Heavy"

[[published]]
source = "A paper, Table 1"
scale = 100
measures = ["nDCG@10", "P@10"]
[published.rows.all]
"Their BM25" = ["{equal}", "{off}"]
"Heavy" = ["50.0", "40.0"]
"TF-IDF" = ["50.0", "40.0"]
"Of nobody|<b>" = ["50.0", "40.0"]
[published.rows."size=9"]
"Their BM25" = ["50.0", "40.0"]
"""


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The bundled benchmark with published figures: one is equal, one is off."""
    folder = tmp_path / "benchmarks" / "reproduced"
    shutil.copytree(SYNTHETIC, folder)
    with (folder / "benchmark.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLISHED.format(equal="71.0", off="90.0"))
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "indexes"))
    return folder.name


def index_rows(matrix: Matrix) -> dict[tuple[str, str, str], Figure]:
    return {(one.row, one.subset, one.measure): one for one in matrix.figures}


def test_every_published_figure_is_a_row(untouched: Database) -> None:
    matrix = gather_matrix(untouched)
    expected = {
        name: len(one.published)
        + sum(len(row) for exhibit in one.exhibits for row in (exhibit.published or {}).values())
        for name in list_benchmarks()
        for one in [read_benchmark(name)]
    }
    expected |= {name: len(read_suite(name).published) for name in list_suites()}
    found = {name: matrix.count(name).total() for name in matrix.list_benchmarks()}
    assert found == {name: number for name, number in expected.items() if number}
    assert sum(found.values()) > 1500
    assert matrix.failed == []
    assert all(one.why for one in matrix.figures if one.outcome == "not run")
    assert all(one.command for one in matrix.figures if "no system" not in one.why)
    counted = matrix.count("csfcube")
    assert counted.total() - counted["not run"] > 10  # tables of its own views need no run
    absent = next(one for one in matrix.figures if one.benchmark == "mdcr" and one.row == "BM25")
    assert "data absent: `pinakes fetch mdcr`" in absent.why


def test_what_is_measured_is_equal_or_off_and_the_rest_says_why(call: Call, benchmark: str) -> None:
    done = call("reproduce", benchmark, "--only", "Their BM25", "--json", "-q")
    figures = {(one["subset"], one["measure"]): one for one in done.data[0]["figures"]}
    first = figures["all", "nDCG@10"]
    assert (first["printed"], first["measured"], first["outcome"], first["run_id"]) == (
        "71.0",
        "71.0",
        "equal",
        1,
    )
    assert figures["all", "P@10"]["outcome"] == "off"
    assert figures["size=9", "P@10"]["why"].startswith("run 1 has no such score")
    rows = {(row["row"], row["measure"]): row for row in call("reproduce", "-q", "--json").data}
    assert rows["Heavy", "P@10"]["why"] == (
        "weights absent: the model nobody/has-this-model is not on this machine"
    )
    assert rows["Heavy", "P@10"]["command"] == "pinakes reproduce reproduced --only Heavy"
    tfidf = rows["TF-IDF", "P@10"]
    assert (tfidf["why"], tfidf["command"]) == ("not run yet", "pinakes run reproduced --system tfidf")
    nobody = rows["Of nobody|<b>", "P@10"]
    assert (nobody["why"], nobody["command"]) == ("no system of Pinakes is known to be it", "")


def test_without_a_benchmark_nothing_is_run_and_two_files_are_written(
    call: Call, benchmark: str, tmp_path: Path
) -> None:
    shown = call("reproduce", "-q")
    assert shown.code == 0
    assert "Not run, and why" in shown.out
    assert "reproduced" in shown.out.partition("Published figures")[2]
    assert call("sql", "SELECT COUNT(*) AS runs FROM runs", "--format", "json", "-q").data == [{"runs": 0}]
    folder = tmp_path / "reproduction-report"
    page = (folder / "reproduction.html").read_text(encoding="utf-8")
    text = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert page.count("<details") == text.count("\n## ") - 1 - count_more_sources(text)
    assert "Of nobody|&lt;b&gt;" in page
    assert "Of nobody\\|\\<b\\>" in text


def count_more_sources(text: str) -> int:
    """Tables beyond the first of each benchmark."""
    titles = [line[3:].partition(":")[0] for line in text.splitlines() if line.startswith("## ")][1:]
    return len(titles) - len(set(titles))


@pytest.mark.parametrize(
    ("prepared_url", "with_csfcube"),
    [
        ("postgresql", False),
        pytest.param("duckdb", True, marks=pytest.mark.long),
        pytest.param("postgresql", True, marks=pytest.mark.long),
    ],
    indirect=["prepared_url"],
)
def test_all_baselines_are_run_where_it_is_asked_and_what_fails_is_named(
    call: Call, benchmark: str, tmp_path: Path, with_csfcube: bool
) -> None:
    broken = tmp_path / "benchmarks" / "broken"
    shutil.copytree(SYNTHETIC, broken)
    with (broken / "benchmark.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[baselines]]\nsystem = "bm25"\noptions = { k1 = "1" }\n')
    if not with_csfcube:  # which has twenty baselines
        assert call("remove", "corpus", "csfcube", "--yes", "--quiet").code == 0
    done = call("reproduce", "--run", "--json")
    rows = [row for row in done.data if row["benchmark"] == benchmark]
    assert [row["outcome"] for row in rows][:2] == ["equal", "off"]
    assert done.code == 1
    assert "broken" in done.err
    assert "unknown option of bm25 'k1'" in done.err


def test_an_imported_ranking_is_held_against_the_figure_of_its_name(
    prepared: Database, benchmark: str, tmp_path: Path
) -> None:
    query, document = first_candidate(prepared, benchmark)
    file = tmp_path / "theirs.txt"
    file.write_text(f"{query} Q0 {document} 1 1.0 t\n", encoding="utf-8")
    run_id = import_run(prepared, ImportRequest(benchmark, "of nobody B", [file])).run_id
    evaluate(prepared, benchmark)
    found = index_rows(gather_matrix(prepared, benchmark))["Of nobody|<b>", "all", "P@10"]
    assert (found.run_id, found.outcome) == (run_id, "off")
    assert found.why == "imported from theirs.txt; 49 queries without an answer"
    change(prepared, "DELETE FROM scores")
    again = index_rows(gather_matrix(prepared, benchmark))["Of nobody|<b>", "all", "P@10"]
    assert (again.outcome, again.run_id) == ("not run", None)


def first_candidate(database: Database, benchmark: str) -> tuple[str, str]:
    from pinakes.workload.benchmark import open_benchmark

    open_benchmark(database, benchmark)
    with database.read() as session:
        row = session.first(
            f"SELECT query_id, source_id FROM {benchmark}.judgments AS judged "
            "INNER JOIN papers ON judged.paper_id = papers.paper_id ORDER BY query_id, source_id LIMIT 1"
        )
    assert row is not None
    return row["query_id"], row["source_id"]


def test_averages_of_a_suite_need_all_their_figures(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_suite(tmp_path / "benchmarks")))
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "indexes"))
    encoder = str(build_toy_encoder(tmp_path / "first"))
    options = SystemOptions(tmp_path / "indexes", precision="fp32")
    run_suite(prepared, RunRequest("little", "", options), [encoder])
    evaluate_suite(prepared, "little")
    found = index_rows(gather_matrix(prepared, "little"))
    toy, of_format = found["Toy", "Unseen", "Average"], found["Toy", "Unseen", "Average(PRX)"]
    assert toy.command == "pinakes run little --system first"
    values = [value for name in ("little_rank", "little_year") for value in read_values(prepared, name)]
    assert toy.value == pytest.approx(100 * sum(values) / 3)
    assert toy.measured == f"{100 * sum(values) / 3:.1f}"
    assert of_format.value == pytest.approx(100 * sum(values[:2]) / 2)
    # a benchmark of the other group is not loaded
    seen = found["Toy", "Seen", "Average"]
    assert (seen.outcome, seen.why) == ("not run", "1 of the 2 figures in it have a score")
    assert found["Toy", "Average", "Average"].why == "4 of the 5 figures in it have a score"
    assert found["Other", "Seen", "Average"].why == "no system of Pinakes is known to be it"


def read_values(database: Database, benchmark: str) -> list[float]:
    """The figures of a benchmark of the suite, by SQL."""
    with database.read() as session:
        rows = session.rows(
            f"SELECT value FROM suite_scores WHERE suite = 'little' AND benchmark = '{benchmark}'"
        )
    return [row["value"] for row in rows]


@pytest.mark.parametrize(
    ("name", "system", "command"),
    [
        ("csfcube", "fabs_tfidf", "pinakes reproduce csfcube --only fabs_tfidf"),
        ("scifact", "all-MiniLM-L6-v2", "pinakes run scifact --system minilm"),
        ("sciqfs", "Euclidean Distance, SPECTER", "--system sentence_similarity:specter --distance l2"),
        ("mdcr", "Of nobody", None),
    ],
)
def test_a_published_system_is_found_by_baseline_name_or_model(
    name: str, system: str, command: str | None
) -> None:
    target = find_target(read_benchmark(name), system, {})
    found = "" if target is None else target.command
    assert found.endswith(command) if command else target is None


def test_a_matrix_without_figures_and_one_that_failed_are_pages_too() -> None:
    empty = Matrix([], [("broken", "it <lacks> a title")])
    assert "it &lt;lacks&gt; a title" in render_page(empty)
    assert "it \\<lacks\\> a title" in render_text(empty)


def test_wrong_uses_are_named(call: Call, benchmark: str) -> None:
    assert "name it too" in call("reproduce", "--only", "x").err
    assert "run it with `pinakes run scirepeval" in call("reproduce", "scirepeval", "--run").err
    assert "is run anyway" in call("reproduce", benchmark, "--run").err
    unknown = call("reproduce", "no_such")
    assert (unknown.code, "no_such" in unknown.err) == (1, True)
    assert json.loads(call("reproduce", "scifact", "--json", "-q").out)[0]["benchmark"] == "scifact"
