"""Single values out of a JSON record, each of the type that it owes, or a word why not."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders.staging import RecordError

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_YEAR: Final = re.compile(r"([0-9]{1,4})(?:\.0*)?")


def take_text(record: Mapping[str, Any], key: str) -> str | None:
    """The text, or number as text, without surrounding white space; None when absent, null or empty.

    Raises:
        RecordError: the value is of another type.

    >>> take_text({"title": "  A title "}, "title"), take_text({"id": 12}, "id")
    ('A title', '12')
    >>> take_text({"title": " "}, "title") is None
    True
    """
    value = record.get(key)
    if isinstance(value, str):
        return value.strip() or None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _explain_wrong(key, "a text", value)
    return str(value)


def take_year(value: object) -> int | None:
    """A year from a whole number or digits; None when it is null, empty or 0.

    Raises:
        RecordError: it is anything else, or not between 1 and 9999.

    >>> take_year("2020"), take_year(1999), take_year(""), take_year(0), take_year("2021.0")
    (2020, 1999, None, None, 2021)
    """
    if isinstance(value, str) and not value.strip():
        return None
    found = None if isinstance(value, bool) else _YEAR.fullmatch(str(value).strip())
    if value is None:
        return None
    if found is None:
        raise _explain_wrong("year", "a year", value)
    return int(found[1]) or None


def take_int(value: object, name: str = "number") -> int | None:
    """A whole number from one, or from digits; None when it is null or empty.

    Raises:
        RecordError: it is anything else.

    >>> take_int(3), take_int("-3"), take_int(3.0), take_int("")
    (3, -3, 3, None)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    raise _explain_wrong(name, "a whole number", value)


def take_number(value: object, name: str = "number") -> float | None:
    """A number from one, or from its digits; None when it is null or empty.

    Raises:
        RecordError: it is anything else.

    >>> take_number(1), take_number("2.5"), take_number("") is None
    (1.0, 2.5, True)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = _convert(value)
    if not math.isfinite(number):
        raise _explain_wrong(name, "a number", value)
    return number


def _convert(value: object) -> float:
    """The number, or NaN where it is none; `1_000` is one for Python alone."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    if isinstance(value, str) and "_" in value:
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def take_list(record: Mapping[str, Any], key: str) -> list[Any] | None:
    """The list; None when absent or null.

    Raises:
        RecordError: the value is no list.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, list):
        raise _explain_wrong(key, "a list", value)
    return value


def take_object(record: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """The object; None when absent or null.

    Raises:
        RecordError: the value is no object.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, dict):
        raise _explain_wrong(key, "an object", value)
    return value


def _explain_wrong(key: str, expected: str, value: object) -> RecordError:
    return RecordError("invalid_value", f"{key}: expected {expected}, found {value!r:.80}")
