"""Files and folders that take their name when they are whole."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import compression
from pinakes.loaders.reading.streams import open_stream
from pinakes.writing.files import COMPRESSIONS, make_whole_folder, open_whole, write_lines


def test_a_file_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    assert write_lines(path, iter(["a", "b"])) == 2
    assert path.read_bytes() == b"a\nb\n"

    def break_off() -> Iterator[str]:
        yield "c"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(path, break_off())
    assert path.read_bytes() == b"a\nb\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_read_compressed_is_written_compressed_but_for_compress(tmp_path: Path) -> None:
    assert {*COMPRESSIONS} == {*compression.COMPRESSIONS} - {".Z", ".z"}
    for suffix in COMPRESSIONS:
        path = tmp_path / f"out.txt{suffix}"
        write_lines(path, ["a" * 1000] * 100)
        assert path.stat().st_size < 1000
        with open_stream(InputFile(path, path.name, "")) as stream:
            assert stream.read() == b"a" * 1000 + b"\n" + (b"a" * 1000 + b"\n") * 99


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_lines(tmp_path / "link.txt", ["new"])
    assert (tmp_path / "real.txt").read_text() == "new\n"
    assert (tmp_path / "link.txt").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "no regular file"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=f"cannot be written: it is {kind}"), open_whole(path):
            pass


def test_a_folder_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    with make_whole_folder(tmp_path / "made") as folder:
        (folder / "a").write_text("a")
    with (
        pytest.raises(InputError, match="is there already and not empty"),
        make_whole_folder(tmp_path / "made"),
    ):
        pass

    def fail() -> None:
        with make_whole_folder(tmp_path / "other") as folder:
            (folder / "a").write_text("a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    (tmp_path / "empty").mkdir()
    with make_whole_folder(tmp_path / "empty") as folder:
        (folder / "a").write_text("a")
    assert (tmp_path / "empty" / "a").read_text() == "a"
