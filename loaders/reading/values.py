"""Single values of a record, each of the type that its field must have.

Where a value is of another type or out of range, `take_…`, `clean_text` and `expect_object` raise a
`RecordError` that says what was expected and what was found, and the record is rejected; `take_or_leave`
leaves such a value out and keeps the record. Every number of a source is read here: Python's own `int` and
`str` raise a `ValueError` where a number has more than 4,300 digits.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from pinakes.loaders.left_out import keep_distinct, leave_out
from pinakes.loaders.staging import RecordError

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_YEAR_IN_TEXT: Final = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_YEAR_ALONE: Final = re.compile(r"(?:^|[,\s(])(1[5-9]\d\d|20\d\d)(?=[,.;)\s]|$)")
_YEAR: Final = re.compile(r"([0-9]{1,4})(?:\.0{0,18})?")
_LONGEST: Final = 400  # characters of a number; the largest that a float holds has 309 digits
_MOST: Final = 1 << 128
"""No number of a format is as large, and Python prints and converts every smaller one."""
_Value = TypeVar("_Value")


def clean_text(value: object, name: str = "") -> str | None:
    """A text, or a number as text, without surrounding white space; None where nothing is left.

    >>> clean_text("  A title "), clean_text(12), clean_text("  ")
    ('A title', '12', None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= _MOST:
        raise _explain_wrong(name, "a text", value)
    return str(value)


def take_or_leave(kind: str, take: Callable[..., _Value | None], *arguments: object) -> _Value | None:
    """What `take` gives of its arguments; None where they are invalid, which is noted as left out.

    For what a record says besides itself (a reference's year, a review's score): it costs no record.

    >>> take_or_leave("field references.year", take_year, "2o17") is None
    True
    """
    try:
        return take(*arguments)
    except RecordError:
        leave_out(kind, "invalid")
        return None


def take_text(record: Mapping[str, Any], key: str) -> str | None:
    """`clean_text` of the field of that name; None when absent, too."""
    return clean_text(record.get(key), key)


def take_year(value: object) -> int | None:
    """A year between 1 and 9999 from a whole number or digits; None when it is null, empty or 0.

    >>> take_year("2020"), take_year(1999), take_year(""), take_year(0), take_year("2021.0")
    (2020, 1999, None, None, 2021)
    """
    if _is_empty(value):
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
    is_text = isinstance(value, str) or is_number
    found = _YEAR.fullmatch(str(value).strip()) if is_text else None
    if found is None:
        raise _explain_wrong("year", "a year", value)
    return int(found[1]) or None


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def take_int(value: object, name: str = "number") -> int | None:
    """A whole number from one, or from digits; None when it is null or empty.

    >>> take_int(3), take_int("-3"), take_int(3.0), take_int("")
    (3, -3, 3, None)
    """
    if _is_empty(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST:
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip())  # int strips less
    raise _explain_wrong(name, "a whole number", value)


def take_number(value: object, name: str = "number") -> float | None:
    """A finite number from one, or from its digits; None when it is null or empty.

    >>> take_number(1), take_number("2.5"), take_number("")
    (1.0, 2.5, None)
    """
    if _is_empty(value):
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
        return float(value) if not isinstance(value, str) or len(value) <= _LONGEST else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _take(record: Mapping[str, Any], key: str, kind: type[_Value], expected: str) -> _Value | None:
    value = record.get(key)
    if value is not None and not isinstance(value, kind):
        raise _explain_wrong(key, expected, value)
    return value


def take_object(record: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """The object; None when absent or null."""
    return _take(record, key, dict, "an object")


def take_list(record: Mapping[str, Any], key: str) -> list[Any]:
    """The members of a list; none where it is absent or null."""
    return _take(record, key, list, "a list") or []


def take_texts(record: Mapping[str, Any], key: str, kind: str | None = None) -> list[str]:
    """The texts of a list, cleaned, without those that are empty; they are noted as left out of `kind`."""
    texts = [clean_text(member) for member in take_list(record, key)]
    kept = [text for text in texts if text is not None]
    if kind is not None:
        leave_out(kind, "no_value", len(texts) - len(kept))
    return kept


def take_flag(record: Mapping[str, Any], key: str) -> bool | None:
    """True, false, or None when absent or null."""
    return _take(record, key, bool, "true or false")


def take_objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The list of objects of that name; empty where there is none."""
    members = take_list(record, key)
    if not all(isinstance(member, dict) for member in members):
        raise RecordError("invalid_value", f"{key}: expected a list of objects")
    return members


def take_entries(record: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """The object of objects of that name, empty where there is none."""
    entries = take_object(record, key) or {}
    if not all(isinstance(entry, dict) for entry in entries.values()):
        raise RecordError("invalid_value", f"{key}: expected an object of objects")
    return entries


def expect_object(value: object) -> dict[str, Any]:
    """The value, which must be a JSON object."""
    if not isinstance(value, dict):
        raise RecordError("not_an_object", f"a JSON {type(value).__name__}, expected an object")
    return value


def take_id(record: Mapping[str, Any], *names: str) -> str:
    """The first of the named fields that holds an id, which must not be missing."""
    for name in names:
        value = record.get(name)
        if isinstance(value, float) and not value.is_integer():
            raise RecordError("invalid_value", f"{name}: expected an id, found {value!r:.80}")
        is_whole = isinstance(value, float) and abs(value) < _MOST
        found = clean_text(int(value) if is_whole else value, name)  # type: ignore[arg-type]
        if found is not None:
            return found
    raise RecordError("missing_field", f"no {' and no '.join(names)}")


def take_ids(record: Mapping[str, Any], name: str, kind: str = "citations") -> list[str]:
    """The ids that a list holds, each once; others are noted as left out of `kind`.

    >>> take_ids({"references": [7, "8", 7]}, "references")
    ['7', '8']
    """
    return keep_distinct(kind, (take_id({name: member}, name) for member in take_list(record, name)))


def take_grade(value: object) -> int:
    """A grade, a whole number, which must not be missing."""
    grade = take_int(value, "grade")
    if grade is None:
        raise RecordError("missing_field", "no grade")
    return grade


def find_year(text: str | None) -> int | None:
    """The first year from 1500 to 2099 in a text that is not made for machines; None where there is none.

    >>> find_year("2003a"), find_year("May-June 1998"), find_year("in press") is None
    (2003, 1998, True)
    """
    found = _YEAR_IN_TEXT.search(text or "")
    return int(found[1]) if found else None


def find_only_year(text: str | None) -> int | None:
    """The year that stands alone in a reference; None where there is none, or several.

    >>> find_only_year("naca tn.1928, 1949."), find_only_year("1949, 1951") is None
    (1949, True)
    """
    years = set(_YEAR_ALONE.findall(text or ""))
    return int(years.pop()) if len(years) == 1 else None


def _explain_wrong(name: str, expected: str, value: object) -> RecordError:
    place = f"{name}: " if name else ""
    is_huge = isinstance(value, int) and abs(value) >= _MOST
    shown = "a number of many digits" if is_huge else f"{value!r:.80}"
    return RecordError("invalid_value", f"{place}expected {expected}, found {shown}")
