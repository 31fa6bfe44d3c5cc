"""Benchmarks into the database: a schema each, with the views of its task and those of the folder's own, and
the published figures.

The schema is the benchmark's: a renewal drops every view in it.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import takewhile
from typing import Final

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.schema import CreateSchema, DropSchema

from pinakes.database import Database, Session
from pinakes.database.compiled import EVERY_COLUMN
from pinakes.database.driver_errors import driver_errors
from pinakes.database.reader_role import make_reader_role, open_to_readers
from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.definition import Benchmark, read_benchmarks
from pinakes.queries.folders import tell_missing
from pinakes.queries.install_suites import install_suites
from pinakes.queries.tasks import TaskViews, resolve_task
from pinakes.schema import (
    benchmark_corpora,
    benchmarks,
    comment_on_view,
    corpora,
    create_schema,
    published_scores,
    suite_figures,
)
from pinakes.settings import Settings, read_settings


def initialise(
    database: Database, settings: Settings | None = None, *, pass_over_missing: bool = False
) -> list[str]:
    """Make the tables and views that are missing, all or none; those benchmarks whose views were made.

    Args:
        pass_over_missing: whether a folder of benchmarks that is not there is no error; the caller tells.

    Raises:
        SchemaVersionError: the database was made by an older or a newer Pinakes.
        BenchmarkError: a benchmark's folder is not there, or not as it should be.
    """
    folders = (settings or read_settings()).benchmark_folders
    missing = "" if pass_over_missing else tell_missing(folders)
    if missing:
        raise BenchmarkError(f"{missing} Make it, or name the right one; then start the same command again.")
    found = read_benchmarks(folders)
    with database.in_one_transaction() as whole:
        create_schema(whole)
        renewed = _install(whole, found)
        install_suites(whole, found, folders)
        with whole.begin() as session:
            make_reader_role(session)
            schemas = [session.scalar("SELECT CURRENT_SCHEMA()"), *(benchmark.name for benchmark in found)]
            open_to_readers(session, schemas)
    return renewed


def install_benchmark(database: Database, benchmark: Benchmark) -> bool:
    """Make or renew a benchmark's views and published figures; False where they stand as defined."""
    return bool(_install(database, [benchmark]))


def _install(database: Database, wanted: Sequence[Benchmark]) -> list[str]:
    """Make or renew all or, after an error, none; the names of those that were made or changed."""
    with database.read() as session:  # so that a report waits for no writer, and needs no right to write
        if not _find_stale(session, wanted):
            return []
    with database.open_to_write() as writable, writable.begin() as session:
        stale = _find_stale(session, wanted)
        if not stale:
            return []
        views = _list_views(session, [benchmark.name for benchmark in stale])
        _refuse_name_of_file(session, stale)
        for benchmark in stale:
            _create_views(session, benchmark, views.get(benchmark.name, []))
        _replace_rows(session, stale)
        open_to_readers(session, [benchmark.name for benchmark in stale])
    return [benchmark.name for benchmark in stale]


def _find_stale(session: Session, wanted: Sequence[Benchmark]) -> list[Benchmark]:
    """Those that do not stand as they are defined."""
    rows = session.rows(sa.select(benchmarks.c.name, benchmarks.c.definition_digest))
    digests = {row["name"]: row["definition_digest"] for row in rows}
    return [benchmark for benchmark in wanted if digests.get(benchmark.name) != benchmark.digest]


def _refuse_name_of_file(session: Session, installed: Sequence[Benchmark]) -> None:
    # DuckDB calls a database as its file: scifact.queries would be a table of it, or a view of a schema.
    if session.backend.name != "duckdb":
        return
    file = session.scalar("SELECT CURRENT_DATABASE()")
    if file in {benchmark.name for benchmark in installed}:
        raise BenchmarkError(
            f"the DuckDB file is called {file}, as a benchmark is, and DuckDB cannot tell "
            f"{file}.queries in the one from that in the other. Rename the file, or choose another --db."
        )


def _create_views(session: Session, benchmark: Benchmark, present: Sequence[str]) -> None:
    session.execute(CreateSchema(benchmark.name, if_not_exists=True))
    # A view may read those before it, so they go in the order opposite to that in which they come.
    own = sorted((view for view in present if view not in benchmark.sql), reverse=True)
    for view in (*own, *(view for view in reversed(list(benchmark.sql)) if view in present)):
        session.execute(f"DROP VIEW {_quote(session, benchmark, view)}")
    task: TaskViews = resolve_task(benchmark.task)
    for view, body in benchmark.sql.items():
        expected = set(task.list_columns(benchmark, view))
        _create_view(session, benchmark, view, body, expected, task.views[view])
    for view, body in benchmark.own_views.items():
        comment = read_leading_comment(body) or view
        _create_view(session, benchmark, view, body, _EXPECTED.get(view, set()), comment)


def _quote(session: Session, benchmark: Benchmark, view: str) -> str:
    return _quote_names(session, benchmark.name, view)


def _quote_names(session: Session, *names: str) -> str:
    quote = session.connection.dialect.identifier_preparer.quote
    return ".".join(quote(name) for name in names)


_EXPECTED: Final = {"query_sentences": {"query_id", "paper_id", "position"}}
"""view of a folder's own -> the columns that it must have; the others are read by people alone"""

_VIEWS_OF_SCHEMAS: Final = sa.text("""
SELECT table_schema, table_name
FROM information_schema.tables
WHERE table_catalog = CURRENT_DATABASE() AND table_schema IN :schemas AND table_type = 'VIEW'
""").bindparams(sa.bindparam("schemas", expanding=True))


def _list_views(session: Session, schemas: Sequence[str]) -> dict[str, list[str]]:
    """schema -> the views in it."""
    found: dict[str, list[str]] = {}
    for row in session.rows(_VIEWS_OF_SCHEMAS, {"schemas": list(schemas)}):
        found.setdefault(row["table_schema"], []).append(row["table_name"])
    return found


def drop_views(session: Session, benchmark: str) -> None:
    """Drop the schema of an installed benchmark with all views in it, in whatever order they read each other.

    Raises `DatabaseError` on Postgres where a view of another schema reads one of them.
    """
    views = _list_views(session, [benchmark]).get(benchmark, [])
    named = [_quote_names(session, benchmark, view) for view in views]
    # Postgres drops views that read each other in one statement alone; DuckDB drops one at a time.
    together = [", ".join(named)] if session.backend.name == "postgresql" and named else named
    for listed in together:
        session.execute(f"DROP VIEW {listed}")
    session.execute(DropSchema(benchmark, if_exists=True))


def _create_view(
    session: Session, benchmark: Benchmark, view: str, body: str, expected: set[str], comment: str
) -> None:
    file = f"{view}.sql" if view in benchmark.sql else f"views/{view}.sql"
    name = _quote(session, benchmark, view)
    with _explain_refusal(benchmark, file):
        # In brackets, a second statement is an error of syntax.
        session.execute_as_written(f"CREATE VIEW {name} AS (\n{body.rstrip().removesuffix(';')}\n)")
        # Run, since DuckDB finds some faults of a view, as that it reads itself, only then.
        nothing = sa.select(EVERY_COLUMN).select_from(sa.table(view, schema=benchmark.name)).limit(0)
        with closing(session.connection.execute(nothing)) as result:  # as Arrow, DuckDB would bind it thrice
            found = set(result.keys())
    if not expected <= found:
        raise BenchmarkError(
            f"{benchmark.name}/{file} lacks the columns {', '.join(sorted(expected - found))}; it gives "
            f"{', '.join(sorted(found))}."
        )
    comment_on_view(session, name, f"{benchmark.title}: {comment}")


def read_leading_comment(text: str) -> str:
    """What the `--` lines say that a file of SQL begins with, as one line; empty where there are none.

    >>> read_leading_comment("-- A paper,\\n-- or two.\\nSELECT 1 -- one")
    'A paper, or two.'
    """
    lines = [line.strip() for line in text.splitlines()]
    leading = takewhile(lambda line: line.startswith("--"), lines)
    return " ".join(line.removeprefix("--").strip() for line in leading)


@contextmanager
def _explain_refusal(benchmark: Benchmark, file: str) -> Iterator[None]:
    try:
        yield
    except driver_errors() as error:
        original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        raise BenchmarkError(
            f"{benchmark.name}/{file} makes no view: {str(original).strip()}. Expected one query that "
            "both databases read. A benchmark reads the judgments of a corpus from the view judged_papers, "
            "since its own view is called judgments."
        ) from error


def _replace_rows(session: Session, installed: Sequence[Benchmark]) -> None:
    names = [benchmark.name for benchmark in installed]
    for column in (benchmarks.c.name, published_scores.c.benchmark, suite_figures.c.benchmark):
        session.execute(sa.delete(column.table).where(column.in_(names)))
    # What a user chose (preference 0) stays.
    of_folders = benchmark_corpora.c.benchmark.in_(names) & (benchmark_corpora.c.preference > 0)
    session.execute(sa.delete(benchmark_corpora).where(of_folders))
    for table, list_rows in _ROWS:
        rows = [row for benchmark in installed for row in list_rows(benchmark)]
        session.insert(table, pa.Table.from_pylist(rows))


def use_corpus(database: Database, benchmark: Benchmark, corpus: str) -> None:
    """Have a benchmark read a loaded corpus, whichever others are loaded.

    Raises:
        BenchmarkError: the benchmark reads one corpus alone, which its SQL names.
        UnknownNameError: no such corpus is loaded.
    """
    if not benchmark.other_corpora:
        raise BenchmarkError(f"{benchmark.name} reads the corpus {benchmark.corpus}, and no other.")
    install_benchmark(database, benchmark)
    with database.begin() as session:
        loaded = session.fetch_arrow(sa.select(corpora.c.name))["name"].to_pylist()
        if corpus not in loaded:
            raise UnknownNameError("corpus", corpus, loaded)
        table = benchmark_corpora
        of_benchmark = table.c.benchmark == benchmark.name
        session.execute(sa.delete(table).where(of_benchmark, table.c.preference == 0))
        session.execute(sa.insert(table).values(benchmark=benchmark.name, corpus=corpus, preference=0))


def _describe(benchmark: Benchmark) -> list[dict[str, object]]:
    return [
        {
            "name": benchmark.name,
            "title": benchmark.title,
            "citation": benchmark.citation,
            "licence": benchmark.licence,
            "headline_measure": benchmark.headline_measure,
            "format": benchmark.format,
            "definition_digest": benchmark.digest,
        }
    ]


def _list_published(benchmark: Benchmark) -> list[dict[str, object]]:
    return [{"benchmark": benchmark.name, **asdict(score)} for score in benchmark.published]


def _list_readable(benchmark: Benchmark) -> list[dict[str, object]]:
    return [
        {"benchmark": benchmark.name, "corpus": corpus, "preference": number}
        for number, corpus in enumerate((benchmark.corpus, *benchmark.other_corpora), start=1)
        if corpus
    ]


def _list_figures(benchmark: Benchmark) -> list[dict[str, object]]:
    if benchmark.suite is None:
        return []
    of_suite = {"suite": benchmark.suite.name, "suite_group": benchmark.suite.group}
    return [
        {**of_suite, "benchmark": benchmark.name, "figure": number, "subset": subset, "measure": measure}
        for number, figure in enumerate(benchmark.suite.figures, start=1)
        for subset, measure in figure
    ]


_ROWS: Final = (
    (benchmarks, _describe),
    (published_scores, _list_published),
    (benchmark_corpora, _list_readable),
    (suite_figures, _list_figures),
)
"""each table of what folders say, and what gives a benchmark's rows of it"""
