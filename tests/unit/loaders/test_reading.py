"""Bytes to lines and records: what is passed over, what is rejected, what is refused."""

import bz2
import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import streams
from pinakes.loaders.reading.json_records import read_json, read_json_lines
from pinakes.loaders.reading.streams import (
    CutLine,
    digest_file,
    find_file,
    read_lines,
    read_lines_at,
    read_text,
)
from pinakes.loaders.staging import Accepted, Rejected
from tests.fuzzing import mutations


def _file(path: Path, content: bytes) -> InputFile:
    path.write_bytes(content)
    return InputFile(path, path.name, "papers")


def test_lines_are_numbered_as_in_the_file_and_empty_ones_left_out(tmp_path: Path) -> None:
    assert list(read_lines(_file(tmp_path / "a", b"one\r\n\n \nfour"))) == [(1, b"one"), (4, b"four")]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert list(read_lines(_file(tmp_path / "a", b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n"))) == [
        (1, b"one"),
        (2, b"\xef\xbb\xbftwo"),
    ]


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(_file(tmp_path / "a", b""))) == []
    assert list(read_lines(_file(tmp_path / "a.gz", gzip.compress(b"")))) == []


def test_compressed_and_plain_lines_are_the_same(tmp_path: Path) -> None:
    assert list(read_lines(_file(tmp_path / "a.gz", gzip.compress(b"one\ntwo\n")))) == [
        (1, b"one"),
        (2, b"two"),
    ]


@pytest.mark.parametrize("kept", [0, 5, 20, -1, -8])
def test_a_compressed_file_that_is_cut_short_raises(tmp_path: Path, kept: int) -> None:
    whole = gzip.compress(b"".join(f"line {number}\n".encode() for number in range(1_000)))
    with pytest.raises(LoadError, match=r"a\.gz is (damaged or )?cut short"):
        list(read_lines(_file(tmp_path / "a.gz", whole[:kept])))


def test_the_lines_before_the_break_come_first(tmp_path: Path) -> None:
    file = _file(tmp_path / "a.gz", gzip.compress(b"one\ntwo\n")[:-4])
    lines = read_lines(file)
    assert [next(lines), next(lines)] == [(1, b"one"), (2, b"two")]
    with pytest.raises(
        LoadError, match=r"breaks off after line 2\. Fetch the file again and start the same load"
    ):
        next(lines)


@pytest.mark.parametrize(
    "content", [b"plain text, not compressed", b"\x1f\x8b\x08\x00broken beyond its head"]
)
def test_a_file_that_is_not_compressed_as_named_raises(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(LoadError, match=r"a\.gz is damaged or cut short"):
        list(read_lines(_file(tmp_path / "a.gz", content)))


def test_a_damaged_byte_raises(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(256))))
    whole[len(whole) // 2] ^= 0xFF
    with pytest.raises(LoadError, match="damaged"):
        list(read_lines(_file(tmp_path / "a.gz", bytes(whole))))


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"there is no file .*{name}"):
        list(read_lines(InputFile(tmp_path / name, name, "papers")))
    with pytest.raises(InputError, match=f"there is no file .*{name}"):
        digest_file(tmp_path / name)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        digest_file(tmp_path)
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        list(read_lines(InputFile(tmp_path, "x", "papers")))


def test_a_digest_is_the_sha256_of_the_bytes(tmp_path: Path) -> None:
    _file(tmp_path / "a", b"abc")
    assert digest_file(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_plain_file_is_preferred_to_a_compressed_one(tmp_path: Path) -> None:
    _file(tmp_path / "a.gz", b"")
    assert find_file(tmp_path, "a").name == "a.gz"
    _file(tmp_path / "a", b"")
    assert find_file(tmp_path, "a").name == "a"
    with pytest.raises(InputError, match=r"has no b and no b\.gz"):
        find_file(tmp_path, "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff{}", r"a is not UTF-8 \(byte 0\)"),
        (b"{", "a is not JSON"),
        (b"[]", "a is a JSON list; expected an object"),
    ],
)
def test_a_document_that_is_no_json_object_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_json(_file(tmp_path / "a", content))


def test_a_text_is_the_files_lines(tmp_path: Path) -> None:
    assert read_text(_file(tmp_path / "a", b"Z\xc3\xbcrich\r\n\nB\n")) == "Zürich\nB"


@pytest.mark.parametrize("packed", [None, ".gz", ".bz2", ".xz", ".zst"])
def test_every_compression_gives_the_same_lines(tmp_path: Path, packed: str | None) -> None:
    compress: dict[str | None, Callable[[bytes], bytes]] = {None: bytes}
    compress |= {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": _compress_zst}
    content = b"one\ntwo\n"
    file = _file(tmp_path / f"a{packed or ''}", compress[packed](content))
    assert list(read_lines_at(file)) == [(1, 0, b"one"), (2, 4, b"two")]
    assert find_file(tmp_path, "a") == file.path


def _compress_zst(data: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return compressed


def test_offsets_count_every_byte_of_the_content(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfone\r\n\n  \ntwo\rstill two\n\x00\nlast"
    file = _file(tmp_path / "a", content)
    lines = list(read_lines_at(file))
    assert lines == [(1, 0, b"one"), (4, 12, b"two\rstill two"), (5, 26, b"\x00"), (6, 28, b"last")]
    assert all(content[offset:].removeprefix(b"\xef\xbb\xbf").startswith(line) for _, offset, line in lines)


def test_a_line_that_is_too_large_is_cut_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 2_000)
    exact, long, last = b"a" * 1_999 + b"\n", b"b" * 5_000 + b"\n", b"c" * 2_000
    lines = list(read_lines_at(_file(tmp_path / "a", exact + long + b"next\n" + last)))
    assert [(number, offset, len(line)) for number, offset, line in lines] == [
        (1, 0, 1_999),
        (2, 2_000, 1_000),
        (3, 7_001, 4),
        (4, 7_006, 1_000),
    ]
    assert [type(line) for _, _, line in lines] == [bytes, CutLine, bytes, CutLine]


def test_a_line_that_is_too_large_is_rejected_with_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 2_000)
    file = _file(tmp_path / "a", b'{"a": 1}\n{"a": "' + b"b" * 5_000 + b'"}\n{"a": 2}\n')
    records = list(read_json_lines(file, lambda record: {"papers": [record]}))
    assert [type(record) for record in records] == [Accepted, Rejected, Accepted]
    rejected = records[1]
    assert isinstance(rejected, Rejected)
    message = "the line has more than 2000 bytes"
    assert rejected == Rejected(2, "line 2", "too_large", message, '{"a": "' + "b" * 993, 9, 1009)
    with pytest.raises(InputError, match="a: line 2 is too large; expected a small document"):
        read_text(file)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not_json"),
        (b"[1]", "not_an_object"),
        (b'{"a": "\xff"}', "invalid_utf8"),
        (b'{"a": "\xed\xa0\x80"}', "invalid_utf8"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": "\x00"}', "not_json"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "not_json"),
        (b'{"a": 1}{"a": 2}', "not_json"),
    ],
)
def test_a_line_that_is_no_json_object_is_rejected_and_the_next_one_read(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    file = _file(tmp_path / "a", line + b'\n{"a": 1}\n')
    first, second = read_json_lines(file, lambda record: {"papers": [record]})
    assert isinstance(first, Rejected)
    assert (first.reason, first.location) == (reason, "line 1")
    assert second == Accepted(2, {"papers": [{"a": 1}]}, "line 2", b'{"a": 1}', len(line) + 1)


@settings(max_examples=50)
@given(data=mutations(b"".join(b'{"_id": "%d", "title": "T %d"}\n' % (n, n) for n in range(20))))
def test_every_line_of_a_damaged_file_is_accepted_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    assume(not data.lstrip().startswith(b"["))  # an array is read member by member
    file = _file(tmp_path_factory.mktemp("damaged") / "a", data)
    records = list(read_json_lines(file, lambda record: {"papers": [record]}))
    expected = [n for n, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    assert [record.row_number for record in records] == expected
