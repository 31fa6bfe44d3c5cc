"""Numbers that no format has: of any size and form, they cost a value or a record, never a load."""

import re
import shutil
from collections.abc import Callable, Iterator
from itertools import islice
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
from tests.long import sample

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


def _put(data: bytes, place: re.Match[bytes], number: int) -> Iterator[bytes]:
    """The data with a huge number there, as a text where it is a number of JSON, and with another."""
    is_bare = data[: place.start()].rstrip()[-1:] in (b":", b"[", b",") and b"{" in data[:100]
    others = _IN_JSON if is_bare else _IN_TEXT
    for wrong in (b'"%b"' % HUGE if is_bare else HUGE, others[number % len(others)]):
        yield data[: place.start()] + wrong + data[place.end() :]


_IN_JSON = (HUGE, b"1e400", b"NaN", b'{"a": [1]}', b"true", b'"99999-99-99"', b"9223372036854775808")
_IN_TEXT = (b"1e400", b"NaN", b"99999-99-99", b"9223372036854775808")


@pytest.mark.parametrize("number", [HUGE, b"1e400", b"NaN", b'{"a": [1]}', b"true", b'"9999-99-99"'])
def test_a_wrong_number_in_a_file_that_is_one_document_costs_its_record(
    tmp_path: Path, number: bytes
) -> None:
    source = tmp_path / "csfcube"
    shutil.copytree(DATA / "csfcube", source)
    whole = check_never_lost("csfcube", source)
    [path] = source.rglob("test-pid2anns-csfcube-background.json")
    path.write_bytes(
        re.sub(rb'("relevance_max": \[)[0-9]+', lambda found: found[1] + number, path.read_bytes(), count=1)
    )
    assert check_never_lost("csfcube", source)[::2] == (whole[0], whole[2] + 1)


@pytest.mark.parametrize("grade", [HUGE, b"1e400", b"1.5", b"-2x"])
def test_a_wrong_grade_in_the_first_line_is_no_header(tmp_path: Path, grade: bytes) -> None:
    source = tmp_path / "beir"
    shutil.copytree(DATA / "beir", source)
    whole = check_never_lost("beir", source)
    (source / "qrels" / "dev.tsv").write_bytes(b"q1\td3\t%b\n" % grade)
    assert check_never_lost("beir", source) == (whole[0], whole[1] - 1, whole[2] + 1)


@pytest.mark.parametrize("name", sample((name for name, source in _SOURCES.items() if source.is_dir()), 4))
def test_no_number_of_a_source_ends_its_load(tmp_path: Path, name: str) -> None:
    source = tmp_path / _SOURCES[name].name
    shutil.copytree(_SOURCES[name], source)
    assert check_never_lost(name, source)[0]
    tried = 0
    for path in (path for path in sorted(source.rglob("*")) if path.suffix in _SUFFIXES):
        data = path.read_bytes()
        for place in _list_places(data):
            for wrong in islice(_put(data, place, tried), 1 if name in _MAPPED else 2):
                path.write_bytes(wrong)
                check_never_lost(name, source)
            tried += 1
        path.write_bytes(data)
    assert tried or name in _UNWRITTEN


_MAPPED = frozenset({"csv", "jsonl", "parquet"})
"""loaders that take half a second a file to make their mapping"""
_UNWRITTEN = frozenset({"csv", "jsonl", "openalex", "parquet", "scisumm", "smart", "trec", "tweetpap", "aan"})
"""loaders whose tiny sources hold no number in a file of these names, or are files of which one is given"""
