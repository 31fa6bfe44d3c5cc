"""How cost grows with size: one figure from the JSON that the other benchmarks wrote at several sizes.

    python benchmarks/all.py --growth --full --output results
    python benchmarks/_growth.py results/growth growth.png

A file is called SCRIPT-SIZE.json. What was not measured is not drawn. Leaves out: measuring.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

Points = dict[str, list[tuple[int, float]]]


class Panel(NamedTuple):
    """One panel: the benchmark, its title, the value of a row that is drawn, its unit, what names a line."""

    script: str
    title: str
    column: str
    unit: str
    labels: tuple[str, ...] = ("system",)


PANELS = (
    Panel(
        "exact_search", "Exact search, 3,800 queries, 768 dimensions, top 500", "seconds", "seconds for all"
    ),
    Panel("bm25", "BM25, 3,800 queries of 200 to 260 terms, top 500", "batch s", "seconds for all"),
    Panel("bm25", "Building a BM25 index", "index s", "seconds"),
    Panel("approximate", "Building a vector index, 384 dimensions", "build s", "seconds"),
    Panel("approximate", "Vector indexes at recall@10 of 0.95 or more", "queries/s", "queries a second"),
    Panel("load", "Loading a release", "seconds", "seconds", ("database", "what")),
    Panel("recipes", "The slowest recipe", "duckdb s", "seconds on DuckDB", ()),
    Panel("recipes", "The slowest recipe", "postgresql s", "seconds on Postgres", ()),
    Panel("import_run", "Importing a run, by lines", "seconds", "seconds", ("what",)),
    Panel("probes", "Probes: a grid search", "seconds", "seconds", ()),
    Panel("self_retrieval", "Self-retrieval", "seconds", "seconds", ("job",)),
)
MIN_RECALL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description="One figure of how cost grows with size.")
    parser.add_argument("folder", type=Path, help="the JSON files, called SCRIPT-SIZE.json")
    parser.add_argument("plot", type=Path, help="the figure to write, .png or .svg")
    options = parser.parse_args()
    draw_folder(options.folder, options.plot)


def draw_folder(folder: Path, plot: Path) -> None:
    """Draw what the folder has."""
    found = {panel: read_points(folder, panel) for panel in PANELS}
    drawn = {panel: points for panel, points in found.items() if points}
    if not drawn:
        sys.exit(f"{folder} holds no SCRIPT-SIZE.json; see the docstring of this script")
    draw(drawn, plot)


def read_points(folder: Path, panel: Panel) -> Points:
    """system -> (size, value) of every file, by size."""
    points: Points = defaultdict(list)
    for path in folder.glob(f"{panel.script}-*.json"):
        size = path.stem.rpartition("-")[2]
        if size.isdigit():
            for system, value in read_values(json.loads(path.read_text(encoding="utf-8")), panel).items():
                points[system].append((int(size), value))
    return {system: sorted(values) for system, values in sorted(points.items())}


def read_values(measured: dict[str, Any], panel: Panel) -> dict[str, float]:
    """system -> its value; of several settings of an index the fastest whose recall suffices."""
    values: dict[str, float] = {}
    for row in measured["rows"]:
        value = float(row.get(panel.column) or 0.0)
        if value > 0 and row.get("recall@10", 1.0) >= MIN_RECALL:
            name = ", ".join(row[label] for label in panel.labels) or "pinakes"
            values[name] = max(value, values.get(name, 0.0))
    return values


def draw(panels: dict[Panel, Points], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    count = len(panels)
    figure, grid = pyplot.subplots(
        (count + 1) // 2, 2, figsize=(11, 3.6 * ((count + 1) // 2)), layout="constrained", squeeze=False
    )
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    systems = sorted({system for points in panels.values() for system in points})
    colours = {system: pyplot.get_cmap("tab20")(number) for number, system in enumerate(systems)}
    for axes, (panel, points) in zip(grid.flat, panels.items(), strict=False):
        for system, values in points.items():
            axes.plot(
                *zip(*values, strict=True), marker="o", markersize=4, label=system, color=colours[system]
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel("papers")
        axes.set_ylabel(panel.unit)
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    main()
