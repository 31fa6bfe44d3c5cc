"""What every benchmark here shares: options, workers, peers, table, JSON, medians, the machine in words.

Leaves out: what is measured. A figure means little without the machine and without the peer that was
measured in the same run, so both stand beside it.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CPU_INFO = Path("/proc/cpuinfo")
TELLING_FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8", "asimd", "bf16")


def make_parser(description: str) -> argparse.ArgumentParser:
    """A parser with the options that all benchmarks take: `--quick`, `--json` and `--threads`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="less of everything, under five minutes")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE as JSON; - is stdout")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads (default: all cores)")
    return parser


def report(
    title: str, rows: Sequence[Mapping[str, Any]], figures: Mapping[str, Any], target: str | None
) -> None:
    """Print the table and the figures; with `target` write the figures as JSON as well.

    With `-` JSON alone goes to stdout, and what is for people goes to stderr.
    """
    stream = sys.stderr if target == "-" else sys.stdout
    print(f"{title}\n\n{format_table(rows)}\n", file=stream)
    for name, value in figures.items():
        print(f"{name}: {format_value(value)}", file=stream)
    if target is not None:
        text = json.dumps({"title": title, **figures, "rows": list(rows)}, indent=2, default=str) + "\n"
        if target == "-":
            sys.stdout.write(text)
        else:
            Path(target).write_text(text, encoding="utf-8")


def format_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as an aligned text table; the first row's keys are the columns."""
    columns = list(rows[0])
    cells = [columns, *([format_value(row[column]) for column in columns] for row in rows)]
    widths = [max(len(row[number]) for row in cells) for number in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)


def format_value(value: Any) -> str:
    """A number in four significant digits, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def measure_in_turns(jobs: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median seconds of each job; the jobs take turns, so that a noisy minute hits all of them."""
    elapsed_s: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds):
        for name, job in jobs.items():
            started = time.perf_counter()
            job()
            elapsed_s[name].append(time.perf_counter() - started)
            print(f"round {number + 1}/{rounds}: {name} {elapsed_s[name][-1]:.2f} s", file=sys.stderr)
    return {name: statistics.median(values) for name, values in elapsed_s.items()}


def run_worker(script: str, worker: str, folder: str) -> dict[str, Any]:
    """What the script prints last as `--worker`, in a process of its own with the same options."""
    print(f"{worker} …", file=sys.stderr)
    command = [sys.executable, script, *sys.argv[1:], "--worker", worker, "--folder", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{worker}: {result}", file=sys.stderr)
    return result


def list_missing(peers: Sequence[str]) -> list[str]:
    """The peers that are not installed; each is named to the user."""
    missing = [name for name in peers if find_spec(name) is None]
    for name in missing:
        print(f"{name} is not installed and is left out; the extra bench has it", file=sys.stderr)
    return missing


def describe_machine() -> dict[str, Any]:
    """The processor's model, its cores, the memory, and those flags that decide a matrix product's speed."""
    text = CPU_INFO.read_text(encoding="utf-8", errors="replace") if CPU_INFO.is_file() else ""
    fields = dict(
        (part.strip() for part in line.split(":", 1))
        for line in text.split("\n\n")[0].splitlines()
        if ":" in line
    )
    flags = fields.get("flags", fields.get("Features", "")).split()
    return {
        "processor": fields.get("model name", platform.processor() or platform.machine()),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "cpu_flags": " ".join(flag for flag in TELLING_FLAGS if flag in flags),
    }
