"""Pairs of runs in words, and over groups of queries."""

from dataclasses import replace

import pytest

from pinakes.report.data import BenchmarkReport, PairTest
from pinakes.report.html import render_html
from pinakes.report.markdown import render_markdown
from pinakes.report.tables.significance import comparison_table, describe_winner, finding_table, list_compared
from tests.unit.report.conftest import make_run


@pytest.fixture
def compared(report: BenchmarkReport) -> BenchmarkReport:
    """Three runs: 2 is above 1 for sure and above 3 perhaps; in the topic cells 1 is above 2."""

    def pair(a: int, b: int, difference: float, p: float, subset: str = "all") -> PairTest:
        interval = (difference - 0.1, difference + 0.2)
        return PairTest(a, b, 4, difference, interval, 0.95, 2, 1, 1, 0.5, p, p, p, subset)

    pairs = [
        pair(1, 2, 0.25, 0.00001),
        pair(1, 3, 0.125, 0.02),
        pair(2, 3, -0.125, 0.3),
        pair(1, 2, -0.5, 0.01, "topic=cells"),
    ]
    values = {**report.query_values, 3: dict.fromkeys(("q1", "q2", "q3", "q4"), 0.5)}
    runs = (*report.runs, make_run(3, "fused"))
    return replace(report, runs=runs, comparisons=pairs, query_values=values)


def test_best_run_is_said_with_what_it_is_surely_above_and_what_perhaps(compared: BenchmarkReport) -> None:
    assert describe_winner(compared) == [
        "dense is above BM25 by 25.00 (95 % 15.00 to 45.00, p <0.0001 after Holm).",
        "dense is above fused by 12.50, which may be chance (95 % -7.50 to 22.50, p = 0.3000 after Holm).",
    ]


def test_group_has_its_own_winner_and_one_pair_is_not_corrected(compared: BenchmarkReport) -> None:
    assert list_compared(compared) == ["all", "topic=cells"]
    assert describe_winner(compared, "topic=cells") == [
        "BM25 is above dense by 50.00 (95 % 30.00 to 60.00, p = 0.0100)."
    ]


def test_table_of_a_group_has_its_pairs_alone(compared: BenchmarkReport) -> None:
    assert len(comparison_table(compared).rows) == 3
    table = comparison_table(compared, "topic=cells")
    assert table.title == "Do the systems differ? Topic cells"
    assert [cell.text for cell in table.rows[0].cells[:3]] == ["BM25", "dense", "-50.00"]
    assert table.note.startswith("nDCG@10 over the 4 queries of topic cells. ")


def test_findings_of_every_subset_stand_in_one_table(compared: BenchmarkReport) -> None:
    rows = [[cell.text for cell in row.cells] for row in finding_table(compared).rows]
    assert [row[0] for row in rows] == ["all queries", "all queries", "topic cells"]
    assert rows[2][1].startswith("BM25 is above dense by 50.00 ")


def test_many_runs_are_counted_where_they_are_too_many_to_tell(compared: BenchmarkReport) -> None:
    one = compared.comparisons[0]
    pairs = [replace(one, run_a=number, run_b=2) for number in range(10, 22)]
    runs = [make_run(number, f"run {number}") for number in range(10, 22)]
    many = replace(compared, comparisons=pairs, runs=(*compared.runs, *runs))
    findings = describe_winner(many)
    assert len(findings) == 11
    assert findings[-1] == "It is surely above 2 more, by larger differences."


def test_report_says_the_winner_and_folds_the_groups(compared: BenchmarkReport) -> None:
    page, text = render_html(compared), render_markdown(compared)
    assert "<li>dense is above BM25 by 25.00 (95 % 15.00 to 45.00, p &lt;0.0001 after Holm).</li>" in page
    assert "<summary>Do the systems differ? Topic cells</summary>" in page
    assert "- BM25 is above dense by 50.00 (95 % 30.00 to 60.00, p = 0.0100)." in text


def test_nothing_is_said_without_a_pair(compared: BenchmarkReport) -> None:
    bare = replace(compared, comparisons=())
    assert describe_winner(bare) == []
    assert list_compared(bare) == []
    assert "Significance" not in render_html(bare)
