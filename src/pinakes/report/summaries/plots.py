"""The picture of the report: ROUGE of the summary against the step of the augmentation."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pinakes.report.plots.drawing import MARKERS, SERIES, WIDTH_INCHES, plot_settings, write_svg
from pinakes.report.plots.scores import add_legend
from pinakes.report.summaries.data import StepScores

FEWEST: Final = 5
"""examples that a step has at least where it is drawn; the table below has all steps"""
FEWEST_SHARE: Final = 0.05
"""of those that the first step has"""
MOST_TICKS: Final = 12


def plot_curves(curves: Mapping[str, Sequence[StepScores]], *, name: str) -> str:
    """The median of the summary's ROUGE at each step, the band from first to third quartile.

    Below it how many examples have the step: the greedy loop ends when nothing raises the score, so that a
    later step is of fewer examples.
    """
    drawn = {labeller: keep_frequent(steps) for labeller, steps in curves.items()}
    with plot_settings():
        figure = Figure(figsize=(WIDTH_INCHES, 4.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1))
        for place, steps in enumerate(drawn.values()):
            _draw(above, below, steps, SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)])
        last = max((steps[-1].step for steps in drawn.values() if steps), default=0)
        stride = max(1, -(-last // MOST_TICKS))
        below.set_xticks(range(0, last + 1, stride))
        below.set_xlabel("step of the augmentation; 0 is the citing sentences alone")
        above.set_ylabel("ROUGE of the summary")
        below.set_ylabel("examples")
        for axes in (above, below):
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
            axes.set_axisbelow(True)
        add_legend(above, [_line(place, labeller) for place, labeller in enumerate(drawn)])
        return write_svg(figure, name, _describe(drawn))


def keep_frequent(steps: Sequence[StepScores]) -> list[StepScores]:
    """The steps that enough examples have; all where none has so many.

    >>> keep_frequent([StepScores(0, 9, 0, 0, 0), StepScores(1, 2, 0, 0, 0)])[-1].step
    0
    """
    least = max(FEWEST, FEWEST_SHARE * max((one.examples for one in steps), default=0))
    return [one for one in steps if one.examples >= least] or list(steps)


def _draw(above: Axes, below: Axes, steps: Sequence[StepScores], colour: str, marker: str) -> None:
    numbers = [one.step for one in steps]
    low, high = [one.first_quartile for one in steps], [one.third_quartile for one in steps]
    above.fill_between(numbers, low, high, color=colour, alpha=0.18, linewidth=0)
    above.plot(
        numbers, [one.median for one in steps], color=colour, marker=marker, markersize=4, linewidth=1.6
    )
    below.plot(
        numbers, [one.examples for one in steps], color=colour, marker=marker, markersize=3, linewidth=1.2
    )


def _line(place: int, label: str) -> Line2D:
    colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
    return Line2D([], [], color=colour, marker=marker, markersize=4, label=label)


def _describe(drawn: Mapping[str, Sequence[StepScores]]) -> str:
    said = [
        f"{labeller}: "
        + ", ".join(f"step {one.step} {one.median:.3f} of {one.examples:,} examples" for one in steps)
        for labeller, steps in drawn.items()
    ]
    return f"Line chart of the median ROUGE by augmentation step. {'; '.join(said)}."
