"""Reports from real tables: three runs of a benchmark of four queries, on DuckDB and on Postgres."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.compare import compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.load.summary import LoadSummary
from pinakes.queries.install import initialise
from pinakes.report.data import BenchmarkReport, PublishedFigure
from pinakes.report.gather import gather_report
from pinakes.report.html import render_html
from pinakes.report.markdown import render_markdown
from pinakes.report.present.load import load_tables
from pinakes.report.present.report import write_report
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.schema import pools, runs, sampled_queries, scores
from tests.sampled_rows import add_rows, add_scores

pytestmark = pytest.mark.in_turn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

TOML = """
title = "Four queries"
citation = "Somebody 2020"
licence = "CC0-1.0"
corpus = "tiny"
pool = "shared"
query_template = "text"
paper_template = "title_abstract"
headline_measure = "P@1"
measures = ["P@1", "RR"]
notes = ["Nothing to note."]
[grades]
1 = "relevant"
[aggregation]
group_by = ["topic"]
[[published]]
source = "Table 1"
scale = 100
measures = ["P@1"]
[published.rows.all]
Good = ["75.00"]
old = ["60.00"]
"""

VIEWS = {
    "queries": """
        SELECT query_id, paper_id, text, CASE WHEN query_id < 'q3' THEN 'graphs' ELSE 'cells' END AS topic
        FROM benchmark_queries""",
    "candidates": "SELECT paper_id FROM papers",
    "judgments": "SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = 'tiny'",
}

# q1 to q4 are answered by p1 to p4; `good` has all but q2 first, `poor` answers q1 to q3 and has q3 second.
RUNS = {
    "good": "q1 p1 p2|q2 p3 p2|q3 p3 p1|q4 p4 p1",
    "poor": "q1 p1 p2|q2 p2 p1|q3 p1 p3",
}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BEIR folder `tiny`, its benchmark where Pinakes looks for it, and the rankings as TREC files."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    numbers = range(1, 5)
    papers = [{"_id": f"p{n}", "title": f"Title {n}", "text": f"Text {n}"} for n in numbers]
    queries = [{"_id": f"q{n}", "text": f"Query {n}"} for n in numbers]
    for name, records in (("corpus", papers), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    lines = ["query-id\tcorpus-id\tscore", *(f"q{n}\tp{n}\t1" for n in numbers)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    home = tmp_path / "benchmarks" / "tiny"
    home.mkdir(parents=True)
    (home / "benchmark.toml").write_text(TOML)
    for view, statement in VIEWS.items():
        (home / f"{view}.sql").write_text(statement)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(home.parent))
    for system, rankings in RUNS.items():
        (folder / f"{system}.run").write_text(_write_run(rankings))
    return folder


def _write_run(rankings: str) -> str:
    lines = []
    for ranking in rankings.split("|"):
        query_id, *papers = ranking.split()
        lines += [f"{query_id} Q0 {paper} {rank} {-rank} x\n" for rank, paper in enumerate(papers, 1)]
    return "".join(lines)


def prepare(database: Database, corpus: Path) -> None:
    """Load, import both runs and evaluate them."""
    load(database, LoadRequest("beir", corpus))
    for system in RUNS:
        request = ImportRequest("tiny", system, [corpus / f"{system}.run"])
        import_run(database, request, clock=lambda: NOON)
    evaluate(database, "tiny")


def without_times(report: BenchmarkReport) -> BenchmarkReport:
    return replace(report, runs=[replace(run, elapsed_s=1.0) for run in report.runs])


def change(database: Database, statement: sa.Executable) -> None:
    with database.begin() as session:
        session.execute(statement)


def copy_run(database: Database, run_id: int, **changed: object) -> None:
    """Another run with the next number, like the given one but for the changes."""
    with database.begin() as session:
        row = session.rows(sa.select(runs).where(runs.c.run_id == run_id))[0]
        last = session.scalar(sa.select(sa.func.max(runs.c.run_id)))
        new = {**row, "run_id": last + 1, "run_digest": f"copy {last + 1}", **changed}
        session.execute(sa.insert(runs).values(**new))


def test_report_has_what_was_scored_and_what_was_published(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    report = gather_report(database, "tiny")
    assert (report.title, report.citation, report.licence) == ("Four queries", "Somebody 2020", "CC0-1.0")
    assert (report.headline_measure, report.headline_subset, report.scale) == ("P@1", "all", "percent")
    assert (report.measures, report.subsets) == (("P@1", "RR"), ("all", "topic=cells", "topic=graphs"))
    assert report.grades == {"1": "relevant"}
    assert report.published == [
        PublishedFigure("Good", "all", "P@1", "Table 1", 0.75, "75.00"),
        PublishedFigure("old", "all", "P@1", "Table 1", 0.6, "60.00"),
    ]
    found = {(one.run_id, one.subset): one.value for one in report.scores if one.measure == "P@1"}
    assert found == {
        (1, "all"): 0.75,
        (1, "topic=cells"): 1.0,
        (1, "topic=graphs"): 0.5,
        (2, "all"): 0.5,
        (2, "topic=cells"): 0.0,
        (2, "topic=graphs"): 1.0,
    }
    assert report.query_values == {
        1: {"q1": 1.0, "q2": 0.0, "q3": 1.0, "q4": 1.0},
        2: {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0},
    }
    pair = report.comparisons[0]
    assert (pair.run_a, pair.run_b, pair.mean_difference) == (1, 2, -0.25)
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 2)
    assert report.runs[0].started_at == NOON


def test_missing_answer_is_counted_and_warned_of(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    report = gather_report(database, "tiny")
    poor = next(one for one in report.scores if (one.run_id, one.subset, one.measure) == (2, "all", "P@1"))
    assert (poor.queries_expected, poor.queries_answered, poor.queries_missing) == (4, 3, 1)
    assert report.warnings == ["poor has no answer to 1 of 4 queries; each counts as zero."]
    assert "3/4, 1 missing" in render_html(report)
    assert "⚠ **3/4, 1 missing**" in render_markdown(report)


def test_both_databases_give_the_same_bytes(both_databases: tuple[Database, Database], corpus: Path) -> None:
    pages = []
    for database in both_databases:
        prepare(database, corpus)
        report = without_times(gather_report(database, "tiny"))
        pages.append((render_html(report), render_markdown(report)))
    assert pages[0] == pages[1]


def test_written_report_is_two_files_and_nothing_else(
    database: Database, corpus: Path, tmp_path: Path
) -> None:
    prepare(database, corpus)
    report = gather_report(database, "tiny")
    folder = tmp_path / "made" / "report"
    assert write_report(report, folder) == [folder / "report.html", folder / "report.md"]
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.md"]
    assert (folder / "report.html").read_text(encoding="utf-8") == render_html(report)
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("# Four queries\n\nSomebody 2020\n")


def test_folder_that_cannot_be_made_is_the_users_error(
    database: Database, corpus: Path, tmp_path: Path
) -> None:
    prepare(database, corpus)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        write_report(gather_report(database, "tiny"), tmp_path / "file")


def test_newest_run_of_the_same_settings_stands_for_the_older(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    copy_run(database, 1)
    copy_run(database, 1, precision="bf16")
    evaluated = [(run.run_id, run.label) for run in gather_report(database, "tiny", all_runs=True).runs]
    assert evaluated == [
        (1, "good, no precision, run 1"),
        (2, "poor"),
        (3, "good, no precision, run 3"),
        (4, "good, bf16"),
    ]
    newest = gather_report(database, "tiny")
    assert [(run.run_id, run.label) for run in newest.runs] == [
        (2, "poor"),
        (3, "good, no precision"),
        (4, "good, bf16"),
    ]
    assert newest.warnings[-1] == "Older runs of the same systems with the same settings are left out: 1."
    assert [run.run_id for run in gather_report(database, "tiny", [1]).runs] == [1]


def test_index_that_was_built_anew_is_no_other_setting(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    copy_run(database, 1, parameters='{"content_digest":"new"}')
    copy_run(database, 1, parameters='{"k1":0.9}')
    assert [run.run_id for run in gather_report(database, "tiny").runs] == [2, 3, 4]


def test_runs_of_one_system_are_called_by_what_differs(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    copy_run(database, 1, parameters='{"b":0.4,"k1":0.9,"content_digest":"new"}')
    copy_run(database, 1, parameters='{"b":0.4,"k1":1.2}')
    labels = {run.run_id: run.label for run in gather_report(database, "tiny", all_runs=True).runs}
    assert labels == {1: "good", 2: "poor", 3: "good, b 0.4, k1 0.9", 4: "good, b 0.4, k1 1.2"}


def test_run_that_was_not_evaluated_is_shown_and_said(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    change(database, sa.delete(scores).where(scores.c.run_id == 1))
    report = gather_report(database, "tiny")
    assert report.comparisons == []
    assert report.warnings[0] == "good was not evaluated by P@1."
    assert "not evaluated" in render_html(report)


def test_one_query_is_reported_and_said_to_be_too_few_for_a_comparison(
    database: Database, corpus: Path, tmp_path: Path
) -> None:
    for name in ("queries.jsonl", "qrels/test.tsv"):
        lines = (corpus / name).read_text().splitlines(keepends=True)
        (corpus / name).write_text("".join(line for line in lines if not re.search("q[2-9]", line)))
    for system, rankings in RUNS.items():
        (corpus / f"{system}.run").write_text(_write_run(rankings.partition("|")[0]))
    prepare(database, corpus)
    report = gather_report(database, "tiny")
    assert report.comparisons == []
    assert report.query_values == {1: {"q1": 1.0}, 2: {"q1": 1.0}}
    said = (
        "The runs are not compared. good (run 1) and poor (run 2): a comparison needs at least two queries, "
        "and there is 1."
    )
    assert report.warnings == [said]
    page, text = (path.read_text("utf-8") for path in write_report(report, tmp_path / "report"))
    assert said in page
    assert said in text
    with pytest.raises(EvaluationError, match=r"good \(run 1\) and poor \(run 2\): .* at least two queries"):
        compare_subsets(database, "tiny")


def test_a_run_without_the_value_of_a_query_is_reported_and_not_compared(
    database: Database, corpus: Path
) -> None:
    prepare(database, corpus)
    change(database, sa.delete(scores).where(scores.c.run_id == 2, scores.c.query_id == "q4"))
    report = gather_report(database, "tiny")
    assert report.comparisons == []
    assert (
        "good (run 1) and poor (run 2): one system alone has a value of 1 of the queries"
        in report.warnings[-1]
    )


def test_a_group_of_one_query_is_said_not_to_be_compared(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    home = corpus.parent / "benchmarks" / "tiny" / "queries.sql"
    home.write_text(home.read_text().replace("< 'q3'", "< 'q2'"))
    initialise(database)
    report = gather_report(database, "tiny")
    assert [pair.subset for pair in report.comparisons] == ["all", "topic=cells"]
    assert "topic=graphs has 1 query, and a test needs two; not compared." in report.warnings


def test_other_rows_and_another_definition_are_warned_of(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    change(
        database, sa.update(runs).where(runs.c.run_id == 1).values(view_digest="old", dataset_digest="old")
    )
    assert gather_report(database, "tiny").warnings == [
        "good was made when the benchmark was defined otherwise than today.",
        "poor has no answer to 1 of 4 queries; each counts as zero.",
        "The runs did not all rank the same rows of the benchmark; compare them with care.",
    ]


def test_other_text_templates_are_no_other_rows(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    told = {"dataset_digest": "other", "query_template": "title", "paper_template": "title"}
    change(database, sa.update(runs).where(runs.c.run_id == 1).values(told))
    warnings = gather_report(database, "tiny").warnings
    assert warnings == ["poor has no answer to 1 of 4 queries; each counts as zero."]


def test_another_measure_can_lead(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    report = gather_report(database, "tiny", measure="MRR")
    assert report.headline_measure == "RR"
    assert report.query_values[1] == {"q1": 1.0, "q2": 0.5, "q3": 1.0, "q4": 1.0}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda database: gather_report(database, "tiny", [9]), "tiny has no run 9; its runs: 1, 2"),
        (lambda database: gather_report(database, "tiny", measure="P@3"), "no run of tiny has scores by P@3"),
    ],
)
def test_what_is_not_there_is_said(
    database: Database, corpus: Path, ask: Callable[[Database], object], message: str
) -> None:
    prepare(database, corpus)
    with pytest.raises(EvaluationError, match=message):
        ask(database)


GROUPED = {
    ("pool_size=1000", None): 0.25,
    ("pool_size=200", None): 0.5,
    ("pool_size=200/repeat=1", None): 0.25,
    ("pool_size=200/repeat=2", None): 0.75,
    ("mean(topic)", None): 0.75,
    ("type=random", None): 1.0,
    ("type=graph", None): 0.5,
    ("type=graph/topic=cells", None): 0.5,
    ("type=graph", "q1"): 0.125,
    ("type=graph", "q9"): 0.125,
}


def test_repeats_are_spreads_and_types_and_sizes_stand_apart(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    add_scores(database, 1, "P@1", GROUPED)
    report = gather_report(database, "tiny")
    assert report.subsets == ("all", "mean(topic)", "topic=cells", "topic=graphs")
    assert (report.sizes, report.types) == (
        ("pool_size=200", "pool_size=1000"),
        ("type=graph", "type=random"),
    )
    (spread,) = report.spreads
    assert (spread.subset, spread.repeats) == ("pool_size=200", 2)
    assert spread.deviation == pytest.approx(0.125**0.5)
    shown = {score.subset for score in report.scores if score.run_id == 1}
    assert shown == {*report.subsets, *report.sizes, *report.types}


def test_query_has_the_value_of_its_whole_pool_not_that_of_a_type(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    add_scores(database, 1, "P@1", GROUPED)
    report = gather_report(database, "tiny")
    assert report.query_values[1] == {"q1": 1.0, "q2": 0.0, "q3": 1.0, "q4": 1.0}
    assert report.comparisons[0].mean_difference == -0.25


def test_groups_are_compared_where_they_are_few(
    database: Database, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(database, corpus)
    few = gather_report(database, "tiny").comparisons
    assert [(pair.subset, pair.queries, pair.mean_difference) for pair in few] == [
        ("all", 4, -0.25),
        ("topic=cells", 2, -1.0),
        ("topic=graphs", 2, 0.5),
    ]
    monkeypatch.setattr("pinakes.report.gather.MOST_COMPARED_GROUPS", 1)
    assert [pair.subset for pair in gather_report(database, "tiny").comparisons] == ["all"]


def read_load_rows(summary: LoadSummary) -> list[list[str]]:
    tables = load_tables(summary.corpus, summary)
    return [[cell.text for cell in row.cells] for row in tables[0].rows]


def test_load_is_reported_file_by_file(database: Database, corpus: Path) -> None:
    rows = read_load_rows(load(database, LoadRequest("beir", corpus)))
    assert rows == [
        ["corpus.jsonl", "papers", "4", "4", "0", "0", "0"],
        ["queries.jsonl", "queries", "4", "4", "0", "0", "0"],
        ["qrels/test.tsv", "judgments", "4", "4", "0", "0", "0"],
    ]
    again = read_load_rows(load(database, LoadRequest("beir", corpus)))
    assert [row[2] for row in again] == ["in before"] * 3


def test_query_of_several_pools_counts_once_by_its_mean(database: Database, corpus: Path) -> None:
    prepare(database, corpus)
    add_rows(database, pools, [("tiny", f"2/{n}", "s", 2, 2, n, None, "test") for n in (1, 2)])
    add_rows(database, sampled_queries, [("tiny", query, 1, None, "test") for query in ("q1", "q2")])
    change(database, sa.delete(scores).where(scores.c.query_id.is_not(None)))
    for run_id, values in ((1, (1.0, 0.5, 0.25, 0.25)), (2, (0.5, 0.5, 0.0, 0.5))):
        ids = [f"2/{repeat}/{query}" for query in ("q1", "q2") for repeat in (1, 2)]
        keys = [("all", query_id) for query_id in ids]
        add_scores(database, run_id, "P@1", dict(zip(keys, values, strict=True)))
    report = gather_report(database, "tiny")
    assert report.query_values == {1: {"q1": 0.75, "q2": 0.25}, 2: {"q1": 0.5, "q2": 0.25}}
    (pair,) = report.comparisons
    assert (pair.queries, pair.mean_difference, pair.ties, pair.losses) == (2, -0.125, 1, 1)
