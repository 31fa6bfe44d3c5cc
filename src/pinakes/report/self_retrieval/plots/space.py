"""Pictures of the space of vectors: overlap boxes, similarity bars, shares above the mean, t-SNE maps."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from pinakes.report.asked_runs import AskedRun
from pinakes.report.plots.drawing import INK, SERIES, WIDTH_INCHES, plot_settings
from pinakes.report.plots.scores import add_legend
from pinakes.report.self_retrieval.data import SelfReport, Similarity
from pinakes.report.self_retrieval.names import ORIGINAL, READING, TITLE
from pinakes.report.self_retrieval.plots.panels import (
    PANELS_BESIDE,
    ROW_INCHES,
    add_categories,
    colour_of,
    finish_panel,
    fold_label,
    list_ends,
    make_panels,
    name_panel,
    name_rows,
    write_small,
)

_DARKEST: Final = 0.6
"""opacity of the fullest cell, at which ink is still well read on it, in light and in dark"""


@dataclass(frozen=True, slots=True)
class Box:
    """A distribution in five numbers and its mean; the whiskers reach the last values within 1.5 boxes."""

    low: float
    first: float
    median: float
    third: float
    high: float
    mean: float


def summarise(counts: Sequence[int]) -> Box:
    """The box of how many values are 0, 10, 20, … per cent.

    >>> summarise([0, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0])
    Box(low=10.0, first=17.5, median=20.0, third=22.5, high=30.0, mean=20.0)
    """
    values = np.repeat(np.arange(len(counts)) * 10.0, counts)
    first, median, third = (float(end) for end in np.percentile(values, (25, 50, 75)))
    reach = 1.5 * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    return Box(float(inside.min()), first, median, third, float(inside.max()), float(values.mean()))


def plot_boxes(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """AOP-10 of the sampled neighbours of each code as boxes, a row a code and a panel a run."""
    labels = [one.code for one in report.codes]
    said = []
    with plot_settings():
        figure, panels = make_panels(runs, 1.5 + ROW_INCHES * len(labels))
        for axes, run in zip(panels, runs, strict=True):
            boxes = {
                row: summarise(counts)
                for row, one in enumerate(report.codes)
                if any(counts := report.overlaps.get((run.run_id, one.code, READING), ()))
            }
            _draw_boxes(axes, boxes, [colour_of(one.category) for one in report.codes])
            axes.plot([one.mean for one in boxes.values()], list(boxes), "D", color=INK, markersize=2.6)
            medians = [f"{labels[row]} {one.median:.0f}" for row, one in boxes.items()]
            said.append(f"{run.name}: {', '.join(medians)}")
            axes.set_xlim(-2, 102)
            finish_panel(axes, "AOP-10, %")
            name_rows(axes, labels, list_ends(report))
        add_categories(panels[0], report, [_mark("the mean", "D")])
        return write_small(figure, name, f"Box plots of AOP-10 in per cent. Medians of {'; '.join(said)}.")


def _draw_boxes(axes: Axes, boxes: Mapping[int, Box], colours: Sequence[str]) -> None:
    """Boxes by their rows: a thin line, a bar over it, and a thick mark in it."""
    rows, found = np.array(list(boxes), dtype=float), list(boxes.values())
    shades = [colours[row] for row in boxes]
    axes.hlines(rows, [one.low for one in found], [one.high for one in found], shades, linewidth=1)
    widths = [max(one.third - one.first, 0.005 * (one.high - one.low)) for one in found]
    lefts = [one.first for one in found]
    axes.barh(rows, widths, 0.66, left=lefts, color=shades, alpha=0.45, linewidth=0)
    axes.vlines([one.median for one in found], rows - 0.36, rows + 0.36, shades, linewidth=2.2)


def _mark(label: str, marker: str) -> Line2D:
    return Line2D([], [], color=INK, marker=marker, markersize=3, linestyle="none", label=label)


def plot_similarities(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """Lowest, highest, mean and deviation of all pairs' similarities, a row a code and a panel a run."""
    labels = [ORIGINAL, *(one.code for one in report.codes)]
    colours = [INK, *(colour_of(one.category) for one in report.codes)]
    said = []
    with plot_settings():
        figure, panels = make_panels(runs, 1.6 + ROW_INCHES * len(labels))
        for axes, run in zip(panels, runs, strict=True):
            boxes = {
                row: _spread(found)
                for row, code in enumerate(labels)
                if (found := report.similarities.get((run.run_id, code)))
            }
            _draw_boxes(axes, boxes, colours)
            means = [f"{labels[row]} {one.mean:.2f}" for row, one in boxes.items()]
            said.append(f"{run.name}: {', '.join(means)}")
            finish_panel(axes, "similarity")
            name_rows(axes, labels, list_ends(report, before=1))
        add_categories(panels[0], report)
        return write_small(figure, name, f"Similarity of all pairs. Means of {'; '.join(said)}.")


def _spread(found: Similarity) -> Box:
    """From the lowest to the highest, one deviation to each side of the mean."""
    ends = (found.mean - found.deviation, found.mean, found.mean + found.deviation)
    return Box(found.lowest, *ends, found.highest, found.mean)


def plot_above_mean(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """The per cent of pairs above the mean of their code, a row a code and a column a run."""
    rows = [ORIGINAL, *(one.code for one in report.codes)]
    shares = np.full((len(rows), len(runs)), math.nan)
    for place, run in enumerate(runs):
        for row, code in enumerate(rows):
            found = report.similarities.get((run.run_id, code))
            if found is not None and found.pairs:
                shares[row, place] = 100 * found.above_mean / found.pairs
    with plot_settings():
        figure = Figure(figsize=(WIDTH_INCHES, 1.3 + ROW_INCHES * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        _draw_cells(axes, shares)
        axes.set_xticks(range(len(runs)), [fold_label(run.label, 16) for run in runs])
        axes.xaxis.tick_top()
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.5, len(runs) - 0.5)
        name_rows(axes, rows, list_ends(report, before=1))
        handles = [
            Patch(facecolor=SERIES[side], alpha=_DARKEST, label=f"{word} than half of the pairs")
            for side, word in enumerate(("more", "fewer"))
        ]
        add_legend(axes, handles)
        said = []
        for run, column in zip(runs, shares.T, strict=True):
            known = (
                f"{code} {share:.0f}"
                for code, share in zip(rows, column, strict=True)
                if not math.isnan(share)
            )
            said.append(f"{run.name}: {', '.join(known)}")
        return write_small(figure, name, f"Heat map. Per cent of pairs above the mean. {'; '.join(said)}.")


def _draw_cells(axes: Axes, shares: NDArray[np.float64]) -> None:
    """A cell's shade is how far it is from half, in the colour of its side."""
    most = max(float(np.nanmax(np.abs(shares - 50), initial=0)), 1.0)
    for (row, place), share in np.ndenumerate(shares):
        if math.isnan(share):
            continue
        shade = _DARKEST * abs(share - 50) / most
        colour = SERIES[0] if share >= 50 else SERIES[1]
        axes.add_patch(Rectangle((place - 0.5, row - 0.5), 1, 1, facecolor=colour, alpha=shade, linewidth=0))
        axes.text(place, row, f"{share:.1f}", ha="center", va="center", fontsize=8)


def plot_maps(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """The t-SNE map of each run, titles and titles with abstracts in two colours."""
    down = math.ceil(len(runs) / PANELS_BESIDE)
    with plot_settings():
        figure = Figure(figsize=(WIDTH_INCHES, 0.6 + 2.65 * down), layout="constrained")
        for place, run in enumerate(runs, 1):
            axes = figure.add_subplot(down, PANELS_BESIDE, place)
            name_panel(axes, f"{run.corpus}: {run.label}")
            for colour, code in ((SERIES[0], ORIGINAL), (SERIES[1], TITLE)):
                _scatter(axes, report.maps[run.run_id].get(code, np.empty((0, 2))), colour)
            axes.autoscale_view()
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[["top", "right"]].set_visible(True)
        words = ((SERIES[0], "title with abstract (T+A)"), (SERIES[1], "title (T)"))
        dots: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 5}
        add_legend(axes, [Line2D([], [], color=colour, label=label, **dots) for colour, label in words])
        said = ", ".join(run.name for run in runs)
        return write_small(figure, name, f"t-SNE maps of titles and of titles with abstracts: {said}.")


def _scatter(axes: Axes, points: NDArray[np.float64], colour: str) -> None:
    """Points as one path of round dots, which is a tenth of as many marks."""
    vertices = np.repeat(points, 2, axis=0)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(points))
    path = Path(vertices, codes)
    path.should_simplify = False
    style: dict[str, Any] = {"edgecolor": colour, "facecolor": "none", "linewidth": 2.2, "capstyle": "round"}
    axes.add_patch(PathPatch(path, alpha=0.55, **style))
    axes.update_datalim(points) if len(points) else None
