"""MEDLINE in text: PubMed's downloads, TREC Genomics' documents, OHSUMED in SMART's marks."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pinakes.loaders.medline_text import parse_medline_text
from pinakes.loaders.reading import text_records
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.sources import SOURCES, hand_in

TEXT = DATA / "pubmed_text" / "pubmed-toy.nbib"
GENOMICS = DATA / "trec_genomics"
OHSUMED = DATA / "trec_ohsumed"


def stage_one(loader: str, path: Path) -> dict[str, list[dict[str, Any]]]:
    """What the only file of a source stages."""
    staged, _ = stage_all(loader, path)
    (rows,) = staged.values()
    return rows


def list_values(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


def test_pubmeds_download_becomes_what_its_xml_becomes() -> None:
    rows = stage_one("pubmed", TEXT)
    assert rows["papers"][0] == {
        "row_number": 1,
        "source_id": "101",
        "title": "A made-up trial of breathing exercises in asthma.",
        "abstract": "BACKGROUND: Nobody breathes as told. RESULTS: They still do not.",
        "year": 2019,
        "venue": "The journal of toys",
    }
    assert list_values(rows["authorships"], "position", "author_source_id", "author_name") == [
        (1, "0000-0001-0000-0002", "Martin Q King Jr"),
        (2, "name:Ann Doe", "Ann Doe"),
        (3, "name:The Toy Group", "The Toy Group"),
    ]
    assert list_values(rows["fields"], "assigned_by", "field") == [
        ("mesh", "Asthma"),
        ("mesh", "Asthma/drug therapy"),
        ("mesh", "Asthma/genetics"),
        ("mesh", "Humans"),
        ("mesh_major", "Asthma"),
        ("mesh_major", "Asthma/genetics"),
        ("author", "breathing"),
        ("author", "exercise"),
    ]
    assert list_values(rows["identifiers"], "scheme", "identifier") == [
        ("pubmed", "101"),
        ("pmc", "7700"),
        ("doi", "10.1000/toy.1"),
        ("pubmed", "102"),
    ]
    assert rows["papers"][1] == {
        "row_number": 2,
        "source_id": "102",
        "title": "Ein Titel.",
        "venue": "J Toys",
        "year": 2020,
    }


def test_a_record_without_a_number_is_rejected_and_what_has_no_column_is_counted() -> None:
    (rejected,) = hand_in(SOURCES["pubmed as text"]).rejected
    assert (rejected.location, rejected.reason) == ("record 3", "invalid_value")
    with pytest.raises(Exception, match="no PMID and no UI"):
        parse_medline_text("TI  - A title")
    (file,) = find_loader("pubmed").find_files(TEXT, {})
    (chunk,) = find_loader("pubmed").read_chunks(file, {}, 1)
    assert list_values(chunk.tables["left_out"].to_pylist(), "kind", "reason", "items") == [
        ("field AD", "no_column", 1),
        ("field OWN", "no_column", 1),
        ("field PT", "no_column", 1),
        ("identifiers", "no_column", 1),
    ]


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.read_bytes().replace(b"\n", b"\r\n"))
    assert stage_one("pubmed", path) == stage_one("pubmed", TEXT)
    folder = shutil.copytree(OHSUMED, tmp_path / "ohsumed")
    for one in folder.iterdir():
        one.write_bytes(one.read_bytes().replace(b"\n", b"\r\n"))
    assert stage_all("trec", folder) == stage_all("trec", OHSUMED)


def test_a_newer_record_of_the_same_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.nbib"
    path.write_text("PMID- 1\nTI  - Old\n\nPMID- 1\nTI  - New\n")
    (file,) = find_loader("pubmed").find_files(path, {})
    chunks = list(find_loader("pubmed").read_chunks(file, {}, 1))
    assert [chunk.tables["papers"]["title"].to_pylist() for chunk in chunks] == [["Old"], ["New"]]


def test_files_from_before_pmids_begin_with_the_medline_number(tmp_path: Path) -> None:
    path = tmp_path / "ovid.txt"
    path.write_text("UI  - 88000001\nTI  - One\nand more\nAU  - Doe J\n\nUI  - 88000002\nTI  - Two\n")
    rows = stage_one("pubmed", path)
    assert list_values(rows["papers"], "source_id", "title") == [
        ("88000001", "One and more"),
        ("88000002", "Two"),
    ]
    assert list_values(rows["identifiers"], "scheme", "identifier") == [
        ("medline", "88000001"),
        ("medline", "88000002"),
    ]


def test_genomics_documents_topics_and_judgments_are_told_apart() -> None:
    files = find_loader("trec").find_files(GENOMICS, {})
    assert [(file.name, file.role) for file in files] == [
        ("2004_TREC_ASCII_MEDLINE_1", "papers"),
        ("04.adhoc.topics.txt", "queries"),
        ("05.adhoc.topics.txt", "queries"),
        ("04.qrels.txt", "judgments"),
        ("05.qrels.txt", "judgments"),
    ]
    staged, rejected = stage_all("trec", GENOMICS)
    papers = staged["2004_TREC_ASCII_MEDLINE_1"]["papers"]
    assert list_values(papers, "source_id", "year", "venue", "title") == [
        ("10001", 1998, "Toy Genet", "Toy genes of the mouse: a survey that is wrapped."),
        ("10002", 2001, "Toy Genet", "No abstract here."),
    ]
    assert staged["04.adhoc.topics.txt"]["queries"] == [
        {
            "row_number": 1,
            "query_id": "1",
            "text": "Toy genes",
            "description": "Find articles about toy genes.",
            "narrative": "We need a list.",
        }
    ]
    assert list_values(staged["05.adhoc.topics.txt"]["queries"], "query_id", "text") == [
        ("100", "Describe how toy genes are counted."),
        ("101", "Describe toy mice."),
    ]
    assert rejected == []


def test_ohsumed_has_its_journal_year_headings_and_authors() -> None:
    staged, rejected = stage_all("trec", OHSUMED)
    rows = staged["ohsumed.87"]
    assert rejected == []
    assert rows["papers"] == [
        {
            "row_number": 1,
            "source_id": "87000001",
            "title": "The binding of toys.",
            "abstract": "Toys were bound. A second line.",
            "year": 1987,
            "venue": "Toy Med J",
        },
        {"row_number": 2, "source_id": "87000002", "title": "A letter.", "year": 1987, "venue": "Ann Toys"},
    ]
    assert list_values(rows["authorships"], "author_name") == [("Doe JT",), ("Roe DJ",), ("Poe RJ Jr",)]
    assert list_values(rows["fields"], "assigned_by", "field") == [
        ("mesh", "Toys"),
        ("mesh", "Toys/ME"),
        ("mesh", "Child"),
        ("mesh", "Support, Toy Gov't, T.H.S."),
        ("mesh_major", "Toys"),
        ("mesh_major", "Toys/ME"),
    ]
    assert list_values(staged["qrels.ohsu.batch.87"]["judgments"], "query_id", "source_id", "grade") == [
        ("OHSU1", "87000001", 2),
        ("OHSU1", "87000002", 1),
    ]


def test_ohsumed_as_its_makers_published_it_is_a_smart_collection(tmp_path: Path) -> None:
    (tmp_path / "ohsumed.87").write_bytes((OHSUMED / "ohsumed.87").read_bytes())
    (tmp_path / "queries").write_text(".I 1\n.B\nold with toys\n.W\nadverse effects\n")
    (tmp_path / "drel.ui").write_text("1\t87000001\n")
    staged, rejected = stage_all("smart", tmp_path)
    assert rejected == []
    assert staged["ohsumed.87"] == stage_all("trec", OHSUMED)[0]["ohsumed.87"]
    assert list_values(staged["queries"]["queries"], "query_id", "text", "description") == [
        ("1", "adverse effects", "old with toys")
    ]


def test_a_record_that_is_too_large_is_rejected_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_records, "MAX_DOCUMENT_BYTES", 100)
    path = tmp_path / "a.nbib"
    path.write_text("PMID- 1\nTI  - Small\n\nPMID- 2\n" + "AB  - much\n" * 50 + "\nPMID- 3\nTI  - Last\n")
    (file,) = find_loader("pubmed").find_files(path, {})
    (chunk,) = find_loader("pubmed").read_chunks(file, {}, 1)
    assert [(one.location, one.reason) for one in chunk.rejected] == [("record 2", "too_large")]
    assert chunk.tables["papers"]["source_id"].to_pylist() == ["1", "3"]


@pytest.mark.parametrize(
    ("loader", "path", "expected"),
    [
        ("pubmed", TEXT, (3, 2, 1)),
        ("trec", GENOMICS / "2004_TREC_ASCII_MEDLINE_1", (2, 2, 0)),
        ("trec", OHSUMED / "ohsumed.87", (2, 2, 0)),
    ],
    ids=["pubmed", "genomics", "ohsumed"],
)
def test_of_damaged_text_nothing_is_lost(
    loader: str, path: Path, expected: tuple[int, int, int], tmp_path: Path
) -> None:
    check_damage(loader, tmp_path / "a.txt", path.read_bytes(), expected)
