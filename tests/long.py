"""What `make test` leaves to `make test-long`: checks that take long, of which it runs a sample."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def long(value: object) -> Any:
    """A parameter of tests that `make test-long` alone runs."""
    return pytest.param(value, marks=pytest.mark.long)


def sample(values: Iterable[object], every: int) -> list[Any]:
    """Parameters of tests, of which `make test` runs the first of each `every`."""
    return [long(value) if place % every else value for place, value in enumerate(values)]


def alternate(*values: Sequence[object]) -> list[Any]:
    """Parameters of tests, one of each of the lists, of which `make test` runs every second combination.

    So it runs every value and, where the lists are of two, every two of different lists together.
    """
    return [
        pytest.param(
            *(value for _, value in case),
            marks=[pytest.mark.long] if sum(place for place, _ in case) % 2 else [],
        )
        for case in product(*map(list, map(enumerate, values)))
    ]
