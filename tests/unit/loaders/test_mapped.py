"""Anybody's CSV, JSON Lines and Parquet: paths, changes on the way, what is owed, and shards."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, settings

from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders.base import WHOLE_PAPER
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all

EXAMPLE = DATA / "mapped" / "library.toml"
RECORDS = DATA / "mapped" / "library.jsonl"


def _map(folder: Path, text: str) -> dict[str, str]:
    path = folder / "mapping.toml"
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


def test_the_same_records_as_parquet_give_the_same_rows(tmp_path: Path) -> None:
    records = [orjson.loads(line) for line in RECORDS.read_bytes().splitlines()]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "library.parquet")
    staged, rejected = _stage("parquet", tmp_path / "library.parquet", {"mapping": str(EXAMPLE)})
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
    with pytest.raises(UnknownNameError, match="unknown table 'judgements'; known: authorships, citations"):
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
        [csv]
        delimiter = "|"
        encoding = "latin-1"
        quoted = false
        columns = ["Nr.", "Titel", "Autoren"]
        [papers]
        source_id = "Nr."
        title = "Titel"
        [authorships]
        each = "Autoren"
        separator = ";"
        author_name = "."
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


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ('title = "x"', "  padded ", "padded"),
        ('title = "x"', 12, "12"),
        ('title = { from = "x", join = " " }', ["One.", None, " Two. "], "One. Two."),
        ('title = { from = "x.name", join = ", " }', [{"name": "a"}, {}, {"name": "b"}], "a, b"),
        ('title = "x.1.name"', [{"name": "a"}, {"name": "b"}], "b"),
        ('title = { from = "x", split = "/", part = -1 }', "a/b/c", "c"),
        ('title = { from = "x", split = "/", part = 3 }', "a/b/c", None),
        ('title = { from = "x", pattern = "no. ([0-9]+)" }', "see no. 12.", "12"),
        ('title = { from = "x", map = { a = "Alpha" } }', "a", "Alpha"),
        ('title = { from = "x", map = { a = "Alpha" } }', "b", "b"),
        ('title = { from = "x", prefix = "lib:" }', "7", "lib:7"),
        ('title = { from = "x", prefix = "lib:" }', "", None),
        ('title = { from = "x", normalise = "title" }', "On Catalogues!", "oncatalogues"),
        ('title = { from = "x", missing = ["NA", 0] }', "NA", None),
        ('title = { from = "x", missing = ["NA", 0] }', 0, None),
        ('title = { from = "x", value = "none" }', None, "none"),
        ('title = { from = ["y", "x"], value = "none" }', "there", "there"),
        ('title = { value = "always" }', "x", "always"),
        ("title = 7", "x", "7"),
        ('year = { from = "x", split = "-" }', "2019-05-03", 2019),
        ('year = "x"', "0", None),
        ('citation_count = "x"', "1204", 1204),
        ('citation_count = "x"', 3.0, 3),
    ],
)
def test_a_column_takes_what_the_mapping_makes_of_a_value(
    tmp_path: Path, column: str, value: Any, expected: Any
) -> None:
    options = _map(tmp_path, f'[papers]\nsource_id = "id"\n{column}\n')
    staged, rejected = _stage("jsonl", _write_lines(tmp_path / "a.jsonl", {"id": "p", "x": value}), options)
    name = column.split(" ")[0]
    assert rejected == []
    assert [row.get(name) for row in staged["papers"]] == [expected]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ('title = "x"', ["a"]),
        ('title = "x"', {"a": 1}),
        ('title = "x"', True),
        ('title = { from = "x", join = " " }', [["a"]]),
        ('title = { from = "x", pattern = "^[0-9]+$" }', "twelve"),
        ('year = "x"', "in press"),
        ('citation_count = "x"', 2.5),
        ('citation_count = "x"', 2**40),
    ],
)
def test_a_value_of_the_wrong_type_rejects_its_record(tmp_path: Path, column: str, value: Any) -> None:
    options = _map(tmp_path, f'[papers]\nsource_id = "id"\n{column}\n')
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p", "x": value}, {"id": "q"})
    staged, rejected = _stage("jsonl", path, options)
    assert [row["source_id"] for row in staged["papers"]] == ["q"]
    assert rejected == [(1, "line 1", "invalid_value")]


def test_a_child_without_its_obligatory_value_is_left_out_unless_required(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"}, {"id": "q", "doi": "10.1/a"})
    mapping = '[papers]\nsource_id = "id"\n[identifiers]\nscheme = {{ value = "doi" }}\nidentifier = {}\n'
    staged, rejected = _stage("jsonl", path, _map(tmp_path, mapping.format('"doi"')))
    assert rejected == []
    assert [row["source_id"] for row in staged["identifiers"]] == ["q"]
    required = mapping.format('{ from = "doi", required = true }')
    staged, rejected = _stage("jsonl", path, _map(tmp_path, required))
    assert rejected == [(1, "line 1", "missing_field")]
    assert [row["source_id"] for row in staged["papers"]] == ["q"]


def test_an_item_reaches_back_to_its_record(tmp_path: Path) -> None:
    path = _write_lines(
        tmp_path / "a.jsonl", {"q": "q1", "by": "me", "found": [{"id": "p", "grade": 1}, {"id": "r"}]}
    )
    options = _map(
        tmp_path,
        """
        [judgments]
        each = "found"
        query_id = "$.q"
        assessor = "$.by"
        source_id = "id"
        grade = { from = "grade", value = 0 }
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[paper]", r"there is no key 'paper' \(did you mean 'papers'\?\); known: papers, mentioned_papers,"),
        (
            '[papers]\nsource_id = "x"\ntitel = "y"',
            r"papers has no key 'titel' \(did you mean 'title'\?\); known",
        ),
        (
            '[papers]\nsource_id = { form = "x" }',
            r"papers\.source_id has no key 'form' \(did you mean 'from'\?\)",
        ),
        ('[papers]\ntitle = "x"', "papers: the column source_id is owed; say where it comes from"),
        ('[papers]\nsource_id = ""', r"papers\.source_id: expected a path, a number or a table such as"),
        ('[papers]\nsource_id = { prefix = "a" }', r"papers\.source_id: expected from, value or both"),
        (
            "[papers]\nsource_id = { from = [1] }",
            r"papers\.source_id\.from: expected a path or a list of paths",
        ),
        ('[papers]\nsource_id = { from = "a", part = 1 }', r"source_id\.part: expected split beside it"),
        ('[papers]\nsource_id = { from = "a", part = true }', r"source_id\.part: expected int, found True"),
        ('[papers]\nsource_id = { from = "a", pattern = "(" }', r"pattern: it is no regular expression"),
        ('[papers]\nsource_id = { from = "a", normalise = "DOI" }', r"has no key 'DOI'.*known: title, doi"),
        (
            '[papers]\nsource_id = { from = "a", map = { x = [] } }',
            r"map: expected texts or numbers as values",
        ),
        (
            '[papers]\nsource_id = "a"\nseparator = ";"',
            r"papers\.separator: expected a text, and each beside it",
        ),
        ('[papers]\nsource_id = "a"\n[labels]\nlabel = "x"', "labels: the column task is owed"),
        ('[papers]\nsource_id = "a"\n[labels]\ntask = "x"', "labels: the column label is owed"),
        (
            '[fields]\nfield = "x"\nassigned_by = "y"',
            r"fields: its rows hang on the record's paper; map \[papers\]",
        ),
        ('[labels]\ntask = "t"\nlabel = "x"', r"labels: without \[papers\], source_id is owed"),
        ('[citations]\nreference_key = "x"', r"citations: without \[papers\], citing_source_id is owed"),
        ("papers = 3", r"papers: expected a table \[papers\] or several \[\[papers\]\]"),
        ('missing = "NA"', "missing: expected a list of texts or numbers"),
        ('[csv]\ndelimiter = ";;"\n[papers]\nsource_id = "a"', r"csv\.delimiter: expected one character"),
        (
            '[csv]\nencoding = "utf-16"\n[papers]\nsource_id = "a"',
            r"csv\.encoding: expected an encoding that extends",
        ),
        (
            '[corpus]\nnmae = "x"\n[papers]\nsource_id = "a"',
            r"corpus has no key 'nmae' \(did you mean 'name'\?\)",
        ),
        ('[corpus]\nname = "x"', r"it maps nothing: expected a table such as \[papers\]"),
        ("papers]", "is not TOML"),
        ('[papers]\nsource_id = "a"\nyear = true', r"papers\.year: year: expected a year, found True"),
        (f'[papers]\nsource_id = "a"\nyear = {"9" * 5_000}', "is not TOML"),
        ("x = " + "[" * 5_000, "is nested too deeply"),
    ],
)
def test_a_wrong_mapping_is_refused_by_the_name_of_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=message):
        stage_all("jsonl", path, _map(tmp_path, text))


def test_a_mapping_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=r"the mapping .*absent\.toml cannot be read: No such file"):
        stage_all("jsonl", path, {"mapping": str(tmp_path / "absent.toml")})


def test_a_dialect_of_csv_is_refused_for_other_formats(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p"})
    with pytest.raises(InputError, match=r"\[csv\] is for the loader csv, not jsonl"):
        stage_all("jsonl", path, _map(tmp_path, '[csv]\ndelimiter = ";"\n[papers]\nsource_id = "id"'))


def test_a_column_that_the_file_lacks_is_refused_with_the_closest(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,title\n1,x\n", encoding="utf-8")
    message = r"no column 'titel', which feeds papers\.title \(did you mean 'title'\?\); its columns are key"
    mapping = '[papers]\nsource_id = "key"\ntitle = {}'
    with pytest.raises(InputError, match=message):
        stage_all("csv", tmp_path / "a.csv", _map(tmp_path, mapping.format('"titel"')))
    optional = mapping.format('{ from = "titel", optional = true }')
    staged, _ = _stage("csv", tmp_path / "a.csv", _map(tmp_path, optional))
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
        """
        [papers]
        source_id = "id"
        title = "raw"
        year = "year"
        venue = "day"
        citation_count = "count"
        [[identifiers]]
        each = "ids"
        scheme = { from = "key", map = { DOI = "doi" } }
        identifier = "value"
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


def test_a_row_that_python_cannot_hold_is_rejected_alone(tmp_path: Path) -> None:
    nanoseconds = pa.array([1, 1_000, 2], pa.int64()).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"source_id": ["a", "b", "c"], "venue": nanoseconds}), tmp_path / "a.parquet")
    staged, rejected = _stage("parquet", tmp_path / "a.parquet")
    assert [row["source_id"] for row in staged["papers"]] == ["b"]
    assert rejected == [(1, "row 1", "invalid_value"), (3, "row 3", "invalid_value")]


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
    one = _map(tmp_path, '[papers]\nsource_id = "id"')
    first = [file.digest for file in find(path, one)]
    assert first == [file.digest for file in find(path, one)]
    changed = [file.digest for file in find(path, _map(tmp_path, '[papers]\nsource_id = "id"\ntitle = "t"'))]
    assert None not in (*first, *changed)
    assert first != changed
    assert [file.digest for file in find(path, {})] == [None]


def test_a_file_owns_what_its_mapping_says_and_no_more(tmp_path: Path) -> None:
    path = _write_lines(tmp_path / "a.jsonl", {"id": "p", "abstract": "A", "doi": "10.1/a"})
    loader = find_loader("jsonl")
    mapping = """
    [papers]
    source_id = "id"
    abstract = "abstract"
    [identifiers]
    scheme = { value = "doi" }
    identifier = "doi"
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


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"a\.parquet is no Parquet file, or is damaged"):
        stage_all("parquet", tmp_path)


_SETTINGS = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
_CSV = b'key,title,authors,year\n1,"A, ""b""","x; y",2019\n2,"two\nlines",,\n3,c,z,1999\n'
_CSV_MAPPING = """
[papers]
source_id = "key"
title = "title"
year = "year"
[authorships]
each = "authors"
separator = ";"
author_name = "."
"""


def test_damaged_lines_lose_nothing(tmp_path: Path) -> None:
    mapping = {"mapping": str(EXAMPLE)}
    check_damage("jsonl", tmp_path / "a.jsonl", RECORDS.read_bytes(), (3, 2, 1), options=mapping)


def test_damaged_csv_loses_nothing(tmp_path: Path) -> None:
    check_damage("csv", tmp_path / "a.csv", _CSV, (3, 3, 0), options=_map(tmp_path, _CSV_MAPPING))


def test_a_damaged_mapping_is_refused_or_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mapping.toml"
    check_damage(
        "jsonl", path, EXAMPLE.read_bytes(), (3, 2, 1), source=RECORDS, options={"mapping": str(path)}
    )


def _make_parquet() -> bytes:
    records = [orjson.loads(line) for line in RECORDS.read_bytes().splitlines()]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(records), sink, compression="none")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def test_damaged_parquet_loses_nothing(tmp_path: Path) -> None:
    mapping = {"mapping": str(EXAMPLE)}
    check_damage("parquet", tmp_path / "a.parquet", _make_parquet(), (3, 2, 1), options=mapping)
