"""What `make test` leaves to `make test-long`: checks that take long, of which it runs a sample."""

from collections.abc import Iterable
from typing import Any

import pytest


def long(value: object) -> Any:
    """A parameter of tests that `make test-long` alone runs."""
    return pytest.param(value, marks=pytest.mark.long)


def sample(values: Iterable[object], every: int) -> list[Any]:
    """Parameters of tests, of which `make test` runs the first of each `every`."""
    return [long(value) if place % every else value for place, value in enumerate(values)]
