"""`report self_retrieval` on both databases, from rows as runs and evaluations store them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.evaluate import evaluate
from pinakes.report.reproduction.data import Matrix
from pinakes.report.self_retrieval.data import Coverage, LossBin, SelfReport
from pinakes.report.self_retrieval.gather import gather_scores, gather_self_retrieval
from pinakes.report.self_retrieval.page import render_page, render_text
from pinakes.report.self_retrieval.terminal import is_self_retrieval
from pinakes.report.site import write
from pinakes.report.stored_values import Value
from pinakes.run import run as run_module
from pinakes.run.run import RunRequest, run
from pinakes.schema import absent_variants
from pinakes.workload.benchmark import open_benchmark
from tests import self_runs
from tests.calling import make_call
from tests.html_pages import Page
from tests.self_runs import (
    make_intervals,
    make_map,
    make_overlaps,
    make_ranks,
    make_run,
    make_scores,
    make_similarity,
    store,
)
from tests.self_worlds import PAPERS, PRODUCER, VARIANTS, Letters, Paper, write_corpus, write_variants

pytestmark = pytest.mark.in_turn

READINGS = ("all", "without_own", "without_pair")
SCORES = {
    ("all", "robustness"): 0.75,
    ("task=I", "MRR"): 0.5,
    ("task=I", "T100"): 0.9,
    ("category=LL-HS", "NN1"): 0.625,
    ("category=LL-HS", "AOP@20[all]"): 0.8,
    ("category=LL-HS", "AOP@20[without_own]"): 0.1,
    ("code=TNNU_A", "NN1"): 0.625,
    ("code=T_ARot", "NN1"): 0.5,
    ("code=mine", "NN1"): 0.5,
}


@pytest.fixture
def filled(initialised: Database) -> Database:
    """Two corpora's runs: minilm twice and bm25 on acl, bm25 alone on ICLR; one in the mode published."""
    digest = open_benchmark(initialised, "self_retrieval").digest
    made = [
        make_run(1, "minilm", "acl", view_digest=digest),
        make_run(2, "minilm", "acl", view_digest=digest, queries_answered=90),
        make_run(3, "bm25", "acl", view_digest=digest),
        make_run(4, "bm25", "ICLR"),
        make_run(5, "bm25", "acl", view_digest=digest, mode="published"),
    ]
    scored = [*make_scores(2, SCORES), *make_scores(3, {("all", "robustness"): 0.8})]
    scored += [*make_scores(4, {("all", "robustness"): 0.7}), *make_scores(5, {("all", "robustness"): 0.1})]
    ranks = make_ranks(2, "TNNU_A", [(1, 0.0), (2, 0.02), (1, 0.03), (None, 0.03), (4, 1.0)])
    ranks += make_ranks(2, "T", [(1, None)], scheme="I")  # type: ignore[list-item]
    shared = [make_overlaps(2, "TNNU_A", reading, [10, 3, None, 3], same=1) for reading in READINGS]
    store(
        initialised,
        runs=made,
        scores=scored,
        intervals=make_intervals(2, {("all", "robustness"): (0.7, 0.8)}),
        ranks=ranks,
        overlaps=[row for of_reading in shared for row in of_reading],
        similarities=[make_similarity(2, "T_A", 0.5)],
        maps=[*make_map(2, "T", [(0, 1)]), *make_map(2, "T_A", [(2, 3), (4, 5)])],
    )
    return initialised


def gather(database: Database, run_ids: Sequence[int] = (), **options: Any) -> SelfReport:
    return gather_self_retrieval(database, open_benchmark(database, "self_retrieval"), run_ids, **options)


def test_newest_run_of_each_system_and_corpus_is_shown(filled: Database) -> None:
    found = gather(filled)
    assert [(run.corpus, run.label, run.run_id) for run in found.runs] == [
        ("ICLR", "bm25", 4),
        ("acl", "bm25", 3),
        ("acl", "minilm", 2),
    ]
    assert found.mode == "corrected"
    assert found.warnings == [
        "minilm on acl has no answer to 10 of 100 queries; each counts as zero.",
        "Made when the benchmark was defined otherwise than today: bm25 on ICLR.",
        "Older runs of the same systems on the same corpora are left out: 1.",
    ]


def test_runs_that_are_named_are_of_one_mode(filled: Database) -> None:
    assert [run.run_id for run in gather(filled, [1, 3, 4]).runs] == [4, 3, 1]
    assert [run.run_id for run in gather(filled, mode="published").runs] == [5]
    with pytest.raises(EvaluationError, match="of the modes corrected and published"):
        gather(filled, [3, 5])


def test_runs_without_scores_are_an_error(filled: Database) -> None:
    with pytest.raises(EvaluationError, match="make them with `pinakes evaluate self_retrieval`"):
        gather(filled, [1])


def test_scores_come_with_their_intervals_and_codes_in_the_papers_order(filled: Database) -> None:
    found = gather_scores(filled, open_benchmark(filled, "self_retrieval"))
    assert found.values[2, "all", "robustness"] == Value(0.75, 100, 100, 0.7, 0.8)
    assert found.values[2, "task=I", "MRR"] == Value(0.5, 100, 100)
    assert [(one.code, one.category) for one in found.codes] == [
        ("TNNU_A", "LL-HS"),
        ("T_ARot", "LL-PS"),
        ("mine", "own"),
    ]
    assert found.capability.limits == {"LL-HS": (75, None)}
    ((key, (aop_20, is_met)),) = found.capability.values.items()
    assert (key, round(aop_20, 9), is_met) == ((2, "LL-HS"), 80, True)


def test_losses_are_summed_by_the_share_changed(filled: Database) -> None:
    assert gather(filled).losses == {
        (2, "TNNU_A"): [
            LossBin(0, 1, 0.0, 0, 0.0),
            LossBin(1, 1, 0.02, 1, 0.5),
            LossBin(2, 2, 0.06, 1, 1.0),
            LossBin(10, 1, 1.0, 1, 0.75),
        ]
    }


def test_overlaps_are_counted_and_what_is_missing_shares_nothing(filled: Database) -> None:
    found = gather(filled)
    counts = [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1]
    assert found.overlaps == {(2, "TNNU_A", reading): counts for reading in READINGS}
    assert found.same == {(2, "TNNU_A"): 1}


def test_maps_are_points_by_code(filled: Database) -> None:
    maps = gather(filled).maps
    assert {run: {code: points.tolist() for code, points in of.items()} for run, of in maps.items()} == {
        2: {"T": [[0, 1]], "T_A": [[2, 3], [4, 5]]}
    }


def test_coverage_is_of_the_corpora_and_producers_that_were_asked(filled: Database) -> None:
    for number, name in enumerate(("acl", "other")):
        papers: list[Paper] = [(f"p{place}", "A title", "An abstract.") for place in range(4)]
        write_corpus(filled, name, papers, first=10 * number)
        texts = [
            ("TNNU_A", f"p{place}", title, "An abstract.")
            for place, title in enumerate(("A TITLE", "A title"))
        ]
        write_variants(filled, name, texts, self_runs.PRODUCER)
    write_variants(filled, "acl", [("T_ARot", "p0", "A title", "Another.")], "somebody else")
    with filled.begin() as session:
        absent = {"code": "TNNU_A", "reason": "no noun", "producer": self_runs.PRODUCER}
        session.execute(sa.insert(absent_variants).values(paper_id=2, **absent))
    assert gather(filled).coverage == [
        Coverage("acl", self_runs.PRODUCER, "TNNU_A", 4, 2, {"no noun": 1, "not asked for": 1}, 1, 2)
    ]


def test_a_run_is_reported_as_it_was_made_and_scored(
    both_initialised: tuple[Database, Database], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "find_system", lambda _name, _options: Letters())
    files = []
    for database in both_initialised:
        write_corpus(database, "toy", PAPERS)
        write_variants(database, "toy", VARIANTS)
        run(database, RunRequest("self_retrieval", "letters", corpus="toy"))
        evaluate(database, "self_retrieval")
        found = gather(database)
        assert [(one.corpus, one.label, one.producers) for one in found.runs] == [
            ("toy", "letters", (PRODUCER,))
        ]
        assert found.warnings == [
            "letters on toy has no representation of 1 of 7 neighbours; each counts as zero."
        ]
        counts = {(one.code, one.made): (one.papers, one.equal, one.distinct) for one in found.coverage}
        assert counts["TNNU_A", 3] == (3, 1, 3)
        files.append(render_text(found).partition("## How the runs were made")[0])
        assert render_page(found).count("<svg") > 5
    assert files[0] == files[1]
    row = next(line for line in files[0].splitlines() if line.startswith("| toy | letters |"))
    assert row.split(" | ")[3:] == ["0.500", "1.000", "0.333", "1.000", "1.000 |"]


def test_report_writes_page_and_markdown_and_prints_the_scores(
    filled: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = make_call(capsys)
    url = filled.url.render_as_string(hide_password=False)
    filled.close()
    outcome = call("report", "self_retrieval", "--db", url, "--folder", tmp_path / "out")
    assert outcome.code == 0
    assert outcome.out.startswith("Robustness\n")
    assert re.search(r"acl +minilm +0\.750 \(0\.700 to 0\.800\)", outcome.out)
    assert "! minilm on acl has no answer to 10 of 100 queries; each counts as zero." in outcome.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.md"]
    refused = call("report", "self_retrieval", "--db", url, "--measure", "MRR")
    assert (refused.code, "leave --measure out" in refused.err) == (1, True)


def test_evaluate_prints_the_tables_of_the_report(
    initialised: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    store(
        initialised,
        runs=[make_run(1, "minilm", "acl"), make_run(2, "minilm", "acl", mode="published")],
        ranks=[
            row
            for run_id in (1, 2)
            for code in ("TNNU_A", "T_ARot", "T_ADelDT", "T_ADelNum")
            for row in make_ranks(run_id, code, [(1, 0.1), (2, 0.2), (4, 0.3), (None, 0.4)])
        ],
    )
    call, url = make_call(capsys), initialised.url.render_as_string(hide_password=False)
    initialised.close()
    outcome = call("evaluate", "self_retrieval", "--db", url)
    assert outcome.code == 0
    assert outcome.out.count("Neighbours that find their original (Figures 5 and 11)") == 2
    (row, *_other) = (line for line in outcome.out.splitlines() if line.startswith("acl"))
    assert (row.split()[:3], row.split()[-4:]) == (["acl", "minilm", "0.438"], ["0.438"] * 4)
    records = call("evaluate", "self_retrieval", "--db", url, "--json").data
    assert {(one["system"], one["mode"]) for one in records} == {
        ("minilm", "corrected"),
        ("minilm", "published"),
    }


def test_only_this_benchmark_has_this_report() -> None:
    assert is_self_retrieval("self_retrieval")
    assert not is_self_retrieval("scifact")


def test_a_site_has_its_page(filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "gather_matrix", lambda _database: Matrix([]))
    done = write.write_site(filled, tmp_path / "site")
    assert (done.benchmarks, done.failed) == (1, [])
    page = Page((tmp_path / "site" / "benchmarks" / "self_retrieval" / "index.html").read_text())
    assert (page.open, page.tags["script"]) == ([], 2)
    assert "contents" in page.values("class")
    assert "sortable n-last" in page.values("class")
    assert "self_retrieval" in (tmp_path / "site" / "index.html").read_text()
    monkeypatch.setattr(write, "render_own", lambda _own: pytest.fail("drawn again"))
    assert write.write_site(filled, tmp_path / "site").files.written == 0
