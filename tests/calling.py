"""The command line, called as a person calls it: what it printed and how it ended."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pinakes.cli import run_command


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Outcome]


def make_call(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that takes the words of a command line and gives its outcome."""

    def call_command(*arguments: object) -> Outcome:
        code = run_command([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call_command
