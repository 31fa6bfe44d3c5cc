"""Bytes to lines and records: what is passed over, what is rejected, what is refused."""

import gzip
import hashlib
from pathlib import Path

import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import digest_file, find_file, read_json, read_lines, read_text


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
