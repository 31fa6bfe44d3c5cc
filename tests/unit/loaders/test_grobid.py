"""GROBID's TEI: header, sections, bibliography, mentions."""

from pathlib import Path
from typing import Any

import pytest

from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data

DOCUMENT = DATA / "grobid" / "p1.tei.xml"


def _cite(key: str, reference: str, context: str = "", start: int = 0, end: int = 0) -> dict[str, object]:
    located = {"context": context, "context_start": start, "context_end": end} if context else {}
    return {
        "row_number": 1,
        "citing_source_id": "p1",
        "reference_key": key,
        "source_reference_id": reference,
        **located,
    }


def test_document_is_staged_whole() -> None:
    staged, rejected = stage_all("grobid", DOCUMENT)
    assert rejected == []
    tables = staged["p1.tei.xml"]
    own = {"row_number": 1, "source_id": "p1"}
    assert tables["papers"] == [
        {
            **own,
            "title": "Ranking Papers",
            "abstract": "Aims: We rank. It works, after [1].",
            "year": 2019,
            "venue": "A Journal",
        }
    ]
    assert tables["identifiers"] == [
        {**own, "scheme": "doi", "identifier": "10.1/abc"},
        {**own, "scheme": "arxiv", "identifier": "1907.00001"},
    ]
    assert [(row["field"], row["assigned_by"]) for row in tables["fields"]] == [
        ("ranking", "author"),
        ("citation", "author"),
    ]
    assert tables["authorships"] == [
        {**own, "position": 1, "author_source_id": "0000-0001", "author_name": "Ada M Byron"},
        {**own, "position": 2, "author_source_id": "name:Van Dyk", "author_name": "Van Dyk"},
    ]
    assert tables["sections"] == [
        {
            **own,
            "section_number": 1,
            "title": "Introduction",
            "text": "First. As Lee et al. (2019) and (unlinked) say.\n\nBoth [1, 2]; see Fig. 1.",
        },
        {**own, "section_number": 2, "text": "No heading, gone.\n\na = b"},
        {**own, "section_number": 3, "title": "Acknowledgements", "text": "Thanks."},
    ]
    assert tables["references"] == [
        {"row_number": 1, "reference_key": "doi:10.2/q", "title": "A first work", "year": 2018},
        {"row_number": 1, "reference_key": "title:abook", "title": "A book", "year": 1999},
        {"row_number": 1, "reference_key": "arxiv:1907.11692"},
        {"row_number": 1, "reference_key": "mention:p1#b3"},
    ]
    assert tables["reference_identifiers"] == [
        {"row_number": 1, "reference_key": "doi:10.2/q", "scheme": "doi", "identifier": "10.2/q"},
        {
            "row_number": 1,
            "reference_key": "arxiv:1907.11692",
            "scheme": "arxiv",
            "identifier": "1907.11692",
        },
    ]
    both = "Both [1, 2]; see Fig. 1."
    assert tables["citations"] == [
        _cite("doi:10.2/q", "b0", "It works, after [1].", 16, 19),
        _cite("doi:10.2/q", "b0", "As Lee et al. (2019) and (unlinked) say.", 3, 20),
        _cite("doi:10.2/q", "b0", both, 5, 11),
        _cite("title:abook", "b1", both, 5, 11),
        _cite("mention:p1#b9", "b9", "No heading, gone.", 12, 16),
        _cite("title:abook", "b1", "A plot of [2].", 10, 13),
        _cite("arxiv:1907.11692", "b2"),
        _cite("mention:p1#b3", "b3"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<TEI><teiHeader>", "not_xml"),
        ("<article/>", "missing_field"),
        ('<!DOCTYPE TEI [<!ENTITY a "b">]><TEI>&a;</TEI>', "not_xml"),
        ("", "not_xml"),
    ],
)
def test_what_is_no_tei_is_rejected_with_its_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "a.tei.xml").write_text("<TEI/>", encoding="utf-8")
    (tmp_path / "b.tei.xml").write_text(content, encoding="utf-8")
    staged, rejected = stage_all("grobid", tmp_path)
    assert staged["a.tei.xml to b.tei.xml"]["papers"] == [{"row_number": 1, "source_id": "a"}]
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [(2, "b.tei.xml", reason)]


def test_same_name_in_two_folders_is_rejected_as_a_duplicate(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p1.xml").write_text("<TEI/>", encoding="utf-8")
    _, rejected = stage_all("grobid", tmp_path)
    assert [(row.location, row.reason) for row in rejected] == [("y/p1.xml", "duplicate_id")]


def test_no_damage_loses_a_document_or_raises(tmp_path: Path) -> None:
    check_damage("grobid", tmp_path / "p1.tei.xml", DOCUMENT.read_bytes(), (1, 1, 0))


def _count(tables: dict[str, list[dict[str, Any]]]) -> dict[str, int]:
    return {name: len(rows) for name, rows in tables.items() if rows}


@needs_real_data
def test_both_documents_of_s2orc_doc2json_have_their_known_facts() -> None:
    staged, rejected = stage_all("grobid", REAL_DATA / "s2orc_doc2json" / "pdf")
    assert rejected == []
    tables = staged["2020.acl-main.207.tei.xml to N18-3011.tei.xml"]
    assert _count(tables) == {
        "papers": 2,
        "authorships": 28,
        "sections": 31,
        "references": 83,
        "reference_identifiers": 15,
        "citations": 112,
    }
    first, second = tables["papers"]
    assert (first["source_id"], first["title"].split(":")[0]) == ("2020.acl-main.207", "SPECTER")
    assert (second["source_id"], len(second["abstract"])) == ("N18-3011", 793)
    mentions = [row for row in tables["citations"] if "context" in row]
    assert len([row for row in mentions if row["row_number"] == 1]) == 62
    assert len([row for row in mentions if row["row_number"] == 2]) == 20
    assert all(0 <= row["context_start"] < row["context_end"] <= len(row["context"]) for row in mentions)
    iyer = next(row for row in mentions if row["row_number"] == 2 and row["source_reference_id"] == "b12")
    assert iyer["context"][iyer["context_start"] : iyer["context_end"]] == "Iyer et al., 2017)"
