"""How fast a site of reports is written: pages a second, bytes, and the second time with nothing new.

    python benchmarks/site.py [--queries N] [--papers N] [--systems N] [--database FILE] [--quick]
                              [--json FILE]

A made-up collection in BEIR's format stands for SciFact: each query has 1 to 30 judged papers, each system
ranks 50 papers of which some are judged. The database is made first and is not in the times; the paired tests
of the systems are.
"""

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from _common import describe_machine, make_parser, report

from pinakes.database import Database, connect
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.report.site.write import SiteRequest, write_site
from pinakes.run.import_run import ImportRequest, import_run

DEPTH = 50
WORDS = ["graph", "retrieval", "citation", "model", "cell", "protein", "network", "evidence", "language"]


def main() -> None:
    parser = make_parser("A site of reports, written twice.")
    parser.add_argument("--queries", type=int, help="queries (10000; 500 with --quick)")
    parser.add_argument("--papers", type=int, help="papers (50000; 5000 with --quick)")
    parser.add_argument("--systems", type=int, default=5, help="systems that rank")
    parser.add_argument("--database", type=Path, help="a DuckDB file to make, or to take where it is there")
    options = parser.parse_args()
    queries = options.queries or (500 if options.quick else 10_000)
    papers = options.papers or (5_000 if options.quick else 50_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = options.database or folder / "site.duckdb"
        is_new = not file.exists()
        with connect(f"duckdb:///{file}") as database:
            if is_new:
                prepare(database, folder, queries, papers, options.systems)
            rows = [measure(database, folder / "site", visit) for visit in ("first", "again")]
    figures = {"queries": queries, "systems": options.systems, "machine": describe_machine()}
    report("A site of reports", rows, figures, options.json)


def prepare(database: Database, folder: Path, queries: int, papers: int, systems: int) -> None:
    """Load the collection, import a ranking of each system and score them."""
    draw = random.Random(7)
    initialise(database)
    source = folder / "beir"
    (source / "qrels").mkdir(parents=True)
    with (source / "corpus.jsonl").open("wb") as stream:
        for number in range(papers):
            title, text = (" ".join(draw.choices(WORDS, k=count)) for count in (10, 120))
            stream.write(orjson.dumps({"_id": f"p{number}", "title": title, "text": text}) + b"\n")
    judged = {}
    with (source / "queries.jsonl").open("wb") as stream:
        for number in range(queries):
            text = " ".join(draw.choices(WORDS, k=14))
            stream.write(orjson.dumps({"_id": f"q{number}", "text": text}) + b"\n")
            judged[f"q{number}"] = draw.sample(range(papers), draw.randint(1, 30))
    with (source / "qrels" / "test.tsv").open("w", encoding="utf-8") as stream:
        stream.write("query-id\tcorpus-id\tscore\n")
        stream.writelines(f"{query}\tp{one}\t{1 + one % 2}\n" for query, of in judged.items() for one in of)
    load(database, LoadRequest("beir", source, corpus="scifact"))
    for system in range(systems):
        file = folder / f"{system}.trec"
        with file.open("w", encoding="utf-8") as stream:
            for query, of in judged.items():
                found = {
                    *draw.sample(of, min(len(of), draw.randint(0, 8))),
                    *draw.sample(range(papers), DEPTH),
                }
                ranked = sorted(found, key=lambda _one: draw.random())[:DEPTH]
                stream.writelines(
                    f"{query} Q0 p{one} {rank} {-rank} made\n" for rank, one in enumerate(ranked, 1)
                )
        import_run(database, ImportRequest("scifact", f"system{system}", [file]))
    evaluate(database, "scifact")


def measure(database: Database, folder: Path, visit: str) -> dict[str, Any]:
    """A row of figures: the whole site once."""
    started = time.perf_counter()
    files = write_site(database, folder, SiteRequest(["scifact"])).files
    seconds = time.perf_counter() - started
    return {
        "visit": visit,
        "files written": files.written,
        "unchanged": files.unchanged,
        "MB": round(files.total_bytes / 1e6, 1),
        "seconds": round(seconds, 1),
        "pages/s": round((files.written + files.unchanged) / seconds),
    }


if __name__ == "__main__":
    main()
