"""Databases with corpora in them: loaded once a session, then copied for each test."""

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from pinakes.database import Database, connect, connect_read_only
from pinakes.load.load import LoadRequest, load
from tests.benching import write_csfcube
from tests.calling import Call, make_call
from tests.clusters import LocalCluster, open_cluster
from tests.integration.ranked_csfcube import import_rankings
from tests.loading import paper, write_beir
from tests.postgres import PostgresServer
from tests.templates import Templates
from tests.toy_encoder import build_toy_encoder

PAPERS = 300

_NUMBERS = count(1)


def _prepare(url: str, folder: Path) -> None:
    """Load the corpora synthetic (300 papers), csfcube (9) and scifact (4)."""
    with connect(url) as database:
        load(database, LoadRequest("synthetic", options={"papers": str(PAPERS), "seed": "1"}))
        load(database, LoadRequest("csfcube", write_csfcube(folder / "csfcube")))
        papers = [
            paper(1, title="Graphs", text="citation graph retrieval"),
            paper(2, title="", text="graph models"),
            paper(10, title="", text="graph models"),
            paper(3, title="", text=""),
        ]
        requested = write_beir(folder / "scifact", papers, "q1\tp1\t1\nq2\tp3\t1\n", queries=2)
        (requested / "queries.jsonl").write_text(
            '{"_id": "q1", "text": "graph models"}\n{"_id": "q2", "text": "   "}\n', encoding="utf-8"
        )
        load(database, LoadRequest("beir", requested, corpus="scifact"))


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny encoder, called toy."""
    return str(build_toy_encoder(tmp_path_factory.mktemp("models") / "toy"))


@pytest.fixture(scope="session")
def prepared_duckdb(benchmarks_duckdb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file with the corpora."""
    folder = tmp_path_factory.mktemp("prepared")
    file = folder / "prepared.duckdb"
    shutil.copy(benchmarks_duckdb, file)
    _prepare(f"duckdb:///{file}", folder)
    return file


@pytest.fixture(scope="session")
def prepared_postgres(
    postgres_server: PostgresServer, benchmarks_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The name of a Postgres database with the corpora."""
    name = f"pinakes_prepared_{os.getpid()}"
    with postgres_server.create(name, benchmarks_postgres) as url:
        _prepare(url, tmp_path_factory.mktemp("prepared"))
        yield name


@pytest.fixture
def prepared_duckdb_url(prepared_duckdb: Path, tmp_path: Path) -> str:
    """The URL of a DuckDB file of the test's own, with the corpora."""
    shutil.copy(prepared_duckdb, tmp_path / "work.duckdb")
    return f"duckdb:///{tmp_path / 'work.duckdb'}"


@pytest.fixture
def prepared_postgres_url(postgres_server: PostgresServer, prepared_postgres: str) -> Iterator[str]:
    """The URL of a Postgres database of the test's own, with the corpora."""
    with postgres_server.create(f"{prepared_postgres}_{next(_NUMBERS)}", prepared_postgres) as url:
        yield url


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """A Ray cluster of two nodes on this machine, connected to."""
    pytest.importorskip("ray", reason="Ray is not installed (the extra cluster)")
    with open_cluster() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side indexes and settings of a test stay in its folder."""
    for name in [name for name in os.environ if name.startswith("PINAKES_")]:
        if name != "PINAKES_TEST_POSTGRES":
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(params=["duckdb", "postgresql"])
def prepared_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database with the corpora: DuckDB, then Postgres."""
    kind = "duckdb" if request.param == "duckdb" else "postgres"
    return str(request.getfixturevalue(f"prepared_{kind}_url"))


@pytest.fixture
def prepared(prepared_url: str) -> Iterator[Database]:
    """A database with the corpora: DuckDB, then Postgres."""
    with connect(prepared_url) as opened:
        yield opened


@pytest.fixture(params=["duckdb", "postgresql"])
def ranked(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Database]:
    """As `prepared`, with the evaluated runs 1 and 2 of csfcube: DuckDB, then Postgres."""
    with templates.copy(request.param, import_rankings, of="prepared") as opened:
        yield opened


@pytest.fixture
def both_prepared(
    prepared_duckdb_url: str, prepared_postgres_url: str
) -> Iterator[tuple[Database, Database]]:
    """DuckDB and Postgres side by side, each with the corpora."""
    with connect(prepared_duckdb_url) as duck, connect(prepared_postgres_url) as post:
        yield duck, post


@pytest.fixture(scope="session", params=["duckdb", "postgresql"])
def untouched(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with the corpora that tests share, and leave as it is: DuckDB, then Postgres."""
    if request.param == "duckdb":
        file: Path = request.getfixturevalue("prepared_duckdb")
        shutil.copy(file, file.with_name("untouched.duckdb"))
        with connect(f"duckdb:///{file.with_name('untouched.duckdb')}") as opened:
            yield opened
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        template = request.getfixturevalue("prepared_postgres")
        with server.create(f"{template}_untouched", template) as url, connect(url) as opened:
            yield opened


@pytest.fixture(scope="session", params=["duckdb", "postgresql"])
def read_only(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with the corpora, opened so that nothing can be changed: DuckDB, then Postgres."""
    if request.param == "duckdb":
        with connect_read_only(f"duckdb:///{request.getfixturevalue('prepared_duckdb')}") as opened:
            yield opened
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        template = request.getfixturevalue("prepared_postgres")
        with server.create(f"{template}_read_only", template) as url, connect_read_only(url) as opened:
            yield opened


@pytest.fixture
def call(
    prepared_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """The command line over a database with the corpora, in a folder of the test's own."""
    monkeypatch.setenv("PINAKES_DATABASE_URL", prepared_url)
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "indexes"))
    monkeypatch.chdir(tmp_path)

    return make_call(capsys)
