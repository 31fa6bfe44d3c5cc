"""Archives are read in place, and nothing in them is trusted."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import archive_formats
from pinakes.loaders.reading.archives import (
    digest_member,
    is_archive,
    iterate_members,
    list_entries,
    list_members,
    open_member,
)
from pinakes.loaders.reading.streams import read_lines
from tests.fuzzing import mutations
from tests.writing import compress_lzw


def _compress_zst(data: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return compressed


_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
    ".tar.zst": _compress_zst,
    ".tar.Z": compress_lzw,
}
ARCHIVES = (*_COMPRESS, ".zip")


def _entry(
    name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.linkname = link
    entry.size = len(content) if kind == tarfile.REGTYPE else 0
    return entry, content


def _build_tar(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _pack(path: Path, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    path.write_bytes(gzip.compress(_build_tar(*entries)))
    return path


def _build_zip(entries: list[tuple[zipfile.ZipInfo | str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries:
            archive.writestr(entry, content)
    return packed.getvalue()


def _zip(path: Path, *entries: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    path.write_bytes(_build_zip(list(entries)))
    return path


def _build(suffix: str, contents: dict[str, bytes]) -> bytes:
    if suffix == ".zip":
        return _build_zip([*contents.items()])
    tar = _build_tar(*(_entry(name, content) for name, content in contents.items()))
    return _COMPRESS[suffix](tar)


def _read_all(path: Path) -> dict[str, bytes]:
    return {member.name: member.stream.read() for member in iterate_members(path)}


CONTENTS = {"b": b"1\n", "folder/a": b"2\n3\n", "c.jsonl": b"".join(b"{%d}\n" % n for n in range(100_000))}


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_every_kind_of_archive_is_read_in_place(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(_build(suffix, CONTENTS))
    assert is_archive(path)
    assert list_members(path) == ["b", "folder/a", "c.jsonl"]
    assert _read_all(path) == CONTENTS
    assert {name: open_member(path, name).read() for name in CONTENTS} == CONTENTS
    assert list(read_lines(InputFile(path, "two", "papers", "folder/a"))) == [(1, b"2"), (2, b"3")]
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]


def test_files_are_listed_in_the_archives_order_without_folders(tmp_path: Path) -> None:
    path = _pack(
        tmp_path / "a.tar.gz", _entry("b"), _entry("folder", kind=tarfile.DIRTYPE), _entry("folder/a")
    )
    assert list_members(path) == ["b", "folder/a"]
    assert list_members(_zip(tmp_path / "a.zip", ("folder/", b""), ("folder/a", b"x"))) == ["folder/a"]


def test_what_macos_adds_is_passed_over(tmp_path: Path) -> None:
    names = ["papers.csv", "__MACOSX/._papers.csv", "folder/._a", "folder/a"]
    path = _zip(tmp_path / "a.zip", *((name, b"x") for name in names))
    assert list_members(path) == ["papers.csv", "folder/a"]


def test_an_entry_may_be_compressed_itself(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("one.jsonl.gz", gzip.compress(b"1\n2\n")))
    assert list(read_lines(InputFile(path, "one", "papers", "one.jsonl.gz"))) == [(1, b"1"), (2, b"2")]


def test_a_member_is_known_by_the_archive_and_its_name() -> None:
    digests = {digest_member("a", "x"), digest_member("a", "y"), digest_member("b", "x")}
    assert len(digests) == 3
    assert {len(digest) for digest in digests} == {64}


OUTSIDE = ["../evil", "a/../../evil", "/etc/passwd", "C:evil", "C:/evil", "..\\evil", "a\\b", "..", "a/.."]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    paths = [_pack(tmp_path / "a.tar.gz", _entry("good"), _entry(name)), tmp_path / "a.zip"]
    _zip(paths[1], ("good", b"x"), (name, b"x"))
    for path in paths:
        with pytest.raises(InputError, match="points outside the archive; it is refused"):
            list_members(path)
        with pytest.raises(InputError, match="points outside the archive; it is refused"):
            open_member(path, name)


def test_a_name_cut_by_a_null_is_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("good_evil", b"x"))
    path.write_bytes(path.read_bytes().replace(b"good_evil", b"good\0evil"))
    with pytest.raises(InputError, match="is refused"):
        list_members(path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            _entry("soft", kind=tarfile.SYMTYPE, link="/etc/passwd"),
            "'soft' is a link or a device; it is refused",
        ),
        (_entry("hard", kind=tarfile.LNKTYPE, link="good"), "'hard' is a link or a device"),
        (_entry("pipe", kind=tarfile.FIFOTYPE), "'pipe' is a link or a device"),
        (_entry("disk", kind=tarfile.BLKTYPE), "'disk' is a link or a device"),
        (_entry("tty", kind=tarfile.CHRTYPE), "'tty' is a link or a device"),
    ],
)
def test_an_entry_that_is_no_file_is_refused(
    tmp_path: Path, entry: tuple[tarfile.TarInfo, bytes], message: str
) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("good"), entry)
    with pytest.raises(InputError, match=message):
        list_members(path)
    with pytest.raises(InputError, match=message):
        open_member(path, entry[0].name)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_device_in_a_zip_is_refused(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("soft")
    entry.external_attr = (kind | 0o777) << 16
    with pytest.raises(InputError, match="'soft' is a link or a device; it is refused"):
        list_members(_zip(tmp_path / "a.zip", (entry, b"/etc/passwd")))


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("secret", b"x"))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="'secret' is encrypted; it is refused"):
        list_members(path)


@pytest.mark.parametrize("names", [("a", "b", "a"), ("a", "./a"), ("d/a", "d//a")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    paths = [_pack(tmp_path / "a.tar.gz", *map(_entry, names)), tmp_path / "a.zip"]
    _zip(paths[1], *((name, b"x") for name in names))
    for path in paths:
        with pytest.raises(InputError, match="stands twice; it is refused"):
            list_members(path)


def test_a_sparse_entry_is_refused(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("sparse")
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:398] = b"%011o\0" % 0
    header[398:410] = b"%011o\0" % 512
    header[124:136] = b"%011o\0" % 512
    header[483:495] = b"%011o\0" % (1 << 40 & 0o77777777777)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(header) + bytes(512) + bytes(1024))
    with pytest.raises(InputError, match="'sparse' is a sparse file; it is refused"):
        list_members(path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path, kind: bytes) -> None:
    entry = tarfile.TarInfo("big")
    entry.type, entry.size = kind, 2 << 20
    path = tmp_path / "a.tar"
    path.write_bytes(_build_tar(_entry("good"))[:1024] + entry.tobuf() + bytes(3 << 20))
    with pytest.raises(LoadError, match="a header of 2097152 bytes"):
        list(iterate_members(path))


def test_a_zip_that_grows_beyond_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_formats, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(archive_formats, "BOMB_RATIO", 100)
    path = _zip(tmp_path / "a.zip", ("one", bytes(3 << 20)), ("two", b"2"))
    with pytest.raises(InputError, match=r"grows to more than 100 times its size; .* decompression bomb"):
        list_members(path)


def test_a_zip_that_lies_about_its_sizes_gives_no_more_than_it_said(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("one", bytes(1 << 20)))
    data = bytearray(path.read_bytes())
    size_at = data.index(b"PK\x01\x02") + 24
    data[size_at : size_at + 4] = struct.pack("<L", 10)
    path.write_bytes(bytes(data))
    with pytest.raises(LoadError, match=r"a\.zip is damaged or cut short"):
        _read_all(path)


def test_an_entry_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.tar\.gz has no entry 'two'"):
        open_member(_pack(tmp_path / "a.tar.gz", _entry("one")), "two")


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_what_is_no_archive_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    for content in (b"no archive", b"", b"x" * 5_000):
        path.write_bytes(content)
        with pytest.raises(
            InputError, match=rf"a\{suffix} is not (a (tar|zip) archive, or is damaged|what comp)"
        ):
            list_members(path)


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_a_missing_archive_and_a_folder_are_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="there is no file"):
        list_members(tmp_path / f"a{suffix}")
    (tmp_path / f"b{suffix}").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        list_members(tmp_path / f"b{suffix}")


def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("one"), _entry("two", bytes(range(256)) * 4_000))
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(LoadError, match=r"a\.tar\.gz is damaged or cut short: .* Fetch it again"):
        _read_all(path)
    listing = list_entries(path)
    assert [entry.name for entry in listing.entries] == ["one", "two"]
    assert "ends too early" in str(listing.damage)
    with (
        pytest.raises(LoadError, match=r"a\.tar\.gz is damaged or cut short"),
        open_member(path, "two") as stream,
    ):
        stream.read()


def test_a_tar_cut_between_two_entries_is_refused(tmp_path: Path) -> None:
    whole = _build_tar(_entry("one"), _entry("two"))
    path = tmp_path / "a.tar"
    path.write_bytes(whole[:1024])
    with pytest.raises(LoadError, match=r"a\.tar is damaged or cut short: .* end mark was expected"):
        list(iterate_members(path))


def test_a_tar_with_a_damaged_header_is_no_shorter_archive(tmp_path: Path) -> None:
    whole = bytearray(_build_tar(_entry("one"), _entry("two"), _entry("three")))
    whole[1024 + 5] ^= 1
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(whole))
    with pytest.raises(LoadError, match="bad checksum"):
        list(iterate_members(path))


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.xz", ".zip"])
@settings(max_examples=60)
@given(data=st.data())
def test_damage_raises_or_leaves_the_content_whole(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    contents = {f"folder/{number}.txt": b"%d\n" % number * number for number in range(20)}
    path = tmp_path_factory.mktemp("damaged") / f"a{suffix}"
    path.write_bytes(data.draw(mutations(_build(suffix, contents))))
    try:
        found = _read_all(path)
    except (InputError, LoadError):
        return
    assert list(found.values()) == list(contents.values())


@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_plain_tar_raises_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.tar"
    path.write_bytes(data.draw(mutations(_build(".tar", {"one": b"1" * 600, "two": b"2"}))))
    try:
        found = _read_all(path)
    except (InputError, LoadError):
        return
    assert len(found) == 2, "an entry is lost"
