"""What a shell completes, in real shells and as they ask for it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pinakes.database import connect
from pinakes.load.load import LoadRequest, load
from tests.warm import Warm

SCRIPT = "#!{python}\nfrom pinakes.cli import main\nmain()\n"
BASH = """
source ~/.bashrc
complete -p pinakes
COMP_WORDS=({words}); COMP_CWORD={last}; COMPREPLY=()
_pinakes_completion pinakes
printf 'completed %s\\n' "${{COMPREPLY[@]}}"
"""

COMPLETE = """
import json, os, sys
from pinakes.cli import main
os.chdir(sys.argv[1])
for name in [name for name in os.environ if name.startswith("PINAKES_")]:
    del os.environ[name]
os.environ.update(json.loads(sys.argv[2]))
sys.argv = ["pinakes"]
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A fresh home, with the command on the path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pinakes").write_text(SCRIPT.format(python=sys.executable))
    (tmp_path / "bin" / "pinakes").chmod(0o755)
    return tmp_path


def start(home: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    given = {name: value for name, value in os.environ.items() if not name.startswith("PINAKES_")}
    path = f"{home / 'bin'}:{given['PATH']}"
    return subprocess.run(
        words,
        env={**given, "HOME": str(home), "PATH": path, "PYTHONPATH": ":".join(sys.path), **environment},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


Complete = Callable[..., list[str]]


@pytest.fixture
def complete(home: Path, warm: Warm) -> Complete:
    """A function that gives what completes the last word of a line, as bash asks for it."""

    def complete_word(line: str, **environment: str) -> list[str]:
        last = len(line.split()) - (not line.endswith(" "))
        asked = {"COMP_WORDS": line, "COMP_CWORD": str(last), "_PINAKES_COMPLETE": "complete_bash"}
        given = {"HOME": str(home), **asked, **environment}
        done = warm.run(COMPLETE, home, json.dumps(given))
        assert done.err == ""
        return done.out.split()

    return complete_word


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_what_was_installed_in_a_fresh_home(home: Path) -> None:
    shell = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    installed = start(home, "pinakes", "--install-completion", "bash", **shell)
    assert installed.returncode == 0, installed.stderr
    done = start(home, "bash", "--norc", "-c", BASH.format(words="pinakes evaluate synth", last=2))
    assert done.stdout.splitlines() == [
        "complete -o default -F _pinakes_completion pinakes",
        "completed synthetic",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_installs_for_each_shell(shell: str, home: Path) -> None:
    given = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = start(home, "pinakes", "--install-completion", shell, **given)
    assert (done.returncode, f"{shell} completion installed in {home}" in done.stdout) == (0, True)
    shown = start(home, "pinakes", "--show-completion", shell, **given)
    assert "_PINAKES_COMPLETE=complete_" in shown.stdout


def test_names_are_completed_without_a_database(home: Path, complete: Complete) -> None:
    folder = home / "benchmarks" / "synthetic_own"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text("")
    own = {"PINAKES_BENCHMARKS": str(folder.parent)}
    assert complete("pinakes eval") == ["evaluate"]
    assert complete("pinakes evaluate synth", **own) == ["synthetic", "synthetic_own"]
    assert complete("pinakes index cranf") == ["cranfield"]
    assert complete("pinakes run synthetic --system spars") == ["sparse_bm25"]
    assert complete("pinakes run synthetic -s rr") == ["rrf:"]
    assert complete("pinakes load s2o") == ["s2orc", "s2orc-json"]
    assert complete("pinakes fetch csf") == ["csfcube"]
    assert complete("pinakes search ") == []


def test_corpora_and_runs_are_those_of_a_file_and_no_server_is_asked(
    home: Path, complete: Complete, tables_duckdb: Path
) -> None:
    file = home / "some.duckdb"
    shutil.copy(tables_duckdb, file)
    with connect(file) as database:
        load(database, LoadRequest("synthetic", options={"papers": "100", "seed": "1"}))
        with database.begin() as session:
            session.execute(
                "INSERT INTO runs (run_id, benchmark, system, run_digest, parameters, code_version, "
                "dataset_digest, view_digest, device, started_at, mode, elapsed_s, queries_expected, "
                "queries_answered, candidates_expected, candidates_without_text, hit_count, depth) "
                "SELECT 17, 'synthetic', 'bm25', 'd', "
                "'{}', '1', 'd', 'd', 'cpu', TIMESTAMP '2026-01-01 00:00:00', "
                "'corrected', 0, 1, 1, 1, 0, 1, 10"
            )
    assert complete(f"pinakes search --db {file} ") == ["synthetic"]
    here = {"PINAKES_DATABASE_URL": str(file)}
    assert complete("pinakes derive summaries --corpus syn", **here) == ["synthetic"]
    assert complete("pinakes evaluate synthetic --run ", **here) == ["17"]
    assert complete("pinakes remove run 1", **here) == ["17"]
    assert complete("pinakes remove run 2", **here) == []
    # where a connection would be tried, it would be told, or waited for
    server = {"PINAKES_DATABASE_URL": "postgresql://nobody@192.0.2.1:1/x"}
    assert complete("pinakes search ", **server) == []


def test_completing_waits_for_nothing_that_is_slow_to_import(home: Path) -> None:
    asked = "pinakes.cli.completing"
    code = (
        f"import sys; from {asked} import *\n"
        "names = [*complete_benchmarks('s'), *complete_systems(''), *complete_loaders('')]\n"
        "assert 'synthetic' in names and 'bm25' in names and 'beir' in names\n"
        "print(*sorted(sys.modules))"
    )
    done = start(home, sys.executable, "-c", code)
    slow = {"sqlalchemy", "duckdb", "psycopg", "pyarrow", "torch", "numpy", "scipy", "pinakes.database"}
    assert done.returncode == 0, done.stderr
    assert slow & set(done.stdout.split()) == set()
