"""Numbers that no format has: of any size and form, they cost a value or a record, never a load."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.loaders.reading.values import (
    clean_text,
    take_grade,
    take_id,
    take_int,
    take_number,
    take_or_leave,
    take_year,
)
from pinakes.loaders.registry import LOADERS
from tests.fuzzing import check_never_lost
from tests.loading import DATA

DIGITS = st.integers(1, 6_000).map(lambda length: "9" * length)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(0, 6_000).map(lambda exponent: 10**exponent),
    st.floats(),
    DIGITS,
    DIGITS.map("-{}.0".format),
    st.sampled_from(["1_000", "٣", "1e400", "0x10", "²", "NaN", "inf", True, None, "", " 12 "]),
)
READERS: list[Callable[[object], object]] = [
    clean_text,
    take_grade,
    take_int,
    take_number,
    take_year,
    lambda value: take_id({"id": value}, "id"),
]


@pytest.mark.parametrize("take", READERS)
@settings(max_examples=150)
@given(value=NUMBERS)
def test_a_number_is_taken_or_its_record_rejected(take: Callable[[object], object], value: object) -> None:
    taken = take_or_leave("fields", take, value)  # which raises what is no RecordError
    assert taken is None or len(str(taken)) <= 6_010


HUGE = b"9" * 5_000
_NUMBER = re.compile(rb"(?<![\w.-])(?<![\w.]-)\d+(?![\w.])")
_SUFFIXES = frozenset({".json", ".jsonl", ".tsv", ".csv", ".xml", ".nxml", ".bib"})
_SOURCES = {name: DATA / name.replace("-", "_") for name in LOADERS}
_KINDS = 8


def _list_places(data: bytes) -> list[re.Match[bytes]]:
    """A number after each different text before it, so that one of each field is among them."""
    found = {data[max(0, match.start() - 12) : match.start()]: match for match in _NUMBER.finditer(data)}
    return list(found.values())[:_KINDS]


def _put_huge(data: bytes, place: re.Match[bytes]) -> bytes:
    """The data with a huge number there, as digits in a text where it is a number of JSON."""
    is_bare = data[: place.start()].rstrip()[-1:] in (b":", b"[", b",") and b"{" in data[:100]
    return data[: place.start()] + (b'"%b"' % HUGE if is_bare else HUGE) + data[place.end() :]


@pytest.mark.parametrize("name", [name for name, source in _SOURCES.items() if source.is_dir()])
def test_no_number_of_a_source_ends_its_load(tmp_path: Path, name: str) -> None:
    source = tmp_path / _SOURCES[name].name
    shutil.copytree(_SOURCES[name], source)
    assert check_never_lost(name, source)[0]
    tried = 0
    for path in (path for path in sorted(source.rglob("*")) if path.suffix in _SUFFIXES):
        data = path.read_bytes()
        for place in _list_places(data):
            path.write_bytes(_put_huge(data, place))
            check_never_lost(name, source)
            tried += 1
        path.write_bytes(data)
    assert tried or name in _UNWRITTEN


_UNWRITTEN = frozenset({"csv", "jsonl", "openalex", "parquet", "scisumm", "smart", "trec", "tweetpap", "aan"})
"""loaders whose tiny sources hold no number in a file of these names, or are files of which one is given"""
