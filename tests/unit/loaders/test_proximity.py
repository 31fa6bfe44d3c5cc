"""What loaders of benchmark collections share: finding files, ids, grades, qrels of a task."""

from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.rows import describe_paper, list_authorships, list_identifiers
from pinakes.loaders.reading.proximity import read_task_qrels
from pinakes.loaders.reading.values import take_grade, take_id, take_ids
from pinakes.loaders.reading.finding import find_roles, list_files, name_split
from pinakes.loaders.staging import Accepted, RecordError


def test_files_come_in_the_order_of_their_names_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.json", "a/c.json", ".hidden/d.json", "a/._c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [name for name, _ in list_files(tmp_path, "files")] == ["a/c.json", "b.json"]
    assert list_files(tmp_path / "b.json", "files") == [("b.json", tmp_path / "b.json")]


def test_roles_are_told_by_the_name_without_its_compression(tmp_path: Path) -> None:
    for name in ("x.JSON.gz", "y.tsv", "z.txt"):
        (tmp_path / name).touch()
    roles = {".json": "judgments", ".tsv": "papers"}
    found = find_roles(tmp_path, lambda name: roles.get(Path(name).suffix), "files", ("papers", "judgments"))
    assert [(file.name, file.role) for file in found] == [("y.tsv", "papers"), ("x.JSON.gz", "judgments")]


def test_a_source_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file or folder .*; expected golden\.json"):
        list_files(tmp_path / "nowhere", "golden.json")
    with pytest.raises(InputError, match=r"holds none of the files that were expected: golden\.json"):
        find_roles(tmp_path, lambda _: "papers", "golden.json", ("papers",))


def test_a_split_is_said_by_the_files_own_name() -> None:
    names = ("fos/train.jsonl", "mdcr_val.json", "test_hard_qrel.jsonl", "train/meta.jsonl")
    assert [name_split(name, "all") for name in names] == ["train", "dev", "test", "all"]


def test_an_id_is_the_first_that_is_there_and_never_a_broken_number() -> None:
    assert take_id({"a": None, "b": " x "}, "a", "b") == "x"
    assert take_id({"a": 12.0}, "a") == "12"
    assert take_ids({"a": [1, "2", 1]}, "a") == ["1", "2"]
    with pytest.raises(RecordError, match="no a and no b"):
        take_id({"a": ""}, "a", "b")
    with pytest.raises(RecordError, match=r"a: expected an id, found 1\.5"):
        take_id({"a": 1.5}, "a")
    with pytest.raises(RecordError, match="a: expected a text, found"):
        take_id({"a": ["x"]}, "a")


def test_a_grade_is_a_whole_number_that_is_expected() -> None:
    assert [take_grade(value) for value in (2, "1", 3.0)] == [2, 1, 3]
    with pytest.raises(RecordError, match="no grade"):
        take_grade(None)
    with pytest.raises(RecordError, match="grade: expected a whole number"):
        take_grade(0.5)


def test_papers_authors_and_identifiers_become_rows() -> None:
    record = {"title": " T ", "abstract": "", "year": "2020.0", "venue": "V"}
    assert describe_paper("p", record) == {
        "source_id": "p",
        "title": "T",
        "abstract": None,
        "year": 2020,
        "venue": "V",
    }
    assert list_authorships("p", ["A", " ", "B"]) == [
        {"source_id": "p", "position": 1, "author_source_id": "name:A", "author_name": "A"},
        {"source_id": "p", "position": 2, "author_source_id": "name:B", "author_name": "B"},
    ]
    assert list_identifiers("p", {"doi": "https://doi.org/10.1/X", "mag": None, "corpus": 7}) == [
        {"source_id": "p", "scheme": "doi", "identifier": "10.1/x"},
        {"source_id": "p", "scheme": "corpus", "identifier": "7"},
    ]


def test_the_first_accepted_judgment_of_a_query_brings_the_query(tmp_path: Path) -> None:
    (tmp_path / "test.qrel").write_text("q1 0 d1 x\nq1 0 d1 1\nq1 0 d2 0\n")
    file = InputFile(tmp_path / "test.qrel", "cite/test.qrel", "judgments")
    records = list(read_task_qrels(file, "cite", "test"))
    query = {"query_id": "cite:q1", "paper_source_id": "q1", "field": "cite", "fold": "test"}
    judgment = {"query_id": "cite:q1", "assessor": "published", "split": "test"}
    assert [record.rows if isinstance(record, Accepted) else record.reason for record in records] == [
        "invalid_value",
        {"judgments": [{**judgment, "source_id": "d1", "grade": 1}], "queries": [query]},
        {"judgments": [{**judgment, "source_id": "d2", "grade": 0}]},
    ]
    named = list(read_task_qrels(file, "search", "test", asks_papers=False))
    assert all("queries" not in record.rows for record in named if isinstance(record, Accepted))
