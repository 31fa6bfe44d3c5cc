"""How cost grows with size: one figure of every row of the table, from what was measured at each size.

    python benchmarks/all.py --growth
    python benchmarks/_growth.py growth.png [--file benchmarks/growth.jsonl]

The file keeps the newest figures of each script and size, a line each, with commit and machine: who measures
one script again draws the others as they were. A panel is a row of the table (`_compared.py`) with both
databases, its peers and its limits, in microseconds an item: a line that rises is a cost that grows faster
than the data. Which lines do is printed too. Points of a panel are of one machine. Leaves out: measuring.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from _common import format_table
from _compared import Compared
from _history import Entry, read_history

FILE = Path(__file__).resolve().parent / "growth.jsonl"

Points = list[tuple[int, float]]
"""(size, microseconds an item), by size"""

OURS = "pinakes"
COLUMNS = 4
BENDS = 1.15
"""the exponent of growth between two sizes above which a line counts as bending upward"""


def main() -> None:
    parser = argparse.ArgumentParser(description="One figure of how cost grows with size.")
    parser.add_argument("plot", type=Path, help="the figure to write, .png or .svg")
    parser.add_argument("--file", type=Path, default=FILE, help="what was measured")
    options = parser.parse_args()
    draw_file(options.file, options.plot)


def keep(file: Path, entry: Entry) -> None:
    """Put the figures of a script and size in place of the older ones; lines are in the order of names."""
    entries = {(one["script"], one["size"]): one for one in [*read_history(file), entry]}
    lines = [json.dumps(entries[key]) + "\n" for key in sorted(entries)]
    writing = file.with_suffix(".writing")
    writing.write_text("".join(lines), encoding="utf-8")
    writing.replace(file)


def draw_file(file: Path, plot: Path) -> None:
    """Draw what the file has, and print where it bends upward."""
    panels = {
        what: lines
        for what, lines in list_panels(read_history(file)).items()
        if any(map(_grows, lines.values()))
    }
    if not panels:
        sys.exit(f"{file} holds no script at two sizes; see the docstring of this script")
    draw(panels, plot)
    bends = list_bends(panels)
    if bends:
        print(f"Growth with an exponent above {BENDS}:\n\n{format_table(bends)}")


def list_panels(entries: list[Entry]) -> dict[str, dict[str, Points]]:
    """row of the table -> line -> its points; of each script those of its newest machine and form."""
    newest = {one["script"]: one for one in sorted(entries, key=lambda one: str(one["date"]))}
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for one in entries:
        if any(one[key] != newest[one["script"]][key] for key in ("machine", "quick")):
            continue
        for row in one["rows"]:
            for name, seconds in list_lines(Compared(**row)):
                found[f"{one['script']}: {row['what']}"][name][one["size"]] = seconds / one["size"] * 1e6
    return {
        what: {name: sorted(points.items()) for name, points in lines.items()}
        for what, lines in found.items()
    }


def list_lines(row: Compared) -> list[tuple[str, float]]:
    """The name of each line that the row is a point of, and its seconds."""
    database = f", {row.database}" if row.database else ""
    named = [
        (OURS + database, row.ours_s),
        (row.peer + database, row.peer_s),
        (f"limit: {row.limit}", row.limit_s),
    ]
    return [(name, seconds) for name, seconds in named if seconds]


def list_bends(panels: dict[str, dict[str, Points]]) -> list[dict[str, object]]:
    """The steps of our own lines whose cost grows faster than the size to the power of `BENDS`.

    >>> list_bends({"sort": {"pinakes": [(10, 1.0), (1000, 10.0)], "peer": [(10, 1.0), (1000, 100.0)]}})
    [{'row': 'sort', 'line': 'pinakes', 'from': 10, 'to': 1000, 'exponent': 1.5}]
    """
    return [
        {"row": what, "line": name, "from": first[0], "to": second[0], "exponent": round(exponent, 2)}
        for what, lines in panels.items()
        for name, points in lines.items()
        if name.startswith(OURS)
        for first, second in pairwise(points)
        if (exponent := 1 + math.log(second[1] / first[1]) / math.log(second[0] / first[0])) > BENDS
    ]


def draw(panels: dict[str, dict[str, Points]], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    height = -(-len(panels) // COLUMNS)
    figure, grid = pyplot.subplots(
        height, COLUMNS, figsize=(4.6 * COLUMNS, 4.0 * height), layout="constrained", squeeze=False
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (what, lines) in zip(grid.flat, panels.items(), strict=False):
        for name, points in lines.items():
            own, limit = name.startswith(OURS), name.startswith("limit")
            style = {"marker": "o", "markersize": 4, "linewidth": 2.0 if own else 1.0}
            axes.plot(
                *zip(*points, strict=True),
                label=name,
                linestyle=":" if limit else "-" if own else "--",
                **style,
            )
        axes.set(xscale="log", yscale="log", xlabel="size", ylabel="µs an item")
        axes.set_title(what, fontsize=9, wrap=True)
        axes.grid(visible=True, which="major", alpha=0.3)
        # Below, where it hides no line.
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=2)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _grows(points: Points) -> bool:
    return len(points) > 1


if __name__ == "__main__":
    main()
