"""A value of the wrong type is said to be wrong, and never turned into another."""

from collections.abc import Callable
from typing import Any

import pytest

from pinakes.loaders.reading.values import (
    take_grade,
    take_id,
    take_ids,
    take_int,
    take_list,
    take_number,
    take_object,
    take_text,
    take_year,
)
from pinakes.loaders.staging import RecordError


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), (" a b\n", "a b"), ("", None), (" ", None), (None, None), (7, "7"), (1.5, "1.5")],
)
def test_a_text_is_stripped_and_an_empty_one_is_none(value: object, expected: str | None) -> None:
    assert take_text({"k": value}, "k") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2020, 2020),
        ("2020", 2020),
        (" 1999 ", 1999),
        (2020.0, 2020),
        ("2020.0", 2020),
        ("", None),
        (0, None),
        ("0", None),
        (None, None),
    ],
)
def test_a_year_is_digits_and_zero_is_none(value: object, expected: int | None) -> None:
    assert take_year(value) == expected


@pytest.mark.parametrize("value", ["20th", "2020-01-01", True, -5, 12_345, 2020.5, [2020], "٢٠٢٠", "nan"])
def test_what_is_no_year_is_rejected(value: object) -> None:
    with pytest.raises(RecordError, match="year: expected a year, found") as caught:
        take_year(value)
    assert caught.value.reason == "invalid_value"


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3), ("-3", -3), ("+4", 4), (3.0, 3), ("", None), (" ", None), (None, None)]
)
def test_a_whole_number_is_one(value: object, expected: int | None) -> None:
    assert take_int(value) == expected


@pytest.mark.parametrize(
    "value", [True, 1.5, "1.5", "1e3", "x", [1], {}, float("nan"), float("inf"), "1_000"]
)
def test_what_is_no_whole_number_is_rejected(value: object) -> None:
    with pytest.raises(RecordError, match="count: expected a whole number, found"):
        take_int(value, "count")


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3.0), ("2.5", 2.5), (-1.5, -1.5), ("1e3", 1000.0), ("", None), (None, None)]
)
def test_a_number_is_one(value: object, expected: float | None) -> None:
    assert take_number(value) == expected


@pytest.mark.parametrize("value", [True, "x", [1], {}, "nan", float("nan"), "inf", "1e999", 10**400, "1_000"])
def test_what_is_no_finite_number_is_rejected(value: object) -> None:
    with pytest.raises(RecordError, match="score: expected a number, found"):
        take_number(value, "score")


def test_lists_and_objects_are_taken_as_they_are_and_an_absent_list_is_empty() -> None:
    record = {"list": [1], "object": {"a": 1}, "null": None, "empty": []}
    assert take_list(record, "list") == [1]
    assert take_list(record, "empty") == []
    assert take_object(record, "object") == {"a": 1}
    assert [take_list(record, "null"), take_list(record, "none")] == [[], []]
    assert [take_object(record, "null"), take_object(record, "none")] == [None, None]


@pytest.mark.parametrize(
    ("take", "value", "expected"),
    [
        (take_text, ["a"], "a text"),
        (take_text, True, "a text"),
        (take_list, {"a": 1}, "a list"),
        (take_list, "a", "a list"),
        (take_object, ["a"], "an object"),
        (take_object, 1, "an object"),
    ],
)
def test_a_wrong_type_is_rejected_with_the_key(
    take: Callable[[dict[str, Any], str], object], value: object, expected: str
) -> None:
    with pytest.raises(RecordError) as caught:
        take({"authors": value}, "authors")
    assert str(caught.value) == f"authors: expected {expected}, found {value!r}"
    assert caught.value.reason == "invalid_value"


def test_an_id_is_the_first_that_is_there_and_never_a_broken_number() -> None:
    assert take_id({"a": None, "b": " x "}, "a", "b") == "x"
    assert take_id({"a": 12.0}, "a") == "12"
    assert take_ids({"a": [1, "2", 1]}, "a") == ["1", "2"]
    with pytest.raises(RecordError, match="no a and no b"):
        take_id({"a": ""}, "a", "b")
    with pytest.raises(RecordError, match=r"a: expected an id, found 1\.5"):
        take_id({"a": 1.5}, "a")
    with pytest.raises(RecordError, match="a: expected a text, found"):
        take_id({"a": ["x"]}, "a")


def test_a_grade_is_a_whole_number_that_is_expected() -> None:
    assert [take_grade(value) for value in (2, "1", 3.0)] == [2, 1, 3]
    with pytest.raises(RecordError, match="no grade"):
        take_grade(None)
    with pytest.raises(RecordError, match="grade: expected a whole number"):
        take_grade(0.5)
