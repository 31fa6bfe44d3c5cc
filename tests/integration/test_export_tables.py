"""Tables, views and queries as files: the same values from both databases, and read back as they are."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from pinakes.database import Database, connect_read_only
from pinakes.errors import InputError, UnknownNameError
from pinakes.export.beir import export_beir
from pinakes.export.collections import find_collection
from pinakes.export.mteb import export_mteb
from pinakes.export.tables import export_query, export_table
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.writing.tables import FORMATS, SUFFIXES
from tests.benching import change, count
from tests.calling import Call
from tests.writing import write_file

pytestmark = pytest.mark.in_turn

ODD = r"""SELECT 1 AS id, 'a "b", \ %_&#{}~^' AS t, 0.1e0 AS f, TRUE AS b,
CAST('2026-03-01 10:00:00.123456+02' AS TIMESTAMP WITH TIME ZONE) AS z, CAST('2026-03-01' AS DATE) AS d,
CAST(12345678901234567 AS BIGINT) AS n
UNION ALL SELECT 2, '', 1e0 / 3, FALSE, NULL, NULL, -1
UNION ALL SELECT 3, NULL, NULL, NULL, NULL, NULL, NULL ORDER BY id"""
EXPECTED: dict[str, list[Any]] = {
    "id": [1, 2, 3],
    "t": ['a "b", \\ %_&#{}~^', "", None],
    "f": [0.1, 1 / 3, None],
    "b": [True, False, None],
    "z": [datetime(2026, 3, 1, 8, 0, 0, 123456, UTC), None, None],
    "d": [datetime(2026, 3, 1).date(), None, None],
    "n": [12345678901234567, -1, None],
}


def write(database: Database, folder: Path, name: str, query: str = ODD) -> Path:
    export_query(database, query, folder / name)
    return folder / name


def test_what_is_written_is_read_back_as_it_is(read_only: Database, tmp_path: Path) -> None:
    found = pq.read_table(write(read_only, tmp_path, "a.parquet"))
    assert found.to_pydict() == EXPECTED
    assert pa.ipc.open_file(write(read_only, tmp_path, "a.arrow")).read_all().equals(found)
    as_read = csv.ConvertOptions(
        column_types=found.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    for name, delimiter in (("a.csv", ","), ("a.csv.gz", ","), ("a.tsv", "\t")):
        path = write(read_only, tmp_path, name)
        parse = csv.ParseOptions(delimiter=delimiter)
        assert csv.read_csv(path, parse_options=parse, convert_options=as_read).to_pydict() == EXPECTED
    rows = [orjson.loads(line) for line in write(read_only, tmp_path, "a.jsonl").read_bytes().splitlines()]
    assert rows[0] | {"z": None, "d": None} == {name: column[0] for name, column in EXPECTED.items()} | {
        "z": None,
        "d": None,
    }
    assert (datetime.fromisoformat(rows[0]["z"]), rows[0]["d"]) == (EXPECTED["z"][0], "2026-03-01")
    assert rows[1:] == [{name: column[place] for name, column in EXPECTED.items()} for place in (1, 2)]


def test_latex_is_escaped_and_numbers_stand_to_the_right(read_only: Database, tmp_path: Path) -> None:
    query = "SELECT 'a_1 & [b] 5%' AS \"x_y\", 2 AS n UNION ALL SELECT '[c] \\ ~^{}#$', NULL ORDER BY 2"
    if read_only.name == "duckdb":
        query += " NULLS LAST"
    assert write(read_only, tmp_path, "a.tex", query).read_text() == (
        "\\begin{tabular}{lr}\n\\toprule\nx\\_y & n \\\\\n\\midrule\na\\_1 \\& [b] 5\\% & 2 \\\\\n"
        "{[c] \\textbackslash{} \\textasciitilde{}\\textasciicircum{}\\{\\}\\#\\$} &  \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_both_databases_write_the_same_bytes(
    prepared_duckdb_url: str, prepared_postgres_url: str, tmp_path: Path, suffix: str
) -> None:
    written: dict[str, list[bytes]] = {}
    for url in (prepared_duckdb_url, prepared_postgres_url):
        with connect_read_only(url) as database:
            for name in ("papers", "judgments", "csfcube.queries", "citation_links", "cited_references"):
                path = tmp_path / f"{database.name}.{name}{suffix}"
                export_table(database, name, path)
                written.setdefault(name, []).append(path.read_bytes())
    differing = [name for name, (duck, post) in written.items() if duck != post]
    if SUFFIXES[suffix] == "arrow":  # what stands where a null is, is not defined
        read = {name: [pa.ipc.open_file(one).read_all() for one in written[name]] for name in differing}
        differing = [name for name, (duck, post) in read.items() if not duck.equals(post)]
    assert differing == []


def test_every_table_and_view_can_be_written(read_only: Database, tmp_path: Path) -> None:
    with read_only.read() as session:
        names = session.rows(
            "SELECT table_schema AS home, table_name AS name FROM information_schema.tables "
            "WHERE table_schema IN (CURRENT_SCHEMA(), 'csfcube', 'mdcr') ORDER BY table_schema, table_name"
        )
        own = session.scalar("SELECT CURRENT_SCHEMA()")
    assert len(names) > 80
    for row in names:
        name = row["name"] if row["home"] == own else f"{row['home']}.{row['name']}"
        written = export_table(read_only, name, tmp_path / "a.parquet")
        found = pq.read_table(tmp_path / "a.parquet")
        assert (written.rows, written.columns) == (found.num_rows, found.num_columns)
        assert written.rows == count(read_only, name)


REFUSED: dict[str, tuple[str, str, str]] = {
    "a change": ("a.csv", "DELETE FROM papers", "refuses the query"),
    "two queries": ("a.csv", "SELECT 1; SELECT 2", "refuses the query"),
    "nothing": ("a.csv", "-- nothing", "refuses the query|holds no query"),
    "a fault in a row": ("a.csv", "SELECT CAST(source_id AS INTEGER) FROM papers", "refuses the query"),
    "no format": (
        "a.xlsx",
        "SELECT 1 AS a",
        r"a.xlsx shows no format by its name; expected one that ends in",
    ),
    "NaN in JSON": ("a.jsonl", "SELECT CAST('NaN' AS FLOAT) AS a", "the column a holds NaN or an infinity"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused_and_leaves_the_old_file(
    read_only: Database, tmp_path: Path, case: str
) -> None:
    name, query, message = REFUSED[case]
    (tmp_path / name).write_text("old")
    with pytest.raises(InputError, match=message):
        write(read_only, tmp_path, name, query)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_name_is_never_part_of_a_query(read_only: Database, tmp_path: Path) -> None:
    for name in (
        "paper",
        "papers; DROP TABLE papers",
        '"papers"',
        "information_schema.tables",
        "pg_catalog.pg_user",
    ):
        with pytest.raises(UnknownNameError, match="unknown table or view"):
            export_table(read_only, name, tmp_path / "a.csv")
    with pytest.raises(UnknownNameError, match="unknown format of tables 'xml'; known: arrow, csv"):
        export_table(read_only, "papers", tmp_path / "a", "xml")


def test_columns_of_one_name_are_numbered_and_odd_types_are_written(
    read_only: Database, tmp_path: Path
) -> None:
    array = "[1, 2]" if read_only.name == "duckdb" else "ARRAY[1, 2]"
    query = f"SELECT 1 AS a, 2 AS a, {array} AS l, CAST('10:30' AS TIME) AS t, SUM(3) AS s"
    assert write(read_only, tmp_path, "a.csv", query).read_text() == (
        '"a","a_2","l","t","s"\n1,2,"[1,2]",10:30:00.000000,3\n'
    )
    assert pq.read_table(write(read_only, tmp_path, "a.parquet", query))["l"].to_pylist() == [[1, 2]]
    assert set(FORMATS) == set(SUFFIXES.values())


def test_the_command_takes_a_name_or_a_query(call: Call, tmp_path: Path) -> None:
    made: Any = call("export", "corpora", tmp_path / "a.csv", "--json").data
    assert made == [{"file": str(tmp_path / "a.csv"), "format": "csv", "rows": 3, "columns": 6}]
    made = call("export", "--sql", "SELECT 1 AS a", tmp_path / "b", "--format", "jsonl", "--json").data
    assert (made[0]["rows"], (tmp_path / "b").read_text()) == (1, '{"a":1}\n')
    assert call("export", "table", "corpora", tmp_path / "c.csv").code == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_mteb_folders_have_the_columns_of_mteb(prepared: Database, tmp_path: Path) -> None:
    written = export_mteb(prepared, find_collection(prepared, "scifact", None), tmp_path / "m")
    assert (written.papers, written.queries, written.judgments) == (4, 1, 1)
    read = {path.stem: pq.read_table(path) for path in (tmp_path / "m").glob("*/*.parquet")}
    assert read["corpus"].to_pylist()[1] == {"_id": "p10", "title": "", "text": "graph models"}
    assert read["queries"].to_pylist() == [{"_id": "q1", "text": "graph models"}]
    assert read["test"].to_pylist() == [{"query-id": "q1", "corpus-id": "p1", "score": 1.0}]
    assert "- config_name: default" in (tmp_path / "m" / "README.md").read_text()


def test_queries_without_a_text_are_left_out_and_counted(prepared: Database, tmp_path: Path) -> None:
    change(prepared, "UPDATE benchmark_queries SET text = NULL WHERE query_id = 'q1'")
    for export in (export_mteb, export_beir):
        written = export(prepared, find_collection(prepared, None, "scifact"), tmp_path / export.__name__)
        assert (written.queries, written.judgments) == (0, 0)
        assert (written.queries_left_out, written.judgments_left_out) == (1, 1)


def test_a_corpus_of_several_assessors_asks_for_one(prepared: Database, call: Call, tmp_path: Path) -> None:
    prepared.close()
    told = call("export", "beir", tmp_path / "b", "--corpus", "csfcube")
    assert told.code == 1
    assert "csfcube has judgments of several assessors: " in told.err
    made = call("export", "beir", tmp_path / "b", "--corpus", "csfcube", "--assessor", "ann1", "--json").data
    assert (made[0]["papers"], made[0]["queries"], made[0]["judgments"]) == (9, 5, 19)
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        "corpus.jsonl",
        "qrels",
        "queries.jsonl",
    ]
    assert (
        "unknown assessor 'ann9'"
        in call("export", "mteb", tmp_path / "c", "--corpus", "csfcube", "--assessor", "ann9").err
    )


def test_vectors_and_hits_are_written_too(prepared: Database, tmp_path: Path) -> None:
    path = write_file(tmp_path / "run", "q1 Q0 p1 1 0.1 t\n")
    import_run(prepared, ImportRequest("scifact", "theirs", [path]))
    vector = "vector(2)" if prepared.name == "postgresql" else "FLOAT[2]"
    change(prepared, f"CREATE TABLE vectors_mine (id INT PRIMARY KEY, v {vector})")
    literal = "'[1,2]'" if prepared.name == "postgresql" else "[1, 2]"
    change(prepared, f"INSERT INTO vectors_mine VALUES (1, {literal}), (2, NULL)")
    export_table(prepared, "vectors_mine", tmp_path / "v.parquet")
    found = pq.read_table(tmp_path / "v.parquet")
    assert found.schema.field("v").type == pa.list_(pa.float32(), 2)
    assert found["v"].to_pylist() == [[1.0, 2.0], None]
    export_table(prepared, "hits", tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text().splitlines()[1].endswith(",1,0.1")
