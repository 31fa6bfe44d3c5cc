"""The faults, and the calls that they hit: drawn from the calls that a traced, undisturbed command makes."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path
from typing import Final, Self, cast

WATCHED: Final = (
    "openat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "rename",
    "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "link", "symlink", "sendto", "recvfrom",
)  # fmt: skip
WRITES: Final = ("write", "pwrite64", "writev", "ftruncate")
NAMES: Final = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "link", "symlink")
SYNCS: Final = ("fsync", "fdatasync")
SOCKETS: Final = ("sendto", "recvfrom")
SERVER_WRITES: Final = ("pwrite64", "pwritev", "pwritev2", "fallocate", "write")
SERVER_WATCHED: Final = (*SERVER_WRITES, "pread64")
CLOCK_CALLS: Final = 4
JUMP: Final = timedelta(days=40)

_LINE: Final = re.compile(r"^(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
_PATH: Final = re.compile(r'<(/[^>]*)>|"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault.

    Attributes:
        injected: what strace injects.
        calls: at which calls; none: the clock jumps at one of the first times that it is asked.
        lasts: whether it hits one call, or all from then on; drawn, where both are here.
        at: whose calls they are: of the command, or of the Postgres process that serves it.
        stops_server: whether Postgres stops at once while the command waits at that call.
    """

    injected: str
    calls: tuple[str, ...]
    lasts: tuple[bool, ...] = (False,)
    at: str = "command"
    stops_server: bool = False


FAULTS: Final[Mapping[str, Fault]] = {
    "kill": Fault("signal=KILL", (*WRITES, *SYNCS, *NAMES, *SOCKETS, "openat")),
    "disk full": Fault("error=ENOSPC", (*WRITES, "openat", "mkdir", "rename"), (True, False)),
    "EIO": Fault("error=EIO", (*WRITES, *SYNCS, "read", "pread64", "rename"), (False, True)),
    "EACCES": Fault("error=EACCES", ("openat", *NAMES), (False, True)),
    "EMFILE": Fault("error=EMFILE", ("openat",), (False, True)),
    # Not at sendto: libpq then waits for what the server says of it, which here knows of nothing.
    "connection lost": Fault("error=ECONNRESET", ("recvfrom",), (True,)),
    "server stops": Fault("signal=STOP", ("sendto",), stops_server=True),
    "server's disk full": Fault("error=ENOSPC", SERVER_WRITES, (True, False), at="server"),
    "server EIO": Fault("error=EIO", (*SERVER_WRITES, "pread64"), (True, False), at="server"),
    "clock back": Fault("", ()),
    "clock ahead": Fault("", ()),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A system call on the database, its folder or its server: the N-th of its name in its thread."""

    name: str
    number: int
    paths: tuple[str, ...]
    at: str = "command"


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault at a call."""

    fault: str
    call: Call
    lasts: bool

    @property
    def text(self) -> str:
        """As strace takes it; of a clock, what it does."""
        if not self.call.name:
            return f"{self.fault} at the {self.call.number}th time that it is asked"
        when = f"{self.call.number}{'+' if self.lasts else ''}"
        return f"inject={self.call.name}:{FAULTS[self.fault].injected}:when={when}"

    def options(self, paths: Iterable[str]) -> list[str]:
        """Of strace: this fault, and the paths on which calls count; of a socket and a server, all count."""
        options = ["-e", f"trace={self.call.name}", "-e", self.text]
        if self.call.name not in SOCKETS and self.call.at == "command":
            options += [word for path in sorted(paths) for word in ("-P", path)]
        return options


PROCESS: Final = "{process}"
COUNTING: Final = ("-e", f"trace={','.join(WATCHED)}")
COUNTING_SERVER: Final = ("-e", f"trace={','.join(SERVER_WATCHED)}")


def read_calls(lines: Sequence[str], folder: Path) -> tuple[list[Call], set[str]]:
    """The calls on files of the folder or on sockets, from strace's log; and these files.

    In a file's name `{process}` stands for the number of the process, which is another one each time.
    """
    counts: Counter[tuple[str, str]] = Counter()
    calls: list[Call] = []
    paths: set[str] = set()
    process = lines[0].split()[0] if lines else ""  # the first to call is its first thread
    for thread, name, named in _read_lines(lines):
        named = [path.replace(f".{process}.", f".{PROCESS}.") for path in named]
        ours = tuple(path for path in named if path.startswith(str(folder)) and path != str(folder))
        if not ours and name in (*NAMES, "openat"):
            ours = tuple(path for path in named if path and path[0] != "/" and not path.startswith(".."))
        if not ours and name not in SOCKETS:
            continue
        paths.update(ours)
        counts[thread, name] += 1
        calls.append(Call(name, counts[thread, name], ours))
    return calls, paths


def read_server_calls(lines: Sequence[str], process: int) -> list[Call]:
    """The calls of what the server started, without those of its first process."""
    counts: Counter[tuple[str, str]] = Counter()
    calls = []
    for thread, name, named in _read_lines(lines):
        counts[thread, name] += 1
        if thread != str(process):
            calls.append(Call(name, counts[thread, name], tuple(named), "server"))
    return calls


def _read_lines(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Thread, name and paths of each call."""
    for line in lines:
        match = _LINE.match(line)
        if match is not None and "resumed>" not in line:
            yield match["thread"], match["name"], [one or other for one, other in _PATH.findall(line)]


def draw(
    calls: Sequence[Call], generator: random.Random, fault: str, *, resumed: bool = False
) -> Injection | None:
    """One of the faults of a kind: first which call's name, then which of its calls; None where none fits.

    A command that was stopped before, and is resumed, has less to do: of its calls an earlier one is hit.
    """
    kind = FAULTS[fault]
    if not kind.calls:
        return Injection(fault, Call("", generator.randint(1, CLOCK_CALLS), ()), lasts=True)
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        if call.name in kind.calls and call.at == kind.at:
            by_name.setdefault(call.name, []).append(call)
    if not by_name:
        return None
    chosen = generator.choice(by_name[generator.choice(sorted(by_name))])
    if resumed:
        chosen = replace(chosen, number=generator.randint(1, chosen.number))
    return Injection(fault, chosen, generator.choice(kind.lasts))


def was_injected(injection: Injection, lines: Sequence[str]) -> bool:
    """Whether the fault fell, by strace's log; a clock always jumps."""
    injected = FAULTS[injection.fault].injected
    if injected.startswith("signal"):
        said = "killed by SIGKILL" if injected.endswith("KILL") else STOPPED
        return any(said in line for line in lines)
    return not injected or any("INJECTED" in line for line in lines)


STOPPED: Final = "stopped by SIGSTOP"


def let_clock_jump(injection: Injection) -> None:
    """Have this process's clock jump at the N-th time that it is asked."""
    import pinakes.clock
    from pinakes.vectors import side_index

    way = -JUMP if injection.fault == "clock back" else JUMP
    asked = count(1)

    class Jumping(datetime):
        """A clock that jumps."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            now = datetime.now(tz)
            moved = now + way if next(asked) >= injection.call.number else now
            return cast(Self, moved)

    for module in (pinakes.clock, side_index):
        vars(module)["datetime"] = Jumping
