"""The options of `pinakes sample`: `samplings`, the manual and the command line follow the declaration."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.cli import run_command
from pinakes.queries.definition import read_benchmark
from pinakes.sample.options import declared_options
from pinakes.schema import samplings
from pinakes.schema.sampling import COUNTED

PAGE = Path(__file__).parents[3] / "docs" / "manual" / "large_pools.md"


def test_every_column_of_samplings_keeps_an_option() -> None:
    columns = {declared.option.column for declared in declared_options().values()} - {None}
    assert columns | {"benchmark", "corpus_id"} == set(samplings.c.keys())
    assert declared_options()["counted"].option.choices == COUNTED


@pytest.mark.parametrize("benchmark", ["large_scale", "field_level"])
def test_every_default_of_a_benchmark_is_of_an_option(benchmark: str) -> None:
    defaults = read_benchmark(benchmark).sampling or {}
    assert set(defaults) <= set(declared_options())
    assert set(declared_options()) - set(defaults) <= {"exclude", "assigned_by"}


def test_the_manual_lists_the_options_with_their_defaults() -> None:
    large, fields = (read_benchmark(name).sampling or {} for name in ("large_scale", "field_level"))
    expected = [
        f"| `--{declared.flag.replace('_', '-')}` | {_write(large.get(name))} | {_write(fields.get(name))} "
        f"| {declared.option.help} |"
        for name, declared in declared_options().items()
    ]
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| option | `large_scale` | `field_level` | what it says |") + 2
    assert lines[start : lines.index("", start)] == expected


def _write(default: Any) -> str:
    listed = default if isinstance(default, list) else [default]
    return ", ".join("none" if one is None else str(one) for one in listed)


def test_the_command_line_has_every_option_with_its_help_and_bound(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    assert run_command(["sample", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for declared in declared_options().values():
        flag, option = declared.flag.replace("_", "-"), declared.option
        (line,) = [line for line in lines if f"--{flag} " in line]
        assert option.help in line
        assert f"PINAKES_SAMPLE_{declared.flag.upper()}" in line
        assert ("[x>=" in line) == (option.minimum is not None)
        assert option.minimum is None or f"[x>={option.minimum}]" in line
