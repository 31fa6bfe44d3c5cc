"""Suites into the database: what they are, their groups, what counts in no average, published averages."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.queries.suites import Suite, choose_members, list_suites, read_suite
from pinakes.schema import published_scores, suite_extras, suite_figures, suite_groups, suites


def install_suites(database: Database, found: Sequence[Benchmark], folders: Sequence[Path] = ()) -> None:
    """Make or renew the rows of every suite, whose members are among the benchmarks found."""
    for name in list_suites(folders):
        suite = read_suite(name, folders)
        install_suite(database, suite, [one.name for one in choose_members(suite, found)])


def install_suite(database: Database, suite: Suite, members: Sequence[str]) -> None:
    """Make or renew the rows of a suite; figures of benchmarks that are no members any longer go."""
    gone = (suite_figures.c.suite == suite.name, suite_figures.c.benchmark.not_in(members))
    known = sa.select(suites.c.definition_digest).where(suites.c.name == suite.name)
    with database.read() as session:  # so that a report waits for no writer, and needs no right to write
        left_over = session.scalar(sa.select(sa.func.count()).select_from(suite_figures).where(*gone))
        if not left_over and session.scalar(known) == suite.digest:
            return
    with database.open_to_write() as writable, writable.begin() as session:
        session.execute(sa.delete(suite_figures).where(*gone))
        if session.scalar(known) == suite.digest:
            return
        for column in (
            suites.c.name,
            suite_groups.c.suite,
            suite_extras.c.suite,
            published_scores.c.benchmark,
        ):
            session.execute(sa.delete(column.table).where(column == suite.name))
        session.execute(
            sa.insert(suites).values(
                name=suite.name,
                title=suite.title,
                citation=suite.citation,
                licence=suite.licence,
                definition_digest=suite.digest,
            )
        )
        groups = [
            {"suite": suite.name, "suite_group": group, "position": position}
            for position, group in enumerate(suite.groups, start=1)
        ]
        extras = [{"suite": suite.name, "benchmark": benchmark} for benchmark in sorted(suite.beside)]
        published = [{"benchmark": suite.name, **asdict(score)} for score in suite.published]
        for table, rows in ((suite_groups, groups), (suite_extras, extras), (published_scores, published)):
            session.insert(table, pa.Table.from_pylist(rows))
