"""PubMed's XML: citations, MeSH, references, deletions, streaming."""

import gzip
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_file

FILE = DATA / "pubmed" / "pubmed24n0001.xml"
FIRST = {"row_number": 1, "source_id": "101"}


def _stage() -> dict[str, list[dict[str, Any]]]:
    staged, _ = stage_all("pubmed", FILE)
    return staged["pubmed24n0001.xml"]


def test_papers_have_title_abstract_year_and_venue() -> None:
    assert _stage()["papers"] == [
        {
            **FIRST,
            "title": "On H2O β-blockers.",
            "abstract": "BACKGROUND: Why. We ask. Plain.",
            "year": 1998,
            "venue": "Journal of Ranking",
        },
        {"row_number": 3, "source_id": "102", "title": "Ohne Titel", "year": 2003, "venue": "J Rank"},
        {
            "row_number": 4,
            "source_id": "103",
            "title": "A chapter",
            "abstract": "Short.",
            "year": 2010,
            "venue": "A Book",
        },
    ]


def test_ids_are_the_papers_own_and_not_those_of_the_works_it_cites() -> None:
    found = [(row["source_id"], row["scheme"], row["identifier"]) for row in _stage()["identifiers"]]
    assert found == [
        ("101", "pubmed", "101"),
        ("101", "doi", "10.1/right"),
        ("101", "pmc", "2"),
        ("102", "pubmed", "102"),
        ("103", "pubmed", "103"),
        ("103", "doi", "10.7/book"),
    ]


def test_mesh_has_descriptors_qualifiers_and_major_topics_beside_keywords() -> None:
    assert [(row["assigned_by"], row["field"]) for row in _stage()["fields"]] == [
        ("mesh", "Asthma"),
        ("mesh", "Asthma/drug therapy"),
        ("mesh", "Asthma/genetics"),
        ("mesh", "Humans"),
        ("mesh_major", "Asthma"),
        ("mesh_major", "Asthma/drug therapy"),
        ("author", "ranking"),
        ("nasa", "space"),
    ]


def test_authors_are_people_and_groups_but_no_wrong_ones_and_no_editors() -> None:
    assert _stage()["authorships"] == [
        {**FIRST, "position": 1, "author_source_id": "0000-0002", "author_name": "Ada Byron Jr"},
        {**FIRST, "position": 2, "author_source_id": "name:The Group", "author_name": "The Group"},
        {
            "row_number": 4,
            "source_id": "103",
            "position": 1,
            "author_source_id": "name:Writer",
            "author_name": "Writer",
        },
    ]


def test_cited_work_with_a_pmid_has_it_as_its_key_and_is_cited_once() -> None:
    tables = _stage()
    assert [row["reference_key"] for row in tables["references"]] == [
        "55",
        "doi:10.6/r",
        "mention:101#3",
        "66",
    ]
    assert [
        (row["reference_key"], row["scheme"], row["identifier"]) for row in tables["reference_identifiers"]
    ] == [
        ("55", "doi", "10.5/q"),
        ("55", "pubmed", "55"),
        ("doi:10.6/r", "doi", "10.6/r"),
        ("66", "pubmed", "66"),
    ]
    assert tables["citations"] == [
        {
            "row_number": 1,
            "citing_source_id": "101",
            "reference_key": key,
            "source_reference_id": reference_id,
        }
        for key, reference_id in (
            ("55", "1"),
            ("doi:10.6/r", "2"),
            ("mention:101#3", "3"),
            ("66", "PMID:66"),
        )
    ]


def test_deleted_citations_are_deletions() -> None:
    assert _stage()["deletions"] == [{"row_number": 5, "kind": "papers", "key": key} for key in ("9", "10")]


def test_citation_without_pmid_is_rejected_with_its_place() -> None:
    _, rejected = stage_all("pubmed", FILE)
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (2, "PubmedArticleSet/PubmedArticle[2]", "missing_field")
    ]


def test_older_citation_set_has_the_same_citations(tmp_path: Path) -> None:
    content = (
        "<MedlineCitationSet><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Old.</ArticleTitle><Journal>"
        "<JournalIssue><PubDate><Year>1980</Year></PubDate></JournalIssue></Journal></Article></MedlineCitation>"
        "<DeleteCitation><PMID>8</PMID></DeleteCitation></MedlineCitationSet>"
    )
    staged, rejected = stage_all("pubmed", write_file(tmp_path / "a.xml", content))
    assert rejected == []
    assert staged["a.xml"]["papers"] == [{"row_number": 1, "source_id": "7", "title": "Old.", "year": 1980}]
    assert staged["a.xml"]["deletions"] == [{"row_number": 2, "kind": "papers", "key": "8"}]


@pytest.mark.parametrize(
    "citation",
    [
        "<PMID>12x</PMID><Article/>",
        "<PMID>12</PMID><Article><ArticleDate><Year>soon</Year></ArticleDate></Article>",
    ],
)
def test_wrong_numbers_are_rejected(tmp_path: Path, citation: str) -> None:
    inner = f"<PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle>"
    _, rejected = stage_all(
        "pubmed", write_file(tmp_path / "a.xml", f"<PubmedArticleSet>{inner}</PubmedArticleSet>")
    )
    assert [row.reason for row in rejected] == ["invalid_value"]


def test_what_came_before_the_damage_is_kept_and_the_rest_is_one_reject(tmp_path: Path) -> None:
    content = FILE.read_text(encoding="utf-8")
    staged, rejected = stage_all(
        "pubmed", write_file(tmp_path / "a.xml", content[: content.index("A chapter")])
    )
    assert [row["source_id"] for row in staged["a.xml"]["papers"]] == ["101", "102"]
    assert [(row.row_number, row.reason) for row in rejected] == [(2, "missing_field"), (4, "not_xml")]


def test_other_xml_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not PubMed's; expected XML, a document of PubmedArticleSet"):
        stage_all("pubmed", write_file(tmp_path / "a.xml", "<article/>"))


def test_folder_is_read_in_the_order_of_the_updates_and_an_archive_by_its_entries(tmp_path: Path) -> None:
    citation = "<MedlineCitation><PMID>1</PMID><Article/></MedlineCitation>"
    one = f"<PubmedArticleSet><PubmedArticle>{citation}</PubmedArticle></PubmedArticleSet>"
    (tmp_path / "pubmed24n0002.xml.gz").write_bytes(gzip.compress(one.encode()))
    write_file(tmp_path / "pubmed24n0001.xml", one)
    with tarfile.open(tmp_path / "updates.tar", "w") as archive:
        archive.add(tmp_path / "pubmed24n0001.xml", "pubmed24n0003.xml")
    staged, _ = stage_all("pubmed", tmp_path)
    assert {name: tables["papers"][0]["source_id"] for name, tables in staged.items()} == {
        "pubmed24n0001.xml": "1",
        "pubmed24n0002.xml.gz": "1",
        "updates.tar/pubmed24n0003.xml": "1",
    }


def test_no_damage_loses_a_citation_or_raises(tmp_path: Path) -> None:
    check_damage("pubmed", tmp_path / "pubmed24n0001.xml", FILE.read_bytes(), (5, 4, 1))


@needs_real_data
def test_record_of_pubmed_has_its_known_facts() -> None:
    staged, rejected = stage_all("pubmed", REAL_DATA / "pubmed" / "pubmed-29768149.xml")
    assert rejected == []
    tables = staged["pubmed-29768149.xml"]
    counts = {name: len(rows) for name, rows in tables.items() if rows}
    assert counts == {"papers": 1, "identifiers": 2, "fields": 43, "authorships": 10}
    (paper,) = tables["papers"]
    assert (paper["source_id"], paper["year"], paper["abstract"][:12]) == ("29768149", 2018, "BACKGROUND: ")
    by = [row["assigned_by"] for row in tables["fields"]]
    assert (by.count("mesh"), by.count("mesh_major")) == (33, 10)
