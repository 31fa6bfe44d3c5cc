"""Rows that many formats stage alike."""

from pinakes.loaders.reading.rows import (
    describe_paper,
    list_authorships,
    list_fields,
    list_identifiers,
    list_sections,
)


def test_papers_authors_and_identifiers_become_rows() -> None:
    record = {"title": " T ", "abstract": "", "year": "2020.0", "venue": "V"}
    assert describe_paper("p", record) == {
        "source_id": "p",
        "title": "T",
        "abstract": None,
        "year": 2020,
        "venue": "V",
    }
    assert list_authorships("p", [(None, "A"), ("b", ""), (None, "B")]) == [
        {"source_id": "p", "position": 1, "author_source_id": "name:A", "author_name": "A"},
        {"source_id": "p", "position": 3, "author_source_id": "name:B", "author_name": "B"},
    ]
    assert list_identifiers(
        "p", [("doi", "https://doi.org/10.1/X"), ("mag", None), ("corpus", 7), ("doi", "10.1/x")]
    ) == [
        {"source_id": "p", "scheme": "doi", "identifier": "10.1/x"},
        {"source_id": "p", "scheme": "corpus", "identifier": "7"},
    ]


def test_fields_stand_once_and_sections_without_text_have_no_number() -> None:
    assert list_fields("P1", ["a", None, "b", "a", ""], "mesh") == [
        {"source_id": "P1", "field": name, "assigned_by": "mesh"} for name in ("a", "b")
    ]
    assert [row["section_number"] for row in list_sections("P1", [("A", ""), (None, "x"), ("B", "y")])] == [
        1,
        2,
    ]
