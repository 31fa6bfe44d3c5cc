"""How far long work is, on standard error: a bar on a terminal, plain lines in a log.

Both satisfy `pinakes.progress.Progress`.
"""

import sys
import time
from collections.abc import Callable
from typing import Final, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from pinakes.report.escapes import escape_controls
from pinakes.report.formatting import format_seconds

Clock = Callable[[], float]
"""seconds from any fixed point, never going back"""

INTERVAL_S: Final = 10.0


class LineProgress:
    """A line when a task starts, one at most every `interval_s` seconds, one when it ends."""

    def __init__(
        self,
        say: Callable[[str], None] | None = None,
        *,
        clock: Clock = time.monotonic,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """`say` takes the lines; None: they go to standard error."""
        self._tell = say or _print
        self._clock = clock
        self._interval_s = interval_s
        self._task = ""
        self._total: int | None = None
        self._done = 0
        self._started = self._said = 0.0

    def start(self, task: str, total: int | None) -> None:
        """Say that a task begins."""
        self._task, self._total, self._done = escape_controls(task), total, 0
        self._started = self._said = self._clock()
        self._say("started" if total is None else f"started, {total:,} in all")

    def advance(self, units: int) -> None:
        """Say how far it is, where the last line is old enough."""
        self._done += units
        now = self._clock()
        if now - self._said >= self._interval_s:
            self._said = now
            self._say(describe_progress(self._done, self._total, now - self._started))

    def finish(self) -> None:
        """Say how much was done in what time; where less was done than expected, say that too."""
        elapsed_s = self._clock() - self._started
        expected = "" if self._total in (None, self._done) else f" of {self._total:,}"
        self._say(f"ended, {self._done:,}{expected} in {format_seconds(elapsed_s)}")

    def _say(self, text: str) -> None:
        self._tell(f"{self._task}: {text}")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def describe_progress(done: int, total: int | None, elapsed_s: float) -> str:
    """Count, share, rate and remaining time in words.

    >>> describe_progress(2_000, 10_000, 10.0)
    '2,000 of 10,000 (20 %), 200/s, 40.0 s left'
    >>> describe_progress(2_000, None, 10.0)
    '2,000, 200/s'
    """
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    parts = [f"{done:,}"]
    if total:
        parts = [f"{done:,} of {total:,} ({done / total:.0%})".replace("%", " %")]
    if rate > 0:
        parts.append(format_rate(rate))
    if total and rate > 0 and done < total:
        parts.append(f"{format_seconds((total - done) / rate)} left")
    return ", ".join(parts)


def format_rate(rate: float) -> str:
    """Units a second.

    >>> format_rate(1234.5), format_rate(0.25)
    ('1,234/s', '0.25/s')
    """
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2f}/s"


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        return Text(format_rate(task.speed) if task.speed else "", style="dim")


class BarProgress:
    """A bar for the task at hand, with count, rate, time passed and time left."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def start(self, task: str, total: int | None) -> None:
        """Show the bar."""
        self.finish()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _RateColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._task = self._bar.add_task(escape_controls(task), total=total)
        self._bar.start()

    def advance(self, units: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.advance(self._task, units)

    def finish(self) -> None:
        """Leave the bar where it stands and give the line back."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def make_progress(stream: TextIO | None = None) -> BarProgress | LineProgress:
    """The bar where the stream (standard error) is a terminal, else the lines."""
    target = stream or sys.stderr
    if target.isatty():
        return BarProgress(Console(file=target))
    return LineProgress(lambda line: print(line, file=target, flush=True))
