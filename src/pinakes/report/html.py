"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from pinakes.report.data import BenchmarkReport
from pinakes.report.exhibits.data import GroupPairsExhibit, HeatMapExhibit
from pinakes.report.exhibits.plots import plot_heat_map, plot_pairs
from pinakes.report.exhibits.tables import exhibit_tables, list_paired_runs
from pinakes.report.formatting import format_subset, format_value
from pinakes.report.layout import Table
from pinakes.report.pages import make_environment
from pinakes.report.plots.groups import plot_groups, plot_sizes
from pinakes.report.plots.scores import list_plotted, plot_differences, plot_queries, plot_subsets
from pinakes.report.tables.published import difference_table, list_reproduced
from pinakes.report.tables.runs import coverage_table, describe_run
from pinakes.report.tables.scores import (
    list_detailed,
    measure_table,
    other_subset_tables,
    query_table,
    result_table,
    size_tables,
    subset_table,
    type_tables,
)
from pinakes.report.tables.significance import comparison_table, describe_winner, list_compared

MOST_DIFFERENCE_PLOTS: Final = 4
MOST_QUERY_ROWS: Final = 500
MOST_BAR_SUBSETS: Final = 8
MOST_PAIR_ROWS: Final = 30


def render_html(report: BenchmarkReport) -> str:
    """The whole report as one page: the same bytes for the same data."""
    page = make_environment().get_template("report.html")
    return page.render(report=report, lead=_describe_lead(report), describe_run=describe_run, **_fill(report))


def _fill(report: BenchmarkReport) -> dict[str, object]:
    """The tables and plots that the page has places for; None or nothing leaves a place out."""
    return {
        "results": result_table(report),
        "subsets": subset_table(report) if len(report.subsets) > 1 else None,
        "other_subsets": other_subset_tables(report),
        "sizes": size_tables(report),
        "types": type_tables(report),
        "reproduced": list_reproduced(report),
        "differences": _list_difference_tables(report),
        "comparisons": _describe_comparisons(report),
        "exhibits": _draw_exhibits(report),
        "paired": _draw_paired(report),
        "coverage": coverage_table(report),
        "measures": [measure_table(report, subset) for subset in list_detailed(report)],
        "subset_results": _list_other_results(report),
        "queries": _limit(query_table(report)),
        "plots": _draw_plots(report),
        "size_plots": _mark_safe(plot_sizes(report)),
        "type_plots": _mark_safe(plot_groups(report, report.types, _type_title(report), name="types")),
        "difference_plots": _draw_difference_plots(report),
    }


def _list_other_results(report: BenchmarkReport) -> list[Table]:
    return [result_table(report, subset) for subset in report.subsets if subset != report.headline_subset]


def _list_difference_tables(report: BenchmarkReport) -> list[Table]:
    ordered = [report.headline_subset, *(s for s in report.subsets if s != report.headline_subset)]
    return [table for subset in ordered if (table := difference_table(report, subset)) is not None]


def _limit(table: Table) -> Table | None:
    return table if 0 < len(table.rows) <= MOST_QUERY_ROWS else None


def _draw_plots(report: BenchmarkReport) -> list[Markup]:
    return _mark_safe(_draw_subsets(report), plot_queries(report))


def _draw_subsets(report: BenchmarkReport) -> str | None:
    """Bars where the subsets are few, dots where they are many; pool sizes have a plot of their own."""
    subsets = list_plotted(report)
    if report.sizes and len(subsets) == 1:
        return None
    if len(subsets) <= MOST_BAR_SUBSETS:
        return plot_subsets(report)
    return plot_groups(report, subsets, f"{report.headline_measure} by subset", name="subsets")


def _type_title(report: BenchmarkReport) -> str:
    return f"{report.headline_measure} by candidate type"


def _mark_safe(*drawn: str | None) -> list[Markup]:
    """The plots that there are, as markup."""
    return [Markup(svg) for svg in drawn if svg is not None]  # noqa: S704 - matplotlib escapes the text


def _draw_difference_plots(report: BenchmarkReport) -> list[Markup]:
    """The pairs that the best run is in; it has the most of what a reader asks for."""
    best = next((run.run_id for run in report.rank_runs() if run.run_id in report.query_values), None)
    pairs = [pair for pair in report.list_pairs() if best in (pair.run_a, pair.run_b)][:MOST_DIFFERENCE_PLOTS]
    return _mark_safe(
        *(plot_differences(report, pair, name=f"pair{place}") for place, pair in enumerate(pairs))
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """The pairs of runs over a subset: what follows from them in words, and the table."""

    subset: str
    findings: list[str]
    table: Table
    is_long: bool


def _describe_comparisons(report: BenchmarkReport) -> list[_Compared]:
    return [
        _Compared(
            format_subset(subset),
            describe_winner(report, subset),
            comparison_table(report, subset),
            len(report.list_pairs(subset)) > MOST_PAIR_ROWS,
        )
        for subset in list_compared(report)
    ]


@dataclass(frozen=True, slots=True)
class _Exhibit:
    """An exhibit's plot, if it has one, and its tables, which are folded away below a plot."""

    title: str
    note: str
    plot: Markup | None
    tables: list[Table]


def _draw_exhibits(report: BenchmarkReport) -> list[_Exhibit]:
    """The exhibits that are about the collection, not about runs."""
    drawn = []
    for place, exhibit in enumerate(report.exhibits):
        tables = exhibit_tables(report, exhibit)
        if isinstance(exhibit, HeatMapExhibit):
            (plot,) = _mark_safe(plot_heat_map(exhibit, name=f"exhibit{place}"))
            drawn.append(_Exhibit(exhibit.title, exhibit.note, plot, tables))
        elif not isinstance(exhibit, GroupPairsExhibit):
            drawn.append(_Exhibit(exhibit.title, "", None, tables))
    return drawn


@dataclass(frozen=True, slots=True)
class _Paired:
    """Papers that are queries in two groups: the plot of each run, the best one first."""

    title: str
    note: str
    plots: list[tuple[str, Markup]]


def _draw_paired(report: BenchmarkReport) -> list[_Paired]:
    drawn = []
    for place, exhibit in enumerate(report.exhibits):
        if isinstance(exhibit, GroupPairsExhibit):
            runs = list_paired_runs(report, exhibit)
            svgs = (plot_pairs(report, exhibit, run, name=f"paired{place}-{run.run_id}") for run in runs)
            plots = [(run.label, plot) for run, plot in zip(runs, _mark_safe(*svgs), strict=True)]
            drawn.append(_Paired(exhibit.title, exhibit.note, plots))
    return [one for one in drawn if one.plots]


def _describe_lead(report: BenchmarkReport) -> dict[str, str] | None:
    """The best run by the headline, in words for the top of the page; None without scores."""
    scores = report.index_scores()
    best = next(iter(report.rank_runs()), None)
    score = best and scores.get((best.run_id, report.headline_subset, report.headline_measure))
    if not best or not score:
        return None
    value = format_value(score.value, report.scale, score.measure)
    return {"system": best.label, "value": value, "subset": format_subset(report.headline_subset)}
