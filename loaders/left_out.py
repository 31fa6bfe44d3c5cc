"""Items of a record that no row is made of: parsers note them where they pass over them, whoever called them.

What a parser passes over is noted with `leave_out` and the like; `collect_left_out`, through which
`staging.take_record` calls every parser, gives it to the record as rows of the staged table `left_out`.
Outside of it nothing is noted. The notes are a thread's own, since files are read in threads.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

NAMED_FIELDS: Final = 100
"""So many fields without a column are named of a file; further ones are counted together."""
OTHER_FIELDS: Final = "field …other"
_LONGEST_NAME: Final = 100

_Rows = Mapping[str, list[dict[str, Any]]]
_Item = TypeVar("_Item")
_Counts = dict[tuple[str, str], int]
_notes = threading.local()


def leave_out(kind: str, reason: str, items: int = 1) -> None:
    """Note that no row is made of so many items of the record that is being parsed.

    Args:
        kind: the staged table that their rows would belong to, `contexts`, or `field NAME` of the source.
        reason: a key of `staging.LEFT_OUT`.
        items: how many; none are no note.
    """
    counts: _Counts | None = getattr(_notes, "counts", None)
    if items and counts is not None:
        counts[kind, reason] = counts.get((kind, reason), 0) + items


def keep_filled(kind: str, items: Iterable[_Item | None]) -> list[_Item]:
    """The items that are something; the others are noted as `no_value`.

    >>> keep_filled("fields", ["a", "", None])
    ['a']
    """
    given = list(items)
    kept = [item for item in given if item]
    leave_out(kind, "no_value", len(given) - len(kept))
    return kept


def keep_distinct(kind: str, items: Iterable[_Item]) -> list[_Item]:
    """Each item once, in their order; the others are noted as `repeated`.

    >>> keep_distinct("fields", ["b", "a", "b"])
    ['b', 'a']
    """
    given = list(items)
    kept = list(dict.fromkeys(given))
    leave_out(kind, "repeated", len(given) - len(kept))
    return kept


def leave_fields(record: Mapping[str, Any], read: Iterable[str], prefix: str = "") -> None:
    """Note the fields of an object that are not read, `prefix` before their names; empty ones say nothing."""
    unread = record.keys() - read
    if unread:
        _note_fields(prefix, frozenset([name for name in unread if (said := record[name]) or said == 0]))


def leave_member_fields(members: Iterable[object], read: Iterable[str], prefix: str) -> None:
    """Note the fields of a list's objects that are not read, each name once."""
    objects = [member for member in members if isinstance(member, dict)]
    unread = set[str]().union(*objects).difference(read)
    if unread:
        filled = (name for name in unread if any((said := one.get(name)) or said == 0 for one in objects))
        _note_fields(prefix, frozenset(filled))


def leave_inner_fields(record: Mapping[str, Any], name: str, read: Iterable[str]) -> None:
    """Note the fields that are not read of the object, or of the list of objects, of that name."""
    held = record.get(name)
    if isinstance(held, dict):
        leave_fields(held, read, f"{name}.")
    elif isinstance(held, list):
        leave_member_fields(held, read, f"{name}.")


def leave_elements(root: Any, *names: str) -> None:
    """Note which elements of these names an XML document holds, whatever their namespace: each name once."""
    held = {element.tag.rpartition("}")[2] for element in root.iter(*(f"{{*}}{name}" for name in names))}
    for name in sorted(held):
        leave_out(f"field {name}", "no_column")


def _note_fields(prefix: str, filled: frozenset[str]) -> None:
    counts: _Counts | None = getattr(_notes, "counts", None)
    if counts is not None:
        for key in _list_keys(prefix, filled):
            counts[key] = counts.get(key, 0) + 1


@lru_cache(maxsize=4096)
def _list_keys(prefix: str, names: frozenset[str]) -> list[tuple[str, str]]:
    return [(name_field(prefix + name), "no_column") for name in sorted(names)]


@lru_cache(maxsize=4096)
def name_field(name: str) -> str:
    """The kind of a field of that name, as every database can hold it.

    >>> name_field("references.venue"), name_field("a\\x00b")
    ('field references.venue', 'field a\\\\x00b')
    """
    shown = name.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
    return f"field {shown}" if len(shown) <= _LONGEST_NAME else f"field {shown[:_LONGEST_NAME]}…"


def collect_left_out(parse: Callable[[], _Rows]) -> _Rows:
    """What `parse` gives, with rows of `left_out` where it notes any.

    >>> collect_left_out(lambda: {"fields": [{"field": name} for name in keep_filled("fields", ["a", ""])]})
    {'fields': [{'field': 'a'}], 'left_out': [{'kind': 'fields', 'reason': 'no_value', 'items': 1}]}
    """
    outer: _Counts | None = getattr(_notes, "counts", None)
    counts: _Counts = {}
    _notes.counts = counts
    try:
        rows = parse()
    finally:
        _notes.counts = outer
    if not counts:
        return rows
    noted = build_left_out(tuple(counts.items()))
    return {**rows, "left_out": [*rows["left_out"], *noted] if "left_out" in rows else noted}


@lru_cache(maxsize=4096)  # the records of a file leave out much the same, and rows are never changed
def build_left_out(counts: tuple[tuple[tuple[str, str], int], ...]) -> list[dict[str, Any]]:
    """The rows of ((kind, reason), items) pairs."""
    return [{"kind": kind, "reason": reason, "items": items} for (kind, reason), items in counts]


class FieldNames:
    """The fields that are named of one file: the first `NAMED_FIELDS`; others become `OTHER_FIELDS`."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, kind: str) -> str:
        """The kind, or `OTHER_FIELDS` for a field beyond those that are named."""
        if not kind.startswith("field "):
            return kind
        if kind not in self._names and len(self._names) >= NAMED_FIELDS:
            return OTHER_FIELDS
        return self._names.setdefault(kind, kind)
