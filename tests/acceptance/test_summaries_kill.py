"""Derivations of summaries that are killed, whose next start ends as if nothing had happened."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from pinakes.database import connect
from pinakes.queries.install import initialise
from pinakes.report.status import find_orphans
from tests.integration.summaries import load_toy
from tests.loading import dump_tables
from tests.long import long
from tests.postgres import PostgresServer
from tests.warm import Warm

pytestmark = pytest.mark.in_turn


# The command line, which kills itself when it has stored so many batches, and has not yet committed the last.
PROGRAM = """
import os, signal, sys
from pinakes.cli import main
from pinakes.texts.summaries import examples, label_store, sections

sections.PAPERS_PER_BATCH = label_store.PAPERS_PER_BATCH = 1
url, last = sys.argv[1:]
stored = []

def kill_after(function):
    def work(*given):
        done = function(*given)
        stored.append(done)
        if len(stored) == int(last):
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return work

sections.store_sentences = kill_after(sections.store_sentences)
label_store.store_labels = kill_after(label_store.store_labels)
examples._count_mentions = kill_after(examples._count_mentions)
options = "--corpus toy --min-positives 1 --quiet --wait 100 --db".split()
labellers = ["--labeller", "citing exact", "--labeller", "citing aligned 0.6"]
sys.argv = ["pinakes", "derive", "summaries", *options, url, *labellers]
main()
"""
SPLIT, MADE, LABELLED, BATCHES = 3, 4, 7, 10
"""batches behind which sentences, examples, the first labels and all labels are stored"""

Tables = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module", params=[long("duckdb"), "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Gives the URL of a new database with the papers each time: DuckDB, then Postgres."""
    folder, numbers = tmp_path_factory.mktemp("summaries"), count(1)
    if request.param == "duckdb":
        fill(f"duckdb:///{folder / 'filled.duckdb'}")
        yield lambda: f"duckdb:///{shutil.copy(folder / 'filled.duckdb', folder / f'{next(numbers)}.duckdb')}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with ExitStack() as made:
        filled = f"pinakes_summaries_{os.getpid()}"
        fill(made.enter_context(server.create(filled)))
        yield lambda: made.enter_context(server.create(f"{filled}_{next(numbers)}", filled))


def fill(url: str) -> None:
    with connect(url) as database, pytest.MonkeyPatch.context() as monkeypatch:
        initialise(database)
        load_toy(database, monkeypatch)


@pytest.fixture(scope="module")
def undisturbed(new_database: Callable[[], str], warm: Warm) -> Tables:
    """The rows of a derivation that nothing has stopped."""
    url = new_database()
    assert derive(warm, url) == (0, "")
    return dump(url)


def derive(warm: Warm, url: str, batches: int = 0) -> tuple[int, str]:
    """Exit code and errors of a derivation that is killed after so many batches; 0: it is not."""
    ended = warm.run(PROGRAM, url, batches)
    return ended.code, ended.err


def dump(url: str) -> Tables:
    with connect(url) as database:
        assert find_orphans(database) == {}
        return dump_tables(database)


@pytest.mark.parametrize(
    "batches", [long(1), long(SPLIT), long(MADE), long(MADE + 2), LABELLED + 2, long(BATCHES)]
)
def test_a_killed_derivation_ends_with_the_rows_of_an_undisturbed_one(
    new_database: Callable[[], str], undisturbed: Tables, warm: Warm, batches: int
) -> None:
    url = new_database()
    code, errors = derive(warm, url, batches)
    assert (code, "Traceback" in errors) == (-signal.SIGKILL, False)
    assert dump(url) != undisturbed
    assert derive(warm, url) == (0, "")
    assert dump(url) == undisturbed
