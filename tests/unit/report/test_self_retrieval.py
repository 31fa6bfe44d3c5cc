"""The report on alternative-self retrieval: tables, words and pictures of a report worked out by hand."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from pinakes.queries.definition import PublishedScore
from pinakes.report.asked_runs import AskedRun
from pinakes.report.layout import Table
from pinakes.report.parts import Fold, Picture
from pinakes.report.self_retrieval.data import (
    Capability,
    Code,
    Coverage,
    LossBin,
    SelfReport,
    Similarity,
    ViewRows,
)
from pinakes.report.self_retrieval.findings import describe_loss
from pinakes.report.self_retrieval.page import render_page, render_text
from pinakes.report.self_retrieval.sections import list_sections
from pinakes.report.self_retrieval.tables import codes, paper
from pinakes.report.self_retrieval.tables.side_by_side import Wanted, compare_table, published_table
from pinakes.report.self_retrieval.terminal import list_lead_tables
from pinakes.report.stored_values import Value
from tests.html_pages import Page
from tests.unit.report.conftest import make_run

ATTACK = "<script>alert(1)</script>"
SOURCE = "Singh and Singh 2022"


def value(number: float, low: float | None = None, high: float | None = None) -> Value:
    return Value(number, 40, 39, low, high)


def printed(
    system: str, subset: str, measure: str, text: str, table: int, scale: int = 100
) -> PublishedScore:
    return PublishedScore(system, subset, measure, f"{SOURCE}, Table {table}", float(text) / scale, text)


@pytest.fixture
def report() -> SelfReport:
    """Two runs on ICLR and one on acl; a highly similar code, a dissimilar one, and one of a user's own."""
    values = {
        (1, "all", "robustness"): value(0.9, 0.88, 0.92),
        (1, "category=LL-HS", "MRR"): value(0.95),
        (1, "category=LO-DS", "MRR"): value(0.5),
        (1, "task=I", "MRR"): value(0.75, 0.7, 0.8),
        (1, "task=I", "T100"): value(0.99949),
        (1, "task=II", "MRR"): value(0.5),
        (1, "task=I/vectors=l2", "MRR"): value(0.751),
        (1, "category=LL-HS", "NN1"): value(0.9),
        (1, "category=LL-HS", "NN10"): value(0.96),
        (1, "category=LL-HS", "AOP@10[all]"): value(0.8, 0.79, 0.81),
        (1, "category=LL-HS", "AOP@10[without_own]"): value(0.82),
        (1, "code=TNNU_A", "NN1"): value(0.9),
        (1, "code=TNNU_A", "NN10"): value(0.96),
        (1, "code=TNNU_A", "MRR"): value(0.92),
        (1, "code=TDelNN", "NN1"): value(0.25),
        (2, "all", "robustness"): value(0.8),
        (2, "task=I", "MRR"): value(0.75049),
        (2, "category=LL-HS", "NN1"): value(0.91),
        (3, "task=I", "MRR"): value(0.6),
    }
    return SelfReport(
        name="self_retrieval",
        title="Alternative-self retrieval",
        citation="Somebody 2022, https://example.org/self",
        licence="none",
        mode="corrected",
        codes=[Code("TNNU_A", "LL-HS"), Code("TDelNN", "LO-DS"), Code("mine", "own")],
        runs=[
            AskedRun(make_run(1, "minilm"), "ICLR", ("neighbours 1",)),
            AskedRun(make_run(2, "bm25"), "ICLR", ("neighbours 1",)),
            AskedRun(make_run(3, "minilm"), "acl", ("neighbours 1",)),
        ],
        values=values,
        published=[
            printed("SciBERT", "ICLR/task=I", "MRR", "0.004", 3, 1),
            printed("SPECTER", "ICLR/task=I", "MRR", "0.586", 3, 1),
            printed("SciBERT", "ICLR/task=II", "MRR", "0", 3, 1),
            printed("SPECTER", "Arxiv-HEP/task=I", "MRR", "0.693", 3, 1),
            printed("SPECTER", "ICLR/category=LL-HS", "AOP@10[all]", "82.2", 4),
            printed("SPECTER", "all/category=LL-HS", "AOP@20[all]", "86.77", 5),
            printed("SPECTER", "all/category=LO-DS", "AOP@20[all]", "41.32", 5),
        ],
        losses={
            (1, "TNNU_A"): [LossBin(1, 40, 0.4, 2, 1.0), LossBin(2, 60, 2.4, 6, 3.0)],
            (1, "TDelNN"): [LossBin(2, 50, 2.0, 25, 20.0), LossBin(9, 100, 90.0, 80, 70.0)],
        },
        overlaps={(1, "TNNU_A", "all"): [0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0]},
        same={(1, "TNNU_A"): 3},
        similarities={
            (1, "T_A"): Similarity(40, 780, 0.1, 0.9, 0.5, 0.1, 390),
            (1, "TNNU_A"): Similarity(40, 780, -0.1, 0.8, 0.4, 0.1, 312),
        },
        maps={1: {"T": np.zeros((3, 2)), "T_A": np.ones((3, 2))}},
        capability=Capability(
            {"LL-HS": (75, None), "LL-PS": (50, 70), "LO-DS": (None, 20)},
            {(1, "LL-HS"): (80.04, True), (1, "LO-DS"): (35.0, False)},
        ),
        coverage=[Coverage("ICLR", "neighbours 1", "TDelNN", 40, 37, {"no title": 1, "no noun": 2}, 4, 30)],
        views={"table_2": ViewRows(("number", "corpus", "papers"), [(1, "ICLR", 5032), (2, "HEP", None)])},
        warnings=("bm25 on ICLR has no answer to 1 of 40 queries; each counts as zero.",),
    )


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.full_text for cell in row.cells] for row in table.rows]


def kinds(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.kind for cell in row.cells] for row in table.rows]


def test_our_runs_stand_above_the_published_of_their_corpus(report: SelfReport) -> None:
    table = compare_table(report, paper.task_table())
    assert texts(table) == [
        ["ICLR", "minilm", "0.750 (0.700 to 0.800)", "99.9", "0.500", "–"],
        ["ICLR", "bm25", "0.750", "–", "–", "–"],
        ["ICLR", "SciBERT (Table 3)", "0.004", "–", "0", "–"],
        ["ICLR", "SPECTER (Table 3)", "0.586", "–", "–", "–"],
        ["acl", "minilm", "0.600", "–", "–", "–"],
    ]
    assert table is not None
    assert [row.is_ours for row in table.rows] == [True, True, False, False, True]
    assert table.full_titles() == [
        "corpus",
        "system",
        "Task I MRR",
        "Task I T100",
        "Task II MRR",
        "Task II T100",
    ]


def test_values_that_print_alike_are_best_together_and_a_single_one_is_not(report: SelfReport) -> None:
    assert [row[2:5] for row in kinds(compare_table(report, paper.task_table()))] == [
        ["best", "plain", "plain"],
        ["best", "absent", "absent"],
        ["plain", "absent", "plain"],
        ["plain", "absent", "absent"],
        ["plain", "absent", "absent"],
    ]


def test_figures_of_corpora_that_no_run_asked_stand_apart(report: SelfReport) -> None:
    table = published_table(report, paper.task_table())
    assert texts(table) == [["Arxiv-HEP", "SPECTER (Table 3)", "0.693", "–", "–", "–"]]
    assert published_table(report, paper.normalised_table()) is None


def test_a_table_without_a_score_of_ours_is_left_out(report: SelfReport) -> None:
    assert compare_table(replace(report, values={}), paper.task_table()) is None
    assert texts(compare_table(report, paper.normalised_table())) == [
        ["ICLR", "minilm", "0.751", "–", "–", "–"]
    ]


def test_robustness_leads_with_its_interval_and_the_mrr_of_categories(report: SelfReport) -> None:
    table = compare_table(report, paper.robustness_table(report))
    assert texts(table) == [
        ["ICLR", "minilm", "0.900 (0.880 to 0.920)", "0.950", "0.500", "–"],
        ["ICLR", "bm25", "0.800", "–", "–", "–"],
    ]
    assert [column.title for column in table.columns][2:] == ["robustness", "LL-HS", "LO-DS", "own"]  # type: ignore[union-attr]


def test_table_4_leads_with_the_reading_that_the_paper_describes(report: SelfReport) -> None:
    lead = compare_table(report, paper.overlap_table(report))
    assert [row[:3] for row in texts(lead)] == [
        ["ICLR", "minilm", "80.0 (79.0 to 81.0)"],
        ["ICLR", "SPECTER (Table 4)", "82.2"],
    ]
    readings = compare_table(report, paper.reading_tables(report)[0])
    assert readings is not None
    assert readings.full_titles()[2:5] == ["LL-HS all", "LL-HS without own", "LL-HS without pair"]
    assert [row[1:5] for row in texts(readings)] == [
        ["minilm", "80.0", "82.0", "–"],
        ["SPECTER (Table 4)", "82.2", "–", "–"],
    ]


def test_table_5_marks_what_meets_its_threshold(report: SelfReport) -> None:
    table = paper.capability_table(report)
    assert texts(table) == [
        ["threshold", "", "> 75", "", "50 to 70", "", "< 20"],
        ["ICLR", "minilm", "80.0", "–", "–", "–", "35.0"],
        ["all of the paper's", "SPECTER (Table 5)", "86.77", "–", "–", "–", "41.32"],
    ]
    assert [row[2] for row in kinds(table)] == ["plain", "best", "best"]
    assert [row[6] for row in kinds(table)] == ["plain", "plain", "plain"]
    assert paper.capability_table(replace(report, capability=Capability())) is None


def test_code_table_says_how_much_a_code_changes_and_what_is_missing(report: SelfReport) -> None:
    table = codes.code_table(report, report.runs[0])
    assert texts(table) == [
        ["TNNU_A", "LL-HS", "40", "1", "2.8", "90.0", "96.0", "0.920", "–", "–", "3"],
        ["TDelNN", "LO-DS", "40", "1", "61.3", "25.0", "–", "–", "–", "–", "–"],
        ["mine", "own", "–", "–", "–", "–", "–", "–", "–", "–", "–"],
    ]
    assert kinds(table)[0][3] == "warning"


def test_loss_table_has_pairs_and_losses_by_bin_and_category(report: SelfReport) -> None:
    table = codes.loss_table(report, report.runs[0])
    assert [row[:7] for row in texts(table)] == [
        ["up to 2\u00a0%", "40", "5.0", "0.025", "–", "–", "–"],
        ["2 to 5\u00a0%", "60", "10.0", "0.050", "50", "50.0", "0.400"],
        ["60 to 80\u00a0%", "–", "–", "–", "100", "80.0", "0.700"],
    ]
    assert codes.loss_table(report, report.runs[1]) is None


def test_loss_is_told_in_words(report: SelfReport) -> None:
    assert describe_loss(report, report.runs[0]).replace("\u00a0", " ") == (
        "minilm on ICLR: of the neighbours that have up to 2 % of their characters changed, 5.0 % do not "
        "find their original first; of those that have 60 to 80 % changed, 80.0 % do not. Of those with 2 to "
        "5 % changed it is 10.0 % in LL-HS and 50.0 % in LO-DS: what is changed matters besides how much."
    )


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ({}, "minilm on ICLR: too few neighbours to say how the loss follows the change."),
        (
            {
                (1, "TNNU_A"): [LossBin(2, 100, 4.0, 10, 5.0), LossBin(3, 29, 2.0, 29, 20.0)],
                (1, "TDelNN"): [LossBin(2, 100, 4.0, 12, 5.0), LossBin(4, 30, 5.0, 15, 9.0)],
            },
            "minilm on ICLR: of the neighbours that have 2 to 5 % of their characters changed, 11.0 % do not "
            "find their original first; of those that have 10 to 20 % changed, 50.0 % do not. Of those with "
            "2 to 5 % changed it is 10.0 % in LL-HS and 12.0 % in LO-DS: the categories hardly differ.",
        ),
    ],
)
def test_words_keep_silent_of_bins_with_few_pairs(
    report: SelfReport, losses: Mapping[tuple[int, str], list[LossBin]], said: str
) -> None:
    changed = replace(report, losses=losses)
    assert describe_loss(changed, report.runs[0]).replace("\u00a0", " ") == said


def test_similarity_table_begins_with_the_originals(report: SelfReport) -> None:
    assert texts(codes.similarity_table(report, report.runs[0])) == [
        ["T_A", "originals", "40", "780", "0.100", "0.900", "0.500", "0.100", "50.0"],
        ["TNNU_A", "LL-HS", "40", "780", "-0.100", "0.800", "0.400", "0.100", "40.0"],
    ]


def test_coverage_says_why_papers_have_no_neighbour(report: SelfReport) -> None:
    (table,) = codes.coverage_tables(report)
    assert table.title == "Coverage of ICLR"
    assert texts(table) == [["TDelNN", "40", "37", "92.50", "4", "30", "no noun: 2; no title: 1"]]


def test_a_view_is_shown_without_its_number(report: SelfReport) -> None:
    table = codes.view_table("Table 2", report.views["table_2"])
    columns = [(column.title, column.is_number) for column in table.columns]
    assert columns == [
        ("corpus", False),
        ("papers", True),
    ]
    assert texts(table) == [["ICLR", "5,032"], ["HEP", "–"]]


def test_sections_without_anything_to_show_are_left_out(report: SelfReport) -> None:
    headings = [one.heading for one in list_sections(report)]
    assert headings == [
        "Robustness",
        "Titles as queries",
        "Do neighbours find their original?",
        "Do they share its nearest papers?",
        "How alike are all papers?",
        "Loss against change",
        "Papers and neighbours",
        "What the paper prints of other corpora",
    ]
    bare = replace(report, losses={}, similarities={}, coverage=[], views={}, maps={})
    assert [one.heading for one in list_sections(bare)] == [*headings[:4], headings[-1]]


def test_page_is_whole_and_refers_to_nothing_outside_itself(report: SelfReport) -> None:
    text = render_page(report)
    page = Page(text)
    assert page.open == []
    assert [name for name, count in Counter(page.values("id")).items() if count > 1] == []
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "a"}
    assert re.findall(r"https?://[^\s<\"]+", text) == ["https://example.org/self"]
    assert "nan" not in re.findall(r"[\w.]+", text)
    assert text == render_page(report)


def test_page_draws_every_picture(report: SelfReport) -> None:
    parts = [part for one in list_sections(report) for part in one.parts]
    inner = [one for part in parts if isinstance(part, Fold) for one in part.parts]
    pictures = [part for part in (*parts, *inner) if isinstance(part, Picture)]
    assert Page(render_page(report)).tags["svg"] == len(pictures) == 10


def test_markup_in_names_is_text(report: SelfReport) -> None:
    runs = [
        replace(run, corpus=f"{ATTACK}{run.corpus}", producers=(ATTACK,), row=replace(run.row, label=ATTACK))
        for run in report.runs
    ]
    hostile = replace(
        report, title=ATTACK, citation=ATTACK, runs=runs, codes=[Code(ATTACK, "own")], warnings=(ATTACK,)
    )
    text = render_page(hostile)
    assert ATTACK not in text
    assert Page(text).tags["script"] == 0


def test_markdown_has_the_tables_and_how_runs_were_made(report: SelfReport) -> None:
    text = render_text(report)
    assert "| ICLR | minilm | **0.750 (0.700 to 0.800)** | 99.9 | 0.500 | – |" in text
    assert "| *ICLR* | *SPECTER (Table 3)* | *0.586* | *–* | *–* | *–* |" in text
    assert "- ⚠ **bm25 on ICLR has no answer to 1 of 40 queries; each counts as zero.**" in text
    assert "### minilm on acl\n\n- corpus: acl\n- neighbours: neighbours 1\n- run: 3" in text


def test_terminal_shows_the_tables_of_scores(report: SelfReport) -> None:
    assert [table.title for table in list_lead_tables(report)] == [
        "Robustness",
        "Table 3: titles as queries",
        "Table 9: Task I with normalised vectors",
        "Neighbours that find their original (Figures 5 and 11)",
        "Table 4: overlap of the 10 nearest (AOP-10)",
        "Table 5: capability, by AOP-20",
    ]


def test_a_wanted_table_of_nothing_is_none(report: SelfReport) -> None:
    assert compare_table(report, Wanted("nothing", [])) is None
