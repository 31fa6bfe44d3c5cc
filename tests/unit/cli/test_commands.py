"""The commands as a person meets them first: their help, which is there at once and complete."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from pinakes import cli
from pinakes.cli import app, run_command
from pinakes.cli.commands import MODULES, CommandsByName

# what takes long to import; the help of no command waits for it
HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "duckdb",
    "psycopg",
    "pyarrow",
    "torch",
    "transformers",
    "faiss",
    "numba",
    "tantivy",
    "gensim",
    "matplotlib",
    "jinja2",
    "ir_measures",
    "pinakes.database",
    "pinakes.schema",
    "pinakes.systems",
    "pinakes.loaders",
)
SHOW_HELP = """
import sys
import warnings
from pinakes.cli import run_command
code = run_command(sys.argv[1:])
print("\\n".join(["loaded:", *sys.modules]))
sys.exit(code)
"""


def list_commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from list_commands(inner, *path, name)


COMMANDS = dict(list_commands(typer.main.get_command(app)))


def test_the_commands_are_those_of_the_manual_in_the_order_of_the_work() -> None:
    first = (
        "init grant-reader upgrade load resolve deduplicate fetch derive export import-corpora encode index "
        "train compare-methods search explain summarize"
    )
    more = "new-benchmark sample construct export-pools systems use-corpus run rerun import-run"
    last = "cross-format reproduce tune evaluate accept compare"
    assert [path[0] for path in COMMANDS if len(path) == 1] == [
        *first.split(),
        *more.split(),
        *last.split(),
        "agreement",
        "errors",
        "report",
        "site",
        "sql",
        "shell",
        "status",
        "show",
        "gc",
        "remove",
        "plan",
        "demo",
    ]
    assert [" ".join(path) for path in COMMANDS if len(path) == 2] == [
        "derive neighbours",
        "derive summaries",
        "export table",
        "export run",
        "export qrels",
        "export partitioned",
        "export beir",
        "export mteb",
        "export summaries",
        "index benchmark",
        "index faiss",
        "index pgvector",
        "tune bm25",
        "show run",
        "remove run",
        "remove corpus",
        "remove benchmark",
        "remove training",
    ]


def test_each_command_is_one_of_the_module_that_it_is_named_with() -> None:
    modules = [one.stem for one in Path(cli.__file__).parent.glob("*.py")]
    apps = {name: getattr(import_module(f"pinakes.cli.{name}"), "app", None) for name in modules}
    made = {
        command: name
        for name, group in apps.items()
        if group is not None and name != "__init__"
        for command in typer.main.get_group(group).commands
    }
    assert made == MODULES


def test_a_command_is_made_without_the_others() -> None:
    commands = CommandsByName()
    assert commands["search"].name == "search"
    assert "explain" in commands._made  # of the same module
    assert "load" not in commands._made
    assert "nothing" not in commands
    assert commands.get("nothing") is None
    assert len(commands) == len(list(commands)) == len(MODULES)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_every_option_has_help(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    assert command.help
    without = [one.name for one in command.params if not (getattr(one, "help", "") or one.metavar)]
    assert without == []


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["index", "faiss", "--help"]])
def test_help_waits_for_nothing_that_is_slow_to_import(arguments: list[str]) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_HELP, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    assert "Usage: " in shown.stdout
    loaded = shown.stdout.partition("loaded:\n")[2].split()
    own = {"--help": "reporting", "run": "running", "index": "indexing"}[arguments[0]]
    assert f"pinakes.cli.{own}" in loaded
    assert [name for name in HEAVY if name in loaded] == []


LEAVES = {path: command for path, command in COMMANDS.items() if not getattr(command, "commands", None)}


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_can_be_quiet(path: tuple[str, ...]) -> None:
    flags = [flag for parameter in LEAVES[path].params for flag in parameter.opts]
    assert {"--quiet", "-q"} <= set(flags)


def test_a_quiet_command_does_not_pass_on_warnings_of_libraries(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def warn() -> list[dict[str, str]]:
        warnings.warn("of a library", UserWarning, stacklevel=2)
        return [{"system": "bm25"}]

    monkeypatch.setattr("pinakes.systems.registry.describe_systems", warn)
    with pytest.warns(UserWarning, match="of a library"):
        assert run_command(["systems"]) == 0
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert run_command(["systems", "-q"]) == 0
        assert shown == []
        assert run_command(["systems"]) == 0  # quiet for one command alone
        assert [str(one.message) for one in shown] == ["of a library"]
    assert capfd.readouterr().err == ""
