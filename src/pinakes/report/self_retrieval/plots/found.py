"""Pictures of how neighbours find their original: stacked bars, robustness, loss against change."""

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pinakes.report.asked_runs import AskedRun
from pinakes.report.plots.drawing import INK, MARKERS, SERIES, label_rows, make_axes, plot_settings, write_svg
from pinakes.report.plots.scores import add_legend
from pinakes.report.self_retrieval.aggregate import add_losses, sum_bins
from pinakes.report.self_retrieval.data import LossBin, SelfReport
from pinakes.report.self_retrieval.findings import keep_large
from pinakes.report.self_retrieval.names import CATEGORIES, CATEGORY_WORDS, ROBUSTNESS, format_quantity
from pinakes.report.self_retrieval.plots.panels import (
    ROW_INCHES,
    add_categories,
    colour_of,
    finish_panel,
    list_ends,
    make_panels,
    name_rows,
    write_small,
)

_FAINT: Final = 0.4


def plot_robustness(report: SelfReport, *, name: str) -> str:
    """The robustness of every run as a dot with its interval, a row a run, corpus by corpus."""
    rows = [
        (run, found) for run in report.runs if (found := report.values.get((run.run_id, "all", ROBUSTNESS)))
    ]
    corpora = report.list_corpora()
    ends = [[one.value if end is None else end for end in (one.low, one.high)] for _run, one in rows]
    with plot_settings():
        figure, axes = make_axes(1.0 + 0.27 * len(rows))
        for row, ((run, one), (low, high)) in enumerate(zip(rows, ends, strict=True)):
            place = corpora.index(run.corpus)
            colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
            axes.plot([low, high], [row, row], color=colour, linewidth=2.4, alpha=0.6)
            axes.plot([one.value], [row], marker, color=colour, markersize=4.5)
            text = format_quantity(ROBUSTNESS, one.value)
            axes.annotate(text, (high, row), (6, 0), textcoords="offset points", va="center", fontsize=8)
        label_rows(axes, [f"{run.corpus}: {run.label}" for run, _found in rows])
        lowest, highest = min(low for low, _high in ends), max(high for _low, high in ends)
        span = max(highest - lowest, 0.02)
        first = max(0.0, lowest - span / 4)
        axes.set_xlim(first, highest + span / 3)  # room for the last value's text
        axes.set_xticks([tick for tick in axes.get_xticks() if first <= tick <= 1])
        finish_panel(axes, "robustness; the line is the 95 % bootstrap interval")
        said = "; ".join(f"{run.name} {format_quantity(ROBUSTNESS, found.value)}" for run, found in rows)
        return write_svg(figure, name, f"Dot plot of robustness. {said}.")


def plot_category_returns(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """NN1, and stacked on it what NN10 adds, a row a category and a panel a run."""
    categories = report.list_categories()
    labels = [f"{name}\n{CATEGORY_WORDS.get(name, '')}" for name in categories]
    rows = [(f"category={category}", category) for category in categories]
    with plot_settings():
        figure, panels = make_panels(runs, 1.5 + 0.42 * len(rows))
        for axes, run in zip(panels, runs, strict=True):
            _stack(axes, report, run, rows, with_values=True)
            name_rows(axes, labels, [])
        _legend_returns(panels[0])
        return write_small(figure, name, _describe_returns(report, runs, rows))


def plot_code_returns(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """NN1 and NN10 of every code, a row a code and a panel a run."""
    rows = [(f"code={one.code}", one.category) for one in report.codes]
    with plot_settings():
        figure, panels = make_panels(runs, 1.5 + ROW_INCHES * len(rows))
        for axes, run in zip(panels, runs, strict=True):
            _stack(axes, report, run, rows, with_values=False)
            name_rows(axes, [one.code for one in report.codes], list_ends(report))
        add_categories(panels[0], report)
        return write_small(figure, name, _describe_returns(report, runs, rows))


def _stack(
    axes: Axes, report: SelfReport, run: AskedRun, rows: Sequence[tuple[str, str]], *, with_values: bool
) -> None:
    """The bars of a run: NN1 full, what NN10 adds faint; nothing where a code has no score."""
    firsts, tens, places, colours = [], [], [], []
    for row, (subset, category) in enumerate(rows):
        found = [report.values.get((run.run_id, subset, measure)) for measure in ("NN1", "NN10")]
        values = [100 * one.value for one in found if one is not None]
        if found[0] is not None:
            firsts.append(values[0])
            tens.append(values[-1] - values[0])
            places.append(row)
            colours.append(colour_of(category))
    axes.barh(places, firsts, 0.72, color=colours, linewidth=0)
    axes.barh(places, tens, 0.72, left=firsts, color=colours, alpha=_FAINT, linewidth=0)
    if with_values:
        for row, first, more in zip(places, firsts, tens, strict=True):
            axes.text(first + more + 2, row, f"{first:.1f}\n{first + more:.1f}", va="center", fontsize=8)
    axes.set_xlim(0, 122 if with_values else 100)
    axes.set_xticks(range(0, 101, 25))
    finish_panel(axes, "% of neighbours")


def _legend_returns(axes: Axes) -> None:
    full = Patch(color=INK, label="NN1: the original is the nearest")
    faint = Patch(facecolor=INK, alpha=_FAINT, edgecolor="none", label="NN10: it is among the ten nearest")
    add_legend(axes, [full, faint])


def _describe_returns(report: SelfReport, runs: Sequence[AskedRun], rows: Sequence[tuple[str, str]]) -> str:
    said = []
    for run in runs:
        values = [
            f"{subset.partition('=')[2]} {format_quantity('NN1', found.value)}"
            for subset, _category in rows
            if (found := report.values.get((run.run_id, subset, "NN1")))
        ]
        said.append(f"{run.name}: {', '.join(values)}")
    return f"Bar chart of NN1 and NN10 in per cent. NN1 of {'; '.join(said)}."


def plot_losses(report: SelfReport, runs: Sequence[AskedRun], *, name: str) -> str:
    """Neighbours that do not find their original first over the share changed.

    A line is a category, by bins of the share; a small dot is a code, at the mean of all its neighbours.
    """
    with plot_settings():
        figure, panels = make_panels(runs, 3.4)
        for axes, run in zip(panels, runs, strict=True):
            for category in report.list_categories():
                _draw_loss(axes, report, run, category)
            axes.set_xlim(0, 100)
            axes.set_ylim(0, 100)
            finish_panel(axes, "% of characters changed")
            axes.grid(axis="y")
        panels[0].set_ylabel("% of neighbours whose\noriginal is not the nearest")
        dot = Line2D([], [], color=INK, marker=".", alpha=_FAINT, linestyle="none", label="a code")
        add_legend(panels[0], [*(_line(category) for category in report.list_categories()), dot])
        names = ", ".join(run.name for run in runs)
        said = f"Line chart of the loss over the share of characters changed: {names}."
        return write_small(figure, name, said)


def _draw_loss(axes: Axes, report: SelfReport, run: AskedRun, category: str) -> None:
    """The line of a category, and a dot for each of its codes."""
    codes = report.list_codes(category)
    bins = keep_large(add_losses(report.losses, run.run_id, codes))
    wholes = [
        sum_bins(report.losses[run.run_id, code]) for code in codes if (run.run_id, code) in report.losses
    ]
    axes.plot(*_place(wholes), ".", color=colour_of(category), alpha=_FAINT, markersize=5)
    axes.plot(*_place(bins), **_style(category), linewidth=1.4, clip_on=False)


def _place(bins: Sequence[LossBin]) -> tuple[list[float], list[float]]:
    """Where bins stand: the per cent changed, and the per cent that does not come first."""
    changed = [100 * one.changed / one.pairs for one in bins]
    return changed, [100 * one.not_first / one.pairs for one in bins]


def _style(category: str) -> dict[str, Any]:
    place = CATEGORIES.index(category) if category in CATEGORIES else len(CATEGORIES)
    return {"color": colour_of(category), "marker": MARKERS[place], "markersize": 4.5}


def _line(category: str) -> Line2D:
    label = f"{category} {CATEGORY_WORDS.get(category, '')}"
    return Line2D([], [], label=label, **_style(category))
