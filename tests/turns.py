"""Tests marked `in_turn`: `make test` runs each case on one of the two databases, in turn."""

import zlib
from collections.abc import Sequence

import pytest

DATABASES = frozenset({"duckdb", "postgresql"})


def take_turns(items: Sequence[pytest.Item]) -> None:
    """Of tests marked `in_turn`, have `make test` run each case on one of the two databases, in turn.

    Of a grid of several parameters, any two values of two of them still come together on a database. Which
    database a test begins with is decided by its name. A test of no database, or of both, runs whole, and so
    does what is left of one of which some cases are long.
    """
    sampled = {item.nodeid.partition("[")[0] for item in items if item.get_closest_marker("long")}
    seen: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("in_turn") is None:
            continue
        name, _, case = item.nodeid.partition("[")
        if name in sampled or not DATABASES & set(case.removesuffix("]").split("-")):
            continue
        places = zlib.crc32(name.encode())
        for names in _list_parameters(item):
            values = seen.setdefault((name, *names), [])
            value = tuple(id(item.callspec.params[name]) for name in names)
            if value not in values:
                values.append(value)
            places += values.index(value)
        if places % 2:
            item.add_marker(pytest.mark.long)


def _list_parameters(item: pytest.Function) -> list[tuple[str, ...]]:
    """The names of an item's parameters: those together that get their values together."""
    given = [mark.args[0] for mark in item.iter_markers("parametrize")]
    together = [
        tuple(names.replace(" ", "").split(",") if isinstance(names, str) else names) for names in given
    ]
    alone = item.callspec.params.keys() - {name for names in together for name in names}
    return [*together, *((name,) for name in sorted(alone))]
