"""Which cases of tests marked `in_turn` are left to `make test-long`."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.turns import take_turns

DATABASES = ("duckdb", "postgresql")


class Item(SimpleNamespace):
    """What is asked of a test's case."""

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.name)

    def get_closest_marker(self, name: str) -> bool:
        return name in self.marks

    def iter_markers(self, _name: str) -> list[Any]:
        return []


def collect(*grid: tuple[object, ...], long: tuple[tuple[object, ...], ...] = ()) -> list[Any]:
    """The cases of a test that has these values of its parameters; some of them are long by themselves."""
    return [
        Item(
            nodeid=f"test_it[{'-'.join(map(str, case))}]",
            marks=["in_turn", *(["long"] if case in long else [])],
            callspec=SimpleNamespace(params=dict(zip("abcdef", case, strict=False))),
            case=case,
        )
        for case in product(*grid)
    ]


def take(items: list[Any]) -> set[tuple[object, ...]]:
    """The cases that `make test` runs."""
    take_turns(items)
    return {item.case for item in items if "long" not in item.marks}


def test_each_case_runs_on_one_database_and_any_two_values_come_together() -> None:
    taken = take(collect(DATABASES, (1, 2), (3, 4)))
    assert {case[1:] for case in taken} == set(product((1, 2), (3, 4)))
    assert len(taken) == 4
    assert {case[:2] for case in taken} == set(product(DATABASES, (1, 2)))
    assert {(case[0], case[2]) for case in taken} == set(product(DATABASES, (3, 4)))


def test_of_a_test_with_long_cases_the_others_take_turns_too() -> None:
    long = tuple((database, number) for database in DATABASES for number in (1, 2))
    assert len(take(collect(DATABASES, (1, 2, 3), long=long))) == 1


def test_a_case_that_is_long_on_one_database_stays_on_the_other() -> None:
    assert take(collect(DATABASES, (1, 2), long=(("duckdb", 1), ("postgresql", 2)))) == {
        ("postgresql", 1),
        ("duckdb", 2),
    }


def test_a_test_of_no_database_runs_whole() -> None:
    assert len(take(collect((1, 2), (3, 4)))) == 4
