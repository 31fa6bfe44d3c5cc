"""A sample of `make faults`: commands that are disturbed at system calls say so, and end as undisturbed."""

import os
import subprocess
import sys

import pytest

from tests.faults.__main__ import SKIPPED
from tests.long import long

SHORT = ("load folder",)


@pytest.mark.parametrize("scenarios", [SHORT, long(("load folder", "index tfidf", "export table"))])
def test_commands_disturbed_at_system_calls_lose_nothing(scenarios: tuple[str, ...]) -> None:
    # A process of its own: it forks, which one with threads, as a worker of pytest, must not.
    words = ["--count", "1" if scenarios == SHORT else "4", "--scenarios", *scenarios]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    for database in ("duckdb", "postgresql"):
        assert f"{database}: {len(scenarios)} scenarios, " in done.stdout
    assert ": fell, " in done.stdout
