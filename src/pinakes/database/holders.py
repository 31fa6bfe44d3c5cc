"""Who holds what a command waits for: a process, its machine, its command, and since when."""

import os
import re
import socket
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pinakes.clock import Clock, utc_now
from pinakes.errors import clean

MOST_SAID: Final = 300
"""characters of a command"""
_PASSWORD: Final = re.compile(r"(?<=://)([^\s:@/]*):[^\s@]*@")
_PARAMETER: Final = re.compile(r"(password=)[^\s&]*", re.IGNORECASE)


def describe_self(clock: Clock = utc_now) -> str:
    """This process in words, as it is written into a lock that it has just taken."""
    command = name_command(sys.argv)
    return f"process {os.getpid()} on {socket.gethostname()} ({command}, since {write_time(clock())})"


def describe_process(process: int) -> str | None:
    """What a process of this machine runs, and since when; None where this cannot be seen."""
    folder = Path("/proc") / str(process)
    try:
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
        ticks = int(
            (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
        running_s = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    started = time.time() - running_s + ticks / os.sysconf("SC_CLK_TCK")
    return f"{name_command(words)}, since {write_time(datetime.fromtimestamp(started, UTC))}"


def name_command(words: Sequence[str]) -> str:
    """A command line as it may be shown to others: without its database, passwords and folders of programs.

    >>> name_command(["/venv/bin/pinakes", "load", "beir", "x", "--db", "postgresql://a:b@c/d"])
    'pinakes load beir x'
    >>> name_command(["python3", "-m", "pinakes", "fetch", "https://me:secret@host/x"])
    'python3 -m pinakes fetch https://me:***@host/x'
    """
    shown: list[str] = [Path(words[0]).name] if words else []
    is_database = False
    for word in words[1:]:
        if not is_database and word != "--db" and not word.startswith("--db="):
            shown.append(_PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1:***@", word)))
        is_database = word == "--db"
    line = clean(" ".join(" ".join(shown).split()))
    return f"{line[:MOST_SAID]}…" if len(line) > MOST_SAID else line


def write_time(moment: datetime) -> str:
    """A time to the second, in the zone of this machine, as `2026-11-23T02:15:00+01:00`."""
    return moment.astimezone().isoformat(timespec="seconds")
