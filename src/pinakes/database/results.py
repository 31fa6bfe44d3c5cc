"""Results of queries that are a user's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RawResult:
    """The columns of a query and its rows, as they come."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]
