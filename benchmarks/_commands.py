"""The commands of Pinakes as steps of a benchmark: each in a process of its own, with its seconds, those of
the processor, and its memory.

Leaves out: what is measured (the benchmarks).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMAND = "from pinakes.cli import main; main()"


class Steps:
    """The commands, each run and measured."""

    def __init__(self, database: str, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.rows: list[dict[str, Any]] = []
        self._environment = {**os.environ, "PINAKES_DATABASE_URL": database, "PINAKES_QUIET": "1"}
        self._environment |= environment or {}
        if not database.startswith("duckdb"):
            self._environment["PINAKES_INDEX_FOLDER"] = str(folder / "indexes")

    def pinakes(self, step: str, *arguments: str) -> Any:
        """Run `pinakes` with the arguments; what it prints as JSON."""
        return self.run(step, [sys.executable, "-c", COMMAND, *arguments, "--json"])

    def run(self, step: str, command: list[str]) -> Any:
        """Run a command that prints JSON; its seconds, of the processor too, and peak memory become a row."""
        print(f"{step} …", file=sys.stderr)
        started = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, stdout=output, env=self._environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            elapsed_s = time.perf_counter() - started
            if process.returncode:
                raise SystemExit(f"{step} ended with exit code {process.returncode}")
            output.seek(0)
            text = output.read()
        processor_s = usage.ru_utime + usage.ru_stime
        row = {"step": step, "s": elapsed_s, "processor s": processor_s, "peak MiB": usage.ru_maxrss / 1024}
        self.rows.append(row)
        print(f"{step}: {elapsed_s:.1f} s", file=sys.stderr)
        return json.loads(text)
