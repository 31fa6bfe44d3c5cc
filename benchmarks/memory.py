"""Peak memory of a load as its file grows, and of the commands that read the whole corpus.

    python benchmarks/memory.py [--quick] [--json FILE] [--sizes 0.3,1.2,3,10] [--memory 2GB]

One file of JSON Lines of each size (layout 2020 of S2ORC, in GB, not compressed) is made, and loaded into a
new DuckDB file with `pinakes load s2orc`, each in a process of its own; after the size `--commands` (1.2 GB
unless told) the other commands follow. Figures are a process's seconds, its processor's,
and its peak resident memory.
Leaves out: Postgres' server; speed (`load.py`).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _commands import COMMAND
from _common import describe_machine, make_parser, report

PAPERS_A_GB = 690_000
COMMANDS = {
    "resolve": ("resolve", "bench"),
    "deduplicate": ("deduplicate", "bench"),
    "index bm25": ("index", "--corpus", "bench", "--system", "bm25"),
    "index sparse_bm25": ("index", "--corpus", "bench", "--system", "sparse_bm25"),
    "export papers": ("export", "papers", "papers.parquet"),
    "export beir": ("export", "beir", "beir", "--corpus", "bench"),
}


def main() -> None:
    parser = make_parser("Peak memory of a load as its file grows, and of commands over a whole corpus.")
    parser.add_argument(
        "--sizes", help="GB of JSON Lines, with commas (default: 0.03,0.1; else 0.3,1.2,3,10)"
    )
    parser.add_argument("--memory", default="2GB", help="what each command may take")
    parser.add_argument("--commands", type=float, help="the size after which the other commands are measured")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    options = parser.parse_args()
    sizes = sorted(
        map(float, (options.sizes or ("0.03,0.1" if options.quick else "0.3,1.2,3,10")).split(","))
    )
    after = options.commands or max(size for size in sizes if size <= max(1.2, sizes[0]))
    with tempfile.TemporaryDirectory(prefix="pinakes-memory-", dir=options.folder) as folder:
        rows = [row for size in sizes for row in measure_size(options, Path(folder), size, after)]
    figures = {f"load_{row['GB']}gb_peak_mib": row["peak MiB"] for row in rows if row["what"] == "load"}
    report("Peak memory", rows, {**figures, "memory": options.memory, **describe_machine()}, options.json)


def measure_size(
    options: argparse.Namespace, folder: Path, size: float, after: float
) -> Iterator[dict[str, Any]]:
    """The rows of one size; its files are gone afterwards."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = Path(name)
        written = write_file(work / "release", size)
        environment = {**os.environ, "PINAKES_DATABASE_URL": f"duckdb:///{work / 'bench.duckdb'}"}
        environment |= {"PINAKES_MEMORY": options.memory, "PINAKES_QUIET": "1"}
        shown = round(written / 1e9, 3)
        load = ("load", "s2orc", str(work / "release"), "--corpus", "bench")
        yield {"GB": shown, "what": "load", **measure(load, environment, work)}
        for what, words in COMMANDS.items() if size == after else ():
            yield {"GB": shown, "what": what, **measure(words, environment, work)}


def write_file(folder: Path, size: float) -> int:
    """A release of one file of about so many GB; its bytes."""
    from _release import write_release

    from pinakes.loaders.synthetic.world import World

    paths = write_release(folder, World(int(size * PAPERS_A_GB), 1), compress=False)
    return sum(path.stat().st_size for path in paths)


def measure(words: tuple[str, ...], environment: dict[str, str], folder: Path) -> dict[str, Any]:
    """A command's seconds, its processor's, and its peak memory; it ends the benchmark where it fails."""
    print(f"{words[0]} …", file=sys.stderr, end=" ", flush=True)
    started = time.perf_counter()
    command = [sys.executable, "-c", COMMAND, *words]
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with exit code {process.returncode}")
    peak_mib = usage.ru_maxrss // 1024
    print(f"{peak_mib} MiB", file=sys.stderr)
    return {
        "s": round(time.perf_counter() - started, 1),
        "processor s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak MiB": peak_mib,
    }


if __name__ == "__main__":
    main()
