"""A sample of `make faults`: commands that are disturbed at system calls say so, and end as undisturbed."""

import os
import subprocess
import sys

import pytest

from tests.faults.__main__ import SKIPPED


def test_commands_disturbed_at_system_calls_lose_nothing() -> None:
    # A process of its own: it forks, which one with threads, as a worker of pytest, must not.
    words = ["--count", "3", "--scenarios", "load folder", "index tfidf", "export table"]
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
        assert f"{database}: 3 scenarios, " in done.stdout
    assert ": fell, " in done.stdout
