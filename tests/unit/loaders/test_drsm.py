"""The DRSM corpus: gold, raw and quality-of-life files, distinguished by their columns."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

GOLD = (
    b"ID_PAPER\tTITLE\tABSTRACT\tDISEASE_NAME\tPRIMARY_CATEGORY\tSECONDARY_CATEGORY\tword_count\tTRIMMED_ABSTRACT\n"
    b'1\tOne\t"A1\n""quoted"""\tCF\t1.1. X\t2.1. Y\t3\tOne. A1\n'
    b"2\tTwo\t\tCF\t\t\t1\t\n"
)
RAW = (
    b"ID_PAPER\tIRRELEVANT\tCOMMENTS\tTIMESTAMP\tCURATOR\tDISEASE_NAME\tSECONDARY_CHECK\tPRIMARY_CATEGORY"
    b"\tSECONDARY_CATEGORY\n"
    b'1\t\t"two\nlines"\t\tcurator1\tCF\t\t1.1. X\t\n'
    b"1\tTrue\t\t\tcurator2\tCF\t\t\t\n"
)
QOL = (
    b"PMID\tLabeling_State\tCorrect_Label\tAgreement\tvector\tpredicted\ttrue_cats\n"
    b"7\tGold Standard\t'2 - the study's own'\t0.3\t[0.6, 0.7]\t1\t2\n"
    b"8\tUnreviewed\t'0 - none'\t0.3\t[]\t0\t0\n"
)


def _label(row_number: int, task: str, source_id: str, label: str, quality: str = "gold") -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": task,
        "source_id": source_id,
        "split": "all",
        "label": label,
        "quality": quality,
    }


def _identifier(row_number: int, source_id: str) -> dict[str, Any]:
    return {"row_number": row_number, "source_id": source_id, "scheme": "pubmed", "identifier": source_id}


def test_gold_papers_have_texts_categories_and_a_trimmed_variant(tmp_path: Path) -> None:
    staged, rejected = stage_all("drsm", write_files(tmp_path, {"gold.tsv": GOLD}))
    assert rejected == []
    assert staged["gold.tsv"] == {
        "papers": [
            {"row_number": 1, "source_id": "1", "title": "One", "abstract": 'A1\n"quoted"'},
            {"row_number": 2, "source_id": "2", "title": "Two"},
        ],
        "identifiers": [_identifier(1, "1"), _identifier(2, "2")],
        "variants": [{"row_number": 1, "source_id": "1", "code": "drsm_trimmed", "abstract": "One. A1"}],
        "labels": [
            _label(1, "gold_standard", "1", "yes"),
            _label(1, "primary_category", "1", "1.1. X"),
            _label(1, "secondary_category", "1", "2.1. Y"),
            _label(1, "disease", "1", "CF"),
            _label(2, "gold_standard", "2", "yes"),
            _label(2, "disease", "2", "CF"),
        ],
    }


def test_each_curator_has_tasks_of_its_own_in_the_raw_data(tmp_path: Path) -> None:
    staged, rejected = stage_all("drsm", write_files(tmp_path, {"raw.tsv": RAW}))
    assert rejected == []
    assert staged["raw.tsv"] == {
        "mentioned_papers": [{"row_number": 1, "source_id": "1"}, {"row_number": 2, "source_id": "1"}],
        "identifiers": [_identifier(1, "1"), _identifier(2, "1")],
        "labels": [
            _label(1, "primary_category:curator1", "1", "1.1. X"),
            _label(1, "disease", "1", "CF"),
            _label(2, "disease", "1", "CF"),
            _label(2, "relevance:curator2", "1", "IRRELEVANT"),
        ],
    }


def test_labels_of_quality_of_life_lose_their_quotes_and_are_gold_where_they_say_so(tmp_path: Path) -> None:
    staged, rejected = stage_all("drsm", write_files(tmp_path, {"qol.tsv": QOL}))
    assert rejected == []
    assert staged["qol.tsv"]["labels"] == [
        _label(1, "quality_of_life", "7", "2 - the study's own"),
        _label(2, "quality_of_life", "8", "0 - none", "silver"),
    ]


def test_gold_comes_before_raw_and_other_tables_are_not_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"a_raw.tsv": RAW, "b_qol.tsv": QOL, "c_gold.tsv": GOLD})
    files = find_loader("drsm").find_files(tmp_path, {})
    assert [(file.name, file.role) for file in files] == [
        ("c_gold.tsv", "gold"),
        ("a_raw.tsv", "raw"),
        ("b_qol.tsv", "quality_of_life"),
    ]
    write_files(tmp_path, {"other.tsv": b"PMID\ttitle\n"})
    (unread,) = [one for file in find_loader("drsm").find_files(tmp_path, {}) for one in file.unread]
    assert (unread.name, unread.reason) == ("other.tsv", "other_content")
    with pytest.raises(InputError, match=r"other\.tsv has the columns of no file of the DRSM corpus"):
        find_loader("drsm").find_files(tmp_path / "other.tsv", {})


def test_broken_rows_are_rejected(tmp_path: Path) -> None:
    gold = (
        GOLD.splitlines(keepends=True)[0]
        + b"\tT\tA\tCF\tX\t\t1\tT\n3\tT\n4\tT\tA\tCF\tX\t\t1\tT\n4\tT\tA\tCF\tX\t\t1\tT\n"
    )
    raw = RAW.splitlines(keepends=True)[0] + b"1\tperhaps\t\t\tc\tCF\t\t\t\n1\t\t\t\t\tCF\t\t\t\n"
    qol = QOL.splitlines(keepends=True)[0] + b"7\tGold Standard\t\t\t\t\t\n"
    staged, rejected = stage_all(
        "drsm", write_files(tmp_path, {"gold.tsv": gold, "raw.tsv": raw, "qol.tsv": qol})
    )
    assert [row["source_id"] for row in staged["gold.tsv"]["papers"]] == ["4"]
    assert [(row.row_number, row.reason) for row in rejected] == [
        (1, "missing_field"),
        (2, "malformed_line"),
        (4, "duplicate_id"),
        (1, "invalid_value"),
        (2, "missing_field"),
        (1, "missing_field"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(GOLD, (2, 2, 0)), (RAW, (2, 2, 0)), (QOL, (2, 2, 0))],
    ids=["gold", "raw", "qol"],
)
def test_damaged_files_are_never_lost(tmp_path: Path, content: bytes, expected: tuple[int, int, int]) -> None:
    header, rest = content.split(b"\n", 1)
    check_damage("drsm", tmp_path / "table.tsv", rest, expected, head=header + b"\n")


@needs_real_data
def test_drsm_has_its_published_records() -> None:
    staged, rejected = stage_all("drsm", REAL_DATA / "drsm")
    assert rejected == []
    assert {name: {kind: len(rows) for kind, rows in tables.items()} for name, tables in staged.items()} == {
        "v1/initial_gold_standard_data_2022_01_03.tsv": {
            "papers": 1126,
            "identifiers": 1126,
            "variants": 1126,
            "labels": 3390,
        },
        "v1/raw_data_2022_01_03.tsv": {"mentioned_papers": 3881, "identifiers": 3881, "labels": 7721},
        "v2/qol_gold_2022_12_15.tsv": {"mentioned_papers": 345, "identifiers": 345, "labels": 345},
    }
    gold = staged["v1/initial_gold_standard_data_2022_01_03.tsv"]
    papers = gold["papers"]
    assert [(papers[i]["source_id"], len(papers[i]["abstract"])) for i in (0, 563, -1)] == [
        ("19403253", 544),
        ("30935812", 928),
        ("33764203", 2473),
    ]
    tasks = [row["task"] for row in gold["labels"]]
    kinds = ("gold_standard", "primary_category", "secondary_category", "disease")
    assert [tasks.count(task) for task in kinds] == [1126, 1027, 111, 1126]
    raw = staged["v1/raw_data_2022_01_03.tsv"]
    assert sum(row["label"] == "IRRELEVANT" for row in raw["labels"]) == 189
    assert len({row["source_id"] for row in raw["mentioned_papers"]}) == 1564
