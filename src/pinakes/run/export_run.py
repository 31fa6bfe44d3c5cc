"""Stored runs and judgments as files that trec_eval reads.

Scores are written with 17 significant digits, so that reading them gives the same numbers.
"""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError, show
from pinakes.queries.definition import require_task
from pinakes.queries.relations import select_judgments
from pinakes.queries.tasks import RANKING
from pinakes.run.files import write_lines
from pinakes.run.stored_runs import find_runs
from pinakes.schema import hits, papers
from pinakes.workload.benchmark import open_benchmark

PROVENANCE = (
    "benchmark",
    "system",
    "parameters",
    "encoder_revision",
    "precision",
    "query_template",
    "paper_template",
    "code_version",
    "dataset_digest",
    "view_digest",
    "device",
    "depth",
    "started_at",
    "imported_from",
    "import_digest",
)


def export_run(
    database: Database, benchmark_name: str, run_id: int, path: Path, *, with_provenance: bool = False
) -> int:
    """Write a run as a TREC run to a file that is replaced when the new one is whole; the hits written.

    With provenance, lines that begin with `#` say first what made the run. Raises `EvaluationError` where the
    benchmark has no such run.
    """
    require_task(open_benchmark(database, benchmark_name), RANKING)
    row = find_runs(database, benchmark_name, [run_id])[0]
    header = (
        [f"# {name}: {row[name]}" for name in PROVENANCE if row[name] is not None] if with_provenance else []
    )
    tag = "_".join(f"pinakes-{row['system']}-{run_id}".split())
    written = write_lines(path, _run_lines(database, run_id, tag, header))
    return written - len(header)


def _run_lines(database: Database, run_id: int, tag: str, header: list[str]) -> Iterator[str]:
    yield from header
    query = (
        sa.select(hits.c.query_id, papers.c.source_id, hits.c.rank, hits.c.score)
        .join(papers, hits.c.paper_id == papers.c.paper_id)
        .where(hits.c.run_id == run_id)
        .order_by(hits.c.query_id, hits.c.rank)
    )
    with database.read() as session:
        for query_id, source_id, rank, score in session.stream_rows(query):
            yield f"{_word(query_id)} Q0 {_word(source_id)} {rank} {score:.17g} {tag}"


def _word(identifier: str) -> str:
    if identifier.split() != [identifier]:
        raise InputError(f"the id {show(identifier)} has white space, which separates columns in TREC files.")
    return identifier


def export_qrels(database: Database, benchmark_name: str, path: Path) -> int:
    """Write a benchmark's judgments as TREC qrels; the number of judgments written."""
    benchmark = open_benchmark(database, benchmark_name)
    require_task(benchmark, RANKING)
    with database.read() as session:
        rows = session.stream_rows(select_judgments(benchmark))
        return write_lines(path, (f"{_word(query)} 0 {_word(paper)} {grade}" for query, paper, grade in rows))
