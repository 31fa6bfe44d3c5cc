"""How much memory a command may take, from what the user says and what the machine has, and who gets it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinakes.errors import InputError, show
from pinakes.settings import read_settings

MIN_MEMORY: Final = 1_000_000_000
"""bytes below which nothing can be promised: the libraries, a batch that is read and one that is written"""
LOAD_MEMORY: Final = 2_000_000_000
"""bytes that a load takes at most unless it is told: more do not make it faster"""

DEFAULT_SHARE: Final = 0.25
_UNITS: Final = {"": 1, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:(%)|([KMGT])(i?)B?)", re.IGNORECASE)
_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


@dataclass(frozen=True, slots=True)
class Budget:
    """The bytes that a command may take, divided.

    Attributes:
        total: what the process and the processes that it starts may hold.
        database: what DuckDB may hold of it; what is beyond goes to its temporary folder.
        ahead: what may have been read and not yet been written.
    """

    total: int

    @property
    def database(self) -> int:
        """A third: beside it stand the libraries, batches, and what DuckDB does not count."""
        return self.total // 3

    @property
    def ahead(self) -> int:
        """An eighth."""
        return self.total // 8


def plan_memory(given: int | None) -> Budget:
    """The budget of a command; None: `PINAKES_MEMORY`, or a quarter of the machine (`MIN_MEMORY` or more)."""
    said = _read_setting() if given is None else given
    return Budget(max(MIN_MEMORY, int(measure_machine() * DEFAULT_SHARE)) if said is None else said)


def plan_load(given: int | None) -> Budget:
    """The budget of a load: that of any command, but at most `LOAD_MEMORY` where none is said."""
    is_said = given is not None or _read_setting() is not None
    planned = plan_memory(given)
    return planned if is_said else Budget(min(planned.total, LOAD_MEMORY))


def _read_setting() -> int | None:
    text = read_settings().memory
    return None if text is None else read_memory(text)


def read_memory(text: str) -> int:
    """A size in bytes: a number with KB, MB, GB, TB, the same with KiB and so on, or a share of the machine.

    Raises:
        InputError: it is none of these, or less than `MIN_MEMORY`.

    >>> read_memory("2GB"), read_memory("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"--memory, or PINAKES_MEMORY, is {show(text)}; expected a size, as 2GB or 1500MB, or a share of "
            "the machine's memory, as 25%."
        )
    number, share, unit, binary = match.groups()
    if share:
        size = int(measure_machine() * float(number) / 100)
    else:
        power = _UNITS[unit.upper()]
        size = int(float(number) * (2**power if binary else 10 ** (power // 10 * 3)))
    if size < MIN_MEMORY:
        raise InputError(f"--memory, or PINAKES_MEMORY, is {show(text)}; expected at least 1GB.")
    return size


def measure_machine() -> int:
    """The bytes of memory that the machine has, or that its container may take."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _LIMITS:
        try:
            sizes.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(sizes)
