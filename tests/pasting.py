"""A page's commands as a reader pastes them: one shell, an empty folder, a fresh HOME.

`pinakes` is there a client of a process that has imported what takes long and forks for each call, so that
all commands of a tutorial take seconds. Leaves out: blocks of `console` and `cron`.
"""

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.documents import Block, read_blocks
from tests.warm import COMMANDS

_CLIENT: Final = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(PATH)
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [told], [0, 1, 2])
    code = int(server.recv(16) or 70)
sys.exit(code)
"""
_MARK: Final = "@@@ the end of block "


_MODULES: Final = (
    *("jinja2", "matplotlib.pyplot", "scipy.stats", "sklearn.feature_extraction.text", "tantivy"),
    *("pinakes.evaluate.compare", "pinakes.indexers.bm25", "pinakes.indexers.tfidf", "pinakes.load.load"),
    *("pinakes.report.html", "pinakes.run.run", "pinakes.systems.bm25", "pinakes.systems.tfidf"),
)
"""what the commands of the tutorials import besides"""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A block of commands, what it printed on stdout, and what the page says that it prints."""

    block: Block
    printed: list[str]
    shown: list[Block]


class PasteError(AssertionError):
    """A command of a page failed."""


@contextmanager
def serve(folder: Path) -> Iterator[Path]:
    """A folder for PATH with `pinakes` and `python`; the process behind them ends with the block."""
    path = folder / "socket"
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (folder / "client.py").write_text(f"PATH = {str(path)!r}\n{_CLIENT}")
    python = shlex.quote(sys.executable)
    client = shlex.quote(str(folder / "client.py"))
    imports = shlex.quote(os.pathsep.join(filter(None, sys.path)))
    for name, line in {
        "pinakes": f"{python} -I -S {client}",
        "python": f"env PYTHONPATH={imports} {python}",
    }.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        (programs / name).chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-c", "from tests.pasting import answer; answer()", str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield programs
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def answer() -> None:
    """Be the process that forks; the socket's path is the one argument."""
    import gc
    from importlib import import_module

    from pinakes.cli import main

    for name in (*COMMANDS, *_MODULES):
        import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(sys.argv[1])
        listening.listen()
        listening.settimeout(5)
        print("ready", flush=True)
        starter = os.getppid()
        while os.getppid() == starter:  # a test run that was killed leaves nothing behind
            try:
                asking, _ = listening.accept()
            except TimeoutError:
                continue
            if os.fork():
                asking.close()
                with suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG) != (0, 0):
                        pass
                continue
            _call(asking, main)


def _call(asking: socket.socket, main: Callable[[], None]) -> None:
    """Be the command that is asked for, in a process of its own, and tell its exit code."""
    told, streams, _, _ = socket.recv_fds(asking, 1 << 20, 3)
    words, folder, environment = json.loads(told)
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asking.send(str(code).encode())
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = ["pinakes", *words]
    main()


def paste(page: Path, programs: Path, folder: Path) -> list[Pasted]:
    """Run a page's blocks of `sh` in order in an empty folder.

    Raises:
        PasteError: a command failed; the message has what was said.
    """
    blocks = read_blocks(page, "sh", "text")
    commands = [block for block in blocks if block.language == "sh"]
    script = "".join(f"{block.text}\necho '{_MARK}{number}'\n" for number, block in enumerate(commands))
    (folder / "home").mkdir(parents=True)
    (folder / "here").mkdir()
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{script}"],
        cwd=folder / "here",
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder / "home"), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    parts = done.stdout.split(_MARK)
    if done.returncode:
        raise PasteError(
            f"{commands[len(parts) - 1].place} ended with {done.returncode}:\n{done.stderr[-3000:]}"
        )
    printed = [part.splitlines()[bool(number) :] for number, part in enumerate(parts)]
    return [
        Pasted(block, lines, _list_shown(blocks, block))
        for block, lines in zip(commands, printed, strict=False)
    ]


def _list_shown(blocks: list[Block], block: Block) -> list[Block]:
    """The blocks of output that follow a block of commands."""
    shown = []
    for one in blocks[blocks.index(block) + 1 :]:
        if one.language == "sh":
            break
        shown.append(one)
    return shown


def find_missing(pasted: Pasted) -> list[str]:
    """The lines that the page shows and that were not printed, in that order; spaces do not count.

    A line of the page may be cut off at its end.
    """
    rest = iter([" ".join(line.split()) for line in pasted.printed])
    shown = [" ".join(line.split()) for block in pasted.shown for line in block.text.splitlines()]
    return [line for line in shown if not any(one.startswith(line) for one in rest)]
