"""What `make test` leaves to `make test-long`: checks that take long, of which it runs a sample."""

import pytest
from _pytest.mark import ParameterSet


def long(value: object) -> ParameterSet:
    """A parameter of tests that `make test-long` alone runs."""
    return pytest.param(value, marks=pytest.mark.long)
