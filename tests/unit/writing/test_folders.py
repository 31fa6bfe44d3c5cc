"""Files by name, on a disk and on an object store: whole, listed, removed; what a store refuses is told."""

import gc
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError, PinakesError
from pinakes.writing import folders
from pinakes.writing.folders import Folder, StoredFolder, join_address, open_folder, split_address
from tests.stores import ObjectStore, open_silent_port

ODD = ("a b.txt", "ü%20+&#.txt", "q?x=1", 'it\'s "so".txt', "below/deeper/x")


@pytest.fixture(params=["disk", "store"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    if request.param == "disk":
        return open_folder(tmp_path / "odd ü%20" / "x")
    store: ObjectStore = request.getfixturevalue("store")
    return open_folder(store.address(f"{tmp_path.name}/odd ü%20?/x"))


def test_files_are_written_listed_read_and_removed(folder: Folder) -> None:
    assert folder.list_files() == {}
    folder.prepare()
    for number, name in enumerate(ODD):
        folder.write_file(name, b"x" * number)
    assert folder.list_files() == {name: number for number, name in enumerate(ODD)}
    folder.write_file(ODD[0], b"another")
    assert folder.read_file(ODD[0]) == b"another"
    for name in (*ODD, "never there"):
        folder.remove(name)
    assert folder.list_files() == {}
    with pytest.raises(FileNotFoundError):
        folder.read_file(ODD[0])


@pytest.fixture
def _interrupting() -> Iterator[None]:
    """SIGALRM interrupts, as Ctrl-C does where nobody else listens to it."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_interrupting")
def test_an_interrupted_upload_leaves_no_part_of_a_file(store: ObjectStore, tmp_path: Path) -> None:
    folder = open_folder(store.address(f"{tmp_path.name}/interrupted"))
    size = 64 << 20

    def send() -> None:
        with folder.make_file("x") as made:
            made.write_bytes(bytes(size))
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            folder.put(made, "x")
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        send()
    gc.collect()
    assert folder.list_files().get("x", size) == size


@pytest.mark.usefixtures("_interrupting")
def test_an_upload_interrupted_before_its_first_byte_leaves_no_empty_file(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_folder(store.address(f"{tmp_path.name}/slow"))
    assert isinstance(folder, StoredFolder)
    files = folder._files

    class Slow:
        def open_output_stream(self, *given: Any, **named: Any) -> Any:
            stream = files.open_output_stream(*given, **named)
            signal.raise_signal(signal.SIGALRM)
            time.sleep(0.1)
            return stream

    monkeypatch.setattr(folder, "_files", Slow())
    with pytest.raises(KeyboardInterrupt):
        folder.write_file("x", b"all of it")
    monkeypatch.undo()
    gc.collect()
    assert folder.read_file("x") == b"all of it"


def test_a_file_is_found_by_its_own_address(folder: Folder) -> None:
    folder.prepare()
    below = folder.below("a b")
    for name in ODD[:4]:
        below.write_file(name, name.encode())
        place, found = split_address(join_address(below.address, name))
        assert (place, found) == (below.address, name)
        assert open_folder(place).read_file(found) == name.encode()


def test_a_broken_write_leaves_no_file(folder: Folder) -> None:
    folder.prepare()
    folder.write_file("x", b"old")

    def write() -> None:
        with folder.make_file("x") as made:
            made.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert folder.list_files() == {"x": 3}


def test_an_upload_that_ends_half_way_is_no_file(store: ObjectStore, tmp_path: Path) -> None:
    folder = open_folder(store.address(tmp_path.name))
    folder.write_file("x", b"old")
    with store.cutting(after=1 << 20) as port:
        cut = open_folder(f"s3://bucket/{tmp_path.name}?endpoint_override=127.0.0.1:{port}&scheme=http")
        cut.write_file("small", b"small")
        with pytest.raises(PinakesError, match="nothing that speaks S3 answers"):
            cut.write_file("x", b"n" * (9 << 20))
    gc.collect()
    assert folder.read_file("x") == b"old"
    assert folder.list_files() == {"small": 5, "x": 3}


@pytest.mark.parametrize(
    "address",
    [
        "gs://bucket/x",
        "s3:///x",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "s3://bucket/x?acces_key=1",
        "s3://bucket/x?scheme=ftp",
        "s3://bucket/x#y",
        "s3://b%20c/x",
        "://x",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no address of an object store"):
        open_folder(address)


def test_credentials_are_not_taken_from_an_address() -> None:
    with pytest.raises(InputError, match="AWS_ACCESS_KEY_ID") as raised:
        open_folder("s3://key:secret@bucket/x")
    assert "secret" not in str(raised.value)


def test_a_bucket_that_is_not_there_is_told(store: ObjectStore) -> None:
    folder = open_folder(store.address("x", bucket="nobody"))
    with pytest.raises(PinakesError, match="no such bucket"):
        folder.prepare()
    with pytest.raises(PinakesError, match="no such bucket"):
        folder.write_file("x", b"x")


def test_refused_credentials_are_told(store: ObjectStore, tmp_path: Path) -> None:
    folder = open_folder(store.address(tmp_path.name))
    folder.write_file("x", b"x")
    with store.refusing():
        for use in (
            folder.prepare,
            folder.list_files,
            lambda: folder.read_file("x"),
            lambda: folder.remove("x"),
        ):
            with pytest.raises(PinakesError, match="refuses the credentials"):
                use()
        with pytest.raises(PinakesError, match="refuses the credentials"):
            folder.write_file("y", b"y")
    assert folder.read_file("x") == b"x"


@pytest.fixture
def silent() -> Iterator[int]:
    with open_silent_port() as port:
        yield port


def test_a_store_that_does_not_answer_is_told(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "FIRST_ANSWER_S", 1)
    for port in (silent, 1):
        folder = open_folder(f"s3://bucket/x?endpoint_override=127.0.0.1:{port}&scheme=http")
        with pytest.raises(PinakesError, match="nothing that speaks S3 answers"):
            folder.prepare()
