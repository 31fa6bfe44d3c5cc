"""Markdown, HTML and plots."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace

import pytest

from pinakes.report.data import BenchmarkReport
from pinakes.report.html import render_html
from pinakes.report.layout import Cell, Table, make_columns, make_row
from pinakes.report.markdown import render_markdown, render_table
from pinakes.report.plots.scores import plot_differences, plot_queries, plot_subsets
from tests.html_pages import Page

ATTACK = "<script>alert(1)</script>"


def hostile(report: BenchmarkReport) -> BenchmarkReport:
    """The report with markup wherever a user or a file can put text."""
    run = replace(report.runs[0], label=ATTACK, system=ATTACK, parameters='{"<b>": "<script>"}')
    figures = [
        replace(figure, system=f"{ATTACK} {figure.system}", source=ATTACK) for figure in report.published
    ]
    words = {
        "title": ATTACK,
        "citation": ATTACK,
        "licence": ATTACK,
        "notes": (ATTACK,),
        "warnings": (ATTACK,),
    }
    return replace(report, runs=(run, report.runs[1]), published=figures, grades={"1": ATTACK}, **words)  # type: ignore[arg-type]


def test_page_refers_to_nothing_outside_itself(report: BenchmarkReport) -> None:
    text = render_html(report)
    page = Page(text)
    outside = [
        item for item in page.attributes if item[1] in ("src", "href", "xlink:href", "srcset", "action")
    ]
    assert all(value.startswith("#") for _tag, _name, value in outside)
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "a", "base"}
    assert not re.search(r"@import|url\((?!#)", text)
    assert re.findall(r"https?://[^\s<\"]+", text) == ["https://example.org/tiny"]


def test_tags_are_balanced_and_ids_unique(report: BenchmarkReport) -> None:
    page = Page(render_html(report))
    assert page.open == []
    repeated = [name for name, count in Counter(page.values("id")).items() if count > 1]
    assert repeated == []


def test_markup_in_names_is_text(report: BenchmarkReport) -> None:
    text = render_html(hostile(report))
    assert ATTACK not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    page = Page(text)
    assert page.tags["script"] == 0
    assert page.open == []


def test_tables_have_captions_and_scopes_and_plots_have_labels(report: BenchmarkReport) -> None:
    page = Page(render_html(report))
    assert page.tags["caption"] == page.tags["table"] > 5
    assert page.tags["th"] == len(page.values("scope"))
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert page.tags["svg"] == len(labels) == 3
    assert labels[0] == (
        "Bar chart of nDCG@10. all queries: dense 62.50, BM25 50.00; topic cells: dense 50.00, BM25 62.50."
    )


def test_missing_answers_are_flagged_and_warned_of(report: BenchmarkReport) -> None:
    text = render_html(report)
    assert "Read this first" in text
    assert re.search(r'class="number warning">\s*<span class="flag">.*?3/4, 1 missing', text)
    whole = replace(
        report,
        runs=[replace(run, queries_answered=4, candidates_without_text=0) for run in report.runs],
        scores=[replace(score, queries_answered=score.queries_expected) for score in report.scores],
        warnings=(),
    )
    assert 'class="flag"' not in render_html(whole)
    assert "Read this first" not in render_html(whole)


def test_same_data_gives_the_same_bytes(report: BenchmarkReport) -> None:
    assert render_html(report) == render_html(report)
    assert render_markdown(report) == render_markdown(report)


def test_bare_report_is_a_page(report: BenchmarkReport) -> None:
    bare = replace(report, published=(), comparisons=(), grades={}, notes=(), query_values={}, scores=())
    page = Page(render_html(bare))
    assert page.tags["svg"] == 0
    assert "not evaluated" in render_html(bare)


def test_markdown_table_is_as_github_reads_it() -> None:
    rows = (make_row("a|b", Cell("1.00", "best")), make_row("_c_", Cell("2/3", "warning"), is_ours=False))
    table = Table("Title", make_columns(["system"], ["P@10"]), rows, "A note.")
    assert render_table(table) == (
        "## Title\n\n"
        "| system | P@10 |\n"
        "| :--- | ---: |\n"
        "| a\\|b | **1.00** |\n"
        "| *\\_c\\_* | ⚠ **2/3** |\n\n"
        "A note."
    )


def test_markdown_escapes_markup(report: BenchmarkReport) -> None:
    text = render_markdown(hostile(report))
    assert ATTACK not in text
    assert "\\<script\\>alert(1)\\</script\\>" in text


@pytest.mark.parametrize("draw", [plot_subsets, plot_queries])
def test_plot_is_one_svg_without_links_or_times(draw: object, report: BenchmarkReport) -> None:
    svg = draw(report)  # type: ignore[operator]
    root = ElementTree.fromstring(svg.replace("xlink:href", "href"))
    assert root.get("role") == "img"
    assert "http" not in svg
    assert "metadata" not in svg
    assert "<text" in svg


def test_plots_are_left_out_without_values(report: BenchmarkReport) -> None:
    bare = replace(report, scores=(), query_values={})
    assert plot_subsets(bare) is None
    assert plot_queries(bare) is None


def test_names_are_drawn_as_they_are(report: BenchmarkReport) -> None:
    run = replace(report.runs[0], label="_a$x^2$ 漢字")
    renamed = replace(report, runs=(run, report.runs[1]))
    for svg in (
        plot_subsets(renamed),
        plot_queries(renamed),
        plot_differences(renamed, report.comparisons[0]),
    ):
        assert svg is not None
        assert svg.count("_a$x^2$ 漢字") >= 2


def test_difference_plot_counts_both_sides(report: BenchmarkReport) -> None:
    svg = plot_differences(report, report.comparisons[0], name="pair")
    assert "2 higher, 1 equal, 1 lower; mean +12.50" in svg
    assert "dense minus BM25" in svg
    assert 'id="pair-figure_1"' in svg


def test_many_queries_are_drawn_as_one_shape(report: BenchmarkReport) -> None:
    values = {run: {f"q{n}": n % 7 / 7 + run / 100 for n in range(2500)} for run in (1, 2)}
    crowded = replace(report, query_values=values)
    assert len(plot_differences(crowded, report.comparisons[0])) < 60_000
    dots = plot_queries(crowded)
    assert dots is not None
    assert "data:image/png;base64" in dots
