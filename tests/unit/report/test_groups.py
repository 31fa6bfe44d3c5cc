"""Pool sizes, fields and candidate types: their tables and plots."""

import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from pinakes.report.data import BenchmarkReport, PublishedFigure, Spread, SubsetScore
from pinakes.report.html import render_html
from pinakes.report.layout import Table
from pinakes.report.markdown import render_markdown
from pinakes.report.output import Output
from pinakes.report.plots.groups import plot_groups, plot_sizes
from pinakes.report.plots.scores import plot_subsets
from pinakes.report.present.report import print_report
from pinakes.report.subsets import measure_spreads, order_groups
from pinakes.report.tables.published import reproduction_table
from pinakes.report.tables.scores import (
    other_subset_tables,
    result_table,
    size_tables,
    subset_table,
    type_tables,
)
from pinakes.report.tables.significance import comparison_table

SIZES = ("pool_size=2000", "pool_size=10000")
TYPES = ("type=graph", "type=random")
GROUPS = ("all", "mean(field)", "field=Art", "field=Law")


def texts(table: Table) -> list[list[str]]:
    return [[cell.full_text for cell in row.cells] for row in table.rows]


def headings(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def add_scores(report: BenchmarkReport, values: dict[str, tuple[float, float]]) -> list[SubsetScore]:
    """The report's scores by nDCG@10 and P@10, one for each subset: what BM25 and dense have in both."""
    return [
        *(score for score in report.scores if score.subset not in values),
        *(
            SubsetScore(run_id, subset, measure, value, 4, 4)
            for subset, pair in values.items()
            for run_id, value in enumerate(pair, 1)
            for measure in report.measures
        ),
    ]


@pytest.fixture
def sized(report: BenchmarkReport) -> BenchmarkReport:
    """Two pool sizes; BM25 was repeated, dense was not; one published system told the smaller size."""
    scores = add_scores(report, {SIZES[0]: (0.5, 0.75), SIZES[1]: (0.25, 0.125)})
    spreads = [
        Spread(1, SIZES[0], "nDCG@10", 3, 0.0123),
        Spread(1, SIZES[1], "nDCG@10", 3, 0.0456),
        Spread(2, SIZES[0], "nDCG@10", 1, None),
    ]
    published = [PublishedFigure("Old", SIZES[0], "nDCG@10", "Table 1", 0.6, "60.00")]
    return replace(report, subsets=("all",), sizes=SIZES, scores=scores, spreads=spreads, published=published)


@pytest.fixture
def fielded(report: BenchmarkReport) -> BenchmarkReport:
    """Two fields with their average, and two candidate types."""
    values = {"mean(field)": (0.5, 0.5), "field=Art": (0.75, 0.25), "field=Law": (0.25, 0.75)}
    types = {TYPES[0]: (0.25, 0.5), TYPES[1]: (1.0, 0.75)}
    scores = add_scores(report, {**values, **types})
    return replace(report, subsets=GROUPS, types=TYPES, scores=scores, published=())


def test_table_of_pool_sizes_has_systems_by_sizes_with_their_deviations(sized: BenchmarkReport) -> None:
    first, second = size_tables(sized)
    assert (first.title, second.title) == ("nDCG@10 by pool size", "P@10 by pool size")
    assert headings(first) == ["system", "from", "2k", "10k"]
    assert texts(first) == [
        ["dense", "run 2", "75.00", "12.50"],
        ["Old", "published", "60.00", "–"],
        ["BM25", "run 1", "50.00 (± 1.23)", "25.00 (± 4.56)"],
    ]
    assert [cell.kind for cell in first.rows[2].cells] == ["plain", "plain", "plain", "best"]
    assert "± is the standard deviation" in first.note
    assert "Published figures: Table 1." in first.note
    assert "Published figures" not in second.note


def test_table_of_types_has_systems_by_types(fielded: BenchmarkReport) -> None:
    first, second = type_tables(fielded)
    assert (first.title, second.title) == ("nDCG@10 by candidate type", "P@10 by candidate type")
    assert headings(first) == ["system", "from", "graph", "random"]
    assert texts(first) == [["dense", "run 2", "50.00", "75.00"], ["BM25", "run 1", "25.00", "100.00"]]
    assert "±" not in first.note


def test_there_is_no_table_of_groups_that_a_benchmark_has_not(report: BenchmarkReport) -> None:
    assert size_tables(report) == []
    assert type_tables(report) == []
    assert other_subset_tables(report) == []


def test_fields_have_a_table_for_each_measure_where_they_are_averaged(fielded: BenchmarkReport) -> None:
    (other,) = other_subset_tables(fielded)
    assert other.title == "P@10 by subset"
    table = subset_table(fielded)
    assert headings(table) == ["subset", "queries", "dense", "BM25"]
    assert [row[0] for row in texts(table)] == ["all queries", "mean over fields", "field Art", "field Law"]
    assert texts(other)[2] == ["field Art", "4", "25.00", "75.00"]
    text = render_markdown(fielded)
    assert "Every measure: all queries" in text
    assert "Every measure: field Art" not in text


def test_best_published_system_of_a_field_has_a_column_where_there_is_one(fielded: BenchmarkReport) -> None:
    told = PublishedFigure("Old", "field=Law", "nDCG@10", "Table 2", 0.3, "30.00")
    table = subset_table(replace(fielded, published=[told]))
    assert headings(table)[-1] == "best published"
    assert [row[-1] for row in texts(table)] == ["–", "–", "–", "30.00 (Old)"]


def test_comparison_says_where_a_query_counts_once_for_several_pools(
    report: BenchmarkReport, sized: BenchmarkReport, fielded: BenchmarkReport
) -> None:
    told = [
        comparison_table(one).note.endswith("counts once, by its mean over them.")
        for one in (report, sized, fielded)
    ]
    assert told == [False, True, False]


def test_deviation_and_missing_queries_stand_beside_the_value(report: BenchmarkReport) -> None:
    spreads = [Spread(2, "all", "nDCG@10", 2, 0.0123), Spread(2, "topic=cells", "nDCG@10", 2, 0.0)]
    spread = replace(report, spreads=spreads)
    assert [row[2] for row in texts(subset_table(spread))] == [
        "62.50 (± 1.23, 1 missing)",
        "50.00 (± 0.00, 1 missing)",
    ]
    assert texts(result_table(spread))[1][3] == "62.50 (± 1.23)"


def test_systems_that_lack_the_first_size_come_after_those_that_have_it(sized: BenchmarkReport) -> None:
    told = [
        PublishedFigure(name, SIZES[1], "nDCG@10", "Table 1", v, str(v))
        for name, v in (("A", 0.7), ("B", 0.9))
    ]
    table = size_tables(replace(sized, published=told))[0]
    assert [row[0] for row in texts(table)] == ["dense", "BM25", "B", "A"]


def test_subset_that_a_run_has_no_score_of_is_not_set_beside_a_published_figure(
    report: BenchmarkReport,
) -> None:
    told = [
        PublishedFigure("bm25", name, "nDCG@10", "Table 1", 0.5, "50.00") for name in ("all", "topic=stars")
    ]
    table = reproduction_table(replace(report, published=told))
    assert table is not None
    assert texts(table) == [["BM25", "all queries", "50.00 (0.00)"]]


def test_published_sizes_are_subtracted_in_the_order_of_their_numbers(sized: BenchmarkReport) -> None:
    told = [PublishedFigure("bm25", name, "nDCG@10", "Table 1", 0.5, "50.00") for name in reversed(SIZES)]
    table = reproduction_table(replace(sized, published=told))
    assert table is not None
    assert texts(table) == [
        ["BM25", "pool size 2k", "50.00 (0.00)"],
        ["BM25", "pool size 10k", "25.00 (-25.00)"],
    ]


def test_spread_is_the_deviation_of_a_sample_and_none_of_one_repeat() -> None:
    values = {"field=Art/repeat=1": 0.5, "field=Art/repeat=2": 1.0, "field=Law/repeat=1": 0.5, "all": 0.5}
    scores = [SubsetScore(1, subset, "AP", value, 4, 4) for subset, value in values.items()]
    assert measure_spreads(scores) == [
        Spread(1, "field=Art", "AP", 2, pytest.approx(0.125**0.5)),  # type: ignore[arg-type]
        Spread(1, "field=Law", "AP", 1, None),
    ]


def test_repeats_over_different_queries_have_no_deviation() -> None:
    scores = [SubsetScore(1, f"all/repeat={n}", "AP", value, n, n) for n, value in ((1, 0.5), (2, 1.0))]
    assert measure_spreads(scores) == [Spread(1, "all", "AP", 2, None)]


def test_averages_stand_between_all_queries_and_the_groups_of_a_split() -> None:
    names = [
        "facet=b",
        "mean(facet)",
        "all/test",
        "all",
        "facet=b/test",
        "facet=a",
        "pool_size=5",
        "pool_size=big",
    ]
    assert order_groups(names, ["test", ""]) == (
        "all/test",
        "facet=b/test",
        "all",
        "mean(facet)",
        "facet=a",
        "facet=b",
        "pool_size=big",
    )


def test_terminal_prints_sizes_and_types_but_one_measure_of_the_fields(
    sized: BenchmarkReport, fielded: BenchmarkReport
) -> None:
    stream = io.StringIO()
    print_report(sized, Output(stream=stream))
    print_report(fielded, Output(stream=stream))
    titles = [line for line in stream.getvalue().splitlines() if " by " in line and not line.endswith(".")]
    assert titles == [
        "nDCG@10 by pool size",
        "P@10 by pool size",
        "nDCG@10 by subset",
        "nDCG@10 by candidate type",
        "P@10 by candidate type",
    ]


def test_page_has_a_part_for_sizes_and_one_for_types(
    sized: BenchmarkReport, fielded: BenchmarkReport
) -> None:
    page = render_html(sized)
    assert "<h2>Pool sizes</h2>" in page
    assert "<h2>Candidate types</h2>" not in page
    assert 'aria-label="Bar chart' not in page
    other = render_html(fielded)
    assert "<h2>Candidate types</h2>" in other
    assert "<h2>Pool sizes</h2>" not in other
    assert "The other measures by subset" in other


def test_plot_of_pool_sizes_tells_values_and_deviations(sized: BenchmarkReport) -> None:
    svg = plot_sizes(sized)
    assert svg is not None
    root = ElementTree.fromstring(svg.replace("xlink:href", "href"))
    assert root.get("aria-label") == (
        "Line chart of nDCG@10 over the pool size. pool size 2k: dense 75.00, BM25 50.00 ± 1.23; "
        "pool size 10k: dense 12.50, BM25 25.00 ± 4.56."
    )
    for label in (">2k<", ">10k<", ">dense<", ">BM25<", ">a published system<"):
        assert label in svg


def test_one_pool_size_is_no_line(sized: BenchmarkReport) -> None:
    assert plot_sizes(replace(sized, sizes=SIZES[:1])) is None
    assert plot_sizes(replace(sized, scores=())) is None


def test_plot_of_groups_tells_every_row(fielded: BenchmarkReport) -> None:
    svg = plot_groups(fielded, TYPES, "By type", name="types")
    assert svg is not None
    root = ElementTree.fromstring(svg.replace("xlink:href", "href"))
    assert root.get("aria-label") == (
        "Dot plot of nDCG@10. type graph: dense 50.00, BM25 25.00; type random: dense 75.00, BM25 100.00."
    )
    assert ">graph<" in svg
    assert ">a published system<" not in svg
    assert plot_groups(replace(fielded, scores=()), TYPES, "By type", name="types") is None


def test_many_subsets_are_dots_and_few_are_bars(fielded: BenchmarkReport) -> None:
    assert "Bar chart of nDCG@10" in render_html(fielded)
    assert plot_subsets(fielded) is not None
    many = tuple(f"field={number}" for number in range(9))
    crowded = replace(
        fielded, subsets=("all", *many), scores=add_scores(fielded, dict.fromkeys(many, (0.5, 0.25)))
    )
    page = render_html(crowded)
    assert "Bar chart of" not in page
    assert "Dot plot of nDCG@10. all queries: dense 62.50, BM25 50.00; field 0: " in page
