"""`pinakes init` killed at any moment leaves nothing or all tables and views; the next one ends well."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import connect
from pinakes.errors import EvaluationError
from pinakes.queries import install
from tests.long import long, sample
from tests.postgres import PostgresServer
from tests.warm import Warm

SEED = 31
PROGRAM = """
import sys

from pinakes.cli import run_command

run_command(["init", "--db", sys.argv[1], "--quiet"])
"""
_CATALOG = """
SELECT table_schema, table_name, table_type
FROM information_schema.tables
WHERE table_catalog = CURRENT_DATABASE() AND table_schema NOT IN ('information_schema', 'pg_catalog')
"""
_INSTALLED = (
    "SELECT version FROM schema_version",
    "SELECT name, definition_digest FROM benchmarks",
    "SELECT benchmark, system, subset, measure, printed FROM published_scores",
    "SELECT * FROM suites",
    "SELECT * FROM suite_figures",
)


@pytest.fixture(params=["duckdb", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Gives the URL of a new, empty database each time: DuckDB, then Postgres."""
    numbers = count(1)
    if request.param == "duckdb":
        yield lambda: f"duckdb:///{tmp_path / f'init_{next(numbers)}.duckdb'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with ExitStack() as made:
        yield lambda: made.enter_context(server.create(f"pinakes_init_{os.getpid()}_{next(numbers)}"))


def read_all(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Tables and views, and what init writes into them; {} of a database without any."""
    file = sa.make_url(url)
    if file.get_backend_name() == "duckdb" and not Path(str(file.database)).exists():
        return {}
    with connect(url) as database, database.read() as session:
        found = {_CATALOG: sorted(tuple(row.values()) for row in session.rows(_CATALOG))}
        if not found[_CATALOG]:
            return {}
        for query in _INSTALLED:
            found[query] = sorted((tuple(row.values()) for row in session.rows(query)), key=repr)
    return found


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "step", sample(["_install", "install_suites", "make_reader_role", "open_to_readers"], 2)
)
def test_an_init_that_fails_at_any_step_leaves_nothing(
    new_database: Callable[[], str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise EvaluationError(step)

    url = new_database()
    monkeypatch.setattr(install, step, fail)
    with connect(url) as database, pytest.raises(EvaluationError, match=step):
        install.initialise(database)
    assert read_all(url) == {}
    monkeypatch.undo()
    with connect(url) as database:
        assert "scifact" in install.initialise(database)


@pytest.mark.in_turn
@pytest.mark.parametrize("kills", [1, long(60)])
def test_a_killed_init_leaves_nothing_or_everything_and_the_next_one_ends_well(
    new_database: Callable[[], str], kills: int, warm: Warm
) -> None:
    whole, started = new_database(), time.monotonic()
    assert warm.run(PROGRAM, whole).code == 0
    longest = time.monotonic() - started
    expected = read_all(whole)
    assert len(expected[_CATALOG]) > 100
    moments = random.Random(SEED)
    for _ in range(kills):
        url = new_database()
        process = warm.start(PROGRAM, url)
        time.sleep(moments.uniform(0.1, 1.0) * longest)
        process.kill()
        ended = process.wait()
        assert ended is not None
        assert ended.code in (-signal.SIGKILL, 0)
        assert read_all(url) in ({}, expected)
        assert warm.run(PROGRAM, url).code == 0
        assert read_all(url) == expected
