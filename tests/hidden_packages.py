"""A command in a process that lacks some packages, as where an extra is not installed."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import sys
from importlib.abc import MetaPathFinder

hidden = set(sys.argv[1].split(","))


class Hide(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in hidden else found(name, package)
import importlib.metadata
of_name = importlib.metadata.Distribution.from_name
def from_name(name):
    if name in hidden:
        raise importlib.metadata.PackageNotFoundError(name)
    return of_name(name)
importlib.metadata.Distribution.from_name = from_name
sys.meta_path.insert(0, Hide())
from pinakes.cli import run_command
sys.exit(run_command(sys.argv[2:]))
"""


def run_without(packages: Iterable[str], *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a command line prints, and how it ends, in the folder, where the packages are not installed."""
    command = [sys.executable, "-c", PROGRAM, ",".join(packages), *words]
    given = {name: value for name, value in os.environ.items() if not name.startswith("PINAKES_")}
    environment = {**given, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
