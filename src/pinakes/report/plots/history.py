"""The plot of a benchmark's history as SVG text: the headline of each system over time, in steps."""

import math
from typing import Any, Final

from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.lines import Line2D

from pinakes.report.data import BenchmarkReport
from pinakes.report.formatting import format_time, format_value
from pinakes.report.plots.drawing import SERIES, make_axes, make_look, plot_settings, write_svg
from pinakes.report.plots.scores import add_legend, factor_of, finish_upright

_HEIGHT: Final = 3.0


def plot_history(report: BenchmarkReport, *, name: str = "history") -> str | None:
    """Each new value as a mark, level until the next; None without a history. As many runs as colours."""
    curves = {curve.run_id: curve for curve in report.history}
    runs = [run for run in report.rank_runs() if run.run_id in curves][: len(SERIES)]
    if not runs:
        return None
    with plot_settings():
        figure, axes = make_axes(_HEIGHT)
        handles, said = [], []
        for place, run in enumerate(runs):
            curve = curves[run.run_id]
            known = [point for point in curve.points if math.isfinite(point.value)]
            times = [*(point.at for point in known), *([max(curve.until, known[-1].at)] if known else [])]
            values = [point.value * factor_of(report) for point in known]
            drawn = make_look(report.find_look(run, place))
            look: dict[str, Any] = {"color": drawn.colour, "marker": drawn.marker, "markersize": 4.5}
            axes.plot(
                date2num(times),  # type: ignore[no-untyped-call]
                [*values, *values[-1:]],
                drawstyle="steps-post",
                markevery=list(range(len(values))),
                **look,
            )
            handles.append(Line2D([], [], label=run.label, **look))
            measure, scale = report.headline_measure, report.scale
            steps = ", ".join(
                f"{format_value(point.value, scale, measure)} on {format_time(point.at)}" for point in known
            )
            said.append(f"{run.label}: {steps}")
        locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        finish_upright(axes, report, f"{report.headline_measure} from evaluation to evaluation")
        add_legend(axes, handles)
        return write_svg(
            figure, name, f"Step plot of {report.headline_measure} over time. {'; '.join(said)}."
        )
