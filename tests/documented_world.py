"""The small world that the documentation's queries are asked of, the same on any database.

Three corpora, faulty records, a citation of a work that nobody holds, runs of every system that a recipe
names, their scores, sampled pools, a construction, and the benchmark that the manual writes down. Leaves out:
the databases themselves.
"""

import re
from pathlib import Path
from typing import Any

import orjson

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.deduplicate import deduplicate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.run.export_run import export_run
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.sample.construct import construct
from pinakes.sample.construct_plan import ConstructionRequest
from pinakes.sample.sample import sample
from pinakes.systems.base import SystemOptions
from tests.benching import write_csfcube
from tests.documents import ROOT, read_blocks
from tests.loading import paper, write_beir

OWN_BENCHMARKS = ROOT / "docs" / "manual" / "own_benchmarks.md"
EXAMPLE = re.compile(r"^(?:--|#) cites/(\S+)\n")


def write_example(folder: Path) -> Path:
    """The benchmark that the manual writes down, file by file."""
    (folder / "cites").mkdir(parents=True)
    for block in read_blocks(OWN_BENCHMARKS, "toml", "sql"):
        found = EXAMPLE.match(block.text)
        if found:
            (folder / "cites" / found[1]).write_text(block.text, encoding="utf-8")
    return folder


def fill(database: Database, folder: Path) -> None:
    """Make the rows, and renew the benchmarks; files go into the folder."""
    initialise(database)
    load(database, LoadRequest("synthetic", options={"papers": "300", "seed": "1"}))
    if not (folder / "csfcube").exists():
        write_csfcube(folder / "csfcube")
        write_beir(folder / "faulty", [paper(1), b"no JSON", paper(1)], "q1\tp1\t1\nq1\tp9\t1\n")
        _write_library(folder / "library.jsonl")
    for corpus in ("library", "merged"):
        load(database, LoadRequest("jsonl", folder / "library.jsonl", corpus=corpus))
    deduplicate(database, "merged")
    load(database, LoadRequest("csfcube", folder / "csfcube"))
    load(database, LoadRequest("beir", folder / "faulty"))
    with database.begin() as session:
        session.execute(
            "INSERT INTO cited_references (reference_id, corpus_id, reference_key, title) "
            "VALUES (1000000, 1, 'elsewhere', 'A book that nobody loaded')"
        )
        session.execute(
            "INSERT INTO citations (citation_id, citing_paper_id, reference_id, batch_id) "
            "VALUES (1000000, 1, 1000000, 1)"
        )
    _sample(database)
    _rank(database, folder)


def _sample(database: Database) -> None:
    """Queries of 2019 with pools of two sizes, and one query of each field that the corpus has one for."""
    chosen: dict[str, Any] = {"validation_queries": 1, "repeats": 2}
    sizes: dict[str, Any] = {"pool_sizes": (80, 160), "validation_pool_size": 60}
    fields: dict[str, Any] = {"pool_sizes": (40,), "validation_pool_size": 20, "assigned_by": "synthetic"}
    sample(database, "large_scale", "synthetic", {"queries": 6, **chosen, **sizes})
    sample(database, "field_level", "synthetic", {"queries": 1, **chosen, **fields})


def _write_library(file: Path) -> None:
    """Two papers of one title, and one that cites them, a work under two keys, and for several reasons."""
    cited = {
        "title:twins": "The same long title",
        "doi:10.1/x": "Cited under a DOI",
        "r9": "cited under a doi",
    }
    reasons = ("background", "method,result", "background")
    records = [
        {"source_id": "p1", "title": "The same long title"},
        {"source_id": "p2", "title": "The Same Long Title!"},
        {
            "source_id": "p3",
            "title": "A paper that cites",
            "references": [{"reference_key": key, "title": title} for key, title in cited.items()],
            "citations": [
                {"reference_key": key, "context": f"As [{key}] says.", "intents": intents}
                for key, intents in zip(cited, reasons, strict=True)
            ],
        },
    ]
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


def _rank(database: Database, folder: Path) -> None:
    """Runs of every system that the recipes name; the imported ones are made of TF-IDF's, upside down."""
    options = SystemOptions(folder / f"{database.name}.indexes")
    imports = {"synthetic": "minilm", "csfcube": "SPECTER"}
    for benchmark in (*imports, "cites", "large_scale", "field_level", "mdcr_constructed"):
        if benchmark == "mdcr_constructed":
            construct(database, ConstructionRequest(benchmark))
        for system in ("bm25", "tfidf"):
            index(database, benchmark, system, options=options)
            made = run(database, RunRequest(benchmark, system, options))
        if benchmark in imports:
            file = folder / f"{database.name}-{benchmark}.txt"
            export_run(database, made.run_id, file)
            _reverse(file)
            import_run(database, ImportRequest(benchmark, imports[benchmark], [file]))
        evaluate(database, benchmark)
    index(database, "synthetic", "sparse_bm25", options=options, postings=True)


def _reverse(file: Path) -> None:
    """The ranking with its scores negated, and without its first query."""
    rows = [line.split() for line in file.read_text().splitlines()]
    kept = [row for row in rows if row[0] != rows[0][0]]
    file.write_text(
        "".join(f"{q} {q0} {paper} {rank} -{score} {tag}\n" for q, q0, paper, rank, score, tag in kept)
    )
