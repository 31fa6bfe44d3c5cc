"""Values out of a record by their path, and into what a staged column holds.

A path is keys parted by dots: `metadata.title`. A key that holds the whole of it wins (a CSV column called
`citations.count`), a number picks an item of a list (`authors.0.name`), and any other key below a list is
asked of each item (`authors.name` is a list of names). `.` is the value itself. Leaves out: files, and which
column takes which path (`mapping`).
"""

import datetime
import decimal
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from pinakes.loaders.reading.values import take_int, take_number, take_year
from pinakes.loaders.staging import RecordError

_TRUTHS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value stands: as written, its keys, and whether it starts at the record, not the item."""

    text: str
    keys: tuple[str, ...]
    from_record: bool


def parse_path(text: str) -> Path:
    """The path that a mapping writes; `$.` before it leads back from an item to its record.

    >>> parse_path("authors.name").keys, parse_path("$.year"), parse_path(".").keys
    (('authors', 'name'), Path(text='year', keys=('year',), from_record=True), ())
    """
    from_record = text.startswith("$.")
    inner = text.removeprefix("$.")
    return Path(inner, () if inner == "." else tuple(inner.split(".")), from_record)


def find_value(path: Path, item: Any, record: Any) -> Any:
    """What stands there; None where nothing does.

    >>> paper = {"ids": {"DOI": "10.1/a"}, "authors": [{"name": "Ada"}, {"name": "Grace"}], "a.b": 7}
    >>> texts = ("ids.DOI", "authors.1.name", "a.b", "ids.x.y")
    >>> [find_value(parse_path(text), paper, paper) for text in texts]
    ['10.1/a', 'Grace', 7, None]
    >>> find_value(parse_path("authors.name"), paper, paper)
    ['Ada', 'Grace']
    """
    found = record if path.from_record else item
    if isinstance(found, Mapping) and path.text in found:
        return found[path.text]
    for key in path.keys:
        found = _step(found, key)
        if found is None:
            return None
    return found


def _step(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    if not isinstance(value, list):
        return None
    if key.isdecimal():
        return value[int(key)] if int(key) < len(value) else None
    found = [_step(item, key) for item in value]
    return [item for item in found if item is not None]


def list_items(value: Any, separator: str | None) -> list[Any]:
    """The items of a list, the parts of a text, or an object's entries as `key` and `value`.

    >>> list_items("Ada; Grace;", ";"), list_items({"DOI": "10.1/a"}, None)
    (['Ada', 'Grace'], [{'key': 'DOI', 'value': '10.1/a'}])
    """
    if value is None:
        return []
    if isinstance(value, str) and separator is not None:
        return [part.strip() for part in value.split(separator) if part.strip()]
    if isinstance(value, list):
        return [item for item in value if item is not None]
    if isinstance(value, Mapping):
        return [{"key": key, "value": member} for key, member in value.items()]
    expected = "a list" if separator is None else f"a list or a text with {separator!r}"
    raise RecordError("invalid_value", f"expected {expected}, found {value!r:.80}")


def convert_text(value: Any, name: str, join: str | None = None) -> str | None:
    """The value as text, stripped; None where nothing is left. Dates are in ISO 8601.

    Raises:
        RecordError: it is a list and `join` is None, or an object, or a truth value.
    """
    if isinstance(value, str):
        return value.strip() or None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, list) and join is not None:
        parts = [convert_text(item, name) for item in value]
        return join.join(part for part in parts if part is not None) or None
    if isinstance(value, bytes):
        return _decode(value, name)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool):
        return str(value)
    hint = "; say join to make one text of it" if isinstance(value, list) else ""
    raise RecordError("invalid_value", f"{name}: expected a text, found {value!r:.80}{hint}")


def _decode(value: bytes, name: str) -> str | None:
    try:
        return value.decode("utf-8").strip() or None
    except UnicodeDecodeError as error:
        raise RecordError("invalid_utf8", f"{name}: byte {error.start + 1} is not UTF-8") from error


def convert_whole(value: Any, name: str) -> int | None:
    """The value as a whole number: `2019`, `"2019"`, and `2019.0`, as which a table with gaps has it."""
    plain = _drop_nan(value)
    if isinstance(plain, str) and plain.strip().removesuffix(".0").isdecimal():
        plain = plain.strip().removesuffix(".0")
    return take_year(plain) if name == "year" else take_int(plain, name)


def convert_real(value: Any, name: str) -> float | None:
    """The value as a number; NaN is none."""
    return take_number(_drop_nan(value), name)


def _drop_nan(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        value = float(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def convert_truth(value: Any, name: str) -> bool | None:
    """The value as true or false, also from 1, 0, yes and no."""
    if value is None or isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        return value if isinstance(value, bool) else None
    truth = _TRUTHS.get(str(value).strip().lower())
    if truth is None:
        raise RecordError("invalid_value", f"{name}: expected true or false, found {value!r:.80}")
    return truth


CONVERTERS: Final[dict[pa.DataType, Callable[[Any, str], Any]]] = {
    pa.int32(): convert_whole,
    pa.float64(): convert_real,
    pa.bool_(): convert_truth,
}
"""Type of a staged column that holds no text -> what makes its values."""
