"""The classifier of `indexers/probes` and its grid search against scikit-learn's, by number of papers.

    python benchmarks/probes.py [--quick] [--sizes N ...] [--dims N] [--classes N] [--peer-labels N]
                                [--peer-most N] [--plot FILE] [--json FILE]

Both choose C of five values on three folds, on the same vectors: overlapping clusters of classes that are as
1/rank in size. The peer is `GridSearchCV(LinearSVC(loss="squared_hinge"), n_jobs=-1)`. All its labels take
too long, so it is timed on some labels against the rest, evenly spaced by size; the time of all is their
mean times the number of labels (one against the rest costs what its labels cost). Ours takes all labels;
C and predictions are compared on those of the peer. Each runs in a process of its own.
`at BLAS rate` is the share of our time that our passes over the vectors would take at the rates of the same
products on their own, measured just before; factorisations and everything else are not in it.
Leaves out: regression and several labels a paper.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from _common import describe_machine, make_parser, report
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from pinakes.indexers.probes.base import CLASS_GRID, RULES, one_blas_thread
from pinakes.indexers.probes.classes import predict_classes
from pinakes.indexers.probes.products import ROWS, Examples

TESTED = 1000
RULE = RULES["corrected"]
PASSES = {"curve": np.float32, "evaluate": np.float64}
APART = 0.12
PEER = "scikit-learn GridSearchCV"


def main() -> None:
    parser = make_parser("Probes against scikit-learn's GridSearchCV, in seconds, memory and predictions.")
    parser.add_argument("--sizes", type=int, nargs="+", help="training papers (20000; 3000 with --quick)")
    parser.add_argument("--dims", type=int, help="dimensions (768; 256 with --quick)")
    parser.add_argument("--classes", type=int, help="classes (30; 8 with --quick)")
    parser.add_argument("--peer-labels", type=int, default=3, help="labels that the peer is timed on")
    parser.add_argument(
        "--peer-most", type=int, default=20_000, help="papers that the peer is timed on, at most"
    )
    parser.add_argument("--plot", type=Path, help="draw seconds by papers into FILE, .png or .svg")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--worker", choices=("ours", "peer"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = options.sizes or ([3000] if options.quick else [20_000])
    options.dims = options.dims or (256 if options.quick else 768)
    options.classes = options.classes or (8 if options.quick else 30)
    os.cpu_count = lambda: options.threads
    if options.worker:
        print(json.dumps({"ours": time_ours, "peer": time_peer}[options.worker](options)))
        return
    rows = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(compare(options, size, Path(folder)))
        print(rows[-1], file=sys.stderr)
    rows.sort(key=lambda row: row["papers"])
    if options.plot:
        draw(rows, options)
    title = f"{options.classes} classes, {options.dims} dimensions, {len(CLASS_GRID)} values of C, 3 folds"
    figures = {
        "peer_labels_timed": f"{options.peer_labels} of {options.classes}; seconds for all are extrapolated",
        "load_at_end": os.getloadavg()[0],
        "threads": options.threads,
        **describe_machine(),
    }
    report(title, rows, figures, options.json)


def compare(options: argparse.Namespace, size: int, folder: Path) -> dict[str, Any]:
    """One row of the table."""
    make_files(options, size, folder)
    ours = run_worker("ours", options, folder)
    matrix_mib = size * options.dims * 4 / 2**20
    row: dict[str, Any] = {
        "papers": size,
        "seconds": ours["seconds"],
        "CPU seconds": ours["cpu_s"],
        "peer seconds": "",
        "ratio": "",
        "same C": "",
        "same predictions": "",
        "open": ours["open"],
        "matrix MiB": matrix_mib,
        "beyond it MiB": ours["beyond_mib"],
        "of matrix": ours["beyond_mib"] / matrix_mib,
        "at BLAS rate": ours["share"],
        "accuracy": ours["accuracy"],
    }
    if size <= options.peer_most:
        peer = run_worker("peer", options, folder)
        row |= {
            "peer seconds": peer["seconds"],
            "ratio": peer["seconds"] / ours["seconds"],
            "same C": f"{peer['same_c']} of {options.peer_labels}",
            "same predictions": f"{peer['same']} of {TESTED * options.peer_labels}",
        }
    return row


def run_worker(name: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """What a process that does one thing alone has printed."""
    command = [sys.executable, __file__, "--worker", name, "--folder", str(folder)]
    for option in ("dims", "classes", "peer_labels", "threads"):
        command += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        sys.exit(f"the process of {name} failed with {done.returncode}; see above")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def make_files(options: argparse.Namespace, size: int, folder: Path) -> None:
    """Write vectors and classes: clusters that overlap, of a spectrum that decays, off centre."""
    random = np.random.default_rng([1, size])
    spectrum = np.arange(1, options.dims + 1) ** -0.5
    centres = APART * np.random.default_rng(0).standard_normal((options.classes, options.dims))
    shares = 1 / np.arange(3, options.classes + 3)
    classes = random.choice(options.classes, size + TESTED, p=shares / shares.sum())
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", "w+", np.float32, (size + TESTED, options.dims)
    )
    for first in range(0, len(vectors), 4096):
        some = classes[first : first + 4096]
        noise = random.standard_normal((len(some), options.dims))
        vectors[first : first + 4096] = (noise + centres[some] + 0.3) * spectrum
    vectors.flush()
    np.save(folder / "classes.npy", classes)


def open_files(folder: Path) -> tuple[np.ndarray, ...]:
    vectors, classes = np.load(folder / "vectors.npy"), np.load(folder / "classes.npy")
    return vectors[:-TESTED], classes[:-TESTED], vectors[-TESTED:], classes[-TESTED:]


def time_ours(options: argparse.Namespace) -> dict[str, Any]:
    train, classes, test, true = open_files(options.folder)
    predict_classes(train[:200], classes[:200] % 2, test, RULE, None)  # imports, threads, buffers
    rates = {kind: measure_rate(options, kind) for kind in (np.float32, np.float64)}
    work: Counter[Any] = Counter()
    for name, kind in PASSES.items():
        setattr(Examples, name, count_work(getattr(Examples, name), work, kind))
    before_mib = read_memory_mib()
    started, worked = time.perf_counter(), time.process_time()
    found = predict_classes(train, classes, test, RULE, CLASS_GRID)
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - worked
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "cpu_s": cpu_s,
        "beyond_mib": peak_mib - before_mib,
        "share": sum(work[kind] / rates[kind] for kind in rates) / seconds,
        "open": found.open_count,
        "accuracy": float((found.values == true).mean()),
    }


def count_work(method: Callable[..., Any], work: Counter[Any], kind: Any) -> Callable[..., Any]:
    """The method, which adds the multiplications and additions of its two products to `work`."""

    def counting(self: Examples, matrix: Any, problems: Any, *rest: Any) -> Any:
        rows = len(self) - np.bincount(self.folds, minlength=3)[problems.held_out]
        rows[problems.held_out < 0] = len(self)
        work[kind] += 4 * self.width * int(rows.sum())
        return method(self, matrix, problems, *rest)

    return counting


def measure_rate(options: argparse.Namespace, kind: Any, tries: int = 5) -> float:
    """Products and sums a second of the two products of a pass, with columns for all folds of all labels."""
    random = np.random.default_rng(0)
    blocks = [random.standard_normal((ROWS, options.dims)).astype(kind) for _ in range(4 * options.threads)]
    columns = random.standard_normal((options.dims, 2 * options.classes)).astype(kind)

    def work(block: np.ndarray) -> None:
        block.T @ (block @ columns)

    best = float("inf")
    with one_blas_thread(), ThreadPoolExecutor(options.threads) as pool:
        for _ in range(tries):
            started = time.perf_counter()
            list(pool.map(work, blocks))
            best = min(best, time.perf_counter() - started)
    return 4 * len(blocks) * ROWS * columns.size / best


def read_memory_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def time_peer(options: argparse.Namespace) -> dict[str, Any]:
    train, classes, test, _ = open_files(options.folder)
    labels = np.linspace(0, options.classes - 1, options.peer_labels).round().astype(int).tolist()
    seconds, same_c, same = [], 0, 0
    GridSearchCV(LinearSVC(), {"C": [1.0, 2.0]}, n_jobs=-1).fit(
        test, np.arange(len(test)) % 2
    )  # its processes
    for label in labels:
        positive = (classes == label).astype(np.int64)
        peer = GridSearchCV(
            LinearSVC(loss="squared_hinge", random_state=42), {"C": np.logspace(-2, 2, 5)}, cv=3, n_jobs=-1
        )
        started = time.perf_counter()
        peer.fit(train, positive)
        seconds.append(time.perf_counter() - started)
        ours = predict_classes(train, positive, test, RULE, CLASS_GRID)
        same_c += ours.chosen == (float(peer.best_params_["C"]),)
        same += int((ours.values == peer.predict(test)).sum())
        print(f"peer: label {label} {seconds[-1]:.1f} s", file=sys.stderr)
    return {"seconds": float(np.mean(seconds)) * options.classes, "same_c": same_c, "same": same}


def draw(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Seconds by number of papers, both on logarithmic axes; what was not measured is not drawn."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(*zip(*((row["papers"], row["seconds"]) for row in rows), strict=True), "o-", label="pinakes")
    peers = [(row["papers"], row["peer seconds"]) for row in rows if row["peer seconds"] != ""]
    if peers:
        axes.plot(*zip(*peers, strict=True), "s--", label=f"{PEER} (extrapolated)")
    axes.set(xscale="log", yscale="log", xlabel="training papers", ylabel="seconds, grid search and last fit")
    axes.set_title(f"{options.classes} classes, {options.dims} dimensions", fontsize=10)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(options.plot, dpi=150)


if __name__ == "__main__":
    main()
