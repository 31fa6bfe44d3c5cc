"""Commands of Pinakes in forked processes, with strace beside them where calls are counted or disturbed."""

import gc
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from pinakes.cli import main, run_command
from pinakes.schema.integrity import list_integrity_checks

LONGEST_S: Final = 120.0
"""that a command may take, before it is said to hang"""
_ATTACHED_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended.

    Attributes:
        code: its exit code; negative: the signal that ended it; None: it did not end.
        out, err: what it printed.
        calls: the lines of strace's log; empty where none watched.
    """

    code: int | None
    out: str
    err: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: a folder, and the environment that is added to this process's."""

    folder: Path
    environment: Mapping[str, str]


def find_obstacle() -> str | None:
    """Why no process can be traced here; None where one can."""
    try:
        tried = subprocess.run(
            ["strace", "-qq", "-o", os.devnull, "true"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except FileNotFoundError:
        return "strace is not installed"
    return None if tried.returncode == 0 else f"strace may not trace: {tried.stderr.strip()}"


def import_ahead(modules: Iterable[str]) -> None:
    """Import what the commands import, so that no forked one has to."""
    for name in modules:
        with suppress(ImportError):  # some names of `sys.modules` are none that can be imported
            import_module(name)
    with redirect_stdout(io.StringIO()):
        run_command(["--version"])  # which builds the command line
    list_integrity_checks()  # which are built once, not in each forked one
    gc.collect()
    gc.freeze()  # else collections in the forked ones would copy all of it


def call(
    words: Sequence[str],
    place: Place,
    *,
    strace: Sequence[str] | None = None,
    traced: int | None = None,
    before: Callable[[], None] | None = None,
    meanwhile: Callable[[int, Path], None] | None = None,
) -> Outcome:
    """Run a command line of Pinakes in a forked process.

    Args:
        words: the command line, without `pinakes`.
        strace: options of the strace that watches it, `{process}` in them the process's number; None:
            nobody watches.
        traced: the process that strace watches; None: that of the command.
        before: what the process does before the command.
        meanwhile: called with the process's id and strace's log again and again while it runs.
    """

    def run_it() -> None:
        if before is not None:
            before()
        sys.argv = ["pinakes", *words]
        main()

    return fork(run_it, place, strace=strace, traced=traced, meanwhile=meanwhile)


def fork(
    run_it: Callable[[], None],
    place: Place,
    *,
    strace: Sequence[str] | None = None,
    traced: int | None = None,
    meanwhile: Callable[[int, Path], None] | None = None,
) -> Outcome:
    """Run a function in a forked process, whose folder, environment and streams are its own."""
    with tempfile.TemporaryDirectory(prefix="pinakes-call-") as kept:
        out, err, log = (Path(kept) / name for name in ("out", "err", "log"))
        ready, start = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.close(start)
                _become(place, out, err)
                os.read(ready, 1)
                os.close(ready)
                run_it()
            except BaseException:  # noqa: BLE001 (a forked process must never go on as its parent)
                import traceback

                traceback.print_exc()
                sys.stderr.flush()
                os._exit(70)
            sys.stdout.flush()
            os._exit(0)
        os.close(ready)
        tracer = None
        if strace is not None:
            try:
                options = [word.replace("{process}", str(process)) for word in strace]
                tracer = _attach(process if traced is None else traced, options, log)
            except RuntimeError:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                raise
        os.write(start, b"x")
        os.close(start)
        code = _wait(process, None if meanwhile is None else partial(meanwhile, process, log))
        if tracer is not None:
            if traced is not None:
                tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=30)
        calls = tuple(_read(log).splitlines()) if strace is not None else ()
        return Outcome(code, _read(out), _read(err), calls)


def call_within(words: Sequence[str]) -> Outcome:
    """Run a command line of Pinakes in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command(list(words))
    return Outcome(code, out.getvalue(), err.getvalue())


def _become(place: Place, out: Path, err: Path) -> None:
    os.setpgid(0, 0)
    os.chdir(place.folder)
    os.environ.update(place.environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)


def _attach(process: int, options: Sequence[str], log: Path) -> subprocess.Popen[str]:
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", "-s", "0", *options, "-o", str(log), "-p", str(process)],
        stderr=subprocess.PIPE,
        text=True,
        bufsize=0,
    )
    assert tracer.stderr is not None
    deadline = time.monotonic() + _ATTACHED_S
    said = ""
    while " attached" not in said:
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not select.select([tracer.stderr], [], [], left_s)[0]:
            break
        line = tracer.stderr.readline()
        if not line:
            break
        said += line
    if " attached" not in said:
        tracer.kill()
        tracer.communicate()
        raise RuntimeError(f"strace did not attach: {said}")
    return tracer


def _wait(process: int, meanwhile: Callable[[], None] | None) -> int | None:
    deadline = time.monotonic() + LONGEST_S
    pause_s = 0.002
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if meanwhile is not None:
            meanwhile()
        time.sleep(pause_s)
        pause_s = min(0.02, 1.2 * pause_s)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
