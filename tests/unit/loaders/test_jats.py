"""JATS articles: front, sections, bibliography, mentions and their ranges."""

from pathlib import Path
from typing import Any

import pytest

from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_file

ARTICLE = DATA / "jats" / "PMC77.nxml"
META = "<article><front><article-meta>{}</article-meta></front></article>"
OWN = {"row_number": 1, "source_id": "PMC77"}


def _stage(path: Path = ARTICLE) -> dict[str, list[dict[str, Any]]]:
    staged, rejected = stage_all("jats", path)
    assert rejected == []
    (tables,) = staged.values()
    return tables


def test_front_is_staged_whole() -> None:
    tables = _stage()
    assert tables["papers"] == [
        {
            **OWN,
            "title": "On E. coli*",
            "abstract": "Background: Why. Results: We found 1. More.",
            "year": 2011,
            "venue": "Journal of Ranking",
        }
    ]
    assert tables["identifiers"] == [
        {**OWN, "scheme": scheme, "identifier": identifier}
        for scheme, identifier in (("doi", "10.1/jr"), ("pubmed", "11"), ("pmc", "77"))
    ]
    assert tables["fields"] == [
        {**OWN, "field": field, "assigned_by": "journal"}
        for field in ("Review", "Biology", "Genetics", "ranking")
    ]
    assert tables["authorships"] == [
        {**OWN, "position": 1, "author_source_id": "0000-0002", "author_name": "Ada Byron Jr"},
        {**OWN, "position": 2, "author_source_id": "name:Wei Li", "author_name": "Wei Li"},
        {**OWN, "position": 3, "author_source_id": "name:The Group", "author_name": "The Group"},
    ]


def test_sections_are_numbered_through_and_named_by_their_path() -> None:
    statistics = "First. Ranges [1–4] count; a formula α too.\n\nA list: one two"
    end = "Said before.2–4 Not Lee, 2001-Kim, 2003. Gone 99. See 1."
    assert _stage()["sections"] == [
        {**OWN, "section_number": 1, "text": "Before any section [1,3]."},
        {**OWN, "section_number": 2, "title": "Methods > Statistics", "text": statistics},
        {**OWN, "section_number": 3, "title": "End", "text": end},
        {**OWN, "section_number": 4, "title": "Thanks", "text": "To all."},
    ]


def test_cited_works_have_titles_years_and_identifiers() -> None:
    tables = _stage()
    assert tables["references"] == [
        {"row_number": 1, "reference_key": "doi:10.1/a", "title": "First 2H work", "year": 2001},
        {"row_number": 1, "reference_key": "doi:10.1000/b", "title": "A Book", "year": 2001},
        {"row_number": 1, "reference_key": "mention:PMC77#R3"},
        {"row_number": 1, "reference_key": "title:partone", "title": "Part one"},
        {"row_number": 1, "reference_key": "title:parttwo", "title": "Part two"},
        {"row_number": 1, "reference_key": "mention:PMC77#R5"},
    ]
    assert tables["reference_identifiers"] == [
        {"row_number": 1, "reference_key": "doi:10.1/a", "scheme": "doi", "identifier": "10.1/a"},
        {"row_number": 1, "reference_key": "doi:10.1/a", "scheme": "pubmed", "identifier": "21"},
        {"row_number": 1, "reference_key": "doi:10.1000/b", "scheme": "doi", "identifier": "10.1000/b"},
    ]


def test_mentions_and_the_ranges_between_them_are_citations() -> None:
    found = [
        (
            row["source_reference_id"],
            row.get("context"),
            row["context"][row["context_start"] : row["context_end"]] if "context" in row else None,
        )
        for row in _stage()["citations"]
    ]
    ranged = "Ranges [1–4] count; a formula α too."
    assert found == [
        ("R1", "We found 1.", "1"),
        ("R1", "Before any section [1,3].", "[1,3]"),
        ("R3", "Before any section [1,3].", "[1,3]"),
        ("R1", ranged, "1"),
        ("R2", ranged, "1–4"),
        ("R3", ranged, "1–4"),
        ("R4", ranged, "4"),
        ("R4", ranged, "4"),
        ("R2", "A plot 2.", "2"),
        ("R2", "Lee 2", "2"),
        ("R2", "Said before.2–4", "2–4"),
        ("R3", "Said before.2–4", "2–4"),
        ("R4", "Said before.2–4", "2–4"),
        ("R4", "Said before.2–4", "2–4"),
        ("R2", "Not Lee, 2001-Kim, 2003.", "Lee, 2001"),
        ("R4", "Not Lee, 2001-Kim, 2003.", "Kim, 2003"),
        ("R4", "Not Lee, 2001-Kim, 2003.", "Kim, 2003"),
        ("R99", "Gone 99.", "99"),
        ("R5", None, None),
    ]


@pytest.mark.parametrize(
    ("ids", "source_id"),
    [
        ('<article-id pub-id-type="pmcid">PMC5</article-id>', "PMC5"),
        ('<article-id pub-id-type="pmid">9</article-id>', "PMID:9"),
        ('<article-id pub-id-type="doi">10.1/X</article-id>', "doi:10.1/x"),
        ('<article-id pub-id-type="publisher-id">x</article-id>', "a"),
    ],
)
def test_paper_is_named_by_its_best_id(tmp_path: Path, ids: str, source_id: str) -> None:
    assert _stage(write_file(tmp_path / "a.nxml", META.format(ids)))["papers"] == [
        {"row_number": 1, "source_id": source_id}
    ]


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        ('<pub-date date-type="pub" publication-format="electronic"><year>2019</year></pub-date>', 2019),
        ('<pub-date iso-8601-date="2018-12-08" pub-type="epub"/>', 2018),
        ('<pub-date pub-type="nihms-submitted"><year>2000</year></pub-date>', None),
    ],
)
def test_year_is_that_of_a_publication(tmp_path: Path, dates: str, year: int | None) -> None:
    assert _stage(write_file(tmp_path / "a.nxml", META.format(dates)))["papers"][0].get("year") == year


def test_only_article_of_an_envelope_is_read_and_of_two_none(tmp_path: Path) -> None:
    article = META.format("")
    for name, inner in (("one.xml", article), ("two.xml", article * 2)):
        path = tmp_path / name
        path.write_text(f"<pmc-articleset>{inner}</pmc-articleset>", encoding="utf-8")
    staged, rejected = stage_all("jats", tmp_path)
    assert staged["one.xml to two.xml"]["papers"] == [{"row_number": 1, "source_id": "one"}]
    assert [(row.location, row.reason) for row in rejected] == [("two.xml", "missing_field")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<article><front>", "not_xml"),
        ("<article><body/></article>", "missing_field"),
        (META.format("<pub-date><year>soon</year></pub-date>"), "invalid_value"),
    ],
)
def test_damaged_article_is_rejected_with_its_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "a.nxml").write_text(content, encoding="utf-8")
    _, rejected = stage_all("jats", tmp_path)
    assert [row.reason for row in rejected] == [reason]


def test_named_entities_of_the_dtd_become_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.nxml"
    title = "<title-group><article-title>5 &micro;m &beta;-blockers</article-title></title-group>"
    path.write_text(f'<!DOCTYPE article PUBLIC "x" "x.dtd">{META.format(title)}', encoding="utf-8")
    assert _stage(path)["papers"][0]["title"] == "5 µm β-blockers"


def test_folder_with_nxml_is_read_without_its_other_xml(tmp_path: Path) -> None:
    write_file(tmp_path / "a.nxml", META.format(""))
    (tmp_path / "manifest.xml").write_text("<files/>", encoding="utf-8")
    assert _stage(tmp_path)["papers"] == [{"row_number": 1, "source_id": "a"}]


def test_no_damage_loses_an_article_or_raises(tmp_path: Path) -> None:
    check_damage("jats", tmp_path / "PMC77.nxml", ARTICLE.read_bytes(), (1, 1, 0))


def _count(tables: dict[str, list[dict[str, Any]]]) -> dict[str, int]:
    return {name: len(rows) for name, rows in tables.items() if rows}


@needs_real_data
def test_articles_of_pubmed_central_have_their_known_facts() -> None:
    tables = _stage(REAL_DATA / "pubmed")
    assert _count(tables) == {
        "papers": 8,
        "identifiers": 24,
        "fields": 68,
        "authorships": 82,
        "sections": 117,
        "references": 350,
        "reference_identifiers": 381,
        "citations": 573,
    }
    assert [(row["source_id"], row["year"]) for row in tables["papers"]] == [
        ("PMC3166277", 2011),
        ("PMC2329613", 2008),
        ("PMC2994229", 2010),
        ("PMC2599765", 2008),
        ("PMC3574550", 2012),
        ("PMC3585041", 2013),
        ("PMC1790863", 2007),
        ("PMC3460867", 2012),
    ]
    # PLoS ONE 2007 has 46 xrefs; [1]–[5], [6]–[8], twice [17]–[19] and [24]–[27] span eight more works.
    mentions = [row for row in tables["citations"] if row["row_number"] == 7 and "context" in row]
    assert len(mentions) == 54
    spanned = [row["source_reference_id"].split("-")[1] for row in mentions[:5]]
    assert spanned == ["McShea1", "Szathmary1", "Carroll1", "Adami1", "Adami2"]


@needs_real_data
def test_articles_of_s2orc_doc2json_have_their_known_facts() -> None:
    tables = _stage(REAL_DATA / "s2orc_doc2json" / "jats")
    assert _count(tables) == {
        "papers": 3,
        "identifiers": 9,
        "fields": 22,
        "authorships": 16,
        "sections": 60,
        "references": 338,
        "reference_identifiers": 280,
        "citations": 462,
    }
    first = tables["papers"][0]
    assert (first["source_id"], first["venue"], first["year"]) == ("PMC5828200", "Oncotarget", 2018)
    assert all(
        0 <= row["context_start"] <= row["context_end"] <= len(row["context"])
        for row in tables["citations"]
        if "context" in row
    )
