"""What the documentation says is so: queries run, commands parse, figures and names are the program's own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
import typer.main

from pinakes import cli
from pinakes.cli.codes import ExitCode
from pinakes.cli.exporting import DEFAULT_EXPORT
from pinakes.cli.indexing import DEFAULT_INDEX
from pinakes.database import Database, connect
from pinakes.database.read_only import ask, ask_arrow
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluators.other_names import ALIASES
from pinakes.evaluators.registry import FAMILIES
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.registry import LOADERS, find_loader
from pinakes.loaders.staging import LEFT_OUT, REASONS, UNREAD
from pinakes.queries.definition import list_benchmarks
from pinakes.queries.install import initialise
from pinakes.run.run import RunRequest, run
from pinakes.schema import metadata
from pinakes.systems.base import SystemOptions
from pinakes.systems.names import list_systems
from pinakes.vectors.nearest import describe_index_options
from tests.documented_world import EXAMPLE, fill, write_example
from tests.documents import (
    COOKBOOK,
    DOCUMENTS,
    MANUAL,
    README,
    ROOT,
    Block,
    list_anchors,
    list_commands,
    list_links,
    list_tables,
    read_blocks,
    read_manual,
    read_prose,
)
from tests.loading import DATA
from tests.real_data import REAL_DATA, needs_real_data

Pair = tuple[Database, Database]

COMMANDS: dict[str, Any] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
SHELL = ("sh", "console", "cron")


def list_queries() -> list[Block]:
    blocks = [block for path in (README, *MANUAL, *COOKBOOK) for block in read_blocks(path, "sql")]
    return [block for block in blocks if not EXAMPLE.match(block.text) and block not in list_mappings()]


def list_mappings() -> list[Block]:
    """The files of SELECTs over `input` that the manual writes down."""
    blocks = [block for path in MANUAL for block in read_blocks(path, "sql")]
    return [block for block in blocks if block.text.startswith("-- name: ")]


def test_the_manuals_mapping_is_the_one_that_is_tested() -> None:
    tested = DATA / "mapped" / "library.sql"
    assert [block.text for block in list_mappings()] == [tested.read_text(encoding="utf-8")]


def name_place(block: Block) -> str:
    return block.place


@pytest.fixture(scope="module")
def world(both_initialised: Pair, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """DuckDB and Postgres with the same small world: corpora, faults, runs, scores, the manual's example."""
    folder = tmp_path_factory.mktemp("documentation")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINAKES_BENCHMARKS", str(write_example(folder / "benchmarks")))
        for database in both_initialised:
            fill(database, folder)
        yield both_initialised


def fetch(database: Database, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    with ask(database, text) as result:
        return list(result.columns), [tuple(row) for row in result.rows]


def list_counts(database: Database, text: str) -> list[str]:
    """The columns of a query that are whole numbers; the sum of some is none, unless it is cast."""
    with ask_arrow(database, text) as result:
        list(result.parts)
        return [field.name for field in result.schema if pa.types.is_integer(field.type)]


@pytest.mark.parametrize("block", list_queries(), ids=name_place)
def test_every_query_gives_the_same_rows_on_both_databases(world: Pair, block: Block) -> None:
    duck, post = (fetch(database, block.text) for database in world)
    assert "ORDER BY" in block.text
    assert duck[1]
    assert duck == post
    assert list_counts(world[0], block.text) == list_counts(world[1], block.text)


def test_the_manuals_own_benchmark_is_scored_alike_on_both_databases(world: Pair) -> None:
    query = (
        "SELECT system, measure, subset, value FROM scores INNER JOIN runs ON scores.run_id = runs.run_id "
        "WHERE benchmark = 'cites' AND query_id IS NULL ORDER BY system, measure, subset"
    )
    duck, post = (fetch(database, query) for database in world)
    assert duck == post
    assert {(system, measure) for system, measure, *_ in duck[1]} == {
        (system, measure) for system in ("bm25", "tfidf") for measure in ("AP", "nDCG@10", "R@100")
    }
    assert any(value > 0 for *_, value in duck[1])


def list_blocks_of_shell() -> list[Block]:
    return [block for path in DOCUMENTS for block in read_blocks(path, *SHELL)]


@pytest.mark.parametrize("block", list_blocks_of_shell(), ids=name_place)
def test_every_command_in_a_block_is_one_that_the_program_takes(block: Block) -> None:
    for name, *arguments in list_commands(block, "pinakes"):
        if name not in ("--version", "--install-completion"):
            assert name in COMMANDS
            command, rest = choose_command(COMMANDS[name], list(arguments))
            assert command.make_context(name, rest).args == []


def test_every_command_in_a_sentence_has_the_options_that_it_is_given() -> None:
    for path in DOCUMENTS:
        for name, rest in re.findall(r"`pinakes ([a-z][a-z-]*)([^`]*)`", read_prose(path)):
            assert name in COMMANDS, f"{path.name}: pinakes {name}"
            assert set(re.findall(r"--[a-z0-9-]+", rest)) <= options_of(name), (
                f"{path.name}: pinakes {name}{rest}"
            )


def choose_command(command: Any, arguments: list[str]) -> tuple[Any, list[str]]:
    """The command of a group that the arguments name, or its default one, and what is left for it."""
    if not hasattr(command, "commands"):
        return command, arguments
    if arguments[0] in command.commands:
        return command.commands[arguments[0]], arguments[1:]
    default = next(name for name in (DEFAULT_INDEX, DEFAULT_EXPORT) if name in command.commands)
    return command.commands[default], arguments


def options_of(name: str) -> set[str]:
    command = COMMANDS[name]
    parts = [command, *getattr(command, "commands", {}).values()]
    parameters = [parameter for part in parts for parameter in part.params]
    return {option for one in parameters for option in (*one.opts, *one.secondary_opts)} | {"--help"}


def test_every_option_that_the_manual_names_exists() -> None:
    known = set().union(*map(options_of, COMMANDS)) | {"--version"}
    known |= {"--target", "--no-compile"}  # of docker build and pip install
    of_make_bench = (ROOT / "benchmarks" / "all.py").read_text(encoding="utf-8")
    known |= set(re.findall(r'add_argument\("(--[a-z-]+)"', of_make_bench))
    assert set(re.findall(r"`(--[a-z0-9-]+)", read_manual())) <= known


def test_the_manual_names_every_command_and_every_option() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in MANUAL)
    assert {name for name in COMMANDS if f"pinakes {name}" not in text} == set()
    options = {option for name in COMMANDS for option in options_of(name) if option.startswith("--")}
    assert {option for option in options if option not in text} == set()


@pytest.mark.parametrize("block", list_blocks_of_shell(), ids=name_place)
def test_every_target_of_make_exists(block: Block) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {name for name, *_ in list_commands(block, "make")} <= targets


def test_every_target_of_make_that_a_sentence_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in DOCUMENTS:
        assert set(re.findall(r"`make ([a-z]+)`", read_prose(path))) <= targets, path.name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in list_links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in list_anchors(target), link


def test_no_page_of_the_manual_is_longer_than_250_lines() -> None:
    lengths = {path.name: path.read_text(encoding="utf-8").count("\n") for path in MANUAL}
    assert {name: length for name, length in lengths.items() if length > 250} == {}


def list_rows(heading: str) -> dict[str, list[str]]:
    """The manual's tables whose first heading is this: first cell without marks -> the other cells."""
    tables = [table for table in list_tables(read_manual()) if table[0][0] == heading]
    return {row[0].strip("`"): row[1:] for table in tables for row in table[1:]}


def test_the_manual_lists_every_loader_with_its_options() -> None:
    told = {name: set(re.findall(r"`([a-z_]+)=", cells[-1])) for name, cells in list_rows("loader").items()}
    assert told == {name: set(find_loader(name).options) for name in LOADERS}


def test_the_manual_lists_every_reason_why_something_is_not_loaded() -> None:
    for heading, reasons in (
        ("reason", REASONS),
        ("not read because", UNREAD),
        ("left out because", LEFT_OUT),
    ):
        assert {name: meaning for name, (meaning,) in list_rows(heading).items()} == reasons


def test_the_manual_lists_every_benchmark_and_every_system() -> None:
    assert set(list_rows("benchmark")) == set(list_benchmarks())
    told = {**list_rows("system"), **list_rows("preset")}
    assert {name for name in told if not name.startswith("a ")} == set(list_systems())


def test_the_manual_lists_every_option_of_an_index() -> None:
    (table,) = [table for table in list_tables(read_manual()) if table[0][:2] == ["kind", "what it is"]]
    for names, _, at_build, at_search in table[1:]:
        for name in re.findall(r"`(.*?)`", names):
            found = [re.findall(r"`([a-z_]+)`", cell) for cell in (at_build, at_search)]
            rows = describe_index_options(name)
            assert found == [[row["option"] for row in rows if row["at"] == at] for at in ("build", "search")]


def test_the_manual_lists_every_measure() -> None:
    text = read_manual()
    assert {name for name in FAMILIES if f"`{name}" not in text} == set()
    assert {name for name in ALIASES if f"`{name}`" not in text} == set()


def test_the_manual_lists_every_table_with_its_columns() -> None:
    told = {name: [cell.replace("`", "") for cell in cells] for name, cells in list_rows("table").items()}
    assert told == {table.name: [table.comment, list_columns(table)] for table in metadata.tables.values()}


def list_columns(table: sa.Table) -> str:
    return ", ".join(f"**{column.name}**" if column.primary_key else column.name for column in table.columns)


def test_the_manual_lists_every_environment_variable() -> None:
    sources = [
        *(ROOT / "src" / "pinakes").glob("**/*.py"),
        ROOT / "compose.yaml",
        ROOT / "tests" / "conftest.py",
    ]
    used = {
        name
        for path in sources
        for name in re.findall(r"PINAKES_[A-Z_]+[A-Z]", path.read_text(encoding="utf-8"))
    }
    assert "PINAKES_DATABASE_URL" in used
    assert {name for name in used if f"`{name}`" not in read_manual()} == set()


def test_the_manual_lists_every_exit_code() -> None:
    assert list(list_rows("code")) == [str(code.value) for code in ExitCode]


def read_figures(*headings: str) -> dict[tuple[str, ...], dict[str, str]]:
    """The README's table whose first headings are these: keys of a row -> heading -> figure."""
    table = next(
        t for t in list_tables(README.read_text(encoding="utf-8")) if t[0][: len(headings)] == list(headings)
    )
    return {
        tuple(row[: len(headings)]): dict(zip(table[0][len(headings) :], row[len(headings) :], strict=True))
        for row in table[1:]
    }


def score(database: Database, benchmark: str, system: str, folder: Path) -> dict[tuple[str, str], float]:
    options = SystemOptions(folder)
    index(database, benchmark, system, options=options)
    made = run(database, RunRequest(benchmark, system, options))
    (result,) = evaluate(database, benchmark, run_ids=[made.run_id])
    return {(one.subset, one.measure): one.value for one in result.aggregates()}


@pytest.fixture
def empty(duckdb_url: str) -> Iterator[Database]:
    with connect(duckdb_url) as database:
        initialise(database)
        yield database


def test_the_readmes_figures_of_the_demo_are_those_of_a_fresh_run(empty: Database, tmp_path: Path) -> None:
    load(empty, LoadRequest("synthetic", options={"papers": "2000", "seed": "1"}))
    told = read_figures("system")
    assert list(told) == [("bm25",), ("tfidf",), ("minilm",)]
    for system in ("bm25", "tfidf"):
        values = score(empty, "synthetic", system, tmp_path / "indexes")
        assert told[system,] == {name: f"{values['all', name]:.4f}" for name in told[system,]}


@needs_real_data
@pytest.mark.parametrize(
    ("place", "title", "subset", "request_of"),
    [
        ("cranfield", "Cranfield", "all", LoadRequest("smart", REAL_DATA / "smart" / "cran.tar.gz")),
        pytest.param(
            *("scifact, test", "SciFact", "all", LoadRequest("beir", REAL_DATA / "scifact")),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *("csfcube, test", "CSFCube", "all/test", LoadRequest("csfcube", REAL_DATA / "csfcube")),
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_readmes_figures_of_a_real_corpus_are_those_of_a_fresh_run(
    empty: Database, tmp_path: Path, place: str, title: str, subset: str, request_of: LoadRequest
) -> None:
    load(empty, request_of)
    told = {key[1]: row for key, row in read_figures("benchmark", "measure").items() if key[0] == place}
    assert told
    for system in ("bm25", "tfidf"):
        values = score(empty, title.lower(), system, tmp_path / "indexes")
        for measure, figures in told.items():
            assert figures[system] == f"{values[subset, measure]:.4f}"
    assert [f"{count:,}" for count in count_rows(empty, title.lower())] == list_rows("corpus")[title][1:4]


def test_the_readme_has_figures_of_three_real_corpora() -> None:
    places = [place for place, _ in read_figures("benchmark", "measure")]
    assert {*places} == {"scifact, test", "cranfield", "csfcube, test"}


def count_rows(database: Database, corpus: str) -> list[int]:
    """Papers, queries and judgments of a corpus."""
    tables = ("papers", "benchmark_queries", "judgments")
    joined = "INNER JOIN corpora ON counted.corpus_id = corpora.corpus_id WHERE name = :name"
    with database.read() as session:
        return [
            int(session.scalar(f"SELECT COUNT(*) FROM {table} AS counted {joined}", {"name": corpus}))
            for table in tables
        ]
