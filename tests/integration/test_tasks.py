"""A task that is none of ours, from its view to its scores: `run` and `evaluate` know nothing of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.evaluate.agreement import measure_agreement
from pinakes.evaluate.compare import compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.index import index as index_module
from pinakes.index.index import index
from pinakes.progress import Progress
from pinakes.queries.tasks import TASKS
from pinakes.records import Score
from pinakes.report.errors.gather import ErrorRequest, gather_errors
from pinakes.report.gather import gather_report
from pinakes.report.present.report import write_report
from pinakes.run import run as run_module
from pinakes.run.export_qrels import export_qrels
from pinakes.run.export_run import export_run
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import delete_run, find_runs
from pinakes.systems.base import IndexSummary, SystemDescription
from pinakes.tune.tune import TuneRequest, tune_bm25
from tests.benching import change, count, read_view
from tests.toy_task import ANSWERS, Examples

pytestmark = pytest.mark.in_turn

TOML = """
task = "toy"
title = "Labels of a test"
citation = "none"
licence = "none"
corpus = "csfcube"
paper_template = "title_abstract"
headline_measure = "Accuracy"
measures = ["Accuracy", "Errors"]
[aggregation]
group_by = ["parity"]
"""
EXAMPLES = """
SELECT
    source_id AS query_id,
    papers.title,
    CASE WHEN CAST(source_id AS INTEGER) < 5 THEN 'low' ELSE 'high' END AS label,
    CASE WHEN MOD(CAST(source_id AS INTEGER), 2) = 0 THEN 'even' ELSE 'odd' END AS parity
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = 'csfcube'
"""


class ToySystem:
    """Labels every title `low`, but for one that it leaves out."""

    def __init__(self, name: str, can: frozenset[str] = frozenset({"label"}), unlabelled: str = "") -> None:
        self.name, self.can, self.unlabelled = name, can, unlabelled
        self.asked: list[str] = []
        self.learnt = 0

    def describe(self, database: Database, examples: Examples) -> SystemDescription:
        return SystemDescription({"unlabelled": self.unlabelled}, "cpu")

    def index(self, database: Database, examples: Examples, progress: Progress) -> IndexSummary:
        added, self.learnt = len(examples.titles) - self.learnt, len(examples.titles)
        return IndexSummary(self.name, added, self.learnt - added, 0.0)

    def label(self, title: str) -> str | None:
        self.asked.append(title)
        return None if title == self.unlabelled else "low"


Systems = dict[str, ToySystem]


@pytest.fixture
def systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Systems:
    """The toy benchmark `labelled`, and systems to be found by their names."""
    folder = tmp_path / "benchmarks" / "labelled"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text(TOML)
    (folder / "examples.sql").write_text(EXAMPLES)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder.parent))
    monkeypatch.setitem(TASKS, "toy", "tests.toy_task:TOY")
    known = {
        "low": ToySystem("low"),
        "most": ToySystem("most", unlabelled="Title 1"),
        "ranker": ToySystem("ranker", frozenset({"rank"})),
    }
    for module in (run_module, index_module):
        monkeypatch.setattr(module, "find_system", lambda name, _options: known[name])
    return known


@pytest.fixture
def labelled(prepared: Database) -> Database:
    """A database with the table of the toy task."""
    with prepared.begin() as session:
        session.execute(sa.schema.CreateTable(ANSWERS))
    return prepared


def test_a_task_is_run_once_and_scored_later(labelled: Database, systems: Systems) -> None:
    made = run(labelled, RunRequest("labelled", "low"))
    assert (made.existing, made.queries_expected, made.queries_answered, made.hit_count) == (False, 9, 9, 9)
    assert len(systems["low"].asked) == 9
    again = run(labelled, RunRequest("labelled", "low"))
    assert (again.run_id, again.existing) == (made.run_id, True)
    assert len(systems["low"].asked) == 9
    assert (count(labelled, "runs"), count(labelled, "toy_labels"), count(labelled, "hits")) == (1, 9, 0)
    (result,) = evaluate(labelled, "labelled")
    assert result.aggregates() == [
        Score("Accuracy", "all", None, 4 / 9, 9, 9),
        Score("Accuracy", "parity=even", None, 2 / 4, 4, 4),
        Score("Accuracy", "parity=odd", None, 2 / 5, 5, 5),
        Score("Errors", "all", None, 5.0, 9, 9),
        Score("Errors", "parity=even", None, 2.0, 4, 4),
        Score("Errors", "parity=odd", None, 3.0, 5, 5),
    ]
    assert count(labelled, "scores") == len(result.scores) == 24
    (same,) = evaluate(labelled, "labelled")
    assert (same.aggregates(), same.scores) == (result.aggregates(), result.scores)
    assert (list(result.accepted), list(same.accepted)) == (["Accuracy", "Errors"], [])
    assert count(labelled, "scores") == 24


def test_an_answer_that_is_missing_counts_as_wrong_and_runs_are_compared_by_group(
    labelled: Database, systems: Systems
) -> None:
    for name in ("low", "most"):
        run(labelled, RunRequest("labelled", name))
    whole = {result.system: result.aggregates()[0] for result in evaluate(labelled, "labelled")}
    assert whole["most"] == Score("Accuracy", "all", None, 3 / 9, 9, 8)
    pairs = compare_subsets(labelled, "labelled", by="parity").pairs
    assert [(pair.measure, pair.subset, pair.comparison.losses) for pair in pairs] == [
        ("Accuracy", "all", 1),
        ("Accuracy", "parity=even", 0),
        ("Accuracy", "parity=odd", 1),
    ]


def test_deleting_a_run_deletes_the_answers_of_every_task(labelled: Database, systems: Systems) -> None:
    first = run(labelled, RunRequest("labelled", "low"))
    second = run(labelled, RunRequest("labelled", "most"))
    change(labelled, f"INSERT INTO hits VALUES ({first.run_id}, 'q', 1, 1, 1.0)")
    evaluate(labelled, "labelled")
    with labelled.begin() as session:
        delete_run(session, first.run_id)
    assert [row["run_id"] for row in find_runs(labelled, "labelled")] == [second.run_id]
    assert (count(labelled, "toy_labels"), count(labelled, "hits"), count(labelled, "scores")) == (8, 0, 24)
    made = run(labelled, RunRequest("labelled", "most", again=True))
    assert (made.existing, count(labelled, "toy_labels"), count(labelled, "scores")) == (False, 8, 0)


def test_a_run_is_made_anew_when_what_is_asked_changed(labelled: Database, systems: Systems) -> None:
    run(labelled, RunRequest("labelled", "low"))
    change(labelled, "UPDATE papers SET title = 'Another' WHERE source_id = '3'")
    assert run(labelled, RunRequest("labelled", "low")).run_id == 2


def test_a_system_that_cannot_do_what_a_task_needs_is_refused(labelled: Database, systems: Systems) -> None:
    with pytest.raises(
        InputError, match="ranker cannot label, which the task toy needs: it can rank a benchmark"
    ):
        run(labelled, RunRequest("labelled", "ranker"))
    with pytest.raises(
        InputError, match="low cannot rank a benchmark, which the task ranking needs: it can label"
    ):
        run(labelled, RunRequest("csfcube", "low"))
    assert count(labelled, "runs") == 0


def test_a_measure_of_another_task_is_refused(labelled: Database, systems: Systems) -> None:
    run(labelled, RunRequest("labelled", "low"))
    with pytest.raises(UnknownNameError, match="unknown measure 'nDCG@10'; known: Accuracy, Errors"):
        evaluate(labelled, "labelled", measures=["nDCG@10"])


def test_commands_for_rankings_refuse_a_benchmark_of_another_task(
    labelled: Database, systems: Systems, tmp_path: Path
) -> None:
    path = tmp_path / "run.txt"
    path.write_text("1 Q0 2 1 1 t\n")
    with pytest.raises(BenchmarkError, match="labelled has the task toy; expected ranking"):
        import_run(labelled, ImportRequest("labelled", "theirs", [path]))
    commands: list[Callable[[], object]] = [
        lambda: export_run(labelled, 1, path),
        lambda: export_qrels(labelled, "labelled", path),
        lambda: gather_errors(labelled, ErrorRequest("labelled")),
        lambda: measure_agreement(labelled, "labelled"),
        lambda: tune_bm25(labelled, TuneRequest("labelled")),
    ]
    run(labelled, RunRequest("labelled", "low"))
    for command in commands:
        with pytest.raises(BenchmarkError, match="labelled has the task toy; expected ranking"):
            command()
    assert path.read_text() == "1 Q0 2 1 1 t\n"


def test_what_a_system_learns_before_it_answers_is_made_by_index(
    labelled: Database, systems: Systems
) -> None:
    assert index(labelled, "labelled", "low") == IndexSummary("low", 9, 0, 0.0)
    assert index(labelled, "labelled", "low") == IndexSummary("low", 0, 9, 0.0)
    with pytest.raises(
        InputError, match="ranker cannot label, which the task toy needs: it can rank a benchmark"
    ):
        index(labelled, "labelled", "ranker")


def test_a_report_names_the_measures_of_the_task(
    labelled: Database, systems: Systems, tmp_path: Path
) -> None:
    for name in ("low", "most"):
        run(labelled, RunRequest("labelled", name))
    evaluate(labelled, "labelled")
    report = gather_report(labelled, "labelled")
    assert (report.headline_measure, report.measures) == ("Accuracy", ("Accuracy", "Errors"))
    found = {(one.run_id, one.subset, one.measure): one.value for one in report.scores}
    assert (found[1, "all", "Accuracy"], found[2, "all", "Accuracy"]) == (4 / 9, 3 / 9)
    assert {pair.subset for pair in report.comparisons} == {"all", "parity=even", "parity=odd"}
    pages = [path.read_text() for path in write_report(report, tmp_path / "report")]
    assert all("Accuracy" in page and "0.4444" in page for page in pages)
    with pytest.raises(UnknownNameError, match="unknown measure 'nDCG@10'; known: Accuracy, Errors"):
        gather_report(labelled, "labelled", measure="nDCG@10")


Broken = Callable[[str], str]
WRONG: dict[str, tuple[str, Broken, type[Exception], str]] = {
    "an unknown task": (
        "benchmark.toml",
        lambda text: text.replace('"toy"', '"sorting"'),
        UnknownNameError,
        "unknown task 'sorting'; known: classification, clustering, ranking, regression, .*, toy",
    ),
    "a key that the task needs": (
        "benchmark.toml",
        lambda text: text.replace("paper_template", "template"),
        BenchmarkError,
        r"labelled/benchmark.toml lacks paper_template",
    ),
    "a column that the task needs": (
        "examples.sql",
        lambda text: text.replace("AS label,", "AS class,"),
        BenchmarkError,
        r"labelled/examples.sql lacks the columns label",
    ),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_a_folder_that_is_not_as_its_task_says_is_refused(
    labelled: Database, systems: Systems, tmp_path: Path, case: str
) -> None:
    file, spoil, error, message = WRONG[case]
    path = tmp_path / "benchmarks" / "labelled" / file
    path.write_text(spoil(path.read_text()))
    with pytest.raises(error, match=message):
        run(labelled, RunRequest("labelled", "low"))


def test_a_folder_needs_the_views_of_its_task_alone(
    labelled: Database, systems: Systems, tmp_path: Path
) -> None:
    run(labelled, RunRequest("labelled", "low"))
    assert len(read_view(labelled, "labelled", "examples")) == 9
    path = tmp_path / "benchmarks" / "labelled" / "examples.sql"
    path.rename(path.with_name("queries.sql"))
    with pytest.raises(BenchmarkError, match=r"labelled has no examples\.sql"):
        run(labelled, RunRequest("labelled", "low"))
