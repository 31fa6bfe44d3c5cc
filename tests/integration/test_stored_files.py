"""Corpora that DuckDB reads on an object store: what comes, what a reader may do, what a store refuses."""

import io
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pinakes
from pinakes.database import Database, connect, connect_read_only
from pinakes.database.in_place import list_folders
from pinakes.database.read_only import ask
from pinakes.database.stored_files import StoredFiles, name_folder
from pinakes.errors import DatabaseError, InputError, PinakesError
from pinakes.export.corpora.in_place import read_in_place
from pinakes.export.corpora.take import import_corpora
from pinakes.export.corpora.write import export_corpora
from pinakes.queries.install import initialise
from pinakes.report.output import Output
from pinakes.report.prompt import answer_questions
from pinakes.writing import folders
from pinakes.writing.folders import StoredFolder
from tests.calling import make_call
from tests.stores import ObjectStore, open_silent_port

PAPERS = "SELECT COUNT(title) AS n FROM papers"


@pytest.fixture(scope="session")
def made(prepared_duckdb: Path, store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file whose corpora are on the store."""
    root = tmp_path_factory.mktemp("stored")
    shutil.copy(prepared_duckdb, root / "source.duckdb")
    with connect(root / "source.duckdb") as source:
        export_corpora(source, store.address("all of it"), buckets=2)
    with connect(root / "views.duckdb") as views:
        initialise(views)
        read_in_place(views, store.address("all of it"))
    return root / "views.duckdb"


@pytest.fixture
def reader(made: Path) -> Iterator[Database]:
    with connect_read_only(made) as opened:
        yield opened


def question(database: Database, text: str) -> list[tuple[Any, ...]]:
    with ask(database, text) as result:
        return list(result.rows)


def test_many_threads_read_one_file(store: ObjectStore) -> None:
    """DuckDB moves and reads one handle in several threads at once."""
    content = io.BytesIO()
    numbers = pa.array(range(600_000))
    pq.write_table(pa.table({"a": numbers, "b": numbers}), content, row_group_size=10_000)
    key = uuid.uuid4().hex
    store.write(f"{key}/one?.parquet", content.getvalue())
    name = f"{name_folder(store.address(key))}one?.parquet"
    with duckdb.connect(config={"threads": 8}) as connection:
        connection.register_filesystem(StoredFiles())
        for _ in range(3):
            text = f"SELECT SUM(a), SUM(b), COUNT(*) FROM read_parquet('{name}')"
            found = connection.execute(text).fetchone()
            assert found == (179_999_700_000, 179_999_700_000, 600_000)


def test_files_can_only_be_read_by_their_names(store: ObjectStore) -> None:
    files = StoredFiles()
    store.write("names/a.parquet", b"0123456789")
    start = name_folder(store.address("names"))
    assert files.glob(f"{start}*") == [f"{start}*"]
    assert files.info(f"{start}a.parquet")["size"] == 10
    with closing(files.open(f"{start}a.parquet")) as opened:
        opened.seek(-3, 2)
        assert (opened.read(2), opened.tell(), opened.read(9)) == (b"78", 9, b"9")
    for mode in ("wb", "ab", "r+b"):
        with pytest.raises(PinakesError, match="cannot be written"):
            files.open(f"{start}a.parquet", mode)
    for name in ("../names/a.parquet", "./a.parquet", "/a.parquet", ""):
        with pytest.raises(PinakesError, match="names no file"):
            files.open(f"{start}{name}")
    for address in ("file:///etc/passwd", "/etc/passwd", "s3://user:secret@bucket/names"):
        with pytest.raises(PinakesError):
            files.open(f"{name_folder(address)}passwd")
    with pytest.raises(PinakesError, match=r"b\.parquet is no longer in s3://bucket/names"):
        files.open(f"{start}b.parquet")


def test_a_reader_asks_the_views_and_reaches_nothing_else(
    reader: Database, store: ObjectStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert question(reader, PAPERS) == [(310,)]
    assert store.address("all of it/papers") in list_folders(reader)
    start = name_folder(store.address("all of it"))
    for text in (
        f"SELECT * FROM read_parquet('{start}papers/x.parquet')",
        f"SELECT * FROM '{start}papers/x.parquet'",
        f"COPY (SELECT 1) TO '{start}papers/x.parquet'",
        "SELECT * FROM read_text('/etc/passwd')",
    ):
        with pytest.raises(InputError):
            question(reader, text)
    with reader.connect() as connection:
        raw: Any = connection.connection.driver_connection
        for text in (
            f"COPY (SELECT 1 AS one) TO '{start}papers/x.parquet'",
            f"FROM read_parquet('{start}runs/x.parquet')",
            "SET enable_external_access = true",
            f"FROM read_text('{tmp_path}/x')",
        ):
            with pytest.raises(duckdb.Error):
                raw.execute(text)
    assert not [name for name in store.list_files("all of it") if "x.parquet" in name]
    told: list[str] = []
    answer_questions(reader, Output(), told.append, io.StringIO(f"{PAPERS};\n"))
    assert told == []
    assert "310" in capsys.readouterr().out


def test_a_store_that_refuses_is_told(reader: Database, store: ObjectStore) -> None:
    with store.refusing(), pytest.raises(PinakesError, match="the store refuses the credentials"):
        question(reader, "SELECT MAX(title) FROM papers")
    assert question(reader, PAPERS) == [(310,)]


def test_commands_and_python_take_an_address(
    made: Path, store: ObjectStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = make_call(capsys)
    file = tmp_path / "own.duckdb"
    told = call("init", "--over", store.address("all of it"), "--db", file)
    assert told.code == 0, told.err
    assert call("sql", PAPERS, "--db", file, "--csv").out == "n\n310\n"
    assert call("status", "--check", "--db", file).code == 0
    refused = call("derive", "restated-mentions", "csfcube", "--db", file)
    assert refused.code != 0
    other = pinakes.connect(tmp_path / "python.duckdb", read_only=False)
    assert [row["corpus"] for row in other.init(over=store.address("all of it"))] == [
        "csfcube",
        "scifact",
        "synthetic",
    ]
    assert other.sql(PAPERS).records() == pinakes.connect(made).sql(PAPERS).records() == [{"n": 310}]
    with (
        pytest.raises(DatabaseError, match="cannot be changed"),
        connect(file) as writer,
        writer.begin() as one,
    ):
        one.execute("DELETE FROM papers")


def test_what_has_no_corpora_is_refused(store: ObjectStore, tmp_path: Path) -> None:
    with connect(tmp_path / "views.duckdb") as views:
        initialise(views)
        with pytest.raises(InputError, match=r"has no corpora: expected corpora\.json"):
            read_in_place(views, store.address("nothing"))
        with pytest.raises(PinakesError, match=r"there is no such bucket|has no corpora"):
            read_in_place(views, store.address("nothing", bucket="nobucket"))


@pytest.mark.parametrize("use", [read_in_place, import_corpora])
def test_a_store_that_does_not_answer_is_told_by_the_first_short_question(
    use: Callable[[Database, str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> bytes:
        raise AssertionError("a file was asked for, for which a command waits longer")

    monkeypatch.setattr(StoredFolder, "read_file", read)
    monkeypatch.setattr(folders, "FIRST_ANSWER_S", 1)
    with connect(tmp_path / "views.duckdb") as database, open_silent_port() as port:
        initialise(database)
        with pytest.raises(PinakesError, match="nothing that speaks S3 answers"):
            use(database, f"s3://bucket/x?endpoint_override=127.0.0.1:{port}&scheme=http")


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with connect(tmp_path / "own.duckdb") as database:
        initialise(database)
        for use in (read_in_place, import_corpora):
            with pytest.raises(InputError, match=r"expected corpora\.json"):
                use(database, tmp_path / "none")
    assert not (tmp_path / "none").exists()
