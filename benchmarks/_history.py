"""The history of `all.py`: a line of JSON a run, by commit and machine, and its plot.

Leaves out: what is measured. Nothing of a line names a folder or a host.
"""

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def read_commit(folder: Path) -> Entry:
    """`commit` of the checkout, and whether files are changed since; empty where there is no git."""

    def ask(*words: str) -> str:
        try:
            done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
        except OSError:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    written = [f":(top,exclude)benchmarks/{name}.jsonl" for name in ("history", "growth")]
    changed = ask("status", "--porcelain", "--untracked-files=no", "--", ":/", *written)
    return {"commit": ask("rev-parse", "HEAD"), "changed": bool(changed)}


def read_history(file: Path) -> list[Entry]:
    """The entries, oldest first; none where there is no file. A line that is cut off is passed over, told."""
    entries = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.is_file() else [], 1):
        try:
            entries.append(json.loads(line))
        except ValueError:
            print(f"{file.name}, line {number} is no JSON; it is left out")
    return entries


def add_entry(file: Path, entry: Entry) -> list[Entry]:
    """Add a line; all entries, this one last."""
    entries = read_history(file)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")
    return [*entries, entry]


def draw_history(entries: list[Entry], newest: Entry, file: Path) -> None:
    """The ratio of each row to its peer, run by run, on the newest entry's machine and in its form."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    alike = [one for one in entries if all(one[key] == newest[key] for key in ("machine", "quick"))]
    lines: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, one in enumerate(alike):
        for row in one["rows"]:
            if row["to peer"]:
                lines[f"{row['what']} / {row['peer']}"].append((number, row["to peer"]))
    figure, axes = pyplot.subplots(figsize=(12, max(4.0, 0.24 * len(lines))), layout="constrained")
    colours = pyplot.get_cmap("tab20")
    for number, (what, points) in enumerate(sorted(lines.items())):
        axes.plot(*zip(*points, strict=True), marker="o", label=what, color=colours(number % 20))
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(yscale="log", ylabel="times as fast as the peer", title=newest["machine"].get("processor", ""))
    axes.set_xticks(
        range(len(alike)), [f"{one['date'][:10]}\n{one['commit'][:8]}" for one in alike], fontsize=7
    )
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(file, dpi=120)
    pyplot.close(figure)
