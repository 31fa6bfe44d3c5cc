"""Documents that are a file each are found in order, in bundles, and read one record each."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import documents
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows
from tests.writing import write_files


def _keep(raw: bytes, name: str) -> Rows:
    if not raw:
        raise RecordError("not_xml", "nothing in it")
    return {"papers": [{"source_id": f"{name}={raw.decode()}"}]}


def _read(file: InputFile) -> list[str]:
    records = list(read_documents(file, _keep))
    assert [record.row_number for record in records] == list(range(1, len(records) + 1))
    return [
        record.rows["papers"][0]["source_id"] if isinstance(record, Accepted) else record.reason
        for record in records
    ]


def test_a_single_document_is_a_file_whatever_its_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"paper.txt": b"1"})
    files = find_documents(tmp_path / "paper.txt", role="texts")
    assert files == [InputFile(tmp_path / "paper.txt", "paper.txt", "texts")]
    assert _read(files[0]) == ["paper.txt=1"]


def test_a_folders_documents_are_one_bundle_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"b.xml": b"2", "a/z.xml": b"1", "c.XML.gz": b"3", "d.txt": b"no", ".hidden.xml": b"no"}
    )
    (file,) = find_documents(tmp_path)
    assert file.documents == ("a/z.xml", "b.xml", "c.XML.gz")
    assert (file.path, file.name) == (tmp_path, "a/z.xml to c.XML.gz")
    assert _read(file) == ["a/z.xml=1", "b.xml=2", "c.XML.gz=3"]


def test_a_bundle_is_known_by_its_names_and_contents(tmp_path: Path) -> None:
    (file,) = find_documents(write_files(tmp_path, {"a.xml": b"1", "b.xml": b"2"}))
    digests = [hashlib.sha256(content).hexdigest() for content in (b"1", b"2")]
    listed = f"a.xml\0{digests[0]}\nb.xml\0{digests[1]}\n"
    assert file.digest == hashlib.sha256(listed.encode()).hexdigest()
    write_files(tmp_path, {"b.xml": b"3"})
    assert find_documents(tmp_path)[0].digest != file.digest


def test_many_documents_are_several_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BUNDLE_DOCUMENTS", 2)
    files = find_documents(
        write_files(tmp_path, {"a.xml": b"1", "b.xml": b"2", "c.xml": b"3", "d.xml": b"4", "e.xml": b"5"})
    )
    assert [file.name for file in files] == ["a.xml to b.xml", "c.xml to d.xml", "e.xml"]
    assert [text for file in files for text in _read(file)] == [
        "a.xml=1",
        "b.xml=2",
        "c.xml=3",
        "d.xml=4",
        "e.xml=5",
    ]


def _pack_tar(path: Path, contents: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_an_archives_documents_are_one_file_in_its_order(tmp_path: Path) -> None:
    contents = {"b.xml": b"2", "read.me": b"no", "a.xml": b"1", "c.xml.gz": gzip.compress(b"3")}
    tar = _pack_tar(tmp_path / "a.tar.gz", contents)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    for path in (tar, tmp_path / "a.zip"):
        (file,) = find_documents(path)
        assert file.documents == ("b.xml", "a.xml", "c.xml.gz")
        assert (file.path, file.name, file.digest) == (path, path.name, None)
        assert _read(file) == ["b.xml=2", "a.xml=1", "c.xml.gz=3"]


def test_archives_in_a_folder_come_after_its_documents(tmp_path: Path) -> None:
    write_files(tmp_path, {"z.xml": b"1"})
    _pack_tar(tmp_path / "a.tar.gz", {"x.xml": b"2"})
    _pack_tar(tmp_path / "none.tar.gz", {"x.txt": b"no"})
    files = find_documents(tmp_path)
    assert [file.name for file in files] == ["z.xml", "a.tar.gz"]
    assert [text for file in files for text in _read(file)] == ["z.xml=1", "x.xml=2"]


def test_other_suffixes_may_be_requested_for(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.nxml": b"1", "b.xml": b"2", "c.json": b"3"})
    (file,) = find_documents(tmp_path, (".nxml", ".json"), "texts")
    assert (file.documents, file.role) == (("a.nxml", "c.json"), "texts")


@pytest.mark.parametrize("content", [b"", b"12345"])
def test_a_document_that_is_rejected_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 4)
    (file,) = find_documents(write_files(tmp_path, {"a.xml": b"1234", "b.xml": content, "c.xml": b"3"}))
    first, second, third = read_documents(file, _keep)
    assert first == Accepted(1, {"papers": [{"source_id": "a.xml=1234"}]}, "a.xml", b"1234")
    assert isinstance(second, Rejected)
    assert (second.row_number, second.location) == (2, "b.xml")
    assert (second.reason, second.message, second.raw) == (
        ("too_large", "the document has more than 4 bytes", "12345")
        if content
        else ("not_xml", "nothing in it", "")
    )
    assert third == Accepted(3, {"papers": [{"source_id": "c.xml=3"}]}, "c.xml", b"3")


def test_no_document_is_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, {"folder/a.txt": b"1"})
    with pytest.raises(InputError, match=r"holds no document; expected files that end in \.xml"):
        find_documents(tmp_path / "folder")
    with pytest.raises(InputError, match="holds no document"):
        find_documents(_pack_tar(tmp_path / "a.tar.gz", {"x.txt": b"no"}))
    for source in (None, tmp_path / "none"):
        with pytest.raises(InputError, match="there is no file or folder"):
            find_documents(source)


def test_a_document_that_is_gone_or_cut_short_is_an_error(tmp_path: Path) -> None:
    (file,) = find_documents(write_files(tmp_path, {"a.xml": b"1", "b.xml.gz": b"2"}))
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(b"2")[:-3])
    with pytest.raises(LoadError, match=r"b\.xml\.gz is damaged or cut short"):
        _read(file)
    (tmp_path / "a.xml").unlink()
    with pytest.raises(InputError, match="there is no file"):
        _read(file)
