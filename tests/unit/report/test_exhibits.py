"""Exhibits of a benchmark: tables beside what was printed, heat maps, papers under two groups."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from pinakes.report.data import BenchmarkReport
from pinakes.report.exhibits.data import (
    Exhibit,
    GroupPair,
    GroupPairsExhibit,
    HeatMapExhibit,
    HeatMapPanel,
    TableExhibit,
)
from pinakes.report.exhibits.plots import plot_heat_map, plot_pairs
from pinakes.report.exhibits.tables import exhibit_tables, pair_table, view_table
from pinakes.report.html import render_html
from pinakes.report.layout import Heading, Table
from pinakes.report.markdown import render_markdown
from tests.html_pages import Page

ATTACK = "<script>alert(1)</script>"

STATISTICS = TableExhibit(
    title="Table 1",
    columns=("value", "facet", "name"),
    rows=((50.0, "all", "queries"), (124.88, "all", "pool"), (9.92, "all", "similar"), (7, "method", "pool")),
    key=("facet", "name"),
    measures=("value",),
    published={
        "all / queries": ("50",),
        "all / pool": ("124.9",),
        "all / similar": ("9.8",),
        "all / gone": ("3",),
    },
    source="Somebody 2020, Table 1",
    note="Of the release.",
)
GRADES = HeatMapExhibit(
    "Figure 2",
    (0, 1, 2),
    (
        HeatMapPanel("a", "b", {(0, 0): 1200, (0, 2): 3, (2, 1): 4}),
        HeatMapPanel("a", "c", {(1, 1): 16}),
    ),
    "A note.",
)
PAIRS = GroupPairsExhibit(
    "Figure 3",
    "facet",
    (
        GroupPair("p1", "method", "q1", "result", "q2"),
        GroupPair("p2", "background", "q3", "method", "q4"),
        GroupPair("p3", "background", "q3", "method", "q9"),
    ),
)


def texts(table: Table) -> list[list[str]]:
    return [[cell.full_text for cell in row.cells] for row in table.rows]


@pytest.fixture
def exhibited(report: BenchmarkReport) -> BenchmarkReport:
    exhibits: tuple[Exhibit, ...] = (STATISTICS, GRADES, PAIRS)
    return replace(report, exhibits=exhibits)


def test_what_was_printed_stands_beside_what_is_counted() -> None:
    table = view_table(STATISTICS)
    assert table.headings == (Heading("", 2), Heading("value", 3))
    assert [column.title for column in table.columns] == ["facet", "name", "here", "printed", "diff."]
    assert texts(table) == [
        ["all", "queries", "50", "50", "0"],
        ["all", "pool", "124.9", "124.9", "0.0"],
        ["all", "similar", "9.92", "9.8", "+0.12"],
        ["method", "pool", "7", "–", "–"],
        ["all", "gone", "–", "3", "–"],
    ]
    assert [row.is_ours for row in table.rows] == [True, True, True, True, False]
    assert (
        table.note == "Of the release. Printed in Somebody 2020, Table 1; the difference is ours minus that."
    )


def test_view_of_which_nothing_was_printed_is_shown_as_it_is() -> None:
    bare = replace(STATISTICS, published={}, left_out=1200)
    table = view_table(bare)
    assert table.headings == ()
    assert [column.title for column in table.columns] == ["facet", "name", "value"]
    assert texts(table)[1] == ["all", "pool", "124.88"]
    assert table.note == "Of the release. 1,200 more rows are in the view."


def test_many_rows_that_were_not_printed_are_a_table_of_their_own(report: BenchmarkReport) -> None:
    rest = tuple((number, "method", f"row {number}") for number in range(11))
    printed, other = exhibit_tables(report, replace(STATISTICS, rows=(*STATISTICS.rows[:3], *rest)))
    assert len(printed.rows) == 4
    assert (other.title, len(other.rows)) == ("Table 1: what was not printed", 11)
    assert texts(other)[3] == ["method", "row 3", "3"]


def test_null_and_words_are_no_numbers() -> None:
    odd = replace(STATISTICS, rows=((None, "all", "queries"), ("n/a", "all", "pool")))
    assert texts(view_table(odd))[:2] == [
        ["all", "queries", "–", "50", "–"],
        ["all", "pool", "n/a", "124.9", "–"],
    ]


def test_heat_map_is_a_table_of_counts_for_each_pair_of_groups(report: BenchmarkReport) -> None:
    first, second = exhibit_tables(report, GRADES)
    assert first.title == "Figure 2: a and b, 1,207 candidates"
    assert first.headings == (Heading("", 1), Heading("b", 3))
    assert [column.title for column in first.columns] == ["a", "0", "1", "2"]
    assert texts(first) == [["0", "1,200", "0", "3"], ["1", "0", "0", "0"], ["2", "0", "4", "0"]]
    assert texts(second)[1] == ["1", "0", "16", "0"]


def test_heat_map_writes_its_counts_and_shades_by_them() -> None:
    svg = plot_heat_map(GRADES, name="map")
    root = ElementTree.fromstring(svg.replace("xlink:href", "href"))
    label = str(root.get("aria-label"))
    assert "a and b: 0 and 0: 1200, 0 and 2: 3, 2 and 1: 4; a and c: 1 and 1: 16." in label
    written = ["".join(element.itertext()).strip() for element in root.iter() if element.tag.endswith("text")]
    for text in ("1,200", "16", "grade for a", "grade for b", "grade for c", "1,207 candidates"):
        assert text in written
    assert "var(--series-1" in svg
    assert svg.count("opacity: 0.6") == 2


def test_papers_under_two_groups_are_sorted_by_their_distance(report: BenchmarkReport) -> None:
    table = pair_table(report, PAIRS, report.runs[0])
    assert [column.title for column in table.columns] == [
        "paper",
        "background",
        "method",
        "result",
        "distance",
    ]
    assert texts(table) == [
        ["p2", "100.00", "25.00", "–", "75.00"],
        ["p1", "–", "50.00", "25.00", "25.00"],
    ]


def test_best_run_alone_stands_in_the_tables_of_pairs(report: BenchmarkReport) -> None:
    (table,) = exhibit_tables(report, PAIRS)
    assert table.title == "Figure 3: dense"
    assert exhibit_tables(replace(report, query_values={}), PAIRS) == []


def test_plot_of_pairs_names_papers_and_groups(report: BenchmarkReport) -> None:
    svg = plot_pairs(report, PAIRS, report.runs[1], name="pairs")
    assert "p2: background 100.00, method 0.00; p1: method 100.00, result 50.00." in svg.partition(">")[0]
    for text in ("p1", "p2", "background", "dense: each paper under its two facets"):
        assert f">{text}<" in svg.replace("\n", "")


def test_page_has_every_exhibit_and_the_other_runs_folded(exhibited: BenchmarkReport) -> None:
    text = render_html(exhibited)
    page = Page(text)
    for heading in ("<h2>The collection</h2>", "<h2>Figure 3</h2>", "<h3>Figure 2</h3>"):
        assert heading in text
    assert "<summary>BM25</summary>" in text
    assert "<summary>The same in figures</summary>" in text
    assert page.tags["svg"] == 3 + 1 + 2
    assert page.open == []
    ids = page.values("id")
    assert len(ids) == len(set(ids))


def test_markdown_has_the_counts(exhibited: BenchmarkReport) -> None:
    text = render_markdown(exhibited)
    assert "| all | similar | 9.92 | 9.8 | +0.12 |" in text
    assert "| a | b 0 | b 1 | b 2 |" in text
    assert "## Figure 3: dense" in text


def test_markup_in_exhibits_is_text(report: BenchmarkReport) -> None:
    panel = HeatMapPanel(ATTACK, "b", {(0, 0): 1})
    table = replace(STATISTICS, title=ATTACK, rows=((1, ATTACK, "x"),), note=ATTACK, source=ATTACK)
    pairs = replace(PAIRS, pairs=(replace(PAIRS.pairs[0], paper=ATTACK, group_a=ATTACK),), note=ATTACK)
    hostile = replace(report, exhibits=(table, HeatMapExhibit(ATTACK, (0,), (panel,), ATTACK), pairs))
    text = render_html(hostile)
    assert ATTACK not in text
    assert Page(text).tags["script"] == 0
    assert ATTACK not in render_markdown(hostile)


def test_exhibits_are_the_same_bytes_each_time(exhibited: BenchmarkReport) -> None:
    assert render_html(exhibited) == render_html(exhibited)
