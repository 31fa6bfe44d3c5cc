"""The plots of a benchmark's exhibits as SVG text: heat maps of counts, and papers under two groups."""

import math
from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.exhibits.data import GroupPair, GroupPairsExhibit, HeatMapExhibit, HeatMapPanel
from pinakes.report.exhibits.tables import list_pair_values
from pinakes.report.formatting import format_value
from pinakes.report.plots.drawing import (
    INK,
    MARKERS,
    MUTED,
    SERIES,
    WIDTH_INCHES,
    label_rows,
    make_axes,
    plot_settings,
    write_svg,
)
from pinakes.report.plots.scores import add_legend, factor_of, finish_axes

MOST_PANELS_BESIDE: Final = 3
MOST_PAIRS: Final = 60
_DARKEST: Final = 0.6
"""opacity of the fullest cell, at which ink is still well read on it, in light and in dark"""


def plot_heat_map(exhibit: HeatMapExhibit, *, name: str) -> str:
    """A panel for each pair of groups: how many candidates have which two grades, the more the darker.

    The shade follows the square root of the count over the panel's largest, since most pairs are unrelated
    in both and would leave the others white.
    """
    down = math.ceil(len(exhibit.panels) / MOST_PANELS_BESIDE)
    with plot_settings():
        figure = Figure(figsize=(WIDTH_INCHES, 0.1 + 2.75 * down))
        figure.set_layout_engine("constrained", wspace=0.08)
        for place, panel in enumerate(exhibit.panels, 1):
            _draw_panel(figure.add_subplot(down, MOST_PANELS_BESIDE, place), exhibit.grades, panel)
        return write_svg(figure, name, _describe_heat_map(exhibit))


def _draw_panel(axes: Axes, grades: Sequence[int], panel: HeatMapPanel) -> None:
    most = max(panel.counts.values(), default=0)
    for row, grade_a in enumerate(grades):
        for column, grade_b in enumerate(grades):
            count = panel.counts.get((grade_a, grade_b), 0)
            shade = _DARKEST * math.sqrt(count / most) if most else 0.0
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=SERIES[0], alpha=shade, linewidth=0))
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=INK if count else MUTED)
    for edge in range(1, len(grades)):
        axes.axhline(edge - 0.5, color=MUTED, linewidth=0.4, alpha=0.5)
        axes.axvline(edge - 0.5, color=MUTED, linewidth=0.4, alpha=0.5)
    places, names = range(len(grades)), [str(grade) for grade in grades]
    axes.set_xticks(places, names)
    axes.set_yticks(places, names)
    axes.set_xlim(-0.5, len(grades) - 0.5)
    axes.set_ylim(-0.5, len(grades) - 0.5)
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    axes.set_xlabel(f"grade for {panel.group_b}")
    axes.set_ylabel(f"grade for {panel.group_a}")
    axes.set_title(f"{sum(panel.counts.values()):,} candidates")


def _describe_heat_map(exhibit: HeatMapExhibit) -> str:
    said = []
    for panel in exhibit.panels:
        counts = (f"{a} and {b}: {count}" for (a, b), count in sorted(panel.counts.items()))
        said.append(f"{panel.group_a} and {panel.group_b}: {', '.join(counts)}")
    return f"Heat map. {exhibit.title}. Candidates by their two grades. {'; '.join(said)}."


def plot_pairs(report: BenchmarkReport, exhibit: GroupPairsExhibit, run: RunRow, *, name: str) -> str:
    """A run's headline measure of each paper under its two groups: two dots and a line between, by distance.

    Of more papers than `MOST_PAIRS` those with the largest distance are drawn.
    """
    found = list_pair_values(report, exhibit, run)
    drawn = found[:MOST_PAIRS]
    groups = sorted({group for pair, *_values in found for group in (pair.group_a, pair.group_b)})
    with plot_settings():
        figure, axes = make_axes(1.3 + 0.25 * len(drawn))
        for row, (pair, *values) in enumerate(drawn):
            _draw_pair(axes, groups, pair, [value * factor_of(report) for value in values], row)
        label_rows(axes, [pair.paper for pair, *_values in drawn])
        left_out = f", {len(drawn)} of {len(found)} papers" if len(drawn) < len(found) else ""
        finish_axes(axes, report, f"{run.label}: each paper under its two {exhibit.column}s{left_out}")
        add_legend(axes, [Line2D([], [], label=group, **_style(groups, group)) for group in groups])
        return write_svg(figure, name, _describe_pairs(report, run, drawn))


def _style(groups: Sequence[str], group: str) -> dict[str, Any]:
    place = groups.index(group)
    mark = {"color": SERIES[place % len(SERIES)], "marker": MARKERS[place % len(MARKERS)]}
    return {**mark, "markersize": 6, "linestyle": "none"}


def _draw_pair(axes: Axes, groups: Sequence[str], pair: GroupPair, values: Sequence[float], row: int) -> None:
    axes.plot(values, [row, row], color=MUTED, linewidth=1.2, zorder=1)
    for group, value in zip((pair.group_a, pair.group_b), values, strict=True):
        axes.plot([value], [row], clip_on=False, **_style(groups, group))


def _describe_pairs(
    report: BenchmarkReport, run: RunRow, drawn: Sequence[tuple[GroupPair, float, float]]
) -> str:
    said = []
    for pair, *values in drawn:
        a, b = (format_value(value, report.scale, report.headline_measure) for value in values)
        said.append(f"{pair.paper}: {pair.group_a} {a}, {pair.group_b} {b}")
    return f"Paired dots of {report.headline_measure} by paper, {run.label}. {'; '.join(said)}."
