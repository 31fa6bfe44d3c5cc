"""Opening a database and a benchmark in it, as every later step needs them."""

import os
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import Benchmark, read_benchmark
from pinakes.schema import check_schema, corpora, samplings
from pinakes.settings import Settings, read_settings


def open_benchmark(database: Database, name: str, settings: Settings | None = None) -> Benchmark:
    """The benchmark, with its views in the database as its folder defines them.

    Where the benchmark is sampled, its corpus is the one that it was sampled from: empty before that.

    Raises:
        SchemaVersionError: the database has no tables, or others.
        UnknownNameError, BenchmarkError: there is no such benchmark, or its folder is not as it should be.
    """
    from pinakes.queries.install import install_benchmark  # late: a search of a corpus installs nothing

    check_schema(database)
    benchmark = read_benchmark(name, (settings or read_settings()).benchmark_folders)
    install_benchmark(database, benchmark)
    if benchmark.sampling is None or benchmark.corpus:
        return _choose_corpus(database, benchmark) if benchmark.other_corpora else benchmark
    joined = samplings.join(corpora, samplings.c.corpus_id == corpora.c.corpus_id)
    query = sa.select(corpora.c.name).select_from(joined).where(samplings.c.benchmark == name)
    with database.read() as session:
        return replace(benchmark, corpus=str(session.scalar(query) or ""))


def _choose_corpus(database: Database, benchmark: Benchmark) -> Benchmark:
    """The benchmark with the corpus that it reads in this database; as it is where none is loaded."""
    query = "SELECT corpus FROM chosen_corpora WHERE benchmark = :benchmark"
    with database.read() as session:
        return replace(
            benchmark, corpus=str(session.scalar(query, {"benchmark": benchmark.name}) or benchmark.corpus)
        )


def find_index_folder(database: Database) -> Path:
    """Where the side indexes of a database lie.

    `PINAKES_INDEX_FOLDER` where it is set; else beside a DuckDB file, under its name with `.indexes`; else,
    for Postgres, in the user's data folder, under the server's and the database's name.
    """
    given = read_settings().index_folder
    if given is not None:
        return given
    file = database.url.database
    if database.name == "duckdb" and file and file != ":memory:":
        return Path(f"{file}.indexes")
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "pinakes" / f"{database.url.host or 'local'}-{file or 'memory'}.indexes"
