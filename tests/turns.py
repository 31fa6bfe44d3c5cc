"""Tests marked `in_turn`: `make test` runs each case on one of the two databases, in turn."""

import zlib
from collections.abc import Sequence

import pytest

DATABASES = frozenset({"duckdb", "postgresql"})


def take_turns(items: Sequence[pytest.Item]) -> None:
    """Of tests marked `in_turn`, have `make test` run each case on one of the two databases, in turn.

    Of a grid of several parameters, any two values of two of them still come together on a database. Which
    database a test begins with is decided by its name. A test of no database, or of both, runs whole, and so
    does a case that is long on one of them.
    """
    cases: dict[tuple[str, ...], dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("in_turn") and not item.get_closest_marker("long"):
            name, _, case = item.nodeid.partition("[")
            words = case.removesuffix("]").split("-")
            for database in DATABASES.intersection(words):
                others = (word for word in words if word != database)
                cases.setdefault((name, *others), {})[database] = item
    seen: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for (test, *_), found in cases.items():
        for item in found.values() if found.keys() == DATABASES else ():
            places = zlib.crc32(test.encode())
            for names in _list_parameters(item):
                values = seen.setdefault((test, *names), [])
                value = tuple(id(item.callspec.params[name]) for name in names)  # type: ignore[attr-defined]
                if value not in values:
                    values.append(value)
                places += values.index(value)
            if places % 2:
                item.add_marker(pytest.mark.long)


def _list_parameters(item: pytest.Item) -> list[tuple[str, ...]]:
    """The names of an item's parameters: those together that get their values together."""
    given = [mark.args[0] for mark in item.iter_markers("parametrize")]
    together = [
        tuple(names.replace(" ", "").split(",") if isinstance(names, str) else names) for names in given
    ]
    parameters = item.callspec.params.keys()  # type: ignore[attr-defined]
    alone = parameters - {name for names in together for name in names}
    return [*together, *((name,) for name in sorted(alone))]
