"""Tests marked `in_turn`: `make test` runs each case on one of the two databases, in turn."""

from collections.abc import Sequence

import pytest


def take_turns(items: Sequence[pytest.Item]) -> None:
    """Of tests marked `in_turn`, have `make test` run each case on one of the two databases, in turn.

    Of a grid of several parameters, any two values of two of them still come together on a database.
    """
    seen: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("in_turn") is None:
            continue
        places = 0
        for names in _list_parameters(item):
            values = seen.setdefault((item.nodeid.partition("[")[0], *names), [])
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
