"""All benchmarks in one table: ours, a peer and a limit for the same work, with ratios and memory.

    python benchmarks/all.py [--full] [--again] [--only NAME …] [--output FOLDER] [--history F] [--timeout S]
    python benchmarks/all.py --growth [--sizes N …] [--only NAME …] [--output FOLDER]

Each script runs in a process of its own, one after the other, in its quick form unless `--full` is given;
one that fails is named in the table, and the exit code is then 1. FOLDER gets SCRIPT.json and SCRIPT.log of
each, `all.json`, and `history.png`. A line is added to the history: date, commit, machine and rows.
Stopped, or ended with a script that failed, and started again for the same commit, form and machine, it runs
the scripts that are left, and the table has all; with `--again`, or in a changed checkout, it runs all.
With `--growth` the scripts that take a size run at each size, a file keeps the newest figures of each, and
FOLDER/growth.png is drawn from it.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import _growth
from _common import describe_machine, report
from _compared import OTHER_FORM, READERS, Compared, compare
from _history import add_entry, draw_history, read_commit

HERE = Path(__file__).resolve().parent
SIZES = (10_000, 100_000, 1_000_000, 2_000_000)
SIZE_OPTIONS = {
    "analysis": "--papers",
    "approximate": "--rows",
    "bm25": "--papers",
    "exact_search": "--rows",
    "hits": "--hits",
    "import_run": "--lines",
    "load": "--papers",
    "pools": "--papers",
    "probes": "--sizes",
    "recipes": "--papers",
    "rows": "--papers",
    "search": "--papers",
    "self_retrieval": "--papers",
    "vectors": "--vectors",
}
"""the option that says how large, of the scripts that have one"""
MOST = {
    "approximate": 100_000,
    "probes": 100_000,
    "rows": 1_000_000,
    "self_retrieval": 100_000,
    "vectors": 100_000,
}
"""sizes above which a script is not asked: its work grows with the square, its users have no more, a peer's
index takes long, or a peer holds every number or text as an object of Python"""


def main() -> None:
    parser = argparse.ArgumentParser(description="All benchmarks, in one table.")
    parser.add_argument("--full", action="store_true", help="in full, which takes hours")
    parser.add_argument("--only", nargs="+", default=[], choices=tuple(READERS), help="these scripts alone")
    parser.add_argument("--again", action="store_true", help="run also what a stopped run has measured")
    parser.add_argument(
        "--output", type=Path, default=Path("bench-results"), help="folder of all that is written"
    )
    parser.add_argument(
        "--history", type=Path, default=HERE / "history.jsonl", help="the file a line is added to"
    )
    parser.add_argument(
        "--timeout", type=float, help="seconds a script may take (1,800; no limit with --full)"
    )
    parser.add_argument("--growth", action="store_true", help="run at several sizes, and draw how cost grows")
    parser.add_argument(
        "--growth-file", type=Path, default=_growth.FILE, help="the file that keeps what --growth measures"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="the sizes of --growth")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    options.timeout = options.timeout or (None if options.full or options.growth else 1800.0)
    sys.exit(measure_growth(options) if options.growth else measure_all(options))


def measure_all(options: argparse.Namespace) -> int:
    """Run all, print the table, write it and its history; the exit code."""
    rows: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    of = {**read_commit(HERE), "quick": not options.full, "machine": describe_machine()}
    unfinished = options.output / "unfinished.json"
    measured = [] if options.again else list_measured(unfinished, of)
    requested = options.only or list(READERS)
    for script in requested:
        words = [] if options.full else ["--quick"]
        file = options.output / f"{script}.json"
        if script in measured:
            print(f"{script}: as {file} has it", file=sys.stderr, flush=True)
            found = read_rows(script, json.loads(file.read_text(encoding="utf-8")))
        else:
            found = measure(script, words, file, options.timeout)
        if isinstance(found, str):
            failed[script] = found
        else:
            title, compared = found
            rows += [{"script": script, **one.describe(), "of": title} for one in compared]
            measured = [*(one for one in measured if one != script), script]
        keep_measured(unfinished, of, measured)
    entry = {"date": tell_time(), **of, "rows": rows, "failed": failed}
    # A message may name folders of this machine, which a history that is committed has not.
    entries = add_entry(options.history, {**entry, "failed": list(failed)})
    shown = [{key: "" if value is None else value for key, value in row.items()} for row in rows]
    shown += [
        dict.fromkeys(shown[0] if shown else ("script", "what"), "")
        | {"script": script, "what": f"FAILED: {why.partition(':')[0]}"}
        for script, why in failed.items()
    ]
    figures = {key: value for key, value in entry.items() if key not in ("rows", "machine")} | entry[
        "machine"
    ]
    (options.output / "all.json").write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")
    report("All benchmarks; ratios above 1: faster than it", shown, figures, None)
    draw_history(entries, entry, options.output / "history.png")
    if failed:
        return 1
    keep_measured(unfinished, of, [script for script in measured if script not in requested])
    return 0


def list_measured(unfinished: Path, of: dict[str, Any]) -> list[str]:
    """The scripts whose files a stopped run of the same unchanged commit, form and machine has written."""
    try:
        kept = json.loads(unfinished.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    measured = kept.pop("measured", [])
    if kept != of or of["changed"] or not of["commit"]:
        return []
    return [script for script in measured if unfinished.with_name(f"{script}.json").is_file()]


def keep_measured(unfinished: Path, of: dict[str, Any], measured: list[str]) -> None:
    """What `list_measured` gives to the next run; no file where it is nothing."""
    if measured:
        unfinished.write_text(json.dumps({**of, "measured": measured}) + "\n", encoding="utf-8")
    else:
        unfinished.unlink(missing_ok=True)


def measure(
    script: str, words: list[str], file: Path, timeout: float | None
) -> tuple[str, list[Compared]] | str:
    """The title and the rows of what a script measured, or why there are none."""
    found = run_script(script, words, file, timeout)
    return found if isinstance(found, str) else read_rows(script, found)


def read_rows(script: str, found: dict[str, Any]) -> tuple[str, list[Compared]] | str:
    """The title and the rows of the JSON that a script has written, or why there are none."""
    try:
        return found.get("title", ""), compare(script, found)
    except OTHER_FORM as error:
        return f"its JSON has another form: {error!r}"


def run_script(script: str, words: list[str], file: Path, timeout: float | None) -> dict[str, Any] | str:
    """What a script wrote as JSON, or why it did not; what it says is in a log beside the file."""
    print(f"{script} {' '.join(words)} …", file=sys.stderr, flush=True)
    file.unlink(missing_ok=True)
    log, started = file.with_suffix(".log"), time.perf_counter()
    command = [sys.executable, str(HERE / f"{script}.py"), *words, "--json", str(file.resolve())]
    with log.open("wb") as stream:
        try:
            code = subprocess.run(
                command, stdout=stream, stderr=subprocess.STDOUT, timeout=timeout
            ).returncode
        except subprocess.TimeoutExpired:
            return f"not done after {timeout:.0f} s"
    print(f"{script}: {time.perf_counter() - started:.0f} s, exit code {code}", file=sys.stderr, flush=True)
    if code == 0 and file.is_file():
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found
    last = next((line for line in reversed(log.read_text(errors="replace").splitlines()) if line.strip()), "")
    return (
        f"exit code {code}: {last.strip()[:200]}" if code else f"nothing was measured: {last.strip()[:200]}"
    )


def measure_growth(options: argparse.Namespace) -> int:
    """Run what takes a size at each size, keep what was measured, and draw; the exit code."""
    folder, failed = options.output / "growth", {}
    folder.mkdir(exist_ok=True)
    machine = describe_machine()
    for script in [name for name in options.only or SIZE_OPTIONS if name in SIZE_OPTIONS]:
        for size in [size for size in sorted(options.sizes) if size <= MOST.get(script, size)]:
            words = [SIZE_OPTIONS[script], str(size)] + ([] if options.full else ["--quick"])
            found = measure(script, words, folder / f"{script}-{size}.json", options.timeout)
            if isinstance(found, str):
                failed[f"{script} at {size}"] = found
                continue
            rows = [asdict(one) for one in found[1]]
            figures = {"script": script, "size": size, "quick": not options.full, **read_commit(HERE)}
            _growth.keep(
                options.growth_file, {**figures, "date": tell_time(), "machine": machine, "rows": rows}
            )
    for name, why in failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    _growth.draw_file(options.growth_file, options.output / "growth.png")
    print(options.output / "growth.png")
    return 1 if failed else 0


def tell_time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    main()
