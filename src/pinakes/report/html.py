"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from typing import Final

from markupsafe import Markup

from pinakes.report.data import BenchmarkReport
from pinakes.report.exhibits.data import GroupPairsExhibit, HeatMapExhibit
from pinakes.report.exhibits.plots import plot_heat_map, plot_pairs
from pinakes.report.exhibits.tables import exhibit_tables, list_paired_runs
from pinakes.report.formatting import format_subset, format_value
from pinakes.report.pages import make_environment
from pinakes.report.plots.groups import plot_groups, plot_sizes
from pinakes.report.plots.history import plot_history
from pinakes.report.plots.scores import list_plotted, plot_differences, plot_queries, plot_subsets
from pinakes.report.tables import published, runs, scores, significance
from pinakes.report.tables.history import history_table

MOST_DIFFERENCE_PLOTS: Final = 4
MOST_QUERY_ROWS: Final = 500
MOST_BAR_SUBSETS: Final = 8
MOST_PAIR_ROWS: Final = 30


def render_html(report: BenchmarkReport) -> str:
    """The whole report as one page: the same bytes for the same data."""
    return make_environment().get_template("report.html").render(fill_report(report))


def fill_report(report: BenchmarkReport) -> dict[str, object]:
    """What `report.html` shows, by the names that it has there; None or nothing leaves a place out."""
    others = [subset for subset in report.subsets if subset != report.headline_subset]
    queries = scores.query_table(report)
    type_title = f"{report.headline_measure} by candidate type"
    differences = [published.difference_table(report, subset) for subset in (report.headline_subset, *others)]
    return {
        "report": report,
        "lead": _describe_lead(report),
        "describe_run": runs.describe_run,
        "results": scores.result_table(report),
        "subsets": scores.subset_table(report) if len(report.subsets) > 1 else None,
        "other_subsets": scores.other_subset_tables(report),
        "sizes": scores.size_tables(report),
        "types": scores.type_tables(report),
        "reproduced": published.list_reproduced(report),
        "differences": [table for table in differences if table is not None],
        "comparisons": [
            _describe_comparison(report, subset) for subset in significance.list_compared(report)
        ],
        "resampled": significance.resampled_table(report) if report.resampled else None,
        "exhibits": _draw_exhibits(report),
        "paired": _draw_paired(report),
        "coverage": runs.coverage_table(report),
        "measures": [scores.measure_table(report, subset) for subset in scores.list_detailed(report)],
        "subset_results": [scores.result_table(report, subset) for subset in others],
        "queries": queries if 0 < len(queries.rows) <= MOST_QUERY_ROWS else None,
        "plots": _mark_safe(_draw_subsets(report), plot_queries(report)),
        "size_plots": _mark_safe(plot_sizes(report)),
        "type_plots": _mark_safe(plot_groups(report, report.types, type_title, name="types")),
        "history": history_table(report),
        "history_plots": _mark_safe(plot_history(report)),
        "difference_plots": _draw_difference_plots(report),
    }


def _draw_subsets(report: BenchmarkReport) -> str | None:
    """Bars where the subsets are few, dots where they are many; pool sizes have a plot of their own."""
    subsets = list_plotted(report)
    if report.sizes and len(subsets) == 1:
        return None
    if len(subsets) <= MOST_BAR_SUBSETS:
        return plot_subsets(report)
    return plot_groups(report, subsets, f"{report.headline_measure} by subset", name="subsets")


def _mark_safe(*drawn: str | None) -> list[Markup]:
    """The plots that there are, as markup."""
    return [Markup(svg) for svg in drawn if svg is not None]  # noqa: S704 - matplotlib escapes the text


def _draw_difference_plots(report: BenchmarkReport) -> list[Markup]:
    """The pairs that the best run is in; it has the most of what a reader asks for."""
    best = next((run.run_id for run in report.rank_runs() if run.run_id in report.query_values), None)
    pairs = [pair for pair in report.list_pairs() if best in (pair.run_a, pair.run_b)][:MOST_DIFFERENCE_PLOTS]
    svgs = (plot_differences(report, pair, name=f"pair{place}") for place, pair in enumerate(pairs))
    return _mark_safe(*svgs)


def _describe_comparison(report: BenchmarkReport, subset: str) -> dict[str, object]:
    """The pairs of runs over a subset: what follows from them in words, and the table."""
    return {
        "findings": significance.describe_winner(report, subset),
        "table": significance.comparison_table(report, subset),
        "is_long": len(report.list_pairs(subset)) > MOST_PAIR_ROWS,
    }


def _draw_exhibits(report: BenchmarkReport) -> list[dict[str, object]]:
    """The exhibits that are about the collection, not about runs: a plot, if any, above its folded tables."""
    return [
        {
            "title": exhibit.title,
            "note": exhibit.note,
            "plot": _mark_safe(plot_heat_map(exhibit, name=f"exhibit{place}"))[0]
            if isinstance(exhibit, HeatMapExhibit)
            else None,
            "tables": exhibit_tables(report, exhibit),
        }
        for place, exhibit in enumerate(report.exhibits)
        if not isinstance(exhibit, GroupPairsExhibit)
    ]


def _draw_paired(report: BenchmarkReport) -> list[dict[str, object]]:
    """Papers that are queries in two groups: the plot of each run, the best one first."""
    drawn: list[dict[str, object]] = []
    for place, exhibit in enumerate(report.exhibits):
        if isinstance(exhibit, GroupPairsExhibit) and (runs := list_paired_runs(report, exhibit)):
            svgs = (plot_pairs(report, exhibit, run, name=f"paired{place}-{run.run_id}") for run in runs)
            plots = list(zip([run.label for run in runs], _mark_safe(*svgs), strict=True))
            drawn.append({"title": exhibit.title, "note": exhibit.note, "plots": plots})
    return drawn


def _describe_lead(report: BenchmarkReport) -> dict[str, str] | None:
    """The best run by the headline, in words for the top of the page; None without scores."""
    scores = report.index_scores()
    best = next(iter(report.rank_runs()), None)
    score = best and scores.get((best.run_id, report.headline_subset, report.headline_measure))
    if not best or not score:
        return None
    value = format_value(score.value, report.scale, score.measure)
    return {"system": best.label, "value": value, "subset": format_subset(report.headline_subset)}
