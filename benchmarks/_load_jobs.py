"""What `load.py` measures, each in a process of its own: prints the seconds it took, and what is in, as JSON.

    python benchmarks/_load_jobs.py NAME ARGUMENTS-AS-JSON

Imports, and making empty tables, are not timed. Leaves out: choosing and comparing (`load.py`).
"""

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

AUTHORS = 'STRUCT("first" VARCHAR, middle VARCHAR[], "last" VARCHAR, suffix VARCHAR)[]'
IDENTIFIERS = ("arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "mag_id")
PAPER_COLUMNS = {
    "paper_id": "VARCHAR",
    "title": "VARCHAR",
    "authors": AUTHORS,
    "abstract": "VARCHAR",
    "year": "INTEGER",
    **dict.fromkeys((*IDENTIFIERS, "venue", "journal"), "VARCHAR"),
    "mag_field_of_study": "VARCHAR[]",
}
"""the columns of S2ORC's metadata that the loader keeps, without citations, in DuckDB's types"""
TABLES = {
    "papers": "SELECT id, paper_id, title, abstract, year, COALESCE(venue, journal) AS venue FROM records",
    "identifiers": " UNION ALL ".join(
        f"SELECT id, '{name.removesuffix('_id')}' AS scheme, {name} AS identifier FROM records"
        f" WHERE {name} IS NOT NULL"
        for name in IDENTIFIERS
    ),
    "fields": "SELECT id, UNNEST(mag_field_of_study) AS field FROM records",
    "named": """
        SELECT id, position,
            CONCAT_WS(' ', one."first", ARRAY_TO_STRING(one.middle, ' '), one."last", one.suffix) AS name
        FROM (SELECT id, UNNEST(authors) AS one, GENERATE_SUBSCRIPTS(authors, 1) AS position FROM records)
    """,
    "authors": "SELECT ROW_NUMBER() OVER () AS author_id, name FROM (SELECT DISTINCT name FROM named)",
    "authorships": "SELECT id, position, author_id FROM named JOIN authors USING (name)",
}
"""what `bare_tables` makes of `records`, in order"""
CITATION_TABLES = {
    "cited": "SELECT id, UNNEST(outbound_citations) AS key FROM records",
    "works": """
        SELECT ROW_NUMBER() OVER () AS work_id, key, papers.id AS paper_id
        FROM (SELECT DISTINCT key FROM cited) LEFT JOIN papers ON papers.paper_id = key
    """,
    "citations": "SELECT ROW_NUMBER() OVER () AS citation_id, id, work_id FROM cited JOIN works USING (key)",
}
TEMPORARY = ("records", "named", "cited")
PANDAS_CHUNK = 10_000


class Timer:
    """The clock, this process's processor time, and that of the Postgres server behind a URL."""

    def __init__(self, url: str = "") -> None:
        """Without the URL of a Postgres server on this machine, its time is 0."""
        self._postmaster = find_postmaster(url) if url.startswith("postgresql") else None
        self._server = read_server_s(self._postmaster)
        self._started, self._own = time.perf_counter(), time.process_time()

    def stop(self) -> dict[str, float]:
        """Seconds since it was made."""
        return {
            "seconds": time.perf_counter() - self._started,
            "processor_s": time.process_time() - self._own,
            "server_s": read_server_s(self._postmaster) - self._server,
        }


def find_postmaster(url: str) -> int | None:
    """The server's first process; None where it is on another machine."""
    import sqlalchemy as sa

    engine = sa.create_engine(url)
    with engine.connect() as connection:
        stat = read_stat(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
    engine.dispose()
    return int(stat[1][1]) if stat is not None and stat[0] == "postgres" else None


def read_server_s(postmaster: int | None) -> float:
    """Processor seconds of a Postgres server: of its processes, also of those that have ended."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*") if postmaster is not None else ():
        stat = read_stat(int(folder.name))
        if stat is not None and postmaster in (int(folder.name), int(stat[1][1])):
            ticks += sum(map(int, stat[1][11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def read_stat(pid: int) -> tuple[str, list[str]] | None:
    """A process's name and the fields behind it in proc(5)'s `stat`; None where there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name, _, rest = text.partition(" (")[2].rpartition(") ")
    return name, rest.split()


def list_columns(citations: bool) -> dict[str, str]:
    """The columns that are compared, with the citations or without."""
    return {**PAPER_COLUMNS, **({"outbound_citations": "VARCHAR[]"} if citations else {})}


def write(folder: str, papers: int, seed: int, layout: str, shards: int, jobs: int) -> dict[str, Any]:
    """The release, compressed as it is published."""
    from _release import write_release

    from pinakes.loaders.synthetic.citations import count_citations
    from pinakes.loaders.synthetic.world import World

    world = World(papers, seed)
    started = time.perf_counter()
    paths = write_release(Path(folder), world, layout=layout, shards=shards, jobs=jobs)
    seconds = time.perf_counter() - started
    packed = sum(path.stat().st_size for path in paths)
    return {
        "seconds": seconds,
        "papers": papers,
        "mentions": count_citations(world),
        "packed_mb": packed / 1e6,
    }


def copy(folder: str, target: str) -> dict[str, Any]:
    """The same records in files of another digest: one empty line is added to each."""
    started = time.perf_counter()
    for path in sorted(Path(folder).rglob("*.gz")):
        copied = Path(target) / path.relative_to(folder)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes() + gzip.compress(b"\n", mtime=0))
    return {"seconds": time.perf_counter() - started}


def measure_size(folder: str) -> dict[str, Any]:
    """The bytes of JSON, unpacked."""
    started, size = time.perf_counter(), 0
    for path in Path(folder).rglob("*.gz"):
        with gzip.open(path, "rb") as stream:
            while part := stream.read(1 << 24):
                size += len(part)
    return {"seconds": time.perf_counter() - started, "bytes": size}


def read_records(folder: str, citations: bool) -> str:
    """The columns that are compared, and where DuckDB reads them: what stands behind SELECT."""
    columns = list_columns(citations)
    described = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    names = ", ".join(f'"{name}"' for name in columns)
    source = f"'{folder}/metadata/*.gz', format = 'newline_delimited', columns = {{{described}}}"
    return f"{names} FROM read_json({source})"


def bare(folder: str, file: str, threads: int, citations: bool) -> dict[str, Any]:
    """DuckDB alone: `CREATE TABLE AS SELECT … FROM read_json` into a file of its own."""
    return _run(file, threads, [f"CREATE TABLE papers AS SELECT {read_records(folder, citations)}"])


def bare_tables(folder: str, file: str, threads: int, citations: bool) -> dict[str, Any]:
    """DuckDB alone: the rows of papers and of all that belongs to them, each kind in a table of its own.

    Ids are the numbers of rows; nothing is checked, cleaned, counted or compared with what is there.
    """
    numbered = f"SELECT ROW_NUMBER() OVER () AS id, {read_records(folder, citations)}"
    queries = {"records": numbered, **TABLES, **(CITATION_TABLES if citations else {})}
    kinds = {name: "TEMPORARY TABLE" if name in TEMPORARY else "TABLE" for name in queries}
    return _run(file, threads, [f"CREATE {kinds[name]} {name} AS {query}" for name, query in queries.items()])


def _run(file: str, threads: int, statements: Iterable[str]) -> dict[str, Any]:
    import duckdb

    timer = Timer()
    with duckdb.connect(file, config={"threads": threads}) as connection:
        for statement in statements:
            connection.execute(statement)
    took = timer.stop()
    with duckdb.connect(file) as connection:
        papers = connection.execute("SELECT COUNT(*) FROM papers").fetchone()[0]
    return {**took, "papers": papers}


def pinakes(
    folder: str, url: str, threads: int, jobs: int, loader: str, options: dict[str, str]
) -> dict[str, Any]:
    """`pinakes load` into a database that is there, empty or not."""
    from pinakes.database import connect
    from pinakes.load.load import LoadRequest, load
    from pinakes.queries.install import initialise

    with connect(url) as database:
        initialise(database)
    timer = Timer(url)
    with connect(url) as database:
        if database.name == "duckdb":
            with database.begin() as session:
                session.execute(f"SET threads = {threads}")
        summary = load(database, LoadRequest(loader, Path(folder), options, corpus="bench", jobs=jobs))
    took = timer.stop()
    files = summary.files
    counted = {
        name: sum(getattr(file, f"rows_{name}") for file in files) for name in ("updated", "unchanged")
    }
    with connect(url) as database, database.read() as session:
        citations = session.scalar("SELECT COUNT(*) FROM citations")
    known = {"rows_in": summary.rows_in, "rejected": summary.rows_rejected, **counted, "citations": citations}
    return {**took, "papers": summary.papers, **known}


def dump(url: str, folder: str) -> dict[str, Any]:
    """What each table of a Postgres database holds, as files that `bare_copy` reads."""
    from pinakes.database import connect
    from pinakes.schema import metadata

    Path(folder).mkdir()
    started = time.perf_counter()
    with connect(url) as database, database.begin() as session, _open_cursor(session) as cursor:
        for table in metadata.sorted_tables:
            query = f"COPY {_name_columns(table)} TO STDOUT (FORMAT BINARY)"
            with (Path(folder) / table.name).open("wb") as file, cursor.copy(query) as copied:
                for part in copied:
                    file.write(part)
    return {"seconds": time.perf_counter() - started}


def bare_copy(folder: str, url: str) -> dict[str, Any]:
    """Postgres alone: the rows that a load made, by COPY into the same tables with their keys and indexes.

    Nothing is read, checked, looked up, resolved or counted. Tables that have rows in a new database stay.
    The indexes that a load builds when its rows are in are built then here too.
    """
    from pinakes.database import connect
    from pinakes.load.late_indexes import build_late
    from pinakes.queries.install import initialise

    with connect(url) as database:
        initialise(database)
        timer = Timer(url)
        with build_late(database, 1 << 30, gives_papers=False):
            _copy_in(database, Path(folder))
        took = timer.stop()
        with database.read() as session:
            counted = {
                name: session.scalar(f"SELECT COUNT(*) FROM {name}") for name in ("papers", "citations")
            }
    return {**took, **counted}


def _copy_in(database: Any, folder: Path) -> None:
    from pinakes.schema import metadata

    with database.begin() as session, _open_cursor(session) as cursor:
        for table in metadata.sorted_tables:
            if session.scalar(f"SELECT COUNT(*) FROM (SELECT 1 FROM {table.name} LIMIT 1) AS one"):
                continue
            query = f"COPY {_name_columns(table)} FROM STDIN (FORMAT BINARY)"
            with (folder / table.name).open("rb") as file, cursor.copy(query) as copied:
                while part := file.read(1 << 20):
                    copied.write(part)


def _open_cursor(session: Any) -> Any:
    return session.connection.connection.cursor()


def _name_columns(table: Any) -> str:
    return f"{table.name} ({', '.join(column.name for column in table.columns)})"


def pandas(folder: str, url: str, rows: int, citations: bool) -> dict[str, Any]:
    """A loop of `read_json` and `to_sql` over the first `rows` records: the columns of `bare`, in one table.

    `to_sql` takes no lists, so they become texts of JSON.
    """
    import pandas as pd
    import sqlalchemy as sa

    engine = sa.create_engine(url)
    columns = list_columns(citations)
    lists = [name for name, kind in columns.items() if kind.endswith("[]")]
    loaded, timer = 0, Timer(url)
    for chunk in _read_chunks(pd, Path(folder), min(rows, PANDAS_CHUNK)):
        part = chunk[list(columns)].head(rows - loaded).copy()
        for name in lists:
            part[name] = part[name].map(json.dumps)
        part.to_sql("papers", engine, if_exists="append", index=False)
        loaded += len(part)
        if loaded >= rows:
            break
    engine.dispose()
    return {**timer.stop(), "papers": loaded}


def _read_chunks(pd: Any, folder: Path, chunk: int) -> Iterator[Any]:
    for path in sorted(folder.rglob("*.gz")):
        with pd.read_json(path, lines=True, chunksize=chunk, dtype=False) as reader:
            yield from reader


JOBS = {
    job.__name__: job
    for job in (write, copy, measure_size, bare, bare_tables, pinakes, dump, bare_copy, pandas)
}

if __name__ == "__main__":
    done = JOBS[sys.argv[1]](**json.loads(sys.argv[2]))
    print(json.dumps({**done, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
