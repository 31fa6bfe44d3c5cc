"""Anybody's CSV, JSON Lines and Parquet: a mapping in SQL, what is required, what is rejected, and shards."""

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, settings

from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders import staging
from pinakes.loaders.base import WHOLE_PAPER
from pinakes.loaders.mapped.mapping import read_mapping
from pinakes.loaders.mapped.plan import run_apart
from pinakes.loaders.mapped.syntax import RECORD
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.long import long

EXAMPLE = DATA / "mapped" / "library.sql"
RECORDS = DATA / "mapped" / "library.jsonl"


def _map(folder: Path, text: str) -> dict[str, str]:
    path = folder / "mapping.sql"
    path.write_text(text, encoding="utf-8")
    return {"mapping": str(path)}


def _write_lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def _stage(
    format_: str, source: Path, options: dict[str, str] | None = None
) -> tuple[dict[str, list[dict[str, Any]]], list[tuple[int, str, str]]]:
    """The staged rows of all files together, and of each rejected record number, location and reason."""
    staged, rejected = stage_all(format_, source, options)
    together: dict[str, list[dict[str, Any]]] = {}
    for tables in staged.values():
        for name, rows in tables.items():
            together.setdefault(name, []).extend(rows)
    return together, [(row.row_number, row.location, row.reason) for row in rejected]


EXAMPLE_ROWS: dict[str, list[dict[str, Any]]] = {
    "papers": [
        {
            "row_number": 1,
            "source_id": "k1",
            "title": "On catalogues",
            "abstract": "What a catalogue is.",
            "year": 2019,
            "venue": "unpublished",
        },
        {"row_number": 2, "source_id": "k2", "title": "Tables", "year": 1998, "venue": "Pinakes"},
    ],
    "identifiers": [
        {"row_number": 1, "source_id": "k1", "scheme": "doi", "identifier": "10.1/a"},
        {"row_number": 1, "source_id": "k1", "scheme": "arxiv", "identifier": "1905.00001"},
        {"row_number": 1, "source_id": "k1", "scheme": "acl", "identifier": "P19-1001"},
    ],
    "fields": [
        {"row_number": 1, "source_id": "k1", "field": "history", "assigned_by": "librarian"},
        {"row_number": 1, "source_id": "k1", "field": "libraries", "assigned_by": "librarian"},
    ],
    "authorships": [
        {
            "row_number": 1,
            "source_id": "k1",
            "position": 1,
            "author_source_id": "orcid:0000-1",
            "author_name": "Kallimachos",
        },
        {
            "row_number": 1,
            "source_id": "k1",
            "position": 2,
            "author_source_id": "name:Zenodotos",
            "author_name": "Zenodotos",
        },
    ],
    "labels": [
        {
            "row_number": number,
            "task": "reading",
            "source_id": f"k{number}",
            "split": "all",
            "label": label,
            "quality": "gold",
        }
        for number, label in ((1, "read"), (2, "open"))
    ],
    "references": [{"row_number": 1, "reference_key": "doi:10.1/b", "title": "Tables"}],
    "reference_identifiers": [
        {"row_number": 1, "reference_key": "doi:10.1/b", "scheme": "doi", "identifier": "10.1/b"}
    ],
    "citations": [
        {
            "row_number": 1,
            "citing_source_id": "k1",
            "reference_key": "doi:10.1/b",
            "context": "As in Tables.",
        }
    ],
}


def test_the_example_of_the_manual_gives_eight_tables() -> None:
    staged, rejected = _stage("jsonl", RECORDS, {"mapping": str(EXAMPLE)})
    assert staged == EXAMPLE_ROWS
    assert rejected == [(3, "line 3", "missing_field")]


PARQUET_MAPPING = """
-- name: papers
SELECT record.key AS source_id, record.title,
    coalesce(nullif(record.abstract, 'n/a'), record.summary) AS abstract,
    left(record.date, 4) AS year, coalesce(record.venue, 'unpublished') AS venue
FROM input
-- name: identifiers
SELECT 'doi' AS scheme, record.doi AS identifier FROM input
-- name: identifiers
SELECT CASE WHEN key = 'ArXiv' THEN 'arxiv' ELSE lower(key) END AS scheme, identifier
FROM (
    SELECT unnest(['ArXiv', 'ACL']) AS key, unnest([record.ids.ArXiv, record.ids.ACL]) AS identifier
    FROM input
)
-- name: fields
SELECT unnest(string_split(record.tags, ';')) AS field, 'librarian' AS assigned_by FROM input
-- name: authorships
SELECT p.name AS author_name, 'orcid:' || p.orcid AS author_source_id
FROM (SELECT unnest(people) AS p FROM input)
-- name: labels
SELECT 'reading' AS task, CASE status WHEN 0 THEN 'open' ELSE 'read' END AS label FROM input
-- name: citations
SELECT 'doi:' || required(normalise_identifier('doi', c.doi)) AS reference_key, c.sentence AS context
FROM (SELECT unnest(cites) AS c FROM input)
-- name: references
SELECT 'doi:' || normalise_identifier('doi', c.doi) AS reference_key, c.title
FROM (SELECT unnest(cites) AS c FROM input)
-- name: reference_identifiers
SELECT 'doi:' || normalise_identifier('doi', c.doi) AS reference_key, 'doi' AS scheme, c.doi AS identifier
FROM (SELECT unnest(cites) AS c FROM input)
"""


def test_the_same_records_as_parquet_give_the_same_rows(tmp_path: Path) -> None:
    records = [orjson.loads(line) for line in RECORDS.read_bytes().splitlines()]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "library.parquet")
    staged, rejected = _stage("parquet", tmp_path / "library.parquet", _map(tmp_path, PARQUET_MAPPING))
    assert staged == EXAMPLE_ROWS
    assert rejected == [(3, "row 3", "missing_field")]


def test_the_corpus_is_what_the_mapping_says_or_the_source_is_called(tmp_path: Path) -> None:
    described = find_loader("jsonl").describe_corpus(RECORDS, {"mapping": str(EXAMPLE)})
    assert (described.name, described.title, described.licence) == (
        "library",
        "Our group's library",
        "internal",
    )
    unnamed = [
        find_loader("csv").describe_corpus(Path(source), {}).name for source in ("a/b.csv.gz", "a/b/*.csv")
    ]
    assert unnamed == ["b", "b"]


def test_columns_with_our_names_need_no_mapping(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text('source_id,title,year,shelf\n1,"A ""b"", c",2019.0,x\n2, ,,y\n', encoding="utf-8")
    staged, rejected = _stage("csv", path)
    assert rejected == []
    assert staged == {
        "papers": [
            {"row_number": 1, "source_id": "1", "title": 'A "b", c', "year": 2019},
            {"row_number": 2, "source_id": "2"},
        ]
    }


def test_lists_under_the_names_of_staged_tables_need_no_mapping(tmp_path: Path) -> None:
    record = {
        "source_id": "p",
        "title": "T",
        "identifiers": [{"scheme": "doi", "identifier": "doi:10.1/A"}],
        "authorships": [{"author_name": "Ada"}],
        "labels": [{"task": "t", "value": 0.5}],
        "citations": [{"reference_key": "q", "is_influential": True}],
    }
    staged, rejected = _stage("jsonl", _write_lines(tmp_path / "a.jsonl", record))
    own = {"row_number": 1, "source_id": "p"}
    assert rejected == []
    assert {name: rows for name, rows in staged.items() if rows} == {
        "papers": [{**own, "title": "T"}],
        "identifiers": [{**own, "scheme": "doi", "identifier": "10.1/a"}],
        "authorships": [{**own, "position": 1, "author_source_id": "name:Ada", "author_name": "Ada"}],
        "labels": [{**own, "task": "t", "split": "all", "label": "value", "value": 0.5, "quality": "gold"}],
        "citations": [
            {"row_number": 1, "citing_source_id": "p", "reference_key": "q", "is_influential": True}
        ],
    }


def test_another_table_is_read_when_the_option_names_it(tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text("query_id\tsource_id\tgrade\nq1\tp1\t2\nq1\tp2\thigh\nq1\t\t1\n", encoding="utf-8")
    staged, rejected = _stage("csv", path, {"table": "judgments"})
    assert staged == {
        "judgments": [
            {
                "row_number": 1,
                "query_id": "q1",
                "source_id": "p1",
                "assessor": "published",
                "split": "test",
                "grade": 2,
            }
        ]
    }
    assert rejected == [(2, "line 3", "invalid_value"), (3, "line 4", "missing_field")]
    with pytest.raises(
        UnknownNameError, match=r"unknown table 'judgements'; known: .* Did you mean judgments\?"
    ):
        stage_all("csv", path, {"table": "judgements"})


def test_a_file_without_our_names_is_refused_and_says_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("id,name\n1,x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"papers\.csv has no column source_id; its columns are id, name\."):
        stage_all("csv", path)


def test_csv_follows_the_dialect_of_the_mapping(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes('7|Caf\u00e9 "x|a; b;\n8|y\n9|z|\n'.encode("latin-1"))
    options = _map(
        tmp_path,
        """
-- name: csv
SELECT '|' AS delimiter, 'latin-1' AS encoding, false AS quoted, ['Nr.', 'Titel', 'Autoren'] AS columns
-- name: papers
SELECT "Nr." AS source_id, Titel AS title FROM input
-- name: authorships
SELECT unnest(string_split(Autoren, ';')) AS author_name FROM input
""",
    )
    staged, rejected = _stage("csv", path, options)
    assert staged["papers"] == [
        {"row_number": 1, "source_id": "7", "title": 'Café "x'},
        {"row_number": 3, "source_id": "9", "title": "z"},
    ]
    assert [(row["position"], row["author_name"]) for row in staged["authorships"]] == [(1, "a"), (2, "b")]
    assert rejected == [(2, "line 2", "malformed_line")]


def test_a_quote_that_is_never_closed_is_one_rejected_record(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('source_id,title\n1,"two\nlines"\n2,"open\n3,x\n', encoding="utf-8")
    staged, rejected = _stage("csv", path)
    assert staged["papers"] == [{"row_number": 1, "source_id": "1", "title": "two\nlines"}]
    assert rejected == [(2, "line 4", "malformed_line")]


JOINED = "array_to_string(list_transform(CAST(x AS JSON[]), lambda i: {}), ', ') AS title"


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("x AS title", "  padded ", "padded"),
        ("x AS title", 12, "12"),
        ("x AS title", "[1]", "[1]"),
        ("x AS title", '{"a": 1}', '{"a": 1}'),
        ("'[' || x || ']' AS title", 1, "[1]"),
        ("x AS title", 2**64 - 1, str(2**64 - 1)),
        (JOINED.format("i->>'$'"), ["One.", None, "Two."], "One., Two."),
        (JOINED.format("i->>'name'"), [{"name": "a"}, {}, {"name": "b"}], "a, b"),
        ("x->>'$[1].name' AS title", [{"name": "a"}, {"name": "b"}], "b"),
        ("string_split(x, '/')[-1] AS title", "a/b/c", "c"),
        ("string_split(x, '/')[4] AS title", "a/b/c", None),
        ("regexp_extract(x, 'no. ([0-9]+)', 1) AS title", "see no. 12.", "12"),
        ("CASE x WHEN 'a' THEN 'Alpha' ELSE x END AS title", "a", "Alpha"),
        ("CASE x WHEN 'a' THEN 'Alpha' ELSE x END AS title", "b", "b"),
        ("'lib:' || x AS title", "7", "lib:7"),
        ("'lib:' || nullif(x, '') AS title", "", None),
        ("normalise_title(x) AS title", "On Catalogues!", "oncatalogues"),
        ("normalise_identifier('arxiv', x) AS title", "arXiv:1905.00001v2", "1905.00001"),
        ("CASE WHEN x NOT IN ('NA', '0') THEN x END AS title", "NA", None),
        ("CASE WHEN x NOT IN ('NA', '0') THEN x END AS title", 0, None),
        ("coalesce(x, 'none') AS title", None, "none"),
        ("coalesce(y, x, 'none') AS title", "there", "there"),
        ("'always' AS title", "x", "always"),
        ("7 AS title", "x", "7"),
        ("left(x, 4) AS year", "2019-05-03", 2019),
        ("year(CAST(x AS DATE)) AS year", "2019-05-03", 2019),
        ("x AS year", "0", None),
        ("x AS year", "", None),
        ("x AS citation_count", "1204", 1204),
        ("x AS citation_count", 3.0, 3),
        ("CAST(x AS DOUBLE) AS citation_count", 3.0, 3),
        ("CAST(x AS UBIGINT) AS citation_count", 3, 3),
        ("_record AS citation_count", 3, 1),
        ("(SELECT max(i->>'$') FROM (SELECT unnest(CAST(x AS JSON[])) AS i)) AS title", ["a", "c", "b"], "c"),
    ],
)
def test_a_column_takes_what_the_mapping_makes_of_a_value(
    tmp_path: Path, column: str, value: Any, expected: Any
) -> None:
    options = _map(tmp_path, f"-- name: papers\nSELECT id AS source_id, {column} FROM input")
    staged, rejected = _stage("jsonl", _write_lines(tmp_path / "a.jsonl", {"id": "p", "x": value}), options)
    name = column.split(" ")[-1]
    assert rejected == []
    assert [row.get(name) for row in staged["papers"]] == [expected]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("x AS title", ["a"]),
        ("x AS title", {"a": 1}),
        ("x->'a' AS title", {"a": [1]}),
        ("x->>'a' AS title", {"a": {"b": 1}}),
        ("x->>'a' AS title", "no JSON"),
        ("x AS title", "a\x00b"),
        ("CAST(x AS INTEGER) AS title", "twelve"),
        ("strptime(x, '%d.%m.%Y') AS venue", "2019"),
        ("CASE WHEN x IS NULL OR x ~ '^[0-9]+$' THEN x ELSE error('no number') END AS title", "twelve"),
        ("x AS year", "in press"),
        ("x AS year", -5),
        ("x AS year", 12019),
        ("CAST(x AS BIGINT) AS year", 12019),
        ("x AS citation_count", 2.5),
        ("CAST(x AS DOUBLE) AS citation_count", 2.5),
        ("x AS citation_count", 2**40),
        ("CAST(x AS BIGINT) AS citation_count", 2**40),
        ("x AS citation_count", [1]),
    ],
)
def test_a_value_of_the_wrong_type_rejects_its_record_alone(tmp_path: Path, column: str, value: Any) -> None:
    options = _map(tmp_path, f"-- name: papers\nSELECT id AS source_id, {column} FROM input")
    path = _write_lines(tmp_path / "a.jsonl", {"id": "o"}, {"id": "p", "x": value}, {"id": "q"})
    staged, rejected = _stage("jsonl", path, options)
    assert [row["source_id"] for row in staged["papers"]] == ["o", "q"]
    assert rejected == [(2, "line 2", "invalid_value")]


def test_a_child_without_its_required_value_is_left_out_unless_the_mapping_says_required(
    tmp_path: Path,
) -> None:
    path = _write_lines(
        tmp_path / "a.jsonl", {"id": "p"}, {"id": "q", "doi": "10.1/a"}, {"id": "r", "doi": " "}
    )
    mapping = (
        "-- name: papers\nSELECT id AS source_id FROM input\n"
        "-- name: identifiers\nSELECT 'doi' AS scheme, {} AS identifier FROM input"
    )
    staged, rejected = _stage("jsonl", path, _map(tmp_path, mapping.format("doi")))
    assert rejected == []
    assert [row["source_id"] for row in staged["identifiers"]] == ["q"]
    staged, rejected = _stage("jsonl", path, _map(tmp_path, mapping.format("required(doi)")))
    assert rejected == [(1, "line 1", "missing_field"), (3, "line 3", "missing_field")]
    assert [row["source_id"] for row in staged["papers"]] == ["q"]


def test_a_mapping_says_which_records_it_takes_and_the_others_are_counted(tmp_path: Path) -> None:
    path = _write_lines(
        tmp_path / "a.jsonl",
        {"id": "p", "lang": "en", "year": "x"},
        {"id": "q", "lang": "de", "year": "x"},
        {"id": "r", "lang": "en"},
    )
    options = _map(
        tmp_path,
        "-- name: papers\nSELECT id AS source_id, CAST(year AS INTEGER) AS year FROM input WHERE lang = 'en'",
    )
    loader = find_loader("jsonl")
    (file,) = loader.find_files(path, options)
    (chunk,) = loader.read_chunks(file, options, 1)
    assert chunk.tables["papers"]["source_id"].to_pylist() == ["r"]
    assert [row.row_number for row in chunk.rejected] == [1]
    assert (chunk.rows_in, chunk.skipped) == (3, 1)


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
@pytest.mark.parametrize(
    "select",
    [
        "SELECT id AS source_id, string_agg(a->>'$', '; ') AS title "
        "FROM (SELECT id, unnest(CAST(authors AS JSON[])) AS a FROM input) GROUP BY id",
        "SELECT max(id) AS source_id, string_agg(a->>'$', '; ' ORDER BY n) AS title "
        "FROM input, unnest(CAST(authors AS JSON[])) WITH ORDINALITY AS t(a, n)",
        "WITH named AS (SELECT id, unnest(CAST(authors AS JSON[]))->>'$' AS a FROM input) "
        "SELECT any_value(id) AS source_id, string_agg(a, '; ') AS title FROM named",
        "SELECT id AS source_id, (SELECT string_agg(i.id, '; ') FROM input AS i) AS title FROM input "
        "WHERE row_number() OVER () = 1 LIMIT 1",
        "SELECT id AS source_id, count(*) OVER () AS title FROM input ORDER BY id LIMIT 1",
    ],
)
def test_a_select_sees_one_record_however_many_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, select: str
) -> None:
    people = [["Ada", "Grace"], ["Ada"], ["Z", "B", "A"], ["x"], ["y", "x"]]
    records = [{"id": f"p{number}", "authors": names} for number, names in enumerate(people)]
    path = _write_lines(tmp_path / "a.jsonl", *records)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", rows)
    select = select.replace("WHERE row_number() OVER () = 1", "QUALIFY row_number() OVER () = 1")
    staged, rejected = _stage("jsonl", path, _map(tmp_path, f"-- name: papers\n{select}"))
    assert rejected == []
    assert [row["source_id"] for row in staged["papers"]] == [record["id"] for record in records]
    titles = [row["title"] for row in staged["papers"]]
    if "unnest" in select:
        assert titles == ["; ".join(names) for names in people]
    else:
        assert titles == ([record["id"] for record in records] if "(SELECT" in select else ["1"] * 5)


def test_an_item_reaches_back_to_its_record(tmp_path: Path) -> None:
    path = _write_lines(
        tmp_path / "a.jsonl", {"q": "q1", "by": "me", "found": [{"id": "p", "grade": 1}, {"id": "r"}]}
    )
    options = _map(
        tmp_path,
        """-- name: judgments
SELECT asked AS query_id, coalesce(assessed, 'me') AS assessor, f->>'id' AS source_id,
    coalesce(f->>'grade', '0') AS grade
FROM (SELECT q AS asked, "by" AS assessed, unnest(CAST(found AS JSON[])) AS f FROM input)
""",
    )
    staged, rejected = _stage("jsonl", path, options)
    assert rejected == []
    assert [
        (row["query_id"], row["source_id"], row["assessor"], row["grade"]) for row in staged["judgments"]
    ] == [
        ("q1", "p", "me", 1),
        ("q1", "r", "me", 0),
    ]


PAPERS = "-- name: papers\nSELECT id AS source_id FROM input\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "-- name: paper\nSELECT 1",
            r"there is no table 'paper' \(did you mean 'papers'\?\); known: papers, mentioned_papers,",
        ),
        (
            "-- name: papers\nSELECT id AS source_id, t AS titel FROM input",
            r"mapping\.sql: papers: there is no column 'titel' \(did you mean 'title'\?\); name what",
        ),
        (
            "-- name: papers\nSELECT t AS title FROM input",
            r"papers: the column source_id is required; expected",
        ),
        ("-- name: papers\nSELEC 1", r"papers: syntax error at or near \"SELEC\""),
        ("-- name: papers\n", r"papers: expected one SELECT, found 0 statements"),
        ("-- name: papers\nSELECT 1; SELECT 2", r"papers: expected one SELECT, found 2 statements"),
        (
            "-- name: papers\nSELECT * FROM input",
            r"papers: JSON Lines have no list of columns for \*; name the keys",
        ),
        ("-- name: papers\nSELECT a.id AS source_id FROM input AS b", r"papers: .*a"),
        ("-- name: papers\nSELECT id AS source_id FROM papers", r"papers: .*the records are called input"),
        (
            "-- name: papers\nSELECT nofunction(id) AS source_id FROM input",
            r"papers: Scalar Function with name nofunction does not exist",
        ),
        (
            "-- name: papers\nSELECT record.id AS source_id FROM input",
            r"papers: .*reach into JSON with column->>'key'",
        ),
        (
            "-- name: papers\nSELECT CAST(id AS JSON[]) AS source_id FROM input",
            r"papers: source_id: expected a text, found JSON\[\]; array_to_string",
        ),
        (
            "-- name: papers\nSELECT id AS source_id, true AS title FROM input",
            r"papers: title: expected a text, found BOOLEAN; write CAST",
        ),
        (
            "-- name: papers\nSELECT id AS source_id, DATE '2019-01-01' AS year FROM input",
            r"papers: year: expected a whole number, found DATE; year\(year\) is the year of a date",
        ),
        (
            "-- name: papers\nSELECT title AS source_id, id AS title, title AS venue FROM input",
            r"papers: title is a column that the SELECT makes, and may be a key .*; write input\.title",
        ),
        (
            PAPERS + "-- name: authorships\nSELECT a AS author_name FROM input, unnest(x::VARCHAR[]) AS t(a)",
            r"authorships: rows have an order only in a plain SELECT .*; expected the column position",
        ),
        (PAPERS + "-- name: labels\nSELECT l AS label FROM input", "labels: the column task is required"),
        (PAPERS + "-- name: labels\nSELECT 't' AS task FROM input", "labels: the column label is required"),
        (
            "-- name: fields\nSELECT x AS field, 'y' AS assigned_by FROM input",
            r"fields: its rows belong to the record's paper; add a block papers",
        ),
        (
            "-- name: labels\nSELECT 't' AS task, x AS label FROM input",
            r"labels: the column source_id is required",
        ),
        (
            "-- name: citations\nSELECT x AS reference_key FROM input",
            r"citations: the column citing_source_id is required",
        ),
        ("-- name: csv\nSELECT ';;' AS delimiter\n" + PAPERS, r"csv\.delimiter: expected one character"),
        ("-- name: csv\nSELECT 1 AS delimiter\n" + PAPERS, r"csv\.delimiter: expected str, found 1"),
        (
            "-- name: csv\nSELECT 'utf-16' AS encoding\n" + PAPERS,
            r"csv\.encoding: expected an encoding that extends",
        ),
        ("-- name: csv\nSELECT ['a', ''] AS columns\n" + PAPERS, r"csv\.columns: expected a list of names"),
        (
            "-- name: corpus\nSELECT 'x' AS nmae\n" + PAPERS,
            r"corpus has no column 'nmae' \(did you mean 'name'\?\)",
        ),
        (
            "-- name: corpus\nSELECT 'x' AS name\n-- name: corpus\nSELECT 'y' AS name\n" + PAPERS,
            "it comes twice",
        ),
        ("-- name: corpus\nSELECT name FROM input\n" + PAPERS, r"corpus: .*input"),
        ("-- name: corpus\nSELECT unnest(['a', 'b']) AS name\n" + PAPERS, r"expected a SELECT of constants"),
        ("-- name: corpus\nSELECT 'x' AS name", r"it maps nothing: expected a block such as"),
        ("", r"it maps nothing: expected a block such as"),
        ("SELECT id AS source_id FROM input", r"expected '-- name: TABLE' before the first SELECT"),
        (
            '[papers]\nsource_id = "id"\n[labels]\ntask = "t"',
            r"(?s)is TOML; a mapping is a file of SELECTs now.*papers, labels.*The manual.* shows each key",
        ),
    ],
)
def test_a_wrong_mapping_is_refused_by_the_name_of_its_block(tmp_path: Path, text: str, message: str) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=message):
        stage_all("jsonl", path, _map(tmp_path, text))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT content AS source_id FROM read_text('{0}')",
        "SELECT * FROM read_csv('{0}')",
        "SELECT * FROM '{0}'",
        "SELECT file AS source_id FROM glob('{0}')",
        "SELECT (SELECT content FROM read_text('{0}')) AS source_id FROM input",
        "SELECT secret AS source_id FROM secret_table",
        "SELECT * FROM input; COPY input TO '{0}'",
        "COPY input TO '{0}'",
        "ATTACH '{0}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA version",
        "SET threads = 3",
        "CREATE TABLE t AS SELECT 1",
        "DROP TABLE input",
        "INSERT INTO input VALUES (1)",
        "SELECT getenv('HOME') AS source_id FROM input",
    ],
)
def test_a_mapping_reads_its_records_and_nothing_else(tmp_path: Path, sql: str) -> None:
    secret_table = pa.table({"secret": ["x"]})  # what DuckDB would find by the name of a Python variable
    outside = tmp_path / "outside.csv"
    outside.write_text("source_id\nsecret\n", encoding="utf-8")
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=r"the mapping mapping\.sql: papers: "):
        stage_all("jsonl", path, _map(tmp_path, f"-- name: papers\n{sql.format(outside)}"))
    assert outside.read_text(encoding="utf-8") == "source_id\nsecret\n"
    assert len(secret_table) == 1


def test_a_mapping_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=r"the mapping .*absent\.sql cannot be read: No such file"):
        stage_all("jsonl", path, {"mapping": str(tmp_path / "absent.sql")})


def test_a_dialect_of_csv_is_refused_for_other_formats(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=r"csv is for the loader csv, not jsonl"):
        stage_all("jsonl", path, _map(tmp_path, "-- name: csv\nSELECT ';' AS delimiter\n" + PAPERS))


def test_a_column_that_the_file_lacks_is_refused_with_the_closest(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,title\n1,x\n", encoding="utf-8")
    message = r"no column 'titel', which .* names in papers \(did you mean 'title'\?\); its columns are key"
    mapping = "-- name: papers\nSELECT key AS source_id, titel AS title FROM input\n"
    with pytest.raises(InputError, match=message):
        stage_all("csv", tmp_path / "a.csv", _map(tmp_path, mapping))
    staged, _ = _stage(
        "csv",
        tmp_path / "a.csv",
        _map(tmp_path, mapping + "-- name: defaults\nSELECT NULL AS titel, 'x' AS title"),
    )
    assert staged["papers"] == [{"row_number": 1, "source_id": "1"}]


def test_values_of_parquet_become_texts_and_numbers(tmp_path: Path) -> None:
    rows = {
        "id": pa.array([1, 2], pa.int64()),
        "year": pa.array([2019.0, float("nan")], pa.float64()),
        "day": pa.array([datetime.date(2019, 5, 3), None], pa.date32()),
        "count": pa.array([Decimal("12"), None], pa.decimal128(5, 0)),
        "raw": pa.array([b"caf\xc3\xa9", b"x"], pa.binary()),
        "ids": pa.array([[("DOI", "10.1/A")], []], pa.map_(pa.string(), pa.string())),
        "unread": pa.array([None, None], pa.null()),
    }
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    options = _map(
        tmp_path,
        """-- name: papers
SELECT id AS source_id, raw AS title, year, "day" AS venue, count AS citation_count FROM input
-- name: identifiers
SELECT lower(entry.key) AS scheme, entry.value AS identifier
FROM (SELECT unnest(map_entries(ids)) AS entry FROM input)
""",
    )
    staged, rejected = _stage("parquet", tmp_path / "a.parquet", options)
    assert rejected == []
    assert staged["papers"] == [
        {
            "row_number": 1,
            "source_id": "1",
            "title": "café",
            "year": 2019,
            "venue": "2019-05-03",
            "citation_count": 12,
        },
        {"row_number": 2, "source_id": "2", "title": "x"},
    ]
    assert staged["identifiers"] == [
        {"row_number": 1, "source_id": "1", "scheme": "doi", "identifier": "10.1/a"}
    ]


def test_what_is_accepted_does_not_depend_on_what_python_can_hold(tmp_path: Path) -> None:
    nanoseconds = pa.array([1, 1_000, 2], pa.int64()).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"source_id": ["a", "b", "c"], "venue": nanoseconds}), tmp_path / "a.parquet")
    staged, rejected = _stage("parquet", tmp_path / "a.parquet")
    assert rejected == []
    assert [row["venue"] for row in staged["papers"]] == [
        "1970-01-01T00:00:00.000000001",
        "1970-01-01T00:00:00.000001",
        "1970-01-01T00:00:00.000000002",
    ]


def test_a_text_of_parquet_that_is_no_unicode_rejects_its_row_alone(tmp_path: Path) -> None:
    titles = pa.array([b"a", b"caf\xe9", b"c"]).view(pa.string())
    pq.write_table(pa.table({"source_id": ["a", "b", "c"], "title": titles}), tmp_path / "a.parquet")
    staged, rejected = _stage("parquet", tmp_path / "a.parquet")
    assert [row["source_id"] for row in staged["papers"]] == ["a", "c"]
    assert rejected == [(2, "row 2", "invalid_value")]


def test_a_list_that_python_cannot_hold_is_accepted(tmp_path: Path) -> None:
    times = pa.array([[1], [1_000, 2_000]], pa.list_(pa.timestamp("ns")))
    pq.write_table(pa.table({"source_id": ["a", "b"], "times": times}), tmp_path / "a.parquet")
    select = "SELECT source_id, array_to_string(times, ' ') AS venue FROM input"
    staged, rejected = _stage("parquet", tmp_path / "a.parquet", _map(tmp_path, f"-- name: papers\n{select}"))
    assert rejected == []
    assert [row["venue"] for row in staged["papers"]] == [
        "1970-01-01 00:00:00.000000001",
        "1970-01-01 00:00:00.000001 1970-01-01 00:00:00.000002",
    ]


def test_only_the_mapped_columns_of_parquet_are_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source_id": ["a", None], "embedding": [[0.5], [0.25]]}), tmp_path / "a.parquet")
    _, rejected = stage_all("parquet", tmp_path / "a.parquet")
    assert [row.raw for row in rejected] == ['{"source_id":null}']


def test_shards_of_partitioned_folders_are_read_by_name_and_give_their_columns(tmp_path: Path) -> None:
    for year, name in (("2020", "b"), ("2019", "a"), ("__HIVE_DEFAULT_PARTITION__", "c")):
        folder = tmp_path / f"year={year}" / "venue=ACL%20x"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"source_id": [name]}), folder / "part-0.parquet")
        (folder / "_SUCCESS").touch()
        (folder / ".part-0.parquet.crc").touch()
    found = find_loader("parquet").find_files(tmp_path, {})
    assert [file.name for file in found] == [
        "year=2019/venue=ACL%20x/part-0.parquet",
        "year=2020/venue=ACL%20x/part-0.parquet",
        "year=__HIVE_DEFAULT_PARTITION__/venue=ACL%20x/part-0.parquet",
    ]
    staged, rejected = _stage("parquet", tmp_path)
    assert rejected == []
    assert staged["papers"] == [
        {"row_number": 1, "source_id": "a", "year": 2019, "venue": "ACL x"},
        {"row_number": 1, "source_id": "b", "year": 2020, "venue": "ACL x"},
        {"row_number": 1, "source_id": "c", "venue": "ACL x"},
    ]


def test_a_glob_gives_its_files_by_name_and_an_empty_one_is_refused(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.tsv"):
        (tmp_path / name).write_text("source_id\nx\n", encoding="utf-8")
    loader = find_loader("csv")
    assert [file.name for file in loader.find_files(tmp_path / "*.csv", {})] == ["a.csv", "b.csv"]
    assert [file.name for file in loader.find_files(tmp_path, {})] == ["a.csv", "b.csv", "c.tsv"]
    with pytest.raises(InputError, match="gives no file"):
        loader.find_files(tmp_path / "*.parquet", {})
    with pytest.raises(InputError, match="there is no file or folder"):
        loader.find_files(tmp_path / "absent", {})


def test_a_changed_mapping_is_another_digest_and_none_is_the_files_own(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    find = find_loader("jsonl").find_files
    one = _map(tmp_path, PAPERS)
    first = [file.digest for file in find(path, one)]
    assert first == [file.digest for file in find(path, one)]
    changed = [
        file.digest for file in find(path, _map(tmp_path, PAPERS.replace("FROM", ", t AS title FROM")))
    ]
    assert None not in (*first, *changed)
    assert first != changed
    assert [file.digest for file in find(path, {})] == [None]


def test_a_file_owns_what_its_mapping_says_and_no_more(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p", "abstract": "A", "doi": "10.1/a"})
    loader = find_loader("jsonl")
    mapping = """-- name: papers
SELECT id AS source_id, abstract FROM input
-- name: identifiers
SELECT 'doi' AS scheme, doi AS identifier FROM input
"""
    (file,) = loader.find_files(path, _map(tmp_path, mapping))
    assert file.role == "papers(abstract,identifiers)"
    assert loader.describes(file.role) == {"abstract", "identifiers"}
    (judged,) = loader.find_files(path, {"table": "judgments"})
    assert (judged.role, loader.describes(judged.role)) == ("judgments", frozenset())
    (whole,) = loader.find_files(path, {})
    assert loader.describes(whole.role) == WHOLE_PAPER
    csv = tmp_path / "a.csv"
    csv.write_text("source_id,title\na,b\n", encoding="utf-8")
    (titles,) = find_loader("csv").find_files(csv, {})
    assert find_loader("csv").describes(titles.role) == {"title"}


def test_files_of_bad_records_alone_give_them_all_back(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source_id,title\n1\n2\n", encoding="utf-8")
    assert [row[2] for row in _stage("csv", tmp_path / "a.csv")[1]] == ["malformed_line"] * 2
    (tmp_path / "a.jsonl").write_text("{\n[]\n", encoding="utf-8")
    assert [row[2] for row in _stage("jsonl", tmp_path / "a.jsonl")[1]] == ["not_json", "not_an_object"]
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    options = _map(tmp_path, "-- name: papers\nSELECT NULL AS source_id FROM input")
    assert [row[2] for row in _stage("parquet", tmp_path / "a.parquet", options)[1]] == ["missing_field"] * 2


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"a\.parquet is no Parquet file, or is damaged"):
        stage_all("parquet", tmp_path)


_SETTINGS = settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
_CSV = b'key,title,authors,year\n1,"A, ""b""","x; y",2019\n2,"two\nlines",,\n3,c,z,1999\n'
_CSV_MAPPING = """
-- name: papers
SELECT key AS source_id, title, year FROM input
-- name: authorships
SELECT unnest(string_split(authors, ';')) AS author_name FROM input
"""


@pytest.mark.parametrize(
    ("is_bad", "most_runs"),
    [
        (lambda _number: False, 1),
        (lambda number: number == 700, 25),
        (lambda number: number % 100 == 7, 250),
        (lambda number: number % 5 == 0, 1_100),
        (lambda number: number % 2 == 0, 1_600),
        (lambda number: number > 500, 600),
        (lambda _number: True, 1_100),
    ],
)
def test_bad_records_are_found_in_few_runs(is_bad: Callable[[int], bool], most_runs: int) -> None:
    runs = 0
    rejected: list[int] = []

    def run(part: pa.Table) -> pa.Table:
        nonlocal runs
        runs += 1
        if any(map(is_bad, part[RECORD].to_pylist())):
            raise ValueError
        return part

    records = pa.table({RECORD: pa.array(range(1_000), pa.int64())})
    parts = list(run_apart(records, run, (ValueError,), lambda number, _error: rejected.append(number)))
    assert rejected == [number for number in range(1_000) if is_bad(number)]
    kept = [number for part in parts for number in part[RECORD].to_pylist()]
    assert kept == [number for number in range(1_000) if not is_bad(number)]
    assert runs <= most_runs


def test_a_record_that_one_select_rejects_is_not_given_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []

    def count(records: pa.Table, *rest: Any) -> Iterator[pa.Table]:
        given.append(records.num_rows)
        return run_apart(records, *rest)

    monkeypatch.setattr("pinakes.loaders.mapped.plan.run_apart", count)
    records = [{"record": {"key": f"k{number}"}, "people": "[[", "cites": "[["} for number in range(200)]
    source = _write_lines(tmp_path / "people.jsonl", *records)
    _, rejected = _stage("jsonl", source, {"mapping": str(EXAMPLE)})
    assert [number for number, _place, _reason in rejected] == list(range(1, 201))
    selects = read_mapping(EXAMPLE).blocks
    first = next(place for place, block in enumerate(selects) if "people" in block.sql)
    assert given == [200] * (first + 1) + [0] * (len(selects) - first - 1)


FORMS = pytest.mark.parametrize("forms", [6, long(50)])
"""damaged ones, each of which is read in a database of its own"""


@FORMS
def test_damaged_lines_lose_nothing(forms: int, tmp_path: Path) -> None:
    mapping = {"mapping": str(EXAMPLE)}
    lines = RECORDS.read_bytes()
    check_damage("jsonl", tmp_path / "a.jsonl", lines, (3, 2, 1), options=mapping, forms=forms)


@FORMS
def test_damaged_csv_loses_nothing(forms: int, tmp_path: Path) -> None:
    mapping = _map(tmp_path, _CSV_MAPPING)
    check_damage("csv", tmp_path / "a.csv", _CSV, (3, 3, 0), options=mapping, forms=forms)


def test_a_damaged_mapping_is_refused_or_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mapping.sql"
    check_damage(
        "jsonl", path, EXAMPLE.read_bytes(), (3, 2, 1), source=RECORDS, options={"mapping": str(path)}
    )


def _make_parquet() -> bytes:
    records = [orjson.loads(line) for line in RECORDS.read_bytes().splitlines()]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(records), sink, compression="none")
    data: bytes = sink.getvalue().to_pybytes()
    return data


@FORMS
def test_damaged_parquet_loses_nothing(forms: int, tmp_path: Path) -> None:
    mapping = _map(tmp_path, PARQUET_MAPPING)
    table = _make_parquet()
    check_damage("parquet", tmp_path / "a.parquet", table, (3, 2, 1), options=mapping, forms=forms)
