"""`report sciqfs` on both databases, from examples, runs and scores as they are stored."""

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.evaluate import evaluate
from pinakes.report.own_reports import find_own_report
from pinakes.report.reproduction.data import Matrix
from pinakes.report.site import write
from pinakes.report.summaries.data import Dataset, Gap, PartCount, Positives, StepScores, SummaryReport
from pinakes.report.summaries.gather import gather_summaries
from pinakes.report.summaries.page import render_page, render_text
from pinakes.run.run import RunRequest, run
from pinakes.schema import absent_examples, summary_augmentations, trained_models
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import open_benchmark
from tests.calling import make_call
from tests.html_pages import Page
from tests.summary_worlds import CORRECTED, PRODUCER, PUBLISHED, SMALL, Cited, World, add_world

pytestmark = pytest.mark.in_turn

ASKED = ("toy", PRODUCER)
HOSTILE = "Proteins & <script>alert('graphs')</script> fold."
CITED = "They fold\nand <i>unfold</i>"
WORLD: World = {
    **SMALL,
    "p3": ([[HOSTILE, "Folding takes time.", "Cells divide."]], SMALL["p3"][1]),
    "p5": (
        [[f"Sentence {number} speaks of proteins." if number % 20 else HOSTILE for number in range(1, 61)]],
        {
            "r6": Cited(
                "proteins & <b>how</b> they fold", [2, 3, 30, 60], cited="They fold\nand <i>unfold</i>"
            )
        },
    ),
}


def write_rows(database: Database) -> None:
    """How augmentations ended, and pairs that are no example."""
    pairs = [(1, 1), (1, 2), (2, 1)]
    key = {
        "paper_id": [paper for paper, _reference in pairs] * 2,
        "reference_id": [reference for _paper, reference in pairs] * 2,
        "producer": [PRODUCER] * 6,
    }
    ended = {"steps": [1] * 6, "start_score": [0.1, 0.2, 0.3] * 2, "score": [0.5] * 6}
    absent = {"paper_id": [1, 1, 4], "reference_id": [3, 4, 1], "producer": [PRODUCER] * 3}
    with database.begin() as session:
        labellers = [CORRECTED] * 3 + [PUBLISHED] * 3
        session.insert(summary_augmentations, pa.table({**key, "labeller": labellers, **ended}))
        reasons = ["no abstract", "no abstract", "no <context>"]
        session.insert(absent_examples, pa.table({**absent, "reason": reasons}))
        session.execute("UPDATE summary_labels SET score = 0.4 + 0.1 * step")
        # a citing sentence is one without a step
        session.execute("UPDATE summary_labels SET step = NULL WHERE paper_id = 5 AND position = 60")


def fill(database: Database) -> Database:
    """Three systems on a corpus in both modes, one of them run twice with other settings."""
    add_world(database, WORLD)
    write_rows(database)
    chars = SystemOptions(Path(), parameters={"analysis": "chars"})
    for mode in ("corrected", "published"):
        for system, options in (("sentence_tfidf", None), ("sentence_tfidf", chars), ("sentence_bm25", None)):
            run(database, RunRequest("sciqfs", system, corpus="toy", mode=mode, options=options))
    models = {
        "run_id": [3, 3],
        "trial": [1, 2],
        "settings": ['{"hidden": 100, "note": "<u>"}', '{"hidden": 200}'],
        "epochs": [5, 9],
        "dev_score": [0.25, 0.5],
        "chosen": [False, True],
    }
    with database.begin() as session:
        session.insert(trained_models, pa.table(models))
    measures = ["AP", "AUC", "AP[2SE]", "AUC[2SE]", "AP[global]", "AP[undefined]", "AUC[undefined]"]
    evaluate(database, "sciqfs", measures=[*measures, "ROUGE1@2[query]"])
    return database


@pytest.fixture(scope="module")
def both_filled(both_initialised: tuple[Database, Database]) -> tuple[Database, Database]:
    """DuckDB and Postgres with the same runs; no test changes them."""
    duck, post = map(fill, both_initialised)
    return duck, post


@pytest.fixture(params=[0, 1], ids=["duckdb", "postgresql"])
def filled(request: pytest.FixtureRequest, both_filled: tuple[Database, Database]) -> Database:
    return both_filled[request.param]


def gather(database: Database, **options: object) -> SummaryReport:
    return gather_summaries(database, open_benchmark(database, "sciqfs"), **options)  # type: ignore[arg-type]


def test_the_report_gathers_what_the_database_has(filled: Database) -> None:
    found = gather(filled)
    assert (found.mode, found.asked_mode.scheme) == ("corrected", "by_paper")
    assert sorted(run.run_id for run in found.runs) == [1, 2, 3]
    assert found.variations[2].published == "Cosine Similarity, TFIDF-Chars"
    values = [found.values[run.run_id, "all", "AP"].value for run in found.runs]
    assert values == sorted(values, reverse=True)
    undefined = found.find_value(1, "AP[undefined]")
    assert (undefined and undefined.value, undefined and undefined.expected) == (1.0, 5)
    assert found.datasets[ASKED] == Dataset(
        pairs=10,
        examples=7,
        absent={"no abstract": 2, "no <context>": 1},
        papers=5,
        works=6,
        sentences=72,
        median_sentences=3.0,
        splits={
            "by_example": {
                "train": PartCount(2, 6),
                "dev": PartCount(1, 2),
                "test": PartCount(4, 71, 1, 3),
            },
            "by_paper": {"train": PartCount(1, 3), "dev": PartCount(1, 2), "test": PartCount(5, 74)},
        },
    )


def test_table_4_is_of_the_training_examples(filled: Database) -> None:
    names = ("mean", "deviation", "lowest", "first_quartile", "median", "third_quartile", "highest")
    shares = {name: 0.0 if name == "deviation" else 2 / 3 for name in names}
    found = gather(filled)
    assert found.positives[ASKED] == Positives(1, 0, 2.0, shares, {2: (1, 1.0)})
    assert (found.printed.shares["median"], found.printed.spans[2]) == ("3.66 %", "4.739 %")


def test_a_curve_has_the_examples_of_each_step(filled: Database) -> None:
    curves = gather(filled).curves[ASKED]
    assert list(curves) == [CORRECTED]
    rounded = [
        replace(one, first_quartile=round(one.first_quartile, 9), third_quartile=round(one.third_quartile, 9))
        for one in curves[CORRECTED]
    ]
    assert rounded == [
        StepScores(0, 3, 0.15, 0.2, 0.25),
        StepScores(1, 6, 0.5, 0.5, 0.5),
        StepScores(2, 3, 0.6, 0.6, 0.6),
        StepScores(3, 1, 0.7, 0.7, 0.7),
    ]
    assert list(gather(filled, mode="published").curves[ASKED]) == [PUBLISHED]


def test_a_long_example_shows_marked_sentences_with_their_neighbours(filled: Database) -> None:
    (example,) = gather(filled).examples
    assert (example.query_id, example.sentences, example.relevant) == ("p5|r6", 60, 4)
    assert example.contexts == ["They fold", "and <i>unfold</i>"]
    shown = [line for line in example.lines if not isinstance(line, Gap)]
    skipped = sum(line.sentences for line in example.lines if isinstance(line, Gap))
    assert len(shown) + skipped == 60
    assert [(one.number, one.step, one.is_citing) for one in shown if one.step or one.is_citing] == [
        (2, 1, False),
        (3, 2, False),
        (30, 3, False),
        (60, None, True),
    ]
    by_terms = {one.ranks[3]: one.number for one in shown if 3 in one.ranks}
    # "fold" is in the hostile sentences alone; the others are equal, and the first two come
    assert by_terms == {1: 20, 2: 40, 3: 60, 4: 1, 5: 2}


def test_both_databases_give_the_same_page(both_filled: tuple[Database, Database]) -> None:
    told = r"- (started|took|digest.*|run digest): .*\n"
    first, second = (re.sub(told, "", render_text(gather(database))) for database in both_filled)
    assert first == second


def test_texts_are_escaped_and_the_page_is_whole(filled: Database) -> None:
    html = render_page(gather(filled))
    page = Page(html)
    assert not page.open
    assert page.tags["script"] == page.tags["i"] == 0
    assert "&lt;script&gt;" in html
    assert "and &lt;i&gt;unfold&lt;/i&gt;" in html
    assert "no &lt;context&gt;" in html
    assert page.tags["svg"] == 1
    assert html == render_page(gather(filled))
    assert "Table 4: length of spans" in html
    for heading in ("Which sentences matter?", "An example side by side", "Methods", "Augmentation"):
        assert f"<h2>{heading}</h2>" in html
    text = render_text(gather(filled))
    assert "<script>" not in text
    assert "\\<script\\>" in text


def test_modes_are_never_in_one_table(filled: Database) -> None:
    published = gather(filled, mode="published")
    assert sorted(run.run_id for run in published.runs) == [4, 5, 6]
    with pytest.raises(EvaluationError, match="of the modes corrected and published"):
        gather(filled, run_ids=[1, 4])


def test_the_command_writes_both_files(
    initialised_duckdb: Database, duckdb_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(initialised_duckdb).close()
    call = make_call(capsys)
    done = call("report", "sciqfs", "--folder", tmp_path / "made", "--db", duckdb_url)
    assert done.code == 0
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["report.html", "report.md"]
    assert "Table 3: average precision and ROC AUC" in done.out
    assert "Cosine Similarity, TFIDF-Words" in done.out
    assert call("report", "sciqfs", "-m", "AP", "--db", duckdb_url).code == 1


def test_a_run_without_scores_is_an_error(initialised_duckdb: Database) -> None:
    add_world(initialised_duckdb)
    run(initialised_duckdb, RunRequest("sciqfs", "sentence_bm25", corpus="toy"))
    with pytest.raises(EvaluationError, match="make them with `pinakes evaluate sciqfs`"):
        gather(initialised_duckdb)


def test_every_report_of_its_own_is_found() -> None:
    for name in ("sciqfs", "self_retrieval"):
        assert find_own_report(name) is not None
    assert find_own_report("scifact") is None


def test_a_site_has_its_page(filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "gather_matrix", lambda _database: Matrix([]))
    done = write.write_site(filled, tmp_path / "site")
    assert done.failed == []
    page = Page((tmp_path / "site" / "benchmarks" / "sciqfs" / "index.html").read_text())
    assert (page.open, page.tags["script"]) == ([], 2)
    assert "contents" in page.values("class")
    report = gather(filled)
    best = report.runs[0]
    ap = report.find_value(best.run_id, "AP")
    assert ap is not None
    overview = (tmp_path / "site" / "index.html").read_text()
    row = re.sub(r"<[^>]+>|\s+", " ", overview[overview.index('sciqfs/index.html">') :])
    shown = f"sciqfs {best.label} {ap.value:.4f} AP sentence extraction {ap.expected} "
    assert shown in " ".join(row.partition(">")[2].split())
    assert write.write_site(filled, tmp_path / "site").files.written == 0
