"""How long a command may take: after that it ends as if it were interrupted, once it comes to a stop.

What it had stored stays, as after any interruption.
"""

import signal
import time
from typing import Final

from pinakes.errors import PinakesError

_SIGNAL: Final = signal.SIGALRM
_AGAIN_S: Final = 5.0
"""after which a command that somehow went on is interrupted again"""


class TimeLimitError(PinakesError):
    """A command took longer than it was allowed to."""


class _TimeIsUp(KeyboardInterrupt):
    """The time of a command is up."""


class _Limit:
    seconds: float | None = None
    end_s: float = 0.0


def start_time_limit(seconds: float) -> None:
    """Interrupt this process after so many seconds, unless `stop_time_limit` comes first."""
    _Limit.seconds, _Limit.end_s = seconds, time.monotonic() + seconds
    signal.signal(_SIGNAL, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)


def stop_time_limit() -> TimeLimitError | None:
    """Interrupt it no more; the error of a command whose time was up, None of one within it."""
    seconds, _Limit.seconds = _Limit.seconds, None
    if seconds is None:
        return None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(_SIGNAL, signal.SIG_DFL)
    if time.monotonic() < _Limit.end_s:
        return None
    return TimeLimitError(f"the command took longer than the {seconds:g} seconds that --timeout allows")


def _interrupt(*_: object) -> None:
    raise _TimeIsUp
