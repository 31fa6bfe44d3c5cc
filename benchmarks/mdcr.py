"""The large-scale evaluation and the construction of MDCR from end to end, on a synthetic S2ORC release.

    python benchmarks/mdcr.py [--quick] [--papers N] [--database URL] [--encoder NAME] [--folder F] …

Every step is the command that a user types, in a process of its own: write and load the release, index it
for sparse BM25 and an encoder, draw queries and pools, rank and score both setups, construct candidates,
rank and score these. Wall time and peak memory are of that process; on Postgres the server's memory is not
in it. The limit that the pool-building SQL is held against is five minutes for 2M papers; its share of the
whole is a ratio within the run. The encoder reads titles unless `--paper-template` says otherwise, since two
cores encode few abstracts. A release that the folder holds already is used as it is.
Leaves out: what the scores say of real text. Synthetic citations follow topics, and every text of a topic
shares its words.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _commands import Steps
from _common import describe_machine, make_parser, report

JOBS = Path(__file__).with_name("_load_jobs.py")
SQL_LIMIT_S = 300.0
LARGE, FIELDS, BUILT = "large_scale", "field_level", "mdcr_constructed"
POOL_STEPS = ("sample large_scale", "sample field_level", "construct")
CORPUS = "release"


def main() -> None:
    parser = make_parser("The large-scale evaluation and MDCR's construction, end to end.")
    parser.add_argument("--papers", type=int, help="papers (default: 6,000 with --quick, else 2,200,000)")
    parser.add_argument("--database", help="a database URL (default: a DuckDB file in the folder)")
    parser.add_argument("--encoder", default="minilm", help="the encoder; none leaves it out")
    parser.add_argument("--paper-template", default="title", help="what the encoder reads of a paper")
    parser.add_argument(
        "--year", type=int, default=2024, help="year of the queries (the release's last: 2024)"
    )
    parser.add_argument("--folder", type=Path, help="where to work, and what is there is used")
    options = parser.parse_args()
    options.papers = options.papers or (6_000 if options.quick else 2_200_000)
    with tempfile.TemporaryDirectory(prefix="pinakes-mdcr-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows, figures = measure(options, folder)
    report(f"MDCR from a release of {options.papers} papers", rows, figures, options.json)


def measure(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows, one a step, and the figures."""
    database = options.database or f"duckdb:///{folder / 'papers.duckdb'}"
    steps = Steps(database, folder)
    prepare(steps, options, folder)
    systems = ["sparse_bm25"] + ([] if options.encoder == "none" else [options.encoder])
    sizes = draw(steps, options)
    figures: dict[str, Any] = {"pool sizes": ", ".join(map(str, sizes))}
    for benchmark in (LARGE, FIELDS):
        figures |= evaluate(steps, options, benchmark, systems)
    constructed = steps.pinakes("construct", "construct", BUILT)
    figures |= evaluate(steps, options, BUILT, systems)
    steps.pinakes("export-pools", "export-pools", BUILT, str(folder / "pools"))
    figures["constructed"] = constructed
    total_s = sum(row["s"] for row in steps.rows)
    sql_s = sum(row["s"] for row in steps.rows if row["step"] in POOL_STEPS)
    rows = [{**row, "share": row["s"] / total_s} for row in steps.rows]
    figures |= {
        "wall time s": total_s,
        "peak MiB": max(row["peak MiB"] for row in rows),
        "pool-building SQL s": sql_s,
        "share of the pool-building SQL": sql_s / total_s,
        "of its limit": sql_s / (SQL_LIMIT_S * options.papers / 2_000_000),
        "database": database.split(":", 1)[0],
        **describe_machine(),
    }
    return rows, figures


def prepare(steps: Steps, options: argparse.Namespace, folder: Path) -> None:
    """The release, the loaded corpus and its indexes."""
    release = folder / "release"
    if not release.exists():
        shards = max(1, options.papers // 500_000)
        size = {"papers": options.papers, "seed": 1, "layout": "2020", "shards": shards}
        job = {"folder": str(release), "jobs": options.threads, **size}
        steps.run("write the release", [sys.executable, str(JOBS), "write", json.dumps(job)])
    load = ("load", "s2orc", str(release), "--corpus", CORPUS, "--option", "citations=outbound")
    steps.pinakes("load", *load)
    steps.pinakes("index sparse_bm25", "index", "--corpus", CORPUS, "--system", "sparse_bm25")
    if options.encoder != "none":
        encode = ("--system", options.encoder, "--paper-template", options.paper_template)
        steps.pinakes(f"index {options.encoder}", "index", "--corpus", CORPUS, *encode)


def draw(steps: Steps, options: argparse.Namespace) -> list[int]:
    """Queries and pools of both setups; the sizes of the large pools."""
    given = ["--corpus", CORPUS, "--year", str(options.year)]
    sizes = [200_000, 500_000, 1_000_000, 2_000_000]
    large, fields = list(given), list(given)
    # The quick form asks the same at every size: what grows is the corpus, and the pools with it.
    if options.quick or options.papers < max(sizes):
        sizes = [options.papers // 10, options.papers // 4, options.papers // 2, options.papers * 9 // 10]
        few = ["--queries", "40", "--validation-queries", "20"]
        large += [*few, "--validation-pool-size", str(sizes[0])]
        for size in sizes:
            large += ["--pool-size", str(size)]
        pool = str(max(50, options.papers // 20))
        fields += ["--queries", "4", "--validation-queries", "2"]
        fields += ["--pool-size", pool, "--validation-pool-size", pool]
    steps.pinakes("sample large_scale", "sample", LARGE, *large)
    steps.pinakes("sample field_level", "sample", FIELDS, *fields)
    return sizes


def evaluate(steps: Steps, options: argparse.Namespace, benchmark: str, systems: list[str]) -> dict[str, Any]:
    """Rank and score a benchmark; each system's means."""
    for system in systems:
        # Queries say what their candidates say, to each system.
        template = "title_abstract" if system == "sparse_bm25" else options.paper_template
        said = ("--query-template", template, "--paper-template", template)
        steps.pinakes(f"index {benchmark} {system}", "index", benchmark, "--system", system, *said)
        steps.pinakes(f"run {benchmark} {system}", "run", benchmark, "--system", system, *said)
    scores = steps.pinakes(f"evaluate {benchmark}", "evaluate", benchmark)
    return {f"{benchmark} scores": scores}


if __name__ == "__main__":
    main()
