"""Paper Copilot's lists: ids made unique, joined scores, ids of other registries, published counts."""

import lzma
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, settings

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import count_left_out, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_file, write_lines

ICLR: dict[str, Any] = {
    "venue": "iclr",
    "year": "2018",
    "id": "B12Js_yRb",
    "title": " A title ",
    "abstract": "Text",
    "author": "Ada L.; Kurt G.",
    "status": "Reject",
    "track": "main",
    "site": "https://iclr.cc/virtual/2018/poster/307",
    "gs_citation": -1,
    "rating": "5;6;10",
    "confidence": "4;3",
    "rating_avg": 7.0,
    "keywords": "Deep learning;sql; sql",
    "primary_area": "theory",
}

ACL: dict[str, Any] = {
    "id": "2022.acl-short.96",
    "title": "(Un)solving",
    "track": "main",
    "status": "Short",
    "award": True,
    "abstract": "Text",
    "author": "Omer G.; Reut T.",
    "authorids": "/o/omer-g/; /r/reut-t/",
    "bibtex": '@inproceedings{x,\n    doi = "10.18653/V1/2022.acl-short.96",\n    pages = "864--870"\n}',
    "pdf": "https://aclanthology.org/2022.acl-short.96.pdf",
    "site": "https://aclanthology.org/2022.acl-short.96/",
    "gs_citation": 22,
}


def _label(source_id: str, task: str, label: str) -> dict[str, Any]:
    return {
        "row_number": 1,
        "task": task,
        "source_id": source_id,
        "split": "all",
        "label": label,
        "quality": "gold",
    }


def test_a_record_becomes_a_paper_with_scores_fields_and_labels(tmp_path: Path) -> None:
    staged, rejected = stage_all("paperlists", write_lines(tmp_path / "iclr.jsonl", ICLR))
    assert rejected == []
    paper = {"row_number": 1, "source_id": "iclr2018/B12Js_yRb"}
    assert staged == {
        "iclr.jsonl": {
            "papers": [{**paper, "title": "A title", "abstract": "Text", "year": 2018, "venue": "iclr"}],
            "identifiers": [{**paper, "scheme": "openreview", "identifier": "B12Js_yRb"}],
            "fields": [
                {**paper, "field": "Deep learning", "assigned_by": "paperlists"},
                {**paper, "field": "sql", "assigned_by": "paperlists"},
                {**paper, "field": "theory", "assigned_by": "paperlists_area"},
            ],
            "authorships": [
                {**paper, "position": 1, "author_source_id": "name:Ada L.", "author_name": "Ada L."},
                {**paper, "position": 2, "author_source_id": "name:Kurt G.", "author_name": "Kurt G."},
            ],
            "review_scores": [
                {**paper, "review_id": "1", "aspect": "rating", "score": 5.0},
                {**paper, "review_id": "2", "aspect": "rating", "score": 6.0},
                {**paper, "review_id": "3", "aspect": "rating", "score": 10.0},
                {**paper, "review_id": "1", "aspect": "confidence", "score": 4.0},
                {**paper, "review_id": "2", "aspect": "confidence", "score": 3.0},
            ],
            "labels": [
                _label("iclr2018/B12Js_yRb", "decision", "Reject"),
                _label("iclr2018/B12Js_yRb", "track", "main"),
            ],
        }
    }


def test_an_array_without_venue_and_year_takes_them_from_its_name(tmp_path: Path) -> None:
    staged, rejected = stage_all(
        "paperlists", write_file(tmp_path / "acl" / "acl2022.json", [ACL]).parent.parent
    )
    assert rejected == []
    paper = {"row_number": 1, "source_id": "acl2022/2022.acl-short.96"}
    tables = staged["acl/acl2022.json"]
    assert tables["papers"] == [
        {
            **paper,
            "title": "(Un)solving",
            "abstract": "Text",
            "year": 2022,
            "venue": "acl",
            "citation_count": 22,
        }
    ]
    assert tables["identifiers"] == [
        {**paper, "scheme": "acl", "identifier": "2022.acl-short.96"},
        {**paper, "scheme": "doi", "identifier": "10.18653/v1/2022.acl-short.96"},
    ]
    assert [row["author_source_id"] for row in tables["authorships"]] == ["/o/omer-g/", "/r/reut-t/"]
    assert tables["labels"] == [
        _label("acl2022/2022.acl-short.96", "decision", "Short"),
        _label("acl2022/2022.acl-short.96", "track", "main"),
        _label("acl2022/2022.acl-short.96", "award", "yes"),
    ]


def test_the_same_number_in_two_venues_or_years_is_two_papers(tmp_path: Path) -> None:
    records = [
        {"venue": "icml", "year": "2019", "id": "3768", "title": "A"},
        {"venue": "nips", "year": "2013", "id": "3768", "title": "B"},
        {"venue": "nips", "year": "2014", "id": "3768", "title": "C"},
        {"venue": "nips", "year": "2014", "id": "3768", "title": "D"},
    ]
    staged, rejected = stage_all("paperlists", write_lines(tmp_path / "all.jsonl", *records))
    ids = [row["source_id"] for row in staged["all.jsonl"]["papers"]]
    assert ids == ["icml2019/3768", "nips2013/3768", "nips2014/3768"]
    assert [(row.row_number, row.reason) for row in rejected] == [(4, "duplicate_id")]


def test_a_record_without_id_has_that_of_its_page_in_the_anthology(tmp_path: Path) -> None:
    records = [{**ACL, "id": None}, {"status": "nowhere"}]
    staged, rejected = stage_all("paperlists", write_lines(tmp_path / "acl2022.jsonl", *records))
    assert [row["source_id"] for row in staged["acl2022.jsonl"]["papers"]] == ["acl2022/2022.acl-short.96"]
    assert [(row.row_number, row.reason, row.message) for row in rejected] == [
        (2, "missing_field", "no id, and no DOI, pid or title")
    ]


_OTHERS = ["3dv2025/title:atitle", "3dv2025/Ada_D"]


def test_a_record_without_id_has_its_doi_or_its_number_in_the_programme(tmp_path: Path) -> None:
    records = [
        {"title": "A", "doi": "https://doi.org/10.1145/1.A", "pid": "3"},
        {"title": "B", "pid": "3", "doi": ""},
        {"title": "C", "ssid": "papers_5"},
        {"title": "A Title!"},
        {"title": "D", "pid": "3", "pdf": "https://openaccess.thecvf.com/x/papers/Ada_D_paper.pdf"},
    ]
    staged, rejected = stage_all("paperlists", write_file(tmp_path / "3DV2025.json", records))
    papers = staged["3DV2025.json"]["papers"]
    assert rejected == []
    assert [row["source_id"] for row in papers] == [
        "3dv2025/10.1145/1.a",
        "3dv2025/3",
        "3dv2025/papers_5",
        *_OTHERS,
    ]
    assert {(row["venue"], row["year"]) for row in papers} == {("3dv", 2025)}


@pytest.mark.parametrize(
    ("name", "venue"),
    [("3dv2025", "3dv"), ("ai4x2025", "ai4x"), ("ICLR-2024", "iclr"), ("www2024", "www"), ("list2", None)],
)
def test_the_venue_and_the_year_are_those_of_the_name(tmp_path: Path, name: str, venue: str | None) -> None:
    path = tmp_path / f"{name}.json.xz"
    path.write_bytes(lzma.compress(orjson.dumps([{"id": "1", "title": "T"}])))
    staged, _ = stage_all("paperlists", tmp_path)
    assert [row.get("venue") for row in staged[path.name]["papers"]] == [venue]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"author": "Alec Rivers, Takeo Igarashi"}, ["Alec Rivers", "Takeo Igarashi"]),
        ({"author": "Sammy Davis, Jr.; Ada, B."}, ["Sammy Davis, Jr.", "Ada, B."]),
        ({"author": "Sammy Davis, Jr., Ada B."}, ["Sammy Davis, Jr.", "Ada B."]),
        ({"author": "Noether, Emmy", "author_num": 1}, ["Noether, Emmy"]),
        ({"author": " ; Ada B.;"}, ["Ada B."]),
    ],
)
def test_authors_are_parted_by_semicolons_or_else_by_commas(
    tmp_path: Path, fields: dict[str, Any], expected: list[str]
) -> None:
    staged, _ = stage_all("paperlists", write_lines(tmp_path / "x.jsonl", {**ICLR, **fields}))
    assert [row["author_name"] for row in staged["x.jsonl"]["authorships"]] == expected


def test_what_is_not_taken_is_counted(tmp_path: Path) -> None:
    record = {**ICLR, "rating": "5;N/A", "author": "A; ;B", "session": "Vision", "email": ""}
    assert count_left_out("paperlists", write_lines(tmp_path / "x.jsonl", record, {**record, "id": "2"})) == {
        ("authorships", "no_value"): 2,
        ("field rating_avg", "no_column"): 2,
        ("field session", "no_column"): 2,
        ("fields", "repeated"): 2,
        ("review_scores", "invalid"): 2,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ["x"]},
        {"year": "nineteen"},
        {"gs_citation": "many"},
        {"award": 3},
        {"author": {"name": "Ada"}},
        {"keywords": ["a"]},
    ],
)
def test_a_value_of_the_wrong_type_rejects_its_record(tmp_path: Path, wrong: dict[str, Any]) -> None:
    staged, rejected = stage_all(
        "paperlists", write_lines(tmp_path / "x.jsonl", {**ICLR, **wrong}, {**ICLR, "id": "y"})
    )
    assert [row["source_id"] for row in staged["x.jsonl"]["papers"]] == ["iclr2018/y"]
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (1, "line 1", "invalid_value")
    ]


def test_a_folder_without_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds none of the files .*: lists such as acl2022\.json"):
        find_loader("paperlists").find_files(tmp_path, {})
    with pytest.raises(InputError, match="there is no file or folder"):
        find_loader("paperlists").find_files(tmp_path / "absent", {})


_SETTINGS = settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def test_damaged_lines_lose_nothing(tmp_path: Path) -> None:
    whole = orjson.dumps(ICLR) + b"\n" + orjson.dumps(ACL) + b"\n"
    check_damage("paperlists", tmp_path / "acl2022.jsonl", whole, (2, 2, 0))


def test_a_damaged_array_loses_nothing(tmp_path: Path) -> None:
    check_damage("paperlists", tmp_path / "acl2022.json", orjson.dumps([ICLR, ACL]), (2, 2, 0))


@needs_real_data
def test_the_lists_have_their_published_records() -> None:
    staged, rejected = stage_all("paperlists", REAL_DATA / "paperlists")
    assert rejected == []
    counts = {
        name: [
            len(tables.get(table, []))
            for table in ("papers", "identifiers", "fields", "authorships", "review_scores", "labels")
        ]
        for name, tables in staged.items()
    }
    assert counts == {
        "acl.jsonl.gz": [1_741, 3_476, 0, 8_148, 0, 3_502],
        "aistats.jsonl.gz": [5_006, 583, 0, 16_811, 0, 10_012],
        "coling.jsonl.gz": [2_128, 2_769, 0, 9_703, 0, 4_256],
        "emnlp.jsonl.gz": [2_751, 5_492, 0, 13_047, 0, 5_502],
        "iclr.jsonl.gz": [1_620, 1_620, 4_513, 5_964, 8_832, 3_240],
        "icml.jsonl.gz": [3_013, 0, 0, 10_652, 0, 6_018],
        "naacl.jsonl.gz": [2_150, 4_295, 0, 10_607, 0, 4_315],
        "nips.jsonl.gz": [8_247, 0, 0, 24_669, 0, 16_490],
        "raw_acl2022.json.gz": [1_031, 2_062, 0, 4_845, 0, 2_074],
    }
    nips = staged["nips.jsonl.gz"]["papers"]
    assert [(nips[i]["source_id"], nips[i].get("citation_count")) for i in (0, 4_000, -1)] == [
        ("nips1987/bb31aa9271", 51),
        ("nips2010/5e1f3a5679", 92),
        ("nips2018/11668", 25),
    ]
    ids = [
        row["source_id"]
        for name, tables in staged.items()
        if name != "raw_acl2022.json.gz"
        for row in tables["papers"]
    ]
    assert len(ids) == len(set(ids)) == 26_656
    raw = {row["source_id"] for row in staged["raw_acl2022.json.gz"]["papers"]}
    assert raw == {source_id for source_id in ids if source_id.startswith("acl2022/")}
