"""Every table of every command on terminals of 80, 100 and 200 columns; the same data for programs."""

import csv
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer

from pinakes.cli import app, run_command
from pinakes.cli.options import DATA
from pinakes.database import connect
from pinakes.evaluate.cross_format import CodeScore
from pinakes.load.load import LoadRequest, load
from pinakes.vectors.indexes.base import VectorIndexSummary
from pinakes.workload.readers import CODES
from tests.documented_world import fill, write_example
from tests.long import long
from tests.tables import Printed, Terminal, check_lines, check_table, watch_tables

WIDTHS = (80, 100, 200)
LONG = "ein-system_" + "日本語の長い名前" * 5 + "🧪" * 10 + "/" + "x" * 30
TITLES = (
    "グラフ構造を用いた学術論文の検索と引用推薦に関する長い題名の研究" * 2,
    "graph \u202e reversed \u200b and \x1b[2J cleared",
    "graph 👩‍🔬 families 👨‍👩‍👧‍👦 and flags 🇩🇪 in one title",
    "graph " + "unbreakable" * 20,
)
HOSTILE = f"1-{TITLES[1]}".replace(" ", "|")
SAMPLE = (
    "sample large_scale --corpus synthetic --queries 6 --validation-queries 1 --repeats 2 --pool-size 80 "
    "--pool-size 160 --validation-pool-size 60"
)
PGVECTOR = VectorIndexSummary("vector", 12_345, 0.9876, 0.9123, {"m": 16, "ef_construction": 64}, True, 12.5)
LINES = {
    "load": ("load synthetic --papers 300 --seed 1", "load beir faulty --max-rejects 1"),
    "resolve": ("resolve synthetic",),
    "deduplicate": ("deduplicate merged",),
    "fetch": ("fetch",),
    "derive neighbours": ("derive neighbours --corpus library --codes T_ADelDT,T_ARot",),
    "derive summaries": ("derive summaries --corpus synthetic",),
    "export table": ("export papers papers.csv",),
    "export beir": ("export beir beir --corpus library",),
    "export partitioned": ("export partitioned files --corpus library",),
    "export mteb": ("export mteb mteb --benchmark synthetic",),
    "export summaries": ("export summaries examples.jsonl --corpus synthetic",),
    "encode": ("encode texts.parquet encoded --model TOY --precision fp32",),
    "index benchmark": (
        "index synthetic -s bm25 -s sparse_bm25",
        "index synthetic -s sparse_bm25 --postings",
        "index --corpus library -s TOY",
    ),
    "train": (
        "train mine --base TOY --task year:synthetic --task citations:synthetic --most 24 --dry-run",
        "train mine --base TOY --task year:synthetic --most 24 --epochs 1 --max-tokens 32",
    ),
    "compare-methods": ("compare-methods csfcube -s bm25 -s tfidf",),
    "index faiss": ("index faiss --corpus library --system TOY --kind flat",),
    "index pgvector": ("index pgvector --system TOY",),
    "search": ("search synthetic graphs", "search hostile graph", "search hostile none"),
    "explain": (
        "explain electoral|turnout|of|nothing syn-00000013 --corpus synthetic",
        "explain qry-00000001 syn-00000013 --benchmark synthetic",
        f"explain {HOSTILE.removeprefix('1-')} {HOSTILE} --corpus hostile",
    ),
    "new-benchmark": ("new-benchmark synthetic --name own --folder own",),
    "sample": (SAMPLE,),
    "construct": ("construct mdcr_constructed",),
    "export-pools": ("export-pools mdcr_constructed pools",),
    "systems": ("systems", "systems sparse_bm25", "systems bm25", "systems faiss:hnsw"),
    "run": ("run synthetic -s bm25 -s tfidf", "run csfcube -s bm25"),
    "rerun": ("rerun 1",),
    "import-run": (f"import-run csfcube duckdb-csfcube.txt --system {LONG}",),
    "cross-format": ("cross-format synthetic csfcube --system minilm",),
    "reproduce": ("reproduce csfcube --only fabs_bm25", "reproduce"),
    "tune bm25": ("tune bm25 synthetic --k1 1.2 --b 0.5 --b 0.75",),
    "evaluate": (
        "evaluate synthetic",
        "evaluate csfcube",
        "evaluate synthetic --per-query -m RR",
        "evaluate --all",
    ),
    "accept": ("accept --all",),
    "compare": ("compare synthetic", "compare csfcube", "compare csfcube --by facet"),
    "agreement": ("agreement csfcube", "agreement csfcube --per-query"),
    "errors": ("errors csfcube",),
    "report": ("report synthetic", "report csfcube", "report field_level"),
    "sql": (
        "sql SELECT|*|FROM|runs",
        "sql SELECT|*|FROM|papers|ORDER|BY|paper_id|DESC|LIMIT|5",
        "sql SELECT|run_id,measure,subset,value,CAST(value|AS|DECIMAL(9,4))|AS|d|FROM|scores|LIMIT|9",
        "sql SELECT|1|AS|a|WHERE|1=2",
        "sql --recipes",
        "sql --recipe hard-queries benchmark=synthetic limit=5",
    ),
    "status": ("status --check",),
    "gc": ("gc --dry-run",),
    "remove run": ("remove run 1 --dry-run",),
    "remove corpus": ("remove corpus library --dry-run",),
    "remove training": ("remove training drawn --dry-run",),
    "remove benchmark": ("remove benchmark csfcube --dry-run",),
    "plan": ("plan --papers 200000000 --gpus 8 --nodes 4", "plan --papers 1000 --show-rates"),
    "demo": ("demo",),
}
"""command -> lines that make it print its tables; `|` stands for a blank within a word"""
SLOW = {"evaluate --all", "report synthetic", "report field_level", "reproduce"}
"""lines of tables that shorter lines print too, which `make test-long` alone runs"""
WITHOUT = {"init", "grant-reader", "shell", "upgrade", "use-corpus", "export run", "export qrels", "site"}
"""commands that print no data"""
OTHERS = {"summarize", "show run", "import-corpora"}
"""commands that print data, but no table; and one that needs a database without the corpora of this one"""


def list_leaves(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield " ".join(path), command
    for name, one in (inner or {}).items():
        yield from list_leaves(one, *path, name)


LEAVES = dict(list_leaves(typer.main.get_command(app)))


def split(line: str, toy: str) -> list[str]:
    return [word.replace("|", " ").replace("TOY", toy) for word in line.split()]


@pytest.fixture(scope="module")
def world(benchmarks_duckdb: Path, tmp_path_factory: pytest.TempPathFactory, toy_folder: str) -> Path:
    """A folder with a database of runs, scores, pools and hostile names; the lines are run in it."""
    folder = tmp_path_factory.mktemp("tables")
    shutil.copy(benchmarks_duckdb, folder / "world.duckdb")
    hostile = [{"source_id": f"{place}-{title}"[:200], "title": title} for place, title in enumerate(TITLES)]
    (folder / "hostile.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in hostile))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINAKES_BENCHMARKS", str(write_example(folder / "benchmarks")))
        patch.setenv("PINAKES_INDEX_FOLDER", str(folder / "world.indexes"))
        with connect(folder / "world.duckdb") as database:
            fill(database, folder)
            load(database, LoadRequest("jsonl", folder / "hostile.jsonl", corpus="hostile"))
        shutil.copytree(folder / "duckdb.indexes", folder / "world.indexes", dirs_exist_ok=True)
        patch.setenv("PINAKES_DATABASE_URL", str(folder / "world.duckdb"))
        patch.chdir(folder)
        _write_texts(folder / "texts.parquet")
        for line in (
            "index --corpus hostile -s bm25 -s sparse_bm25",
            "index --corpus library -s TOY",
            "index synthetic -s sparse_bm25",
            f"import-run csfcube duckdb-csfcube.txt --system {LONG}",
            "evaluate csfcube",
            "train drawn --base TOY --task year:synthetic --most 24 --epochs 1 --max-tokens 32",
        ):
            assert run_command([*split(line, toy_folder), "-q"]) == 0
    return folder


def _write_texts(file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["1", "2"], "text": ["graphs", "models"]}), file)


@pytest.fixture
def here(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The world as the environment names it; what needs weights or a server is a stand-in."""
    monkeypatch.setenv("PINAKES_DATABASE_URL", str(world / "world.duckdb"))
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(world / "benchmarks"))
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(world / "world.indexes"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(world)
    _stand_in(monkeypatch)
    return world


def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def cross(*_given: object, **_options: object) -> list[CodeScore]:
        return [
            CodeScore(
                "minilm",
                "",
                name,
                "PRX",
                "in-train",
                code,
                1,
                "nDCG@10",
                0.1234,
                1,
                5,
                5,
                code == "PRX",
                False,
            )
            for name in ("synthetic", "csfcube")
            for code in CODES
        ]

    monkeypatch.setattr("pinakes.evaluate.cross_format.cross_format", cross)
    monkeypatch.setattr(
        "pinakes.texts.summaries.export.export_summaries",
        lambda *_given, **_options: {"examples": 12_345, "papers": 1, "producer": "summaries 1 punkt seed=1"},
    )
    monkeypatch.setattr(
        "pinakes.index.approximate.index_pgvector",
        lambda *_given, **_options: PGVECTOR,
    )


def print_on(
    width: int, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, Terminal, list[Printed]]:
    """The exit code, what was printed on a terminal of that width, and the tables of it."""
    stream = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "stdout", stream)
    with watch_tables(stream) as tables:
        code = run_command([*words, "-q"])
    return code, stream, tables


def test_every_command_is_driven_or_prints_no_data() -> None:
    assert set(LINES) | WITHOUT | OTHERS == set(LEAVES)
    assert not set(LINES) & WITHOUT


@pytest.mark.parametrize("name", LEAVES)
def test_a_command_has_all_options_of_data_or_none(name: str) -> None:
    flags = {flag for parameter in LEAVES[name].params for flag in parameter.opts}
    wanted = {f"--{one.replace('_', '-')}" for one in DATA}
    assert wanted & flags == (set() if name in WITHOUT else wanted)


@pytest.mark.parametrize(
    "line",
    [
        long(line) if line in SLOW else line
        for name, lines in LINES.items()
        for line in lines
        if name != "demo"  # which prints a report
    ],
)
def test_every_table_fits_the_terminal(
    line: str, here: Path, toy_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, stream, tables = print_on(WIDTHS[0], split(line, toy_folder), monkeypatch)
    assert code == 0
    check_lines(stream.text, WIDTHS[0])
    assert tables
    for printed in tables:
        check_table(printed, WIDTHS[0])
        for width in WIDTHS[1:]:
            check_table(printed.on(width), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_sentences_fit_the_terminal(width: int, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line, word in (
        ("summarize --corpus synthetic --paper syn-00000001 --query practice", "practice"),
        ("show run 1", "library"),
    ):
        code, stream, _tables = print_on(width, line.split(), monkeypatch)
        assert (code, word in stream.text) == (0, True)
        check_lines(stream.text, width)


@pytest.mark.parametrize("option", ["--wide", "--expanded"])
def test_one_option_shows_every_column(option: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, stream, tables = print_on(80, ["compare", "csfcube", option], monkeypatch)
    assert (code, "left out" in stream.text) == (0, False)
    assert all(column.title in stream.text for column in tables[0].table.columns)
    if option == "--expanded":
        check_table(tables[0], 80)
    else:
        rows = [line for line in stream.text.splitlines() if "nDCG" in line]
        assert len(rows) == len(tables[0].table.rows)


def test_a_query_never_loses_a_column(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ", ".join(f"{place} * 1000000 AS column_{place}" for place in range(30))
    code, stream, _tables = print_on(80, ["sql", f"SELECT {columns} FROM range(2)"], monkeypatch)
    assert (code, "left out" in stream.text) == (0, False)
    assert all(stream.text.count(f"column_{place} ") == 2 for place in range(30))
    assert "── 1 of 2" in stream.text


def test_nothing_is_left_out_where_the_output_is_no_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["compare", "csfcube", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "holm_randomisation_p" in lines[0]
    assert lines[0].split()[0] == "measure"
    assert [line for line in lines if line != line.rstrip()] == []


CSV_LINES = {
    "compare": "compare csfcube",
    "evaluate": "evaluate synthetic",
    "load": "load synthetic --papers 300 --seed 1",
    "report": "report synthetic",
    "search": "search hostile graph",
    "status": "status",
    "summarize": "summarize --corpus synthetic --paper syn-00000001 --query practice",
    "systems": "systems",
}


@pytest.mark.parametrize("name", CSV_LINES)
def test_csv_says_what_json_says(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = CSV_LINES[name].split()
    assert run_command([*words, "--csv", "-q"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert run_command([*words, "--json", "-q"]) == 0
    said = orjson.loads(capsys.readouterr().out)
    if isinstance(said, list):
        assert [list(row) for row in rows] == [list(record) for record in said]
        assert [row.keys() for row in rows] == [record.keys() for record in said]
    elif name == "report":
        titles = [table["title"] for table in said["tables"] for _row in table["rows"]]
        assert [row["table"] for row in rows if row["table"] != "warnings"] == titles
    else:
        lists = {
            key: value
            for key, value in said.items()
            if isinstance(value, list) and all(isinstance(one, dict) for one in value)
        }
        counted = {key: len(value) for key, value in lists.items() if value}
        assert {
            key: sum(row["table"] == key for row in rows) for key in {row["table"] for row in rows}
        } == counted | ({"summary": 1} if set(said) - set(lists) else {})
    assert rows


def test_csv_steers_no_terminal_and_no_spreadsheet(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["search", "hostile", "graph", "--csv", "-q"]) == 0
    text = capsys.readouterr().out
    assert "\\u202e" in text
    assert not {"\u202e", "\x1b", "\u200b"} & set(text)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--json", "--csv"], "exclude each other"),
        (["--wide", "--expanded"], "exclude each other"),
        (["--guard-formulas"], "is for CSV"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_anything_is_done(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["systems", *options]) == 2
    shown = capsys.readouterr()
    assert (told in shown.err, shown.out) == (True, "")
