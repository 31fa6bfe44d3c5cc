"""A tree of plain values as the lines of a YAML document, in block style with quoted texts."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

Tree = Mapping[str, "Tree"] | Sequence["Tree"] | str | int | float | bool | None

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_]|[A-Za-z_]")
_WORDS: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""what some readers of YAML take for no text"""
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write_yaml(tree: Mapping[str, Tree], indent: str = "") -> Iterator[str]:
    """The lines of a mapping; a text is quoted, so that no reader takes it for anything else.

    >>> list(write_yaml({"a": {"b": ["x: y", 1]}, "c": True, "d": []}))
    ['a:', '  b:', '  - "x: y"', '  - 1', 'c: true', 'd: []']
    >>> list(write_yaml({"a": [{"b": 1, "c": None}]}))
    ['a:', '- b: 1', '  c: null']
    """
    for key, value in tree.items():
        yield from _write_entry(f"{indent}{_write_key(key)}:", value, indent)


def _write_entry(begin: str, value: Tree, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield begin
        yield from write_yaml(value, f"{indent}  ")
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        yield begin
        for item in value:
            if isinstance(item, Mapping) and item:
                first, *rest = write_yaml(item, f"{indent}  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {_write_scalar(item)}"
    else:
        yield f"{begin} {_write_scalar(value)}"


def _write_key(key: str) -> str:
    """A key, quoted where a reader could take it for something else.

    >>> _write_key("number of cores"), _write_key("yes"), _write_key("a: b")
    ('number of cores', '"yes"', '"a: b"')
    """
    is_plain = _PLAIN.fullmatch(key) is not None and key.lower() not in _WORDS
    return key if is_plain else _write_scalar(key)


def _write_scalar(value: Tree) -> str:
    """A value as JSON writes it, which is YAML too; what a reader of YAML refuses is written out.

    >>> _write_scalar("a\x7f\u2028"), _write_scalar({}), _write_scalar(False)
    ('"a\\\\u007f\\\\u2028"', '{}', 'false')
    """
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
