"""Ours and published side by side, in two levels of headings."""

import io
from dataclasses import replace

import pytest

from pinakes.report.data import BenchmarkReport, PublishedFigure, SubsetScore
from pinakes.report.html import render_html
from pinakes.report.layout import Heading, Table
from pinakes.report.markdown import render_markdown, render_table
from pinakes.report.output import Output
from pinakes.report.tables.published import list_reproduced, match_published, side_by_side_tables
from pinakes.report.terminal import print_table
from tests.html_pages import Page

SUBSETS = ("all/test", "topic=cells/test", "topic=graphs/test")


def texts(table: Table) -> list[list[str]]:
    return [[cell.full_text for cell in row.cells] for row in table.rows]


@pytest.fixture
def faceted(report: BenchmarkReport) -> BenchmarkReport:
    """BM25 and dense in two topics and all; `bm-25` and `Best` published by two measures of one stem."""
    values = {
        (1, "topic=cells/test"): (0.5, 0.25),
        (1, "topic=graphs/test"): (0.75, 0.125),
        (1, "all/test"): (0.625, 0.1875),
        (2, "topic=cells/test"): (0.25, 0.5),
        (2, "all/test"): (0.375, 0.5),
    }
    scores = [
        SubsetScore(run, subset, f"CSFCube.{measure}", value, 2, 2)
        for (run, subset), both in values.items()
        for measure, value in zip(("RP", "P@20"), both, strict=True)
    ]
    figures = [
        PublishedFigure(system, subset, f"CSFCube.{measure}", "Table 4", value, f"{100 * value:.2f}")
        for system, value in (("bm-25", 0.5), ("Best", 0.75))
        for subset in SUBSETS
        for measure in ("P@20", "RP")
    ]
    return replace(
        report,
        headline_measure="CSFCube.RP",
        headline_subset="all/test",
        measures=("CSFCube.RP", "CSFCube.P@20"),
        published_measures=("CSFCube.RP", "CSFCube.P@20"),
        subsets=SUBSETS,
        scores=scores,
        published=figures,
    )


def test_groups_of_measures_stand_beside_each_other_and_all_queries_last(faceted: BenchmarkReport) -> None:
    (table,) = side_by_side_tables(faceted)
    assert table.title == "Here and published: cells, graphs, all queries (test)"
    assert table.headings == (
        Heading("", 2),
        Heading("cells", 2),
        Heading("graphs", 2),
        Heading("all queries", 2),
    )
    assert [column.title for column in table.columns] == ["system", "from", *["RP", "P@20"] * 3]
    assert table.note == (
        "Values times 100. Measures are CSFCube's own. Below a run the published figures of the same system, "
        "and ours minus those. Published figures: Table 4."
    )


def test_run_is_three_lines_and_what_has_no_like_stands_alone(faceted: BenchmarkReport) -> None:
    (table,) = side_by_side_tables(faceted)
    assert texts(table) == [
        ["Best", "published, not run", *["75.00"] * 6],
        ["BM25", "run 1", "50.00", "25.00", "75.00", "12.50", "62.50", "18.75"],
        ["bm-25", "published", *["50.00"] * 6],
        ["", "difference", "0.00", "-25.00", "+25.00", "-37.50", "+12.50", "-31.25"],
        ["dense", "run 2, none published", "25.00", "50.00", "–", "–", "37.50", "50.00"],
    ]
    assert [row.is_ours for row in table.rows] == [False, True, False, False, True]
    assert [row.follows for row in table.rows] == [False, False, True, True, False]
    assert [cell.kind for cell in table.rows[1].cells[2:4]] == ["best", "plain"]


def test_more_columns_than_have_room_are_several_tables(faceted: BenchmarkReport) -> None:
    measures = [f"P@{cut}" for cut in range(1, 5)]
    figures = [replace(figure, measure=name) for figure in faceted.published for name in measures]
    tables = side_by_side_tables(replace(faceted, published=figures, published_measures=tuple(measures)))
    assert [table.title for table in tables] == [
        "Here and published: cells, graphs (test)",
        "Here and published: all queries (test)",
    ]
    assert [len(table.columns) for table in tables] == [10, 6]


def test_each_split_has_its_own_tables(faceted: BenchmarkReport) -> None:
    other = replace(faceted.published[0], subset="all/dev")
    tables = side_by_side_tables(
        replace(faceted, subsets=(*SUBSETS, "all/dev"), published=[*faceted.published, other])
    )
    assert [table.title for table in tables] == [
        "Here and published: cells, graphs, all queries (test)",
        "Here and published: all queries (dev)",
    ]


def test_many_published_subsets_are_rows_of_one_table(faceted: BenchmarkReport) -> None:
    names = tuple(f"field={letter}" for letter in "abcdefghi")
    figures = [replace(faceted.published[0], subset=name) for name in names]
    scores = [replace(faceted.scores[0], subset=name, measure="CSFCube.P@20") for name in names]
    many = replace(faceted, subsets=names, published=figures, scores=scores)
    assert side_by_side_tables(many) == []
    (table,) = list_reproduced(many)
    assert table.title == "The same system, published and here"
    assert texts(table)[0] == ["BM25", "field a", "50.00 (0.00)"]
    assert len(table.rows) == 9


def test_nothing_is_beside_each_other_where_no_run_was_published(faceted: BenchmarkReport) -> None:
    assert list_reproduced(replace(faceted, published=())) == []
    assert list_reproduced(replace(faceted, runs=faceted.runs[1:])) == []


def test_benchmark_says_which_published_system_a_run_is(faceted: BenchmarkReport) -> None:
    bm25, dense = faceted.runs
    said = replace(faceted, runs=(replace(bm25, published_as=""), replace(dense, published_as="Best")))
    assert match_published(faceted) == {1: "bm-25"}
    assert match_published(said) == {2: "Best"}
    unknown = replace(faceted, runs=(replace(bm25, published_as="Nobody"),))
    assert match_published(unknown) == {}


def test_upper_headings_span_their_columns_in_html(faceted: BenchmarkReport) -> None:
    page = Page(render_html(faceted))
    spans = [
        value
        for tag, name, value in page.attributes
        if tag == "th" and name == "scope" and value == "colgroup"
    ]
    assert len(spans) == 3
    assert [value for _tag, name, value in page.attributes if name == "colspan"] == ["2"] * 4
    assert page.tags["th"] == len(page.values("scope"))
    assert page.values("class").count("published follows") == 2
    assert page.open == []


def test_markdown_and_terminal_say_the_group_in_each_heading(faceted: BenchmarkReport) -> None:
    (table,) = side_by_side_tables(faceted)
    lines = render_table(table).splitlines()
    assert lines[2].startswith("| system | from | cells RP | cells P@20 | graphs RP |")
    stream = io.StringIO()
    print_table(table, Output(stream=stream))
    upper, lower = stream.getvalue().splitlines()[1:3]
    assert upper.split() == ["cells", "cells", "graphs", "graphs", "all", "queries", "all", "queries"]
    assert lower.split() == ["system", "from", *["RP", "P@20"] * 3]


def test_markup_in_a_published_name_is_text(faceted: BenchmarkReport) -> None:
    figures = [replace(figure, subset="topic=<b>/test", source="<i>") for figure in faceted.published]
    hostile = replace(faceted, published=figures, subsets=("topic=<b>/test",))
    page = Page(render_html(hostile))
    assert page.tags["i"] == 0
    assert "&lt;b&gt;" in render_html(hostile)
    assert "\\<b\\>" in render_markdown(hostile)
