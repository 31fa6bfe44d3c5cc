"""Commands in a process that lacks some packages, as where an extra is not installed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import json
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
for words in json.loads(sys.argv[2]):
    code = run_command(words)
    if code:
        print("ended by", *words, "with", code, file=sys.stderr)
        if sys.argv[3] == "stop":
            sys.exit(code)
"""


def run_without(
    packages: Iterable[str], *commands: Sequence[str], folder: Path, goes_on: bool = False
) -> subprocess.CompletedProcess[str]:
    """What command lines print, and how the first that fails ends, where the packages are not installed.

    With `goes_on` those behind it are run as well, and the last lines of each that fails tell its code.
    """
    at_failure = "go on" if goes_on else "stop"
    command = [sys.executable, "-c", PROGRAM, ",".join(packages), json.dumps(commands), at_failure]
    given = {name: value for name, value in os.environ.items() if not name.startswith("PINAKES_")}
    environment = {**given, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
