"""The examples in docstrings give what they say.

Not by `--doctest-modules`: for that each worker would import all modules to find that most have none.
"""

import doctest
import os
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def list_modules() -> list[str]:
    """The modules of the program, and of the tests, in whose text there is an example."""
    paths = [
        (base, Path(folder, name))
        for base, top in ((ROOT / "src", "pinakes"), (ROOT, "tests"))
        for folder, _, files in os.walk(base / top, followlinks=True)
        for name in files
        if name.endswith(".py")
    ]
    names = [
        ".".join(path.relative_to(base).with_suffix("").parts)
        for base, path in paths
        if path != Path(__file__) and "    >>> " in path.read_text(encoding="utf-8")
    ]
    return sorted(name.removesuffix(".__init__") for name in names)


@pytest.mark.parametrize("name", list_modules())
def test_examples_give_what_they_say(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert (failed, tried > 0) == (0, True)
