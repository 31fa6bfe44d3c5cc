"""The plots of a report as SVG text: subsets, single queries, differences between two systems."""

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pinakes.report.data import BenchmarkReport, PairTest, RunRow
from pinakes.report.formatting import format_difference, format_subset, format_value
from pinakes.report.plots.drawing import (
    INK,
    MUTED,
    SERIES,
    Look,
    label_rows,
    make_axes,
    make_look,
    plot_settings,
    write_svg,
)
from pinakes.report.tables.published import match_published

MOST_SINGLE_BARS: Final = 150
MOST_SINGLE_DOTS: Final = 2_000
MOST_STEPS: Final = 500
HOLLOW: Final[dict[str, Any]] = {"color": MUTED, "markerfacecolor": "none", "markersize": 4.5}
"""how published figures are drawn"""


def plot_subsets(report: BenchmarkReport, *, name: str = "subsets") -> str | None:
    """The headline measure of each subset as bars, published figures as marks; None without scores.

    The subsets are those of the headline's split. As many runs are drawn as there are colours, best first.
    """
    scores = report.index_scores()
    subsets = list_plotted(report)
    headline = (report.headline_subset, report.headline_measure)
    runs = [run for run in report.rank_runs() if (run.run_id, *headline) in scores][: len(SERIES)]
    if not runs:
        return None
    with plot_settings():
        figure, axes = make_axes(1.1 + 0.26 * (len(runs) + 1.6) * len(subsets))
        for row, subset in enumerate(subsets):
            _draw_bars(axes, report, runs, subset, row)
            figures = list_figures(report, subset)  # diamonds in the lowest part of the row
            axes.plot(figures, [row + 0.34] * len(figures), "D", **HOLLOW)
        axes.set_yticks(range(len(subsets)), [format_subset(subset) for subset in subsets])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        finish_axes(axes, report, f"{report.headline_measure} by subset")
        add_legend(axes, _subset_legend(report, runs))
        values = describe_values(report, runs, subsets)
        return write_svg(figure, name, f"Bar chart of {report.headline_measure}. {values}")


def list_plotted(report: BenchmarkReport) -> list[str]:
    """The subsets of the headline's split, which one plot shows."""
    split = report.headline_subset.partition("/")[2]
    return [subset for subset in report.subsets if subset.partition("/")[2] == split]


def factor_of(report: BenchmarkReport) -> float:
    """What a value is multiplied by on an axis."""
    return 100.0 if report.scale == "percent" else 1.0


def _draw_bars(axes: Axes, report: BenchmarkReport, runs: Sequence[RunRow], subset: str, row: int) -> None:
    """A subset's bars in the upper part of its row, each with its value, and its like's published one."""
    scores, figures, matched = report.index_scores(), report.index_published(), match_published(report)
    height = 0.84 / (len(runs) + 1)
    for place, run in enumerate(runs):
        score = scores.get((run.run_id, subset, report.headline_measure))
        if score is None:
            continue
        y, value = row - 0.42 + height * (place + 0.5), score.value * factor_of(report)
        look = make_look(report.find_look(run, place))
        axes.barh(y, value, height * 0.86, color=look.colour, hatch=look.hatch)
        text = format_value(score.value, report.scale, report.headline_measure)
        axes.annotate(text, (value, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
        figure = figures.get((matched.get(run.run_id, ""), subset, report.headline_measure))
        if figure is not None:
            x = figure.value * factor_of(report)
            axes.plot([x, x], [y - height * 0.43, y + height * 0.43], color=INK, linewidth=2)


def list_figures(report: BenchmarkReport, subset: str) -> list[float]:
    """The published values of the headline measure in a subset, as they stand on an axis."""
    found = report.list_published(subset, report.headline_measure)
    return [figure.value * factor_of(report) for figure in found]


def _subset_legend(report: BenchmarkReport, runs: Sequence[RunRow]) -> list[Artist]:
    looks = [make_look(report.find_look(run, place)) for place, run in enumerate(runs)]
    handles: list[Artist] = [
        Patch(facecolor=look.colour, hatch=look.hatch, label=run.label)
        for run, look in zip(runs, looks, strict=True)
    ]
    if any(figure.measure == report.headline_measure for figure in report.published):
        handles.append(Line2D([], [], marker="D", linestyle="none", label="a published system", **HOLLOW))
    if match_published(report):
        handles.append(Line2D([], [], color=INK, linewidth=2, label="published, same system"))
    return handles


def describe_values(
    report: BenchmarkReport, runs: Sequence[RunRow], subsets: Sequence[str], *, with_deviations: bool = False
) -> str:
    """Each subset with the headline values of the runs in it, for those who cannot see the plot."""
    scores, deviations = report.index_scores(), report.index_deviations() if with_deviations else {}
    said = []
    for subset in subsets:
        values = []
        for run in runs:
            key = (run.run_id, subset, report.headline_measure)
            if key in scores:
                value = format_value(scores[key].value, report.scale, report.headline_measure)
                spread = f" ± {format_value(deviations[key], report.scale)}" if key in deviations else ""
                values.append(f"{run.label} {value}{spread}")
        said.append(f"{format_subset(subset)}: {', '.join(values) or 'no score'}")
    return f"{'; '.join(said)}."


def plot_queries(report: BenchmarkReport, *, name: str = "queries") -> str | None:
    """Every query's headline value as a dot, a row for each run, the mean as a line; None without values."""
    runs = [run for run in report.rank_runs() if report.query_values.get(run.run_id)]
    if not runs:
        return None
    with plot_settings():
        figure, axes = make_axes(1.0 + 0.5 * len(runs))
        for row, run in enumerate(runs):
            values = [value * factor_of(report) for value in _values(report, run)]
            _draw_dots(axes, values, row, make_look(report.find_look(run, row)))
        label_rows(axes, [run.label for run in runs])
        finish_axes(axes, report, f"{report.headline_measure} of every query; the line is the mean")
        means = []
        for run in runs:
            mean = sum(_values(report, run)) / len(report.query_values[run.run_id])
            means.append(f"{run.label} {format_value(mean, report.scale, report.headline_measure)}")
        said = f"Dot plot of {report.headline_measure} by query. Means: {', '.join(means)}."
        return write_svg(figure, name, said)


def _values(report: BenchmarkReport, run: RunRow) -> list[float]:
    values = report.query_values[run.run_id]
    return [values[query_id] for query_id in sorted(values)]


def _draw_dots(axes: Axes, values: Sequence[float], row: int, look: Look) -> None:
    """Dots spread over the row by the golden ratio, which fills it evenly and is the same each time."""
    heights = [row + ((place * 0.6180339887) % 1 - 0.5) * 0.56 for place in range(len(values))]
    axes.plot(
        values,
        heights,
        look.marker,
        markersize=4,
        alpha=0.55,
        color=look.colour,
        markeredgewidth=0,
        clip_on=False,
        rasterized=len(values) > MOST_SINGLE_DOTS,
    )
    mean = sum(values) / len(values)
    axes.plot([mean, mean], [row - 0.38, row + 0.38], color=INK, linewidth=2)


def plot_differences(report: BenchmarkReport, pair: PairTest, *, name: str = "differences") -> str:
    """Run b minus run a for every query, sorted: above in one colour, below in another."""
    label_a, label_b = (report.find_run(run_id).label for run_id in (pair.run_a, pair.run_b))
    values_a, values_b = report.query_values[pair.run_a], report.query_values[pair.run_b]
    differences = sorted(
        ((values_b[query_id] - values_a[query_id]) * factor_of(report) for query_id in values_a), reverse=True
    )
    mean = format_difference(pair.mean_difference, report.scale, report.headline_measure)
    counts = f"{pair.wins} higher, {pair.ties} equal, {pair.losses} lower; mean {mean.replace('-', '−')}"
    with plot_settings():
        figure, axes = make_axes(2.6)
        for place, (keep, run_id) in enumerate(((max, pair.run_b), (min, pair.run_a))):
            look = make_look(report.find_look(report.find_run(run_id), place))
            _draw_differences(axes, [keep(value, 0.0) for value in differences], look.colour)
        axes.axhline(0, color=INK, linewidth=0.8)
        title = f"{label_b} minus {label_a}"
        finish_upright(axes, report, title)
        axes.set_xlabel(f"queries, sorted ({counts})")
        said = f"Sorted differences of {report.headline_measure} by query, {title}: {counts}."
        return write_svg(figure, name, said)


def _draw_differences(axes: Axes, values: Sequence[float], colour: str) -> None:
    """Sorted values as bars; as one outline of at most `MOST_STEPS` of them where they are many."""
    if len(values) <= MOST_SINGLE_BARS:
        axes.bar(range(1, len(values) + 1), values, 0.8, color=colour)
        return
    steps = min(len(values), MOST_STEPS)
    edges = [0.5 + place * len(values) / steps for place in range(steps + 1)]
    chosen = [values[int((place + 0.5) * len(values) / steps)] for place in range(steps)]
    axes.stairs(chosen, edges, baseline=0, fill=True, color=colour)


def unit_of(report: BenchmarkReport) -> str:
    """What an axis of the headline measure is called."""
    return f"{report.headline_measure} × 100" if report.scale == "percent" else report.headline_measure


def finish_axes(axes: Axes, report: BenchmarkReport, title: str) -> None:
    """A horizontal axis of the headline measure from zero, with a grid and a title."""
    axes.set_xlim(left=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(unit_of(report))
    axes.set_title(title)


def finish_upright(axes: Axes, report: BenchmarkReport, title: str) -> None:
    """A vertical axis of the headline measure, with a grid and a title."""
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_ylabel(unit_of(report))
    axes.set_title(title)


def add_legend(axes: Axes, handles: Sequence[Artist]) -> None:
    """A legend below the plot; matplotlib hides a label that begins with an underscore."""
    labels = [str(handle.get_label()) for handle in handles]
    labels = [f" {label}" if label.startswith("_") else label for label in labels]
    columns = max(1, min(5, 90 // (max(map(len, labels)) + 6)))
    figure = axes.get_figure()
    if figure is not None:
        figure.legend(handles, labels, loc="outside lower left", ncols=columns)
