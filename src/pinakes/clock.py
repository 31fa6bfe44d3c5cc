"""Time as an argument: a clock, and the one that is used where none is given."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)
