"""Bytes that are nearly those of a file: what damage, other publishers and attackers make of it."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import orjson

MOST_DEEP: Final = 3_000
MOST_LONG: Final = 20_000

TOKENS: Final = (
    *(
        b"null",
        b"true",
        b"-1",
        b"0",
        b"1e999",
        b"NaN",
        b"Infinity",
        b"-0.0",
        b"1_000",
        b"\xd9\xa1",
        b'""',
        b"{}",
        b"[]",
    ),
    *(
        b"2147483648",
        b"9223372036854775808",
        b"9" * 400,
        b"1" * 5_000,
        b"2020-13-45",
        b"051",
        b"1,5",
        b"[[]]",
    ),
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"\xe2\x80\xa8",
        b"\x85",
        b"\x0c",
        b"\x1a",
    ),
    *(
        b"\r\n",
        b"\r",
        b"\n\n",
        b"\t",
        b" ",
        b'"',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"\\",
        b",",
        b";",
        b"|",
        b"#",
        b"%",
    ),
    *(
        b"<",
        b"&amp;",
        b"&x;",
        b"]]>",
        b"<!--",
        b'<!DOCTYPE a [<!ENTITY x "y">]>',
        b"</DOC>",
        b"<DOC>",
        b".I 1\n",
        b".W\n",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"@article{",
        b"PMID- ",
        b'{"a": [{}]}',
        b"__class__",
        b"../../x",
        b"'; DROP TABLE papers",
    ),
)
VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        -0.0,
        1e308,
        2**31,
        2**63,
        -(2**63),
        10_000,
        "",
        " ",
        "x",
        "0",
        "-1",
        "051",
        "1e400",
    ),
    *(
        "9" * 5_000,
        "2020-13-45",
        "2020",
        "\x00",
        "\u202e",
        "\ufeff",
        "\u2028",
        "\u00e9" * 300,
        "a\tb",
        "a\nb",
        "../x",
    ),
    *([], {}, [[]], [None], [{}], {"a": None}, {"": ""}, [1, "1", None], [[["a"]]], {"a": [{"a": [{}]}]}),
)
"""of JSON, in the place of another"""
_VALUE: Final = re.compile(
    rb'"(?:[^"\\]|\\.)*"|-?\d[\d.]*|\b(?:null|true|false)\b|(?<=>)[^<]+|<[^<>]*>|[^\t\n,"]+'
)
_DEEP: Final = (b"[", b'{"a":', b"<a>", b"(", b"{", b'"')
_LONG: Final = (b"9", b"x", b"\t", b"&", b" ", b"\\", b"\xc3")

Mutation = Callable[[random.Random, bytes], bytes]


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """The bytes after one to four mutations; the same for the same state of `rng`.

    Args:
        rng: what draws.
        data: what is mutated.
        others: files of which a part may be put in.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if others and rng.random() < 0.05:
            data = _splice(rng, data, rng.choice(others))
        else:
            data = rng.choice(_MUTATIONS)(rng, data)
    return data


def mutate_json(rng: random.Random, data: bytes, number: int) -> bytes:
    """A JSON document with one to three of its values or keys changed; else as `mutate`.

    The ids that it holds mostly end with the number, so that it repeats no other record.
    """
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return mutate(rng, data)
    if rng.random() < 0.9:
        _number_ids(document, number)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        holders = list(_list_holders(document))
        if holders:
            _change(rng, *rng.choice(holders), holders)
    return orjson.dumps(document)


def _list_holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each object or array of a document with one of its keys or places."""
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, member in members:
        yield value, key
        yield from _list_holders(member)


def _number_ids(document: Any, number: int) -> None:
    for holder, key in list(_list_holders(document)):
        value = holder[key]
        if isinstance(key, str) and key.lower().endswith("id"):
            if isinstance(value, str):
                holder[key] = f"{value}{number}"
            elif type(value) is int:
                holder[key] = value * 1_000 + number


def _change(rng: random.Random, holder: Any, key: Any, holders: list[tuple[Any, Any]]) -> None:
    way = rng.random()
    if way < 0.55:
        holder[key] = _copy(rng.choice(VALUES))
    elif way < 0.65:
        other, place = rng.choice(holders)
        holder[key] = _copy(other[place])
    elif way < 0.75:
        holder[key] = str(holder[key]) if rng.random() < 0.5 else [holder[key]] * rng.randint(1, 3)
    elif way < 0.85 and isinstance(holder, dict):
        del holder[key]
    elif isinstance(holder, dict):
        holder[rng.choice(("", "id", "x", str(key).upper(), f"{key} "))] = holder[key]
    else:
        holder *= 2


def _copy(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randint(0, len(data))


def _range(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + int(rng.paretovariate(0.6)))


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _delete(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:end] + data[start:end] * rng.randint(1, 3) + data[end:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    place = _place(rng, data)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: _place(rng, data)]


def _splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    place, (start, end) = _place(rng, data), _range(rng, other)
    return data[:place] + other[start:end] + data[place:]


def _choose_value(rng: random.Random, data: bytes) -> tuple[int, int]:
    """The bounds of a value near a place that is drawn, as JSON, XML or a table delimits it."""
    found = _VALUE.search(data, _place(rng, data)) or _VALUE.search(data)
    return found.span() if found else (len(data), len(data))


def _replace(rng: random.Random, data: bytes) -> bytes:
    start, end = _choose_value(rng, data)
    return data[:start] + rng.choice(TOKENS) + data[end:]


def _drop(rng: random.Random, data: bytes) -> bytes:
    start, end = _choose_value(rng, data)
    return data[:start] + data[end:]


def _swap(rng: random.Random, data: bytes) -> bytes:
    """One value in the place of another."""
    start, end = _choose_value(rng, data)
    other = slice(*_choose_value(rng, data))
    return data[:start] + data[other] + data[end:]


def _enlarge(rng: random.Random, data: bytes) -> bytes:
    start, end = _choose_value(rng, data)
    signs, most = rng.choice(((_DEEP, MOST_DEEP), (_LONG, MOST_LONG)))
    return data[:start] + rng.choice(signs) * rng.choice((2, 10, 200, most)) + data[end:]


_MUTATIONS: Final[tuple[Mutation, ...]] = (
    *(_flip, _flip, _delete, _repeat, _insert, _insert, _truncate),
    *(_replace, _replace, _replace, _drop, _swap, _swap, _enlarge),
)
