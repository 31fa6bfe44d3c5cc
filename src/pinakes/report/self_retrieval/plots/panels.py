"""What the pictures share: panels beside each other, rows of codes, colours of categories, small files."""

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pinakes.report.asked_runs import AskedRun
from pinakes.report.plots.drawing import MUTED, SERIES, WIDTH_INCHES, write_svg
from pinakes.report.plots.scores import add_legend
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.names import CATEGORIES, CATEGORY_WORDS

PANELS_BESIDE: Final = 3
ROW_INCHES: Final = 0.185
_TITLE_CHARACTERS: Final = 26
_OWN_COLOUR: Final = MUTED
_LONG_NUMBER: Final = re.compile(r"(?<![#\w])(-?\d+\.\d\d)\d+")


def split_runs(runs: Sequence[AskedRun], beside: int = PANELS_BESIDE) -> list[Sequence[AskedRun]]:
    """The runs that stand in one picture, picture by picture."""
    return [runs[start : start + beside] for start in range(0, len(runs), beside)]


def make_panels(runs: Sequence[AskedRun], height_inches: float) -> tuple[Figure, list[Axes]]:
    """A panel a run beside each other over the same rows, each with its run's label above."""
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")
    grid = figure.subplots(1, max(len(runs), 2), sharex=True, sharey=True, squeeze=False)[0]
    for axes, run in zip(grid, runs, strict=False):
        name_panel(axes, run.label)
    for axes in grid[len(runs) :]:
        axes.set_axis_off()
    return figure, list(grid[: len(runs)])


def name_panel(axes: Axes, label: str) -> None:
    """A panel's title, folded where it is long."""
    axes.set_title(fold_label(label, _TITLE_CHARACTERS), fontsize=9.5)


def fold_label(label: str, characters: int) -> str:
    """A label in lines of at most so many characters.

    >>> fold_label("word2vec, mean of words", 16)
    'word2vec, mean\\nof words'
    """
    return "\n".join(textwrap.wrap(label, characters)) or label


def finish_panel(axes: Axes, label: str) -> None:
    """A horizontal axis with a grid and a name."""
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(label)


def colour_of(category: str) -> str:
    """The colour of a category, the same in every picture."""
    return SERIES[CATEGORIES.index(category)] if category in CATEGORIES else _OWN_COLOUR


def name_rows(axes: Axes, labels: Sequence[str], ends: Sequence[int]) -> None:
    """Name the rows, the first at the top, with a line below each of the rows in `ends`."""
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    for end in ends:
        axes.axhline(end + 0.5, color=MUTED, linewidth=0.5, alpha=0.6)


def list_ends(report: SelfReport, before: int = 0) -> list[int]:
    """The last rows of all categories but the last, where codes stand in rows after `before` others."""
    ends, place = ([before - 1] if before else []), before
    for category in report.list_categories()[:-1]:
        place += len(report.list_codes(category))
        ends.append(place - 1)
    return ends


def add_categories(axes: Axes, report: SelfReport, more: Sequence[Artist] = ()) -> None:
    """A legend of the categories' colours, in words."""
    handles: list[Artist] = [
        Patch(color=colour_of(name), label=f"{name} {CATEGORY_WORDS.get(name, '')}")
        for name in report.list_categories()
    ]
    add_legend(axes, [*handles, *more])


def write_small(figure: Figure, name: str, description: str) -> str:
    """The figure as SVG with two decimals a number, which no eye can tell from six."""
    return _LONG_NUMBER.sub(r"\1", write_svg(figure, name, description))
