"""The faults, and the calls that they hit: drawn from the calls that a traced, undisturbed command makes."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

WATCHED: Final = (
    "openat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "rename",
    "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "link", "symlink", "sendto", "recvfrom",
)  # fmt: skip
WRITES: Final = ("write", "pwrite64", "writev", "ftruncate")
NAMES: Final = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "link", "symlink")
SYNCS: Final = ("fsync", "fdatasync")
SOCKETS: Final = ("sendto", "recvfrom")

_LINE: Final = re.compile(r"^(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
_PATH: Final = re.compile(r'<(/[^>]*)>|"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: what strace injects at which calls, once or from then on."""

    injected: str
    calls: tuple[str, ...]
    lasts: tuple[bool, ...] = (False,)


FAULTS: Final[Mapping[str, Fault]] = {
    "kill": Fault("signal=KILL", (*WRITES, *SYNCS, *NAMES, *SOCKETS, "openat")),
    "disk full": Fault("error=ENOSPC", (*WRITES, "openat", "mkdir", "rename"), (True, False)),
    "EIO": Fault("error=EIO", (*WRITES, *SYNCS, "read", "pread64", "rename"), (False, True)),
    "EACCES": Fault("error=EACCES", ("openat", *NAMES), (False, True)),
    "EMFILE": Fault("error=EMFILE", ("openat",), (False, True)),
    "connection lost": Fault("error=ECONNRESET", SOCKETS, (True,)),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A system call on the database, its folder or its server: the N-th of its name in its thread."""

    name: str
    number: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault at a call."""

    fault: str
    call: Call
    lasts: bool

    @property
    def text(self) -> str:
        """As strace takes it."""
        when = f"{self.call.number}{'+' if self.lasts else ''}"
        return f"inject={self.call.name}:{FAULTS[self.fault].injected}:when={when}"

    def options(self, paths: Iterable[str]) -> list[str]:
        """Of strace: this fault, and the paths on which calls count; of a socket, all of it counts."""
        options = ["-e", f"trace={self.call.name}", "-e", self.text]
        if self.call.name not in SOCKETS:
            options += [word for path in sorted(paths) for word in ("-P", path)]
        return options


COUNTING: Final = ("-e", f"trace={','.join(WATCHED)}")


def read_calls(lines: Sequence[str], folder: Path) -> tuple[list[Call], set[str]]:
    """The calls on files of the folder or on sockets, from strace's log; and these files."""
    counts: Counter[tuple[str, str]] = Counter()
    calls, paths = [], set()
    for line in lines:
        match = _LINE.match(line)
        if match is None or "resumed>" in line:
            continue
        name = match["name"]
        named = [one or other for one, other in _PATH.findall(match["arguments"])]
        ours = tuple(path for path in named if path.startswith(str(folder)) and path != str(folder))
        if not ours and name not in SOCKETS:
            if name not in (*NAMES, "openat"):
                continue
            ours = tuple(path for path in named if path and path[0] != "/" and not path.startswith(".."))
            if not ours:
                continue
        paths.update(ours)
        key = (match["thread"], name)
        counts[key] += 1
        calls.append(Call(name, counts[key], ours))
    return calls, paths


def draw(calls: Sequence[Call], generator: random.Random, fault: str) -> Injection | None:
    """One of the faults of a kind: first which call's name, then which of its calls; None where none fits."""
    kind = FAULTS[fault]
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        if call.name in kind.calls:
            by_name.setdefault(call.name, []).append(call)
    if not by_name:
        return None
    chosen = generator.choice(by_name[generator.choice(sorted(by_name))])
    return Injection(fault, chosen, generator.choice(kind.lasts))


def was_injected(injection: Injection, lines: Sequence[str]) -> bool:
    """Whether the fault fell, by strace's log."""
    if FAULTS[injection.fault].injected.startswith("signal"):
        return any("killed by SIGKILL" in line for line in lines)
    return any("INJECTED" in line for line in lines)
