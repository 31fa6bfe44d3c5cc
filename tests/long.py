"""What `make test` leaves to `make test-long`: checks that take long, of which it runs a sample."""

from typing import Any

import pytest


def long(value: object) -> Any:
    """A parameter of tests that `make test-long` alone runs."""
    return pytest.param(value, marks=pytest.mark.long)
