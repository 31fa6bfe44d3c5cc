"""Single values of a record, each of the type that its field must have, or an error that says why not."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders.staging import RecordError

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_YEAR_IN_TEXT: Final = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_YEAR: Final = re.compile(r"([0-9]{1,4})(?:\.0*)?")


def clean_text(value: object) -> str | None:
    """A text, or a number as text, without surrounding white space; None where nothing is left.

    Raises:
        RecordError: the value is neither.

    >>> clean_text("  A title "), clean_text(12)
    ('A title', '12')
    >>> clean_text("  ") is None
    True
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecordError("invalid_value", f"expected a text, found {value!r:.80}")
    return str(value).strip() or None


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


def take_object(record: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """The object; None when absent or null.

    Raises:
        RecordError: the value is no object.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, dict):
        raise _explain_wrong(key, "an object", value)
    return value


def take_list(record: Mapping[str, Any], key: str) -> list[Any]:
    """The members of a list; none where it is absent or null.

    Raises:
        RecordError: the value is no list.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, list):
        raise _explain_wrong(key, "a list", value)
    return value or []


def take_objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The list of objects of that name; empty where there is none.

    Raises:
        RecordError: it is no list, or something in it is no object.
    """
    members = take_list(record, key)
    if not all(isinstance(member, dict) for member in members):
        raise RecordError("invalid_value", f"{key}: expected a list of objects")
    return members


def take_entries(record: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """The object of objects of that name, empty where there is none.

    Raises:
        RecordError: it is no object, or something in it is none.
    """
    entries = take_object(record, key) or {}
    if not all(isinstance(entry, dict) for entry in entries.values()):
        raise RecordError("invalid_value", f"{key}: expected an object of objects")
    return entries


def expect_object(value: object) -> dict[str, Any]:
    """The value, which must be a JSON object.

    Raises:
        RecordError: it is something else.
    """
    if not isinstance(value, dict):
        raise RecordError("not_an_object", f"a JSON {type(value).__name__}, expected an object")
    return value


def take_id(record: Mapping[str, Any], *names: str) -> str:
    """The first of the named fields that holds an id.

    Raises:
        RecordError: none does, or one holds something else.
    """
    for name in names:
        value = record.get(name)
        if isinstance(value, float) and not value.is_integer():
            raise RecordError("invalid_value", f"{name}: expected an id, found {value!r:.80}")
        found = take_text({name: int(value)} if isinstance(value, float) else record, name)
        if found is not None:
            return found
    raise RecordError("missing_field", f"no {' and no '.join(names)}")


def take_ids(record: Mapping[str, Any], name: str) -> list[str]:
    """The ids that a list holds, each once.

    Raises:
        RecordError: the value is no list, or a member is no id.

    >>> take_ids({"references": [7, "8", 7]}, "references")
    ['7', '8']
    """
    return list(dict.fromkeys(take_id({name: member}, name) for member in take_list(record, name)))


def take_grade(value: object) -> int:
    """A grade, which must not be missing.

    Raises:
        RecordError: there is none, or it is no whole number.
    """
    grade = take_int(value, "grade")
    if grade is None:
        raise RecordError("missing_field", "no grade")
    return grade


def take_flag(record: Mapping[str, Any], key: str) -> bool | None:
    """True, false, or None when absent or null.

    Raises:
        RecordError: the value is anything else.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, bool):
        raise _explain_wrong(key, "true or false", value)
    return value


def find_year(text: str | None) -> int | None:
    """The first year from 1500 to 2099 in a text that is not made for machines; None where there is none.

    >>> find_year("2003a"), find_year("May-June 1998"), find_year("in press") is None
    (2003, 1998, True)
    """
    found = _YEAR_IN_TEXT.search(text or "")
    return int(found[1]) if found else None


def _explain_wrong(key: str, expected: str, value: object) -> RecordError:
    return RecordError("invalid_value", f"{key}: expected {expected}, found {value!r:.80}")
