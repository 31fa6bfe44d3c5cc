"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere.

Leaves out: what the tables say (`tables`) and what the plots show (`plots`).
"""

import re
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from pinakes.report.data import BenchmarkReport
from pinakes.report.formatting import format_subset, format_time, format_value
from pinakes.report.group_plots import plot_groups, plot_sizes
from pinakes.report.group_tables import other_subset_tables, size_tables, type_tables
from pinakes.report.layout import Table
from pinakes.report.plots import list_plotted, plot_differences, plot_queries, plot_subsets
from pinakes.report.published import difference_table, reproduction_table
from pinakes.report.run_tables import coverage_table, describe_run
from pinakes.report.tables import (
    comparison_table,
    list_detailed,
    measure_table,
    query_table,
    result_table,
    subset_table,
)

MOST_DIFFERENCE_PLOTS: Final = 4
MOST_QUERY_ROWS: Final = 500
MOST_BAR_SUBSETS: Final = 8


def render_html(report: BenchmarkReport) -> str:
    """The whole report as one page: the same bytes for the same data."""
    environment = Environment(
        loader=FunctionLoader(_read_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["time"] = format_time
    environment.filters["breakable"] = _let_break
    environment.filters["minus"] = _write_minus
    page = environment.get_template("report.html")
    return page.render(report=report, lead=_describe_lead(report), describe_run=describe_run, **_fill(report))


def _read_template(name: str) -> str:
    return files("pinakes.report").joinpath("templates", name).read_text(encoding="utf-8")


def _fill(report: BenchmarkReport) -> dict[str, object]:
    """The tables and plots that the page has places for; None or nothing leaves a place out."""
    return {
        "results": result_table(report),
        "subsets": subset_table(report) if len(report.subsets) > 1 else None,
        "other_subsets": other_subset_tables(report),
        "sizes": size_tables(report),
        "types": type_tables(report),
        "reproduced": reproduction_table(report),
        "differences": _list_difference_tables(report),
        "comparisons": comparison_table(report) if report.comparisons else None,
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
    pairs = [pair for pair in report.comparisons if best in (pair.run_a, pair.run_b)][:MOST_DIFFERENCE_PLOTS]
    return _mark_safe(
        *(plot_differences(report, pair, name=f"pair{place}") for place, pair in enumerate(pairs))
    )


def _describe_lead(report: BenchmarkReport) -> dict[str, str] | None:
    """The best run by the headline, in words for the top of the page; None without scores."""
    scores = report.index_scores()
    best = next(iter(report.rank_runs()), None)
    score = best and scores.get((best.run_id, report.headline_subset, report.headline_measure))
    if not best or not score:
        return None
    value = format_value(score.value, report.scale, score.measure)
    return {"system": best.label, "value": value, "subset": format_subset(report.headline_subset)}


def _let_break(text: str) -> Markup:
    """Text that may go on in the next line after a point, as names of measures have one.

    >>> str(_let_break("CSFCube.nDCG%20")), str(_let_break("<b>"))
    ('CSFCube.<wbr>nDCG%20', '&lt;b&gt;')
    """
    return Markup(".<wbr>").join(text.split("."))


def _write_minus(text: str) -> str:
    """Text with a true minus before digits and between words, as print has it.

    >>> _write_minus("-0.10"), _write_minus("-7.21 to -3.17"), _write_minus("bm25-fast")
    ('−0.10', '−7.21 to −3.17', 'bm25-fast')
    """
    return re.sub(r"(?:^|(?<= to ))-(?=[\d∞])", "−", text.replace(" - ", "\u00a0−\u00a0"))
