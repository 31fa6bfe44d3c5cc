"""The picture of a training: the losses of each format by step, and on what validates after each epoch."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pinakes.indexers.encoder.trained import TrainingRecord
from pinakes.indexers.training.tasks import average_by_format
from pinakes.report.plots.drawing import MARKERS, SERIES, WIDTH_INCHES, plot_settings, write_svg

_COLUMNS: Final = 2
_ROW_INCHES: Final = 1.9
_WINDOW: Final = 25
"""a line is the mean of this share of the steps around, one in so many"""


def plot_training(record: TrainingRecord, *, name: str) -> str:
    """A small plot for each format: the loss of each step, its running mean, and that on what validates."""
    steps = [average_by_format(record.formats, losses) for losses in record.losses]
    epochs = [average_by_format(record.formats, losses) for losses in record.validation]
    formats = list(dict.fromkeys(record.formats))
    with plot_settings():
        rows = -(-len(formats) // _COLUMNS)
        figure = Figure(figsize=(WIDTH_INCHES, _ROW_INCHES * rows + 0.4), layout="constrained")
        grid = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for place, (axes, format) in enumerate(zip(grid, formats, strict=False)):
            _draw(axes, place, format, _select(steps, format), _place_epochs(epochs, format, len(steps)))
        for axes in grid[len(formats) :]:
            axes.set_visible(False)
        return write_svg(figure, name, _describe(formats, steps, epochs))


def _select(steps: Sequence[Mapping[str, float]], format: str) -> list[tuple[float, float]]:
    return [
        (float(number), losses[format]) for number, losses in enumerate(steps, start=1) if format in losses
    ]


def _place_epochs(
    epochs: Sequence[Mapping[str, float]], format: str, steps: int
) -> list[tuple[float, float]]:
    """The validation loss of each epoch, at the step that the epoch ended with if all were as long."""
    return [
        (number * steps / len(epochs), losses[format])
        for number, losses in enumerate(epochs, start=1)
        if format in losses
    ]


def _draw(
    axes: Axes,
    place: int,
    format: str,
    steps: Sequence[tuple[float, float]],
    epochs: Sequence[tuple[float, float]],
) -> None:
    colour = SERIES[place % len(SERIES)]
    axes.plot(*_split(steps), ".", color=colour, alpha=0.3, markersize=3)
    axes.plot(*_split(smooth(steps)), color=colour, linewidth=1.6)
    axes.plot(
        *_split(epochs),
        linestyle="",
        marker=MARKERS[2],
        color=colour,
        markersize=6,
        markeredgecolor="#010203",
    )
    axes.set_title(format)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.set_axisbelow(True)


def _split(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _y in points], [y for _x, y in points]


def smooth(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Each point with the mean of those around it, a 25th of all to either side.

    >>> smooth([(1.0, 4.0), (2.0, 2.0)])
    [(1.0, 4.0), (2.0, 2.0)]
    """
    reach = len(points) // _WINDOW
    found = []
    for place, (x, _y) in enumerate(points):
        around = points[max(0, place - reach) : place + reach + 1]
        found.append((x, sum(y for _x, y in around) / len(around)))
    return found


def _describe(
    formats: Sequence[str], steps: Sequence[Mapping[str, float]], epochs: Sequence[Mapping[str, float]]
) -> str:
    said = []
    for format in formats:
        losses = [y for _x, y in _select(steps, format)]
        ends = f"{losses[0]:.3f} to {losses[-1]:.3f} over {len(losses):,} steps" if losses else "no step"
        validated = ", ".join(f"{one[format]:.3f}" for one in epochs if format in one)
        said.append(f"{format}: {ends}" + (f", validation {validated}" if validated else ""))
    return f"Losses by format. {'; '.join(said)}."
