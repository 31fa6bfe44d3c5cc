"""Bibliographies and their mentions, paragraphs with citation spans, entries that nothing mentions."""

from typing import Any

import pytest

from pinakes.loaders.reading.bibliography import (
    Bibliography,
    CitedWork,
    Paragraph,
    cite_paragraphs,
    group_sections,
    parse_paragraph,
)
from pinakes.loaders.reading.rows import normalise_identifiers
from pinakes.loaders.staging import RecordError


def test_work_is_keyed_by_the_corpus_own_id_then_the_best_identifier_then_the_title() -> None:
    bibliography = Bibliography(
        "P1",
        [
            CitedWork(
                "b0", "Known", 1999, normalise_identifiers([("pubmed", "7"), ("doi", "doi:10.1/A")]), "P9"
            ),
            CitedWork("b1", "By doi", None, normalise_identifiers([("pubmed", "7"), ("doi", "10.1/B")])),
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


def test_works_of_one_key_are_one_reference_whose_gaps_the_later_ones_fill() -> None:
    works = [
        CitedWork("b0", None, None, [("doi", "10.1/a")]),
        CitedWork("b1", "A title", 1999, [("doi", "10.1/a")]),
        CitedWork("b2", "Another", 2001, [("doi", "10.1/a")]),
    ]
    rows = Bibliography("P1", works).build_rows()
    assert rows["references"] == [{"reference_key": "doi:10.1/a", "title": "A title", "year": 1999}]
    assert [row["source_reference_id"] for row in rows["citations"]] == ["b0", "b1", "b2"]


def _span(start: int, end: int, text: str | None, name: str | None) -> dict[str, Any]:
    return {"start": start, "end": end, "text": text, "ref_id": name}


def _citation(key: str, name: str) -> dict[str, Any]:
    return {"citing_source_id": "p", "reference_key": key, "source_reference_id": name}


def _cite(paragraphs: list[Paragraph], keys: dict[str, str]) -> list[dict[str, Any]]:
    """The citations of a paper `p` whose bibliography has entries of these names and keys."""
    works = [CitedWork(name, source_id=key) for name, key in keys.items()]
    return cite_paragraphs(Bibliography("p", works), paragraphs)["citations"]


def test_paragraphs_of_a_heading_are_one_section_until_another_stands_between() -> None:
    records: list[dict[str, Any]] = [
        {"text": " One.", "section": "Introduction", "sec_num": "1"},
        {"text": "Two.", "section": "Introduction", "sec_num": "1"},
        {"text": "Three.", "section": "Methods", "sec_num": 2},
        {"text": "Four.", "section": "Introduction", "sec_num": "1"},
        {"text": "  ", "section": "Empty"},
        {"text": "Five.", "section": None},
    ]
    rows = group_sections("p", map(parse_paragraph, records))
    assert rows == [
        {"source_id": "p", "section_number": 1, "title": "Introduction", "text": "One.\n\nTwo."},
        {"source_id": "p", "section_number": 2, "title": "Methods", "text": "Three."},
        {"source_id": "p", "section_number": 3, "title": "Introduction", "text": "Four."},
        {"source_id": "p", "section_number": 4, "title": None, "text": "Five."},
    ]


def test_a_mention_has_its_sentence_and_an_unmentioned_entry_a_row() -> None:
    text = "First this. We follow Lee (2019) [3] here. Then that."
    record = {"text": text, "cite_spans": [_span(22, 32, "Lee (2019)", "b1"), _span(33, 36, "[3]", "b3")]}
    rows = _cite([parse_paragraph(record)], {"b0": "k0", "b1": "k1", "b3": "k3"})
    context = "We follow Lee (2019) [3] here."
    assert rows == [
        _citation("k1", "b1") | {"context": context, "context_start": 10, "context_end": 20},
        _citation("k3", "b3") | {"context": context, "context_start": 21, "context_end": 24},
        _citation("k0", "b0"),
    ]


def test_offsets_behind_their_marker_give_way_to_it() -> None:
    # What joining paragraphs after cutting three blanks off does to the offsets of the second one.
    text = "A first {{cite:a}} one.Then {{cite:b}} and {{cite:a}}."
    spans = [
        _span(8, 18, "{{cite:a}}", "a"),
        _span(31, 41, "{{cite:b}}", "b"),
        _span(46, 56, "{{cite:a}}", "a"),
    ]
    rows = _cite([parse_paragraph({"text": text, "cite_spans": spans})], {"a": "ka", "b": "kb"})
    found = [(row["reference_key"], row["context_start"]) for row in rows]
    assert found == [("ka", 8), ("kb", 28), ("ka", 43)]
    assert all(text[start : start + 10] == f"{{{{cite:{key[1]}}}}}" for key, start in found)


def test_a_mention_whose_words_stand_nowhere_has_no_context() -> None:
    spans = [_span(0, 3, "[9]", "b9"), _span(50, 53, None, "b8")]
    rows = _cite([parse_paragraph({"text": "No mention.", "cite_spans": spans})], {"b9": "k9"})
    assert rows == [_citation("k9", "b9"), _citation("mention:p#b8", "b8")]


def test_a_span_that_names_no_entry_is_left_out() -> None:
    paragraph = parse_paragraph({"text": "See [4].", "cite_spans": [_span(4, 7, "[4]", None)]})
    assert _cite([paragraph], {}) == []


@pytest.mark.parametrize(
    "record",
    [
        {"text": 7},
        {"text": "x", "cite_spans": {}},
        {"text": "x", "cite_spans": ["b1"]},
        {"text": "x", "section": ["Introduction"]},
    ],
)
def test_a_wrong_paragraph_is_an_invalid_value(record: dict[str, Any]) -> None:
    with pytest.raises(RecordError) as caught:
        parse_paragraph(record)
    assert caught.value.reason == "invalid_value"
