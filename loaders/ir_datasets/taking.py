"""Things that a package gives one by one, as numbered records."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw

SHOWN: Final = 10_000
"""how many characters of a rejected record are kept"""


def take_items(
    items: Iterable[Any], kind: str, parse: Callable[[Any], tuple[Rows, int]]
) -> Iterator[Accepted | Rejected]:
    """The items, numbered from 1, each accepted with its rows and its size, or rejected."""
    for number, item in enumerate(items, start=1):
        location = f"{kind} {number}"
        try:
            rows, size = parse(item)
        except RecordError as error:
            raw = show_raw(repr(item)[:SHOWN])
            yield Rejected(number, location, error.reason, str(error), raw)
        else:
            yield Accepted(number, rows, location, size=size)
