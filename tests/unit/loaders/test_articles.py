"""Rows of whole articles: bibliographies and their mentions."""

from pinakes.loaders.reading.bibliography import Bibliography, CitedWork
from pinakes.loaders.reading.rows import list_fields, list_sections


def test_work_is_keyed_by_the_corpus_own_id_then_the_best_identifier_then_the_title() -> None:
    bibliography = Bibliography(
        "P1",
        [
            CitedWork("b0", "Known", 1999, [("pubmed", "7"), ("doi", "https://doi.org/10.1/A")], "P9"),
            CitedWork("b1", "By doi", None, [("pubmed", "7"), ("doi", "10.1/B")]),
            CitedWork("b2", "By Title!"),
            CitedWork("b3"),
        ],
    )
    rows = bibliography.build_rows()
    assert rows["references"] == [
        {"reference_key": "P9", "title": "Known", "year": 1999},
        {"reference_key": "doi:10.1/b", "title": "By doi", "year": None},
        {"reference_key": "title:bytitle", "title": "By Title!", "year": None},
        {"reference_key": "mention:P1#b3", "title": None, "year": None},
    ]
    assert rows["reference_identifiers"] == [
        {"reference_key": "P9", "scheme": "doi", "identifier": "10.1/a"},
        {"reference_key": "P9", "scheme": "pubmed", "identifier": "7"},
        {"reference_key": "doi:10.1/b", "scheme": "doi", "identifier": "10.1/b"},
        {"reference_key": "doi:10.1/b", "scheme": "pubmed", "identifier": "7"},
    ]


def test_mention_of_an_entry_with_two_works_cites_both() -> None:
    bibliography = Bibliography("P1", [CitedWork("b0", "One"), CitedWork("b0", "Two")])
    bibliography.add_mention("b0", "As [1].", 3, 6)
    located = {"context": "As [1].", "context_start": 3, "context_end": 6}
    assert bibliography.build_rows()["citations"] == [
        {"citing_source_id": "P1", "reference_key": key, "source_reference_id": "b0", **located}
        for key in ("title:one", "title:two")
    ]


def test_mention_of_an_unknown_entry_is_kept_with_its_id_alone() -> None:
    bibliography = Bibliography("P1", [])
    bibliography.add_mention("b7", "", 0, 0)
    assert bibliography.build_rows()["citations"] == [
        {"citing_source_id": "P1", "reference_key": "mention:P1#b7", "source_reference_id": "b7"}
    ]


def test_fields_stand_once_and_sections_without_text_have_no_number() -> None:
    assert list_fields("P1", ["a", None, "b", "a", ""], "mesh") == [
        {"source_id": "P1", "field": name, "assigned_by": "mesh"} for name in ("a", "b")
    ]
    assert [row["section_number"] for row in list_sections("P1", [("A", ""), (None, "x"), ("B", "y")])] == [
        1,
        2,
    ]
