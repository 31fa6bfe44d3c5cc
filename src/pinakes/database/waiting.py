"""Waiting for another process: how long, how often it is tried again, and who is told for whom."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from pinakes.errors import DatabaseBusyError
from pinakes.progress import say_nothing

_Found = TypeVar("_Found")

TELL_S: Final = 60.0
"""seconds after which it is said again for whom it waits"""
_POLL_S: Final = 0.2


class Waiting:
    """The time that a command may spend on waiting, all its waits together.

    Attributes:
        wait_s: how many seconds in all.
        tell: takes a line for the user: at once, then every `TELL_S` seconds, and when another process is
            waited for.
    """

    def __init__(
        self,
        wait_s: float = 0.0,
        tell: Callable[[str], None] = say_nothing,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.wait_s = wait_s
        self.tell = tell
        self._sleep = sleep
        self._waited_s = 0.0

    def until_free(self, attempt: Callable[[], _Found]) -> _Found:
        """What the attempt gives, once it no longer raises `DatabaseBusyError`.

        Raises:
            DatabaseBusyError: the time is up.
        """
        told_of, told_s = None, 0.0
        while True:
            started = time.monotonic()
            try:
                return attempt()
            except DatabaseBusyError as error:
                if self._waited_s >= self.wait_s:
                    raise
                if error.holder != told_of or self._waited_s - told_s >= TELL_S:
                    told_of, told_s = error.holder, self._waited_s
                    self.tell(
                        f"waiting for {error.holder}; {self._waited_s:.0f} of at most {self.wait_s:.0f} "
                        "seconds have passed"
                    )
                self._sleep(_POLL_S)
                self._waited_s += max(_POLL_S, time.monotonic() - started)

    def renew(self, at_least_s: float) -> "Waiting":
        """As much time again, and at least so much."""
        return Waiting(max(self.wait_s, at_least_s), self.tell, self._sleep)
