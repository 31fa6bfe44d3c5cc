"""Benchmarks into the database: a schema with three views each, and the published figures.

Leaves out: what the views hold (the benchmark's folder).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.schema import CreateSchema

from pinakes.database import Database, Session
from pinakes.database.driver_errors import DRIVER_ERRORS
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import VIEWS, Benchmark, list_benchmarks, read_benchmark
from pinakes.queries.relations import relation
from pinakes.schema import benchmarks, comment_on_view, published_scores


def install_benchmarks(database: Database, folders: Sequence[Path] = ()) -> list[str]:
    """Make or renew the views of every benchmark; the names of those that were made or changed."""
    names = list_benchmarks(folders)
    return [name for name in names if install_benchmark(database, read_benchmark(name, folders))]


def install_benchmark(database: Database, benchmark: Benchmark) -> bool:
    """Make or renew a benchmark's views and published figures; False where they stand as defined."""
    with database.begin() as session:
        known = session.scalar(
            sa.select(benchmarks.c.definition_digest).where(benchmarks.c.name == benchmark.name)
        )
        if known == benchmark.digest:
            return False
        _refuse_name_of_file(session, benchmark)
        _create_views(session, benchmark)
        _replace_rows(session, benchmark)
    return True


def _refuse_name_of_file(session: Session, benchmark: Benchmark) -> None:
    # DuckDB calls a database as its file: scifact.queries would be a table of it, or a view of a schema.
    if session.backend.name == "duckdb" and session.scalar("SELECT CURRENT_DATABASE()") == benchmark.name:
        raise BenchmarkError(
            f"the DuckDB file is called {benchmark.name}, as a benchmark is, and DuckDB cannot tell "
            f"{benchmark.name}.queries in the one from that in the other. Rename the file, or choose another "
            "--db."
        )


def _create_views(session: Session, benchmark: Benchmark) -> None:
    session.execute(CreateSchema(benchmark.name, if_not_exists=True))
    quote = session.connection.dialect.identifier_preparer.quote
    names = {view: f"{quote(benchmark.name)}.{quote(view)}" for view in VIEWS}
    # A view may read those before it, so they go in the order opposite to that in which they come.
    for view in reversed(VIEWS):
        session.execute(f"DROP VIEW IF EXISTS {names[view]}")
    for view, name in names.items():
        with _explain_refusal(benchmark, view):
            session.execute(_as_written(f"CREATE VIEW {name} AS (\n{_query(benchmark.sql[view])}\n)"))
            nothing = sa.select(sa.text("*")).select_from(relation(benchmark, view)).limit(0)
            found = set(session.fetch_arrow(nothing).column_names)
        _check_columns(benchmark, view, found)
        comment_on_view(session, name, f"{benchmark.title}: {_CONTENTS[view]}")


_CONTENTS: Final = {
    "queries": "the queries, with the columns that reports break down by.",
    "candidates": "the papers that a system ranks: for each query, or for all of them.",
    "judgments": "the grades that rankings are scored by.",
}


def _query(text: str) -> str:
    # In brackets, a second statement is an error of syntax.
    return text.rstrip().removesuffix(";")


def _as_written(statement: str) -> sa.DDL:
    # Not `text`: a colon in a folder's SQL is no parameter.
    return sa.DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]


@contextmanager
def _explain_refusal(benchmark: Benchmark, view: str) -> Iterator[None]:
    try:
        yield
    except DRIVER_ERRORS as error:
        original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        raise BenchmarkError(
            f"{benchmark.name}/{view}.sql makes no view: {str(original).strip()}. Expected one query that "
            "both databases read. A benchmark reads the judgments of a corpus from the view judged_papers, "
            "since its own view is called judgments."
        ) from error


def _check_columns(benchmark: Benchmark, view: str, found: set[str]) -> None:
    owed = {column.name for column in relation(benchmark, view).columns}
    if not owed <= found:
        raise BenchmarkError(
            f"{benchmark.name}/{view}.sql lacks the columns {', '.join(sorted(owed - found))}; it gives "
            f"{', '.join(sorted(found))}."
        )


def _replace_rows(session: Session, benchmark: Benchmark) -> None:
    session.execute(sa.delete(benchmarks).where(benchmarks.c.name == benchmark.name))
    session.execute(sa.delete(published_scores).where(published_scores.c.benchmark == benchmark.name))
    session.execute(
        sa.insert(benchmarks).values(
            name=benchmark.name,
            title=benchmark.title,
            citation=benchmark.citation,
            licence=benchmark.licence,
            headline_measure=benchmark.headline_measure,
            definition_digest=benchmark.digest,
        )
    )
    rows = [{"benchmark": benchmark.name, **asdict(score)} for score in benchmark.published]
    session.insert(published_scores, pa.Table.from_pylist(rows))
