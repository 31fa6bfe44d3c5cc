"""Damaged input for every loader, and what is expected of one then: no traceback, nothing lost."""

import re
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import Loader
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import STAGED, Chunk

_WRONG_VALUES = (
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b'""',
    b'"x"',
    b"[]",
    b"{}",
    b"[[]]",
    b'{"a": [{}]}',
    b"\x00",
)
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.]*|\b(?:null|true|false)\b|(?<=>)[^<]+|[^\t\n,"]+')
_DEEP = 3_000
_HUGE = 300_000


def check_never_lost(
    loader: str | Loader, path: Path, options: Mapping[str, str] | None = None
) -> tuple[int, int, int]:
    """Records read, accepted and rejected, of all files, as far as the source could be read.

    Nothing but `InputError` and `LoadError` leaves the loader, and each chunk is as `check_chunk` says.
    """
    found = find_loader(loader) if isinstance(loader, str) else loader
    requested = dict(options or {})
    rows_in = rejected = 0
    try:
        for file in found.find_files(path, requested):
            following = 1
            for chunk in found.read_chunks(file, requested, 1):
                check_chunk(chunk, following)
                following = chunk.last_row + 1
                rows_in += chunk.rows_in
                rejected += len(chunk.rejected)
    except (InputError, LoadError):
        pass
    return rows_in, rows_in - rejected, rejected


def check_damage(
    loader: str | Loader,
    path: Path,
    whole: bytes,
    expected: tuple[int, int, int],
    *,
    head: bytes = b"",
    source: Path | None = None,
    options: Mapping[str, str] | None = None,
    forms: int = 50,
) -> None:
    """The loader reads a file as expected while it is whole, and of damaged forms of it nothing is lost.

    Args:
        loader: its name, or itself.
        path: the file, which is written.
        whole: its undamaged bytes.
        expected: records read, accepted and rejected of the undamaged source.
        head: bytes before those that are damaged, as a table's header.
        source: what is loaded, where it is not the file alone.
        options: those of the loader.
        forms: how many damaged ones there are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + whole)
    read, accepted, rejected = counts = check_never_lost(loader, source or path, options)
    assert counts == expected, f"of the undamaged {path.name}, read, accepted, rejected are {counts}"
    assert read == accepted + rejected
    assert accepted > 0, "a loader that refuses everything loses nothing either"
    read_of_damaged = 0

    @settings(max_examples=forms)
    @given(data=mutations(whole))
    def check(data: bytes) -> None:
        nonlocal read_of_damaged
        path.write_bytes(head + data)
        read, accepted, rejected = check_never_lost(loader, source or path, options)
        assert read == accepted + rejected
        read_of_damaged += read

    check()
    assert read_of_damaged > 0, "no damaged form is read at all"


def check_chunk(chunk: Chunk, first_row: int) -> None:
    """Every record of the chunk is accepted or rejected, and only an accepted one has staged rows.

    Records are numbered from `first_row` on; numbers of blank lines are left out.
    """
    assert first_row + chunk.rows_in - 1 <= chunk.last_row, "more records than numbers"
    rejected = {row.row_number for row in chunk.rejected}
    assert len(rejected) == len(chunk.rejected), "a record is rejected twice"
    assert all(row.location and row.message for row in chunk.rejected), (
        "a rejected record says not where or why"
    )
    staged: set[int] = set()
    for name, table in chunk.tables.items():
        assert table.schema == STAGED[name]
        staged |= set(table.column("row_number").to_pylist())
    assert not staged & rejected, "a rejected record has staged rows"
    assert len(staged) <= chunk.rows_in - len(rejected), "more records than were read"
    assert all(first_row <= number <= chunk.last_row for number in staged | rejected)


def mutations(data: bytes) -> st.SearchStrategy[bytes]:
    """The data truncated, bit-flipped, spliced, with wrongly typed values, deep nesting or huge fields."""
    place = st.integers(0, len(data))
    return st.one_of(
        place.map(lambda end: data[:end]),
        st.lists(st.tuples(place, st.integers(0, 7)), min_size=1, max_size=8).map(
            lambda flips: _flip_bits(data, flips)
        ),
        st.tuples(place, place, place).map(lambda cut: data[: cut[0]] + data[min(cut[1:]) : max(cut[1:])]),
        st.tuples(place, st.binary(min_size=1, max_size=20)).map(lambda put: _insert(data, *put)),
        st.tuples(st.integers(0, 200), st.sampled_from(_WRONG_VALUES)).map(
            lambda wrong: _replace_value(data, *wrong)
        ),
        st.tuples(st.integers(0, 200), st.sampled_from((b"[", b'{"a":', b"<a>", b'"'))).map(
            lambda deep: _replace_value(data, deep[0], deep[1] * _DEEP)
        ),
        st.tuples(st.integers(0, 200), st.sampled_from((b"9", b"x", b"\t", b"&"))).map(
            lambda huge: _replace_value(data, huge[0], huge[1] * _HUGE)
        ),
    )


def _flip_bits(data: bytes, flips: list[tuple[int, int]]) -> bytes:
    damaged = bytearray(data)
    for place, bit in flips:
        if place < len(damaged):
            damaged[place] ^= 1 << bit
    return bytes(damaged)


def _insert(data: bytes, place: int, inserted: bytes) -> bytes:
    return data[:place] + inserted + data[place:]


def _replace_value(data: bytes, index: int, value: bytes) -> bytes:
    """The data with one of its values replaced, as JSON, XML or a table delimits them."""
    found = list(_VALUE.finditer(data))
    if not found:
        return data + value
    chosen = found[index % len(found)]
    return data[: chosen.start()] + value + data[chosen.end() :]
