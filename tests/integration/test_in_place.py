"""Files that are read in place: what a reader may read of them, and the prompt of `pinakes shell`."""

import io
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pinakes
from pinakes.database import Database, connect, connect_read_only
from pinakes.database.connect import connect_to_look
from pinakes.database.in_place import IN_PLACE, list_folders
from pinakes.database.read_only import ask, ask_arrow
from pinakes.errors import InputError
from pinakes.export.corpora.in_place import read_in_place
from pinakes.export.corpora.tables import list_corpus_tables
from pinakes.export.corpora.write import export_corpora
from pinakes.queries.install import initialise
from pinakes.report.output import Output
from pinakes.report.prompt import answer_questions
from pinakes.schema import comment_on_view, corpora
from tests.benching import count
from tests.calling import make_call

ROOT = Path(__file__).resolve().parents[2]
FOLDER = 'it\'s "ä" über; --x [1] 100%'
PAPERS = "SELECT COUNT(*) AS n FROM papers"


class Place:
    """A folder of corpora, and a DuckDB file that reads it."""

    def __init__(self, root: Path) -> None:
        self.folder, self.file = root / FOLDER, root / "views.duckdb"

    @property
    def part(self) -> Path:
        """One of the folder's files."""
        return next(self.folder.glob("papers/corpus=scifact/*/*.parquet"))


@pytest.fixture(scope="session")
def made_place(prepared_duckdb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a `Place`."""
    root = tmp_path_factory.mktemp("place")
    shutil.copy(prepared_duckdb, root / "source.duckdb")
    with connect(root / "source.duckdb") as source:
        export_corpora(source, root / FOLDER, buckets=2)
    (root / "source.duckdb").unlink()
    with connect(root / "views.duckdb") as views:
        initialise(views)
    return root


@pytest.fixture
def place(made_place: Path, tmp_path: Path) -> Place:
    """A folder of corpora of the test's own, and a DuckDB file that reads it."""
    own = shutil.copytree(made_place, tmp_path / "own")
    made = Place(own)
    with connect(made.file) as views:
        read_in_place(views, made.folder)
    return made


@pytest.fixture
def reader(place: Place) -> Iterator[Database]:
    with connect_read_only(place.file) as opened:
        yield opened


def question(database: Database, text: str) -> list[tuple[Any, ...]]:
    with ask(database, text) as result:
        return list(result.rows)


def as_arrow(database: Database, text: str) -> list[dict[str, Any]]:
    with ask_arrow(database, text) as result:
        return [row for part in result.parts for row in part.to_pylist()]


def at_the_prompt(database: Database, text: str) -> None:
    """As `pinakes shell` asks; the text is given with a semicolon."""
    told: list[str] = []
    answer_questions(database, Output(), told.append, io.StringIO(f"{text};\n"))
    assert told == []


def write_secrets(place: Place) -> None:
    """Files beside the folder, and links in it that lead to them."""
    outside = place.folder.parent
    (outside / "secret.csv").write_text("one\n1\n")
    shutil.copy(place.part, outside / "secret.parquet")
    beside = outside / f"{FOLDER}2"
    beside.mkdir()
    shutil.copy(place.part, beside / "secret.parquet")
    papers = place.folder / "papers"
    (papers / "secret.parquet").symlink_to(outside / "secret.parquet")
    (papers / "relative.parquet").symlink_to("../../secret.parquet")
    (papers / "up").symlink_to(outside)
    (papers / "own.parquet").symlink_to(place.file)


def sql(path: Path | str) -> str:
    return str(path).replace("'", "''")


def list_reads(place: Place) -> list[str]:
    """Expressions that read files which no reader may read."""
    outside, papers = place.folder.parent, place.folder / "papers"
    return [
        f"read_csv('{sql(outside)}/secret.csv')",
        "read_text('/etc/passwd')",
        "read_text('file:///etc/passwd')",
        "read_text('/proc/self/environ')",
        f"'{sql(outside)}/secret.parquet'",
        f"read_parquet('{sql(outside)}/secret.parquet')",
        f"parquet_metadata('{sql(outside)}/secret.parquet')",
        f"read_parquet('{sql(place.folder)}2/secret.parquet')",
        f"read_parquet('{sql(papers)}/../../secret.parquet')",
        f"read_parquet('{sql(papers)}//..//corpus=scifact/../../secret.parquet')",
        f"read_text('{sql(papers)}/../corpora.json')",
        f"read_parquet('file://{sql(papers)}/../../secret.parquet')",
        f"read_parquet('{sql(papers)}/secret.parquet')",
        f"read_parquet('{sql(papers)}/relative.parquet')",
        f"read_parquet('{sql(papers)}/up/secret.parquet')",
        f"read_parquet('{sql(papers)}/*/secret.parquet')",
        f"read_text('{sql(papers)}/up/../../../etc/passwd')",
        f"glob('{sql(papers)}/up/*')",
        f"glob('{sql(papers)}/../*')",
    ]


OWN = [
    "'{file}'",
    "read_blob('{file}')",
    "read_text('{file}')",
    "read_text('{file}.wal')",
    "read_duckdb('{file}', table_name = 'runs')",
    "query('FROM read_blob(''{file}'')')",
    "query_table('{file}')",
    "read_blob('{papers}/own.parquet')",
    "read_parquet('{part}')",
    "'{part}'",
]
CHANGES = [
    "COPY (SELECT 1 AS one) TO '{papers}/new.parquet'",
    "COPY papers TO '{part}'",
    "COPY (SELECT 1 AS one) TO '{part}' (USE_TMP_FILE FALSE)",
    "COPY (SELECT 1 AS one) TO '{file}' (USE_TMP_FILE FALSE)",
    "COPY (SELECT 1 AS one) TO '{file}.wal'",
    "COPY papers FROM '{part}'",
    ";EXPLAIN ANALYZE COPY (SELECT 1 AS one) TO '{papers}/new.parquet'",
    "/* /* */ */ EXPLAIN ANALYZE COPY (SELECT 1 AS one) TO '{papers}/new.parquet'",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS one) TO '{papers}/new.parquet'",
    "EXPORT DATABASE '{papers}/all'",
    "ATTACH '{papers}/new.duckdb' AS new",
    "ATTACH '{file}' AS again",
    "ATTACH ':memory:' AS m",
    "DETACH views",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "SET GLOBAL allowed_paths = ['/etc/passwd']",
    "RESET allowed_directories",
    "SET lock_configuration = false",
    "SET temp_directory = '{papers}'",
    "PRAGMA enable_profiling",
    "CALL enable_logging(storage = 'file', storage_path = '{papers}/log')",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '{papers}/log')",
    "SELECT * FROM enable_profiling(save_location = '{papers}/profile.json')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{papers}/new.duckdb_extension'",
    "CREATE OR REPLACE VIEW papers AS SELECT 1 AS one",
    "COMMENT ON VIEW papers IS 'Read in place from /'",
    "DELETE FROM runs",
    "IMPORT DATABASE '{papers}'",
]
WAYS = [question, as_arrow, at_the_prompt]


def fill(text: str, place: Place) -> str:
    names = {"papers": place.folder / "papers", "part": place.part, "file": place.file}
    return text.format(**{name: sql(path) for name, path in names.items()})


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_but_tables_and_views_is_read(place: Place, reader: Database, way: Any) -> None:
    write_secrets(place)
    for named in list_reads(place) + [fill(text, place) for text in OWN]:
        for text in (f"SELECT * FROM {named}", f"EXPLAIN ANALYZE SELECT * FROM {named}"):
            with pytest.raises(InputError, match=r"^DuckDB refuses the query: .*expected tables and views"):
                way(reader, text)
    assert question(reader, PAPERS) == [(313,)]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_or_set(place: Place, reader: Database, way: Any) -> None:
    before = list_files(place.folder.parent)
    for text in CHANGES:
        with pytest.raises(InputError, match=r"^DuckDB refuses the query: "):
            way(reader, fill(text, place))
    assert list_files(place.folder.parent) == before
    assert question(reader, PAPERS) == [(313,)]


@pytest.mark.parametrize("opener", [connect_read_only, connect_to_look])
def test_duckdb_itself_reads_these_folders_alone(place: Place, opener: Callable[..., Database]) -> None:
    """What holds where a question is not looked through: DuckDB's own settings."""
    write_secrets(place)
    with opener(place.file) as opened, opened.engine.connect() as connection:

        def read(text: str) -> Any:
            return connection.exec_driver_sql(text).fetchall()

        names = ("enable_external_access", "lock_configuration", "autoload_known_extensions")
        assert [read(f"SELECT current_setting('{name}')") for name in names] == [
            [(False,)],
            [(True,)],
            [(False,)],
        ]
        assert read(f"SELECT COUNT(*) > 0 FROM read_parquet('{sql(place.part)}')") == [(True,)]
        for named in list_reads(place):
            with pytest.raises(Exception, match=r"Permission Error|No files found that match"):
                read(f"SELECT * FROM {named}")
            connection.rollback()
        for text in ("SET allowed_directories = ['/']", "RESET allowed_directories", "SET threads = 1"):
            with pytest.raises(Exception, match="locked"):
                read(text)
            connection.rollback()
        allowed = set(read("SELECT UNNEST(current_setting('allowed_directories'))"))
        folders = {(f"{place.folder.resolve() / table.name}/",) for table in list_corpus_tables()}
        assert allowed - folders == {(f"{place.file}.tmp/",)}
        assert folders <= allowed


def test_links_in_the_folder_are_followed_no_further(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = place.folder.parent / "outside"
    outside.mkdir()
    call = make_call(capsys)
    for moved in (place.part, place.folder / "papers"):
        moved.rename(outside / moved.name)
        moved.symlink_to(outside / moved.name)
        with connect_read_only(place.file) as reader, pytest.raises(InputError, match="Permission Error"):
            question(reader, "SELECT MAX(title) FROM papers")
        told = call("status", "--db", place.file)
        assert (told.code, "behind a link that leads out of their folder" in told.err) == (1, True), told.err
        moved.unlink()
        (outside / moved.name).rename(moved)
    with connect_read_only(place.file) as reader:
        assert question(reader, PAPERS) == [(313,)]


def test_a_file_whose_one_view_names_the_folder_is_read(place: Place) -> None:
    """As an earlier version made it."""
    with connect(place.file) as views:
        with views.begin() as session:
            for table in list_corpus_tables():
                session.execute_as_written(f"COMMENT ON VIEW {table.name} IS NULL")
            comment_on_view(session, corpora.name, f"{IN_PLACE}{place.folder.resolve()}")
        assert list_folders(views) == [str(place.folder.resolve())]
    write_secrets(place)
    with connect_read_only(place.file) as reader:
        assert question(reader, PAPERS) == [(313,)]
        at_the_prompt(reader, PAPERS)
        for named in list_reads(place):
            with pytest.raises(InputError, match="expected tables and views"):
                question(reader, f"SELECT * FROM {named}")
    with connect(place.file) as views:
        read_in_place(views, place.folder)
        assert len(list_folders(views)) == len(list_corpus_tables())


def test_connections_of_a_process_share_what_they_may_read(place: Place) -> None:
    found, failed = [], []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        try:
            for _ in range(3):
                with connect_read_only(place.file) as one, connect_to_look(place.file) as two:
                    found.extend(question(one, PAPERS) + question(two, PAPERS))
                    with pytest.raises(InputError):
                        question(two, "SELECT * FROM read_text('/etc/passwd')")
        except BaseException as error:  # noqa: BLE001 - told in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert found == [(313,)] * 48
    with connect(place.file) as writer:  # once they are closed
        assert count(writer, "papers") == 313


def test_python_and_commands_read_what_is_in_place(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    connection = pinakes.connect(place.file)
    assert connection.sql(PAPERS).records() == [{"n": 313}]
    with pytest.raises(InputError, match="expected tables and views"):
        connection.sql("SELECT * FROM read_text('/etc/passwd')")
    call = make_call(capsys)
    assert call("sql", PAPERS, "--db", place.file, "--csv").out == "n\n313\n"
    assert call("status", "--db", place.file).code == 0


def run_shell(place: Place, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "--db", str(place.file), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": "/none"},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def list_cells(printed: str) -> list[str]:
    """What tables of one column hold."""
    return re.findall(r"[\w;]+", printed)


COMMAND = [sys.executable, "-c", "from pinakes.cli import main; main()", "shell"]


def test_the_shell_answers_queries_in_turn(place: Place) -> None:
    text = (
        "SELECT 1 AS one; SELECT COUNT(*) AS n\n-- of papers; all of them\nFROM papers;\n"
        "SELECT 'a;b' AS two -- the last"
    )
    done = run_shell(place, text)
    assert (done.returncode, list_cells(done.stdout)) == (0, ["one", "1", "n", "313", "two", "a;b"])
    assert "views.duckdb: to read, files in place too" in done.stderr
    ended = run_shell(place, "SELECT 1 AS one;\n.quit\nSELECT 2 AS two;\n", "--quiet")
    assert (ended.returncode, list_cells(ended.stdout), ended.stderr) == (0, ["one", "1"], "")


def test_a_refused_query_ends_the_shell_where_nobody_is_at_a_terminal(place: Place) -> None:
    before = list_files(place.folder.parent)
    for text in (
        f"COPY papers TO '{sql(place.folder)}/papers/new.parquet'",
        "SELECT * FROM read_text('/etc/passwd')",
        ".shell true",
        "SELECT 'a",
        "/* a",
    ):
        done = run_shell(place, f"SELECT 1 AS one;\n{text};\nSELECT 2 AS two;\n")
        assert (done.returncode, list_cells(done.stdout)) == (1, ["one", "1"]), done.stderr
        assert "DuckDB refuses the query" in done.stderr or "holds no query" in done.stderr
    assert list_files(place.folder.parent) == before


def test_a_person_at_a_terminal_goes_on(place: Place) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--db", str(place.file)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb", "INPUTRC": "/dev/null"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        said = _read_until(ours, "pinakes> ")
        for line, answer in (
            ("SELECT * FROM", "   ...> "),
            ("read_text('/etc/passwd');", "expected tables and views.\r\npinakes> "),
            ("SELECT 40 + 2 AS n;", "\r\n42\r\npinakes> "),
            ("SELEC 1;", "pinakes> "),
            ("SELECT 1 AS one; SELECT 20 + 2 AS two;", "22\r\npinakes> "),
        ):
            os.write(ours, f"{line}\n".encode())
            said += _read_until(ours, answer)
        os.write(ours, b".quit\n")
        assert process.wait(60) == 0, said
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "root:" not in said


def _read_until(terminal: int, ending: str) -> str:
    read = ""
    while not read.endswith(ending):
        assert select.select([terminal], [], [], 60)[0], read
        part = os.read(terminal, 4096).decode(errors="replace")
        assert part, read
        read += part
    return read


def test_other_databases_have_the_shell_of_their_own(prepared: Database) -> None:
    assert list_folders(prepared) == []
