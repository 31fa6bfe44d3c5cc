"""Files handed in = files read + files not read: told by the load, and kept."""

import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, LoadError, OtherContentError
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.base import InputFile, Options, UnreadFile
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk

pytestmark = pytest.mark.in_turn

UNREAD = "SELECT file, reason, message, batch_id IS NULL AS before_reading FROM unread_files ORDER BY file"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = tmp_path / "tiny"
    (source / "qrels").mkdir(parents=True)
    (source / "corpus.jsonl").write_text('{"_id": "a", "title": "T", "text": "x"}\n', encoding="utf-8")
    (source / "queries.jsonl").write_text('{"_id": "q", "text": "x"}\n', encoding="utf-8")
    (source / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n", encoding="utf-8")
    (source / "README.md").write_text("read me", encoding="utf-8")
    (source / "nothing.jsonl").touch()
    (source / ".cache").mkdir()
    (source / ".cache" / "x").write_text("x", encoding="utf-8")
    return source


def read_rows(database: Database) -> list[tuple[str, str, str, bool]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(UNREAD)]


def test_what_no_loader_reads_is_named_with_its_reason(database: Database, folder: Path) -> None:
    summary = load(database, LoadRequest("beir", folder))
    assert (summary.files_read, len(summary.unread)) == (3, 3)
    expected = [
        (".cache/x", "hidden", "", True),
        ("README.md", "unknown_name", "", True),
        ("nothing.jsonl", "empty", "", True),
    ]
    assert read_rows(database) == expected
    (folder / "README.md").unlink()
    assert len(load(database, LoadRequest("beir", folder)).unread) == 2
    assert read_rows(database) == [expected[0], expected[2]]


def test_what_a_reader_passes_over_is_kept_when_the_file_is_not_read_again(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = replace(find_loader("beir"))

    def find_files(source: Path | None, options: object) -> list[InputFile]:
        return [InputFile(folder / "corpus.jsonl", "c", "papers", unread=(UnreadFile("a.txt", "copy", "b"),))]

    def read_chunks(file: InputFile, options: object, first_row: int) -> list[Chunk]:
        return [Chunk(1, 0, unread=[UnreadFile("c/x\udcff", "other_content", "a\0b")])]

    told = replace(told, find_files=find_files, read_chunks=lambda *a: iter(read_chunks(*a)))
    monkeypatch.setattr("pinakes.load.corpus.find_loader", lambda *named: told)
    for _ in range(2):
        assert len(load(database, LoadRequest("beir", folder)).unread) == 7
        assert [row for row in read_rows(database) if row[0] in ("a.txt", "c/x\\xff")] == [
            ("a.txt", "copy", "b", True),
            ("c/x\\xff", "other_content", "a\\x00b", False),
        ]


def test_items_of_which_no_row_is_made_are_counted(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pinakes.loaders.beir as beir

    plain = find_loader("beir").read_chunks

    def read_chunks(file: InputFile, options: object, first_row: int):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        from pinakes.loaders.staging import STAGED

        for chunk in plain(file, {}, first_row):
            rows = [
                {"row_number": 1, "kind": "citations", "reason": "no_reference", "items": n} for n in (2, 3)
            ]
            chunk.tables["left_out"] = pa.Table.from_pylist(rows, schema=STAGED["left_out"])
            yield chunk

    counting = replace(beir.LOADER, read_chunks=read_chunks)
    monkeypatch.setattr("pinakes.load.corpus.find_loader", lambda *named: counting)
    expected = [{"kind": "citations", "reason": "no_reference", "items": 15}]
    for _ in range(2):
        assert list(load(database, LoadRequest("beir", folder)).left_out) == expected


def test_a_file_of_other_content_is_named_and_not_read(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "papers.csv").write_text(
        "Arxiv_id,cite,publish_year,retweets,favorites\n0704.0001,1,2010,1,1\n", encoding="utf-8"
    )
    (folder / "figure.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\xff")
    (folder / "prices.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for rows_in in (1, 0):
        summary = load(database, LoadRequest("tweetpap", folder))
        assert (summary.rows_in, summary.files_read) == (rows_in, 1)
        assert [(row["file"], row["reason"]) for row in summary.unread] == [
            ("figure.csv", "other_content"),
            ("prices.csv", "other_content"),
        ]
    assert "prices.csv has no column Arxiv_id" in summary.unread[1]["message"]
    (folder / "papers.csv").unlink()
    with pytest.raises(InputError, match=r"prices\.csv has no column Arxiv_id"):
        load(database, LoadRequest("tweetpap", folder))


def test_a_file_that_cannot_be_settled_is_named_and_not_read(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settle(file: InputFile, options: Options, find_known: Any) -> InputFile:
        if file.name == "a.csv":
            raise OtherContentError("a.csv cannot be settled.")
        return file

    loader = find_loader("tweetpap")
    settling = replace(loader, settle={"papers": settle})
    monkeypatch.setattr("pinakes.load.corpus.find_loader", lambda *named: settling)
    for number, name in enumerate("abc"):
        (tmp_path / f"{name}.csv").write_text(
            f"Arxiv_id,cite,publish_year,retweets,favorites\n0704.000{number},1,2010,1,1\n", encoding="utf-8"
        )
    summary = load(database, LoadRequest("tweetpap", tmp_path))
    assert [(row["file"], row["reason"]) for row in summary.unread] == [("a.csv", "other_content")]
    assert [file.rows_in for file in summary.files] == [1, 1]


def test_entries_of_an_archive_are_counted_one_by_one(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    with zipfile.ZipFile(folder / "release.zip", "w") as archive:
        archive.writestr("a.jsonl", b'{"paper_id": "1"}\n')
        archive.writestr("b.jsonl", b"")
        archive.writestr("c/LICENSE", b"x")
        archive.writestr("__MACOSX/._a.jsonl", b"x")
    for source in (folder / "release.zip", folder):
        summary = load(database, LoadRequest("unarxive", source, corpus="c"))
        assert (summary.files_read, len(summary.files)) == (2, 1)
        assert {row["file"]: row["reason"] for row in summary.unread} == {
            "release.zip/c/LICENSE": "unknown_name",
            "release.zip/__MACOSX/._a.jsonl": "hidden",
        }


def test_a_damaged_archive_is_an_error_of_every_worker(duckdb_database: Database, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(__file__, "x.tei.xml")
        whole = (tmp_path / f"{name}.tar.gz").read_bytes()
        (tmp_path / f"{name}.tar.gz").write_bytes(whole[:-9])
    with pytest.raises(LoadError, match=r"a\.tar\.gz is damaged or cut short"):
        load(duckdb_database, LoadRequest("grobid", tmp_path, jobs=2))
