"""The plots of pool sizes and of many groups as SVG text: a line a system, a dot a system."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.formatting import format_size, format_subset
from pinakes.report.plots.drawing import (
    SERIES,
    Look,
    label_rows,
    make_axes,
    make_look,
    plot_settings,
    write_svg,
)
from pinakes.report.plots.scores import (
    HOLLOW,
    add_legend,
    describe_values,
    factor_of,
    finish_axes,
    finish_upright,
    list_figures,
)
from pinakes.report.subsets import TYPE, read_size

Line = Literal["-", "--", ""]


def plot_sizes(report: BenchmarkReport, *, name: str = "sizes") -> str | None:
    """The headline measure over the pool size, a line a run, bars of one standard deviation over the repeats.

    The sizes stand on a logarithmic axis. Published systems are thin dashed lines. None below two sizes.
    """
    runs = _scored_runs(report, report.sizes)
    if len(report.sizes) < 2 or not runs:
        return None
    with plot_settings():
        figure, axes = make_axes(3.4)
        _draw_published_lines(axes, report)
        sizes = {subset: read_size(subset) for subset in report.sizes}
        for run, look in zip(runs, _list_looks(report, runs), strict=True):
            places, values, deviations = _list_points(report, run, sizes)
            style: dict[str, Any] = {
                "color": look.colour,
                "marker": look.marker,
                "linewidth": 1.6,
            }
            axes.errorbar(places, values, yerr=deviations, markersize=5, capsize=3, **style)
        axes.set_xscale("log")
        axes.set_xticks(list(sizes.values()), [format_size(size) for size in sizes.values()])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(bottom=0)
        finish_upright(axes, report, f"{report.headline_measure} by pool size")
        axes.set_xlabel("papers in the pool, logarithmic")
        add_legend(axes, [*_legend(report, runs), *_published_legend(report, report.sizes, "--")])
        said = describe_values(report, runs, report.sizes, with_deviations=True)
        return write_svg(figure, name, f"Line chart of {report.headline_measure} over the pool size. {said}")


def _scored_runs(report: BenchmarkReport, subsets: Sequence[str]) -> list[RunRow]:
    """The runs that have a headline score in one of the subsets, best first, as many as there are colours."""
    scored = {s.run_id for s in report.scores if s.subset in subsets and s.measure == report.headline_measure}
    return [run for run in report.rank_runs() if run.run_id in scored][: len(SERIES)]


def _list_points(
    report: BenchmarkReport, run: RunRow, places: Mapping[str, int]
) -> tuple[list[int], list[float], list[float]]:
    """Place, value and deviation (zero of one repeat) of each subset with a score."""
    scores, deviations = report.index_scores(), report.index_deviations()
    factor = factor_of(report)
    keys = [(run.run_id, subset, report.headline_measure) for subset in places]
    keys = [key for key in keys if key in scores]
    values = [scores[key].value * factor for key in keys]
    return [places[key[1]] for key in keys], values, [deviations.get(key, 0.0) * factor for key in keys]


def _draw_published_lines(axes: Axes, report: BenchmarkReport) -> None:
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for figure in report.published:
        if figure.subset in report.sizes and figure.measure == report.headline_measure:
            point = (read_size(figure.subset), figure.value * factor_of(report))
            points.setdefault((figure.system, figure.source), []).append(point)
    for of_system in points.values():
        sizes, values = zip(*sorted(of_system), strict=True)
        axes.plot(sizes, values, "D--", linewidth=0.9, **HOLLOW)


def plot_groups(report: BenchmarkReport, subsets: Sequence[str], title: str, *, name: str) -> str | None:
    """The headline measure of each subset as dots in a row, a colour and a mark a run; None without scores.

    Deviations over repeats are thin bars, published figures hollow diamonds.
    """
    runs = _scored_runs(report, subsets)
    if not runs:
        return None
    with plot_settings():
        figure, axes = make_axes(1.3 + 0.27 * len(subsets))
        for row, subset in enumerate(subsets):
            figures = list_figures(report, subset)
            axes.plot(figures, [row] * len(figures), "D", **HOLLOW)
        rows = {subset: row for row, subset in enumerate(subsets)}
        for run, look in zip(runs, _list_looks(report, runs), strict=True):
            places, values, deviations = _list_points(report, run, rows)
            style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
            axes.errorbar(values, places, xerr=deviations, markersize=5.5, elinewidth=1.2, **style)
        label_rows(axes, [_label(subset) for subset in subsets])
        finish_axes(axes, report, title)
        axes.grid(axis="y", linewidth=0.5)
        add_legend(axes, [*_legend(report, runs, line=""), *_published_legend(report, subsets, "")])
        said = describe_values(report, runs, subsets, with_deviations=True)
        return write_svg(figure, name, f"Dot plot of {report.headline_measure}. {said}")


def _label(subset: str) -> str:
    """A row's name: that of a type alone, since the title says that they are types.

    >>> _label("type=graph"), _label("field=Art")
    ('graph', 'field Art')
    """
    return subset.removeprefix(TYPE) if subset.startswith(TYPE) else format_subset(subset)


def _list_looks(report: BenchmarkReport, runs: Sequence[RunRow]) -> list[Look]:
    return [make_look(report.find_look(run, place)) for place, run in enumerate(runs)]


def _legend(report: BenchmarkReport, runs: Sequence[RunRow], line: Line = "-") -> list[Line2D]:
    return [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle=line, markersize=5, label=run.label)
        for run, look in zip(runs, _list_looks(report, runs), strict=True)
    ]


def _published_legend(report: BenchmarkReport, subsets: Sequence[str], line: Line) -> list[Line2D]:
    if not any(list_figures(report, subset) for subset in subsets):
        return []
    return [Line2D([], [], marker="D", linestyle=line, label="a published system", **HOLLOW)]
