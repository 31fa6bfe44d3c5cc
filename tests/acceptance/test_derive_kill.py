"""Derivations that are killed or interrupted, whose next start ends as if nothing had happened."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from pinakes.database import connect
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.report.status import find_orphans
from tests.loading import dump_tables
from tests.long import long
from tests.postgres import PostgresServer
from tests.warm import Started, Warm
from tests.wordnets import build_wordnet

pytestmark = pytest.mark.in_turn

PAPERS = 40
BATCHES = 7
"""as many as the program below cuts the papers into"""


# The command line, which sends itself (or its process group, as a terminal does) a signal when it has stored
# so many batches, and has not yet committed the last.
PROGRAM = """
import os, signal, sys
from pinakes.cli import main
from pinakes.texts import derive

derive.CHARACTERS_PER_BATCH = 3_500
url, jobs, last, name = sys.argv[1:]
ignored = name == "SIGINT ignored"
signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
name = name.split()[0]
store, stored = derive.store_derived, []

def store_and_stop(*given):
    rows = store(*given)
    stored.append(rows)
    if len(stored) == int(last):
        send = os.killpg if name == "SIGINT" else os.kill
        send(os.getpid(), signal.Signals[name])
    return rows

derive.store_derived = store_and_stop
options = "--corpus synthetic --quiet --wait 100".split()
sys.argv = ["pinakes", "derive", "neighbours", *options, "--jobs", jobs, "--db", url]
main()
"""

Tables = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module", params=[long("duckdb"), "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Gives the URL of a new database with the papers each time: DuckDB, then Postgres."""
    folder, numbers = tmp_path_factory.mktemp("derive"), count(1)
    if request.param == "duckdb":
        fill(f"duckdb:///{folder / 'filled.duckdb'}")
        yield lambda: f"duckdb:///{shutil.copy(folder / 'filled.duckdb', folder / f'{next(numbers)}.duckdb')}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with ExitStack() as made:
        filled = f"pinakes_derive_{os.getpid()}"
        fill(made.enter_context(server.create(filled)))
        yield lambda: made.enter_context(server.create(f"{filled}_{next(numbers)}", filled))


def fill(url: str) -> None:
    with connect(url) as database:
        initialise(database)
        load(database, LoadRequest("synthetic", None, {"papers": str(PAPERS), "seed": "3"}))


@pytest.fixture(scope="module", autouse=True)
def _wordnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path_factory.mktemp("wordnet"))))
        yield


@pytest.fixture(scope="module")
def undisturbed(new_database: Callable[[], str], warm: Warm) -> Tables:
    """The rows of a derivation that nothing has stopped."""
    url = new_database()
    assert derive(warm, url) == (0, "")
    return dump(url)


def start(warm: Warm, url: str, batches: int = 0, name: str = "SIGKILL", jobs: int = 1) -> Started:
    """Start a derivation that a signal stops after so many batches; 0: nothing does.

    Each of more jobs than one is a process of its own, which imports all anew.
    """
    return warm.start(PROGRAM, url, jobs, batches, name)


def wait(started: Started) -> tuple[int, str]:
    """Exit code and errors, when it and all that it has started have ended."""
    ended = started.wait()
    assert ended is not None
    return ended.code, ended.err


def derive(warm: Warm, url: str) -> tuple[int, str]:
    return wait(start(warm, url))


def disturb(warm: Warm, url: str, batches: int, name: str, jobs: int = 2) -> tuple[int, str]:
    """Exit code and errors of a derivation; of two jobs it has processes of its own to end too."""
    return wait(start(warm, url, batches, name, jobs))


def dump(url: str) -> Tables:
    with connect(url) as database:
        assert find_orphans(database) == {}
        return dump_tables(database)


def count_rows(tables: Tables) -> int:
    names = ("text_analyses", "paper_variants", "absent_variants")
    return sum(len(tables.get(name, [])) for name in names)


@pytest.mark.parametrize("batches", [long(1), long(3), long(BATCHES), BATCHES + 2, long(2 * BATCHES)])
def test_a_killed_derivation_ends_with_the_rows_of_an_undisturbed_one(
    new_database: Callable[[], str], undisturbed: Tables, warm: Warm, batches: int
) -> None:
    url = new_database()
    code, errors = disturb(warm, url, batches, "SIGKILL")
    assert (code, "Traceback" in errors) == (-signal.SIGKILL, False)
    assert count_rows(dump(url)) < count_rows(undisturbed) == PAPERS * 33
    assert derive(warm, url) == (0, "")
    assert dump(url) == undisturbed


@pytest.mark.parametrize("jobs", [1, long(2)])
def test_an_interrupted_derivation_says_how_to_go_on_and_nothing_else(
    new_database: Callable[[], str], undisturbed: Tables, warm: Warm, jobs: int
) -> None:
    url = new_database()
    code, errors = disturb(warm, url, BATCHES + 2, "SIGINT", jobs)
    assert (code, errors.strip().splitlines()[-1:]) == (
        130,
        ["pinakes: interrupted; start the same command again to go on."],
    )
    assert "Traceback" not in errors
    assert 0 < count_rows(dump(url)) < count_rows(undisturbed)
    assert derive(warm, url) == (0, "")
    assert dump(url) == undisturbed


@pytest.mark.long
def test_a_derivation_in_the_background_is_not_interrupted(
    new_database: Callable[[], str], undisturbed: Tables, warm: Warm
) -> None:
    url = new_database()
    assert disturb(warm, url, BATCHES + 2, "SIGINT ignored") == (0, "")
    assert dump(url) == undisturbed


def test_two_derivations_at_once_end_as_one(
    new_database: Callable[[], str], undisturbed: Tables, warm: Warm
) -> None:
    url = new_database()
    both = [start(warm, url) for _ in range(2)]
    assert [wait(process) for process in both] == [(0, "")] * 2
    assert dump(url) == undisturbed
