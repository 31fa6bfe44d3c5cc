"""Archives are read in place, and nothing in them is trusted."""

import io
import tarfile
from pathlib import Path

import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders import archives
from pinakes.loaders.archives import list_members, open_member
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import read_lines


def _entry(
    name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.linkname = link
    entry.size = len(content) if kind == tarfile.REGTYPE else 0
    return entry, content


def _pack(path: Path, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_files_are_listed_in_the_archives_order_without_folders(tmp_path: Path) -> None:
    path = _pack(
        tmp_path / "a.tar.gz", _entry("b"), _entry("folder", kind=tarfile.DIRTYPE), _entry("folder/a")
    )
    assert list_members(path) == ["b", "folder/a"]


def test_an_entry_is_read_in_place(tmp_path: Path) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("one", b"1\n"), _entry("two", b"2\n3\n"))
    assert list(read_lines(InputFile(path, "two", "papers", "two"))) == [(1, b"2"), (2, b"3")]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.tar.gz"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (_entry("../evil"), "'../evil' points outside the archive; it is refused"),
        (_entry("a/../../evil"), "points outside the archive"),
        (_entry("/etc/passwd"), "'/etc/passwd' points outside the archive"),
        (
            _entry("soft", kind=tarfile.SYMTYPE, link="/etc/passwd"),
            "'soft' is a link or a device; it is refused",
        ),
        (_entry("hard", kind=tarfile.LNKTYPE, link="good"), "'hard' is a link or a device"),
        (_entry("pipe", kind=tarfile.FIFOTYPE), "'pipe' is a link or a device"),
    ],
)
def test_an_entry_that_reaches_out_is_refused(
    tmp_path: Path, entry: tuple[tarfile.TarInfo, bytes], message: str
) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("good"), entry)
    with pytest.raises(InputError, match=message):
        list_members(path)
    with pytest.raises(InputError, match=message):
        open_member(path, entry[0].name)


def test_an_entry_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("big", b"12345"))
    monkeypatch.setattr(archives, "MAX_ENTRY_BYTES", 4)
    with pytest.raises(InputError, match="'big' has 5 bytes; at most 4 are read"):
        list_members(path)


def test_an_entry_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.tar\.gz has no entry 'two'"):
        open_member(_pack(tmp_path / "a.tar.gz", _entry("one")), "two")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"a\.tar\.gz is not a tar archive, or is damaged"):
        list_members(path)


def test_a_missing_archive_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        list_members(tmp_path / "a.tar.gz")
    with pytest.raises(InputError, match="cannot be read"):
        list_members(tmp_path)


def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = _pack(tmp_path / "a.tar.gz", _entry("one"), _entry("two", bytes(range(256)) * 4_000))
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(LoadError, match=r"a\.tar\.gz is damaged or cut short: .* Fetch it again"):
        list_members(path)
    with pytest.raises(LoadError, match=r"a\.tar\.gz is damaged or cut short"):
        open_member(path, "two")
