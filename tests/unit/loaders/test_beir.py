"""BEIR folders: what every record becomes."""

import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage, check_never_lost, mutations
from tests.loading import DATA, count_left_out, paper, stage_all, write_beir
from tests.real_data import REAL_DATA, needs_real_data


def test_a_folder_becomes_these_rows() -> None:
    staged, rejected = stage_all("beir", DATA / "beir")
    assert rejected == []
    assert staged == {
        "corpus.jsonl": {
            "papers": [
                {
                    "row_number": 1,
                    "source_id": "d1",
                    "title": "Graphs of citations",
                    "abstract": "Who cites whom.",
                    "year": 1999,
                },
                {"row_number": 2, "source_id": "d2", "abstract": "A paper without a title."},
                {
                    "row_number": 4,
                    "source_id": "d3",
                    "title": "A paper without an abstract",
                    "year": 2001,
                },
                {
                    "row_number": 5,
                    "source_id": "4",
                    "title": "Zażółć gęślą jaźń",
                    "abstract": "Ünïcode, 漢字 and 🎓.",
                },
                {"row_number": 6, "source_id": "d5"},
            ]
        },
        "queries.jsonl": {
            "queries": [
                {"row_number": 1, "query_id": "q1", "text": "who cites whom"},
                {"row_number": 2, "query_id": "q2", "text": "unicode"},
            ]
        },
        "qrels/dev.tsv": {"judgments": [_judgment(1, "q1", "d3", 1, "dev")]},
        "qrels/test.tsv": {
            "judgments": [
                _judgment(2, "q1", "d1", 2, "test"),
                _judgment(3, "q1", "d2", 0, "test"),
                _judgment(4, "q2", "4", 1, "test"),
            ]
        },
    }


@pytest.mark.parametrize("top", ["", "beir/"])
def test_an_archive_becomes_the_rows_of_its_folder(tmp_path: Path, top: str) -> None:
    path = tmp_path / "beir.zip"
    names = sorted(file.relative_to(DATA / "beir").as_posix() for file in (DATA / "beir").rglob("*.*"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.write(DATA / "beir" / name, f"{top}{name}")
    assert stage_all("beir", path) == stage_all("beir", DATA / "beir")
    assert find_loader("beir").describe_corpus(path, {}).name == "beir"


@pytest.mark.parametrize(
    "names", [(), ("corpus.jsonl",), ("a/corpus.jsonl", "b/corpus.jsonl", "queries.jsonl")]
)
def test_an_archive_that_is_no_single_corpus_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = tmp_path / "beir.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    with pytest.raises(InputError, match="is no BEIR archive; expected one corpus"):
        find_loader("beir").find_files(path, {})


def _judgment(row_number: int, query_id: str, source_id: str, grade: int, split: str) -> dict[str, object]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": split,
        "grade": grade,
    }


def test_the_corpus_is_named_after_the_folder() -> None:
    assert find_loader("beir").describe_corpus(DATA / "beir", {}).name == "beir"


@needs_real_data
def test_scifact_has_its_published_records() -> None:
    staged, rejected = stage_all("beir", REAL_DATA / "scifact")
    assert rejected == []
    papers = staged["corpus.jsonl.gz"]["papers"]
    assert [len(papers), papers[0]["source_id"], papers[9]["source_id"], papers[-1]["source_id"]] == [
        5183,
        "4983",
        "70490",
        "198309074",
    ]
    assert papers[9]["title"] == "Simplifying likelihood ratios"
    assert [papers[0]["year"], papers[9]["year"], papers[-1]["year"]] == [1998, 2002, 2014]
    queries = staged["queries.jsonl"]["queries"]
    assert len(queries) == 1109
    assert queries[0] == {
        "row_number": 1,
        "query_id": "0",
        "text": "0-dimensional biomaterials lack inductive properties.",
    }
    assert [queries[9]["query_id"], queries[-1]["query_id"]] == ["15", "1395"]
    test, train = staged["qrels/test.tsv"]["judgments"], staged["qrels/train.tsv"]["judgments"]
    assert [len(test), test[0], test[9], test[-1]] == [
        339,
        _judgment(2, "1", "31715818", 1, "test"),
        _judgment(11, "50", "12580014", 1, "test"),
        _judgment(340, "1395", "17717391", 1, "test"),
    ]
    assert [len(train), train[0], train[9], train[-1]] == [
        919,
        _judgment(2, "0", "31715818", 1, "train"),
        _judgment(11, "15", "22080671", 1, "train"),
        _judgment(920, "1407", "29863668", 1, "train"),
    ]


@pytest.mark.parametrize(
    ("line", "reason", "message"),
    [
        (b'{"title": "no id"}', "missing_field", "no _id"),
        (b'{"_id": " ", "title": "blank id"}', "missing_field", "no _id"),
        (b'["_id"]', "not_an_object", "a JSON list, expected an object"),
        (b'{"_id": "x"', "not_json", None),
        (b'{"_id": "x", "title": "\xe9"}', "invalid_utf8", "byte 24 is not UTF-8"),
        (b'{"_id": "x", "title": "a\\u0000b"}', "invalid_value", "title holds a NUL character"),
        (b'{"_id": "x", "title": "\\ud800"}', "not_json", None),
        (b'{"_id": "x", "title": ["T"]}', "invalid_value", "expected a text, found ['T']"),
        (b'{"_id": true}', "invalid_value", "_id: expected a text, found True"),
        (
            b'{"_id": "p1", "title": "again"}',
            "duplicate_id",
            "an earlier record of the same file has the same id: p1",
        ),
    ],
)
def test_a_bad_paper_is_rejected_with_its_reason_and_raw_text(
    tmp_path: Path, line: bytes, reason: str, message: str | None
) -> None:
    folder = write_beir(tmp_path, [paper(1), line, paper(2)])
    staged, rejected = stage_all("beir", folder)
    assert [row["source_id"] for row in staged["corpus.jsonl"]["papers"]] == ["p1", "p2"]
    raw = line.decode("utf-8", "backslashreplace")
    assert [(row.row_number, row.location, row.reason, row.raw) for row in rejected] == [
        (2, "line 2", reason, raw)
    ]
    # What is wrong with JSON is said in orjson's words.
    assert rejected[0].message == message if message else "line 1 column" in rejected[0].message


def test_a_query_without_a_text_is_rejected(tmp_path: Path) -> None:
    folder = write_beir(tmp_path, [])
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": " "}\n')
    _, rejected = stage_all("beir", folder)
    assert [(row.reason, row.message) for row in rejected] == [("missing_field", "no _id or no text")]


@pytest.mark.parametrize(
    ("year", "expected", "left_out"),
    [
        ("in press", None, 1),
        ("9" * 5_000, None, 1),
        (3_000_000_000, None, 1),
        (-5, None, 1),
        (99_999, None, 1),
        ([2001], None, 1),
        ("", None, 0),
        (0, None, 0),
        ("0000", None, 0),
        (2001.0, 2001, 0),
        (" 2001 ", 2001, 0),
        ("2001", 2001, 0),
    ],
)
@pytest.mark.parametrize("other", [1999, "1999"])
def test_a_year_that_is_none_is_left_out_and_costs_no_paper(
    tmp_path: Path, year: object, expected: int | None, left_out: int, other: object
) -> None:
    folder = write_beir(
        tmp_path, [paper(1, metadata={"year": year}), paper(2, metadata={"year": other}), paper(3)]
    )
    staged, rejected = stage_all("beir", folder)
    assert [row.get("year") for row in staged["corpus.jsonl"]["papers"]] == [expected, 1999, None]
    assert rejected == []
    counted = {("field metadata.year", "invalid"): left_out} if left_out else {}
    assert count_left_out("beir", folder) == counted


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a folder; expected one with corpus\.jsonl"):
        find_loader("beir").find_files(tmp_path / "nowhere", {})


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_beir(tmp_path, []) / name).unlink()
    with pytest.raises(InputError, match=f"has no {name} and no {name}.gz"):
        find_loader("beir").find_files(tmp_path, {})


def _zip_folder(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((DATA / "beir").rglob("*.*")):
            archive.write(file, file.relative_to(DATA).as_posix())
    return path.read_bytes()


def test_of_a_damaged_archive_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "beir.zip"
    check_damage("beir", path, _zip_folder(path), (11, 11, 0))


@settings(max_examples=50)
@given(data=mutations((DATA / "beir" / "corpus.jsonl").read_bytes()))
def test_of_a_damaged_corpus_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = write_beir(tmp_path_factory.mktemp("damaged"), [])
    (folder / "corpus.jsonl").write_bytes(data)
    rows_in, accepted, rejected = check_never_lost("beir", folder)
    assert rows_in == accepted + rejected == sum(1 for line in data.split(b"\n") if line.strip()) + 1
