"""PeTaL's golden.json: papers of words, labels of three levels, references by MAG id."""

from pathlib import Path
from typing import Any

import orjson

from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

RECORDS: list[dict[str, Any]] = [
    {
        "paper": 21,
        "mag": ["nest", "biology"],
        "venue_mag": ["Biology Letters"],
        "author": [5, 6, 5],
        "reference": [31, 32],
        "title": ["building", "home"],
        "abstract": ["frogs", "build"],
        "petalID": 0,
        "doi": "10.1098/RSBL.1",
        "venue": ["Other"],
        "level1": ["assemble", "assemble"],
        "level2": ["assemble_structure"],
        "level3": [],
        "url": "u",
        "isOpenAccess": "",
    },
    {"paper": "", "petalID": 1, "doi": "", "venue": ["Own"], "title": [], "abstract": [], "level1": ["move"]},
]


def _label(row_number: int, task: str, source_id: str, label: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": task,
        "source_id": source_id,
        "split": "all",
        "label": label,
        "quality": "gold",
    }


def test_words_become_texts_and_mag_ids_references(tmp_path: Path) -> None:
    staged, rejected = stage_all("petal", write_files(tmp_path, {"golden.json": RECORDS}))
    assert rejected == []
    assert staged["golden.json"] == {
        "papers": [
            {
                "row_number": 1,
                "source_id": "0",
                "title": "building home",
                "abstract": "frogs build",
                "venue": "Biology Letters",
            },
            {"row_number": 2, "source_id": "1", "venue": "Own"},
        ],
        "identifiers": [
            {"row_number": 1, "source_id": "0", "scheme": "mag", "identifier": "21"},
            {"row_number": 1, "source_id": "0", "scheme": "doi", "identifier": "10.1098/rsbl.1"},
        ],
        "fields": [
            {"row_number": 1, "source_id": "0", "field": "nest", "assigned_by": "mag"},
            {"row_number": 1, "source_id": "0", "field": "biology", "assigned_by": "mag"},
        ],
        "authorships": [
            {
                "row_number": 1,
                "source_id": "0",
                "position": position,
                "author_source_id": author,
                "author_name": author,
            }
            for position, author in enumerate(("5", "6", "5"), start=1)
        ],
        "labels": [
            _label(1, "petal_level1", "0", "assemble"),
            _label(1, "petal_level2", "0", "assemble_structure"),
            _label(2, "petal_level1", "1", "move"),
        ],
        "references": [
            {"row_number": 1, "reference_key": "mag:31"},
            {"row_number": 1, "reference_key": "mag:32"},
        ],
        "reference_identifiers": [
            {"row_number": 1, "reference_key": "mag:31", "scheme": "mag", "identifier": "31"},
            {"row_number": 1, "reference_key": "mag:32", "scheme": "mag", "identifier": "32"},
        ],
        "citations": [
            {"row_number": 1, "citing_source_id": "0", "reference_key": "mag:31"},
            {"row_number": 1, "citing_source_id": "0", "reference_key": "mag:32"},
        ],
    }


def test_records_of_another_shape_are_rejected(tmp_path: Path) -> None:
    records = [
        [],
        {"title": ["no", "id"]},
        {"petalID": 1, "title": "words"},
        {"petalID": 2, "level1": [{}]},
        {"petalID": 3},
        {"petalID": 3},
    ]
    staged, rejected = stage_all("petal", write_files(tmp_path, {"golden.json": records}))
    assert [row["source_id"] for row in staged["golden.json"]["papers"]] == ["3"]
    assert [(row.location, row.reason) for row in rejected] == [
        ("[0]", "not_an_object"),
        ("[1]", "missing_field"),
        ("[2]", "invalid_value"),
        ("[3]", "invalid_value"),
        ("[5]", "duplicate_id"),
    ]


def test_damaged_files_are_never_lost(tmp_path: Path) -> None:
    check_damage("petal", tmp_path / "golden.json", orjson.dumps(RECORDS), (2, 2, 0))


@needs_real_data
def test_petal_has_its_published_records() -> None:
    staged, rejected = stage_all("petal", REAL_DATA / "petal")
    assert rejected == []
    rows = staged["golden.json"]
    assert {kind: len(found) for kind, found in rows.items()} == {
        "papers": 1251,
        "identifiers": 2241,
        "fields": 10628,
        "authorships": 4210,
        "labels": 5500,
        "references": 41924,
        "reference_identifiers": 41924,
        "citations": 41924,
    }
    assert [len(rows["papers"][i].get("title", "")) for i in (0, 625, -1)] == [87, 108, 0]
    schemes = [row["scheme"] for row in rows["identifiers"]]
    assert [schemes.count("mag"), schemes.count("doi")] == [1081, 1160]
    tasks = [row["task"] for row in rows["labels"]]
    assert [tasks.count(f"petal_level{level}") for level in (1, 2, 3)] == [1683, 1845, 1972]
    assert rows["citations"][-1] == {
        "row_number": 1161,
        "citing_source_id": "1160",
        "reference_key": "mag:2003714925",
    }
