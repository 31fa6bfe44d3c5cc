"""The ACL Anthology: its XML, its BibTeX, and the choice between them."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.acl_anthology import make_paper_id
from pinakes.loaders.staging import RecordError
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all

COLLECTION = DATA / "acl_anthology" / "2020.acl.xml"
BIBLIOGRAPHY = DATA / "acl_anthology" / "anthology+abstracts.bib"


def _stage(path: Path, **options: str) -> tuple[dict[str, list[dict[str, Any]]], list[tuple[int, str, str]]]:
    staged, rejected = stage_all("acl-anthology", path, options)
    (tables,) = staged.values()
    return tables, [(row.row_number, row.location, row.reason) for row in rejected]


def test_collection_is_staged_whole() -> None:
    tables, rejected = _stage(COLLECTION)
    first = {"row_number": 1, "source_id": "2020.acl-main.1"}
    assert tables["papers"] == [
        {
            **first,
            "title": "BERT in O(n^2) time: a study",
            "abstract": "We study BERT.",
            "year": 2020,
            "venue": "Proceedings of the 58th Annual Meeting",
        },
        {
            "row_number": 3,
            "source_id": "2020.acl-main.3",
            "title": "Third",
            "year": 2020,
            "venue": "Proceedings of the 58th Annual Meeting",
        },
        {"row_number": 4, "source_id": "2020.acl-demos.1", "title": "A demo", "year": 2021, "venue": "Demos"},
    ]
    assert tables["identifiers"][:3] == [
        {**first, "scheme": "acl", "identifier": "2020.acl-main.1"},
        {**first, "scheme": "doi", "identifier": "10.18653/v1/2020.acl-main.1"},
        {**first, "scheme": "bibkey", "identifier": "byron-etal-2020-bert"},
    ]
    assert tables["authorships"] == [
        {**first, "position": 1, "author_source_id": "name:Ada Byron", "author_name": "Ada Byron"},
        {**first, "position": 2, "author_source_id": "yang-liu-umich", "author_name": "Yang Liu"},
        {**first, "position": 3, "author_source_id": "name:Mausam", "author_name": "Mausam"},
    ]
    assert rejected == [(2, "2020.acl.xml: collection/volume/paper[2]", "missing_field")]


def test_front_matter_is_a_paper_of_the_editors_when_requested_for() -> None:
    tables, _ = _stage(COLLECTION, front_matter="yes")
    front = {"row_number": 1, "source_id": "2020.acl-main.0"}
    title = "Proceedings of the 58th Annual Meeting"
    assert tables["papers"][0] == {**front, "title": title, "year": 2020, "venue": title}
    assert tables["authorships"][:2] == [
        {**front, "position": 1, "author_source_id": "name:Dan Jurafsky", "author_name": "Dan Jurafsky"},
        {**front, "position": 2, "author_source_id": "jun-li", "author_name": "Jun Li"},
    ]


@pytest.mark.parametrize(
    ("parts", "paper_id"),
    [
        (("P18", "1", "1"), "P18-1001"),
        (("J93", "2", "16"), "J93-2016"),
        (("W18", "1", "2"), "W18-0102"),
        (("C69", "1", "1"), "C69-0101"),
        (("D19", "4", "1"), "D19-4001"),
        (("D19", "5", "1"), "D19-0501"),
        (("D19", "50", "1"), "D19-5001"),
        (("2020.acl", "main", "1"), "2020.acl-main.1"),
        (("2022.tacl", "1", "12"), "2022.tacl-1.12"),
    ],
)
def test_paper_id_follows_the_rule_of_its_time(parts: tuple[str, str, str], paper_id: str) -> None:
    assert make_paper_id(*parts) == paper_id


def test_old_collection_without_numbers_has_no_ids() -> None:
    with pytest.raises(RecordError, match="P18: expected numbers, found 'main' and '1'"):
        make_paper_id("P18", "main", "1")


def test_bibliography_is_staged_whole() -> None:
    tables, rejected = _stage(BIBLIOGRAPHY)
    first = {"row_number": 1, "source_id": "2020.acl-main.1"}
    assert tables["papers"] == [
        {
            **first,
            "title": "BERT in “$O(n^{2})$” & Études",
            "abstract": "We study “it”, at 100%.",
            "year": 2020,
            "venue": "Proceedings of the 58th Annual Meeting",
        },
        {
            "row_number": 3,
            "source_id": "J99-1001",
            "title": "Old",
            "year": 1999,
            "venue": "Computational Linguistics",
        },
        {"row_number": 5, "source_id": "only-key", "title": "Only a key"},
    ]
    assert tables["identifiers"][:3] == [
        {**first, "scheme": "acl", "identifier": "2020.acl-main.1"},
        {**first, "scheme": "doi", "identifier": "10.18653/v1/2020.acl-main.1"},
        {**first, "scheme": "bibkey", "identifier": "byron-etal-2020-bert"},
    ]
    assert [row["author_name"] for row in tables["authorships"]] == [
        "Ada Byron",
        "Grzegorz Chrupała",
        "Mausam",
        "Jun Li Jr",
    ]
    assert rejected == [(2, "line 24", "malformed_line"), (4, "line 35", "invalid_value")]


def test_bibliography_has_front_matter_when_requested_for() -> None:
    tables, _ = _stage(BIBLIOGRAPHY, front_matter="yes")
    assert tables["papers"][0]["source_id"] == "2020.acl-main.0"
    assert [row["author_name"] for row in tables["authorships"][:2]] == ["Dan Jurafsky", "Jun Li"]


def test_xml_goes_before_bibtex_and_the_bibliography_with_abstracts_before_the_other(tmp_path: Path) -> None:
    shutil.copy(COLLECTION, tmp_path)
    (tmp_path / "anthology+abstracts.bib.gz").write_bytes(gzip.compress(BIBLIOGRAPHY.read_bytes()))
    (tmp_path / "anthology.bib").write_bytes(b"@misc{other}")
    assert list(stage_all("acl-anthology", tmp_path)[0]) == ["2020.acl.xml"]
    assert list(stage_all("acl-anthology", tmp_path, {"format": "bib"})[0]) == ["anthology+abstracts.bib.gz"]
    (tmp_path / "2020.acl.xml").unlink()
    tables, _ = _stage(tmp_path)
    assert [row["source_id"] for row in tables["papers"]] == ["2020.acl-main.1", "J99-1001", "only-key"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "json"}, "format is 'json'; expected xml or bib"),
        ({"front_matter": "maybe"}, "front_matter is 'maybe'; expected yes or no"),
    ],
)
def test_wrong_option_is_explained(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stage_all("acl-anthology", COLLECTION, options)


def test_document_that_is_no_collection_is_one_reject(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<volume id='P18'><paper id='1001'/></volume>", encoding="utf-8")
    _, rejected = _stage(tmp_path)
    assert rejected == [(1, "a.xml: the document", "missing_field")]


@pytest.mark.parametrize(
    ("source", "expected"), [(COLLECTION, (4, 3, 1)), (BIBLIOGRAPHY, (5, 3, 2))], ids=["xml", "bib"]
)
def test_no_damage_loses_a_paper_or_raises(
    tmp_path: Path, source: Path, expected: tuple[int, int, int]
) -> None:
    check_damage("acl-anthology", tmp_path / source.name, source.read_bytes(), expected)
