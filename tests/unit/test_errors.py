"""Errors reach the user from other processes too."""

import inspect
import pickle

import pytest

from pinakes import errors
from pinakes.errors import PinakesError, UnknownNameError

PLAIN = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PinakesError)]


@pytest.mark.parametrize("kind", [kind for kind in PLAIN if kind is not UnknownNameError])
def test_an_error_that_was_pickled_is_the_same(kind: type[PinakesError]) -> None:
    found = pickle.loads(pickle.dumps(kind("what was wrong")))
    assert type(found) is kind
    assert str(found) == "what was wrong"


def test_an_unknown_name_that_was_pickled_is_the_same() -> None:
    found = pickle.loads(pickle.dumps(UnknownNameError("code", "T_Nothing", ["T_ARot"], "Leave it out.")))
    assert type(found) is UnknownNameError
    assert str(found) == "unknown code 'T_Nothing'; known: T_ARot. Leave it out."
