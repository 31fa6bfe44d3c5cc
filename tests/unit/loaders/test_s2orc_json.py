"""S2ORC's JSON documents in their four schema variants: what every document becomes."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.s2orc_json import LOADER
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data

AUTHOR = {"first": "Ada", "middle": ["B", "C"], "last": "Noether", "suffix": "Jr"}
BODY = [
    {
        "text": "One sentence. We follow Lee (2019) here.",
        "cite_spans": [
            {"start": 24, "end": 34, "text": "Lee (2019)", "ref_id": "BIBREF1"},
            {"start": 0, "end": 3, "text": "One", "ref_id": None},
        ],
        "ref_spans": [],
        "section": "Introduction",
        "sec_num": "1",
    },
    {"text": "More of it.", "cite_spans": [], "section": "Introduction", "sec_num": "1"},
]
CONTEXT = {"context": "We follow Lee (2019) here.", "context_start": 10, "context_end": 20}


def _stage(folder: Path, record: object) -> dict[str, list[dict[str, Any]]]:
    path = folder / "paper.json"
    path.write_bytes(orjson.dumps(record))
    staged, rejected = stage_all("s2orc-json", path)
    assert rejected == []
    return {
        name: [{key: value for key, value in row.items() if key != "row_number"} for row in rows]
        for name, rows in staged["paper.json"].items()
    }


def test_the_variant_of_2019_becomes_these_rows(tmp_path: Path) -> None:
    rows = _stage(
        tmp_path,
        {
            "paper_id": "77",
            "s2_pdf_hash": "5f6e",
            "metadata": {
                "title": "A title",
                "authors": [AUTHOR, {"first": "", "middle": [], "last": "", "suffix": ""}],
                "abstract": "An abstract.",
                "year": "2017",
                "arxiv_id": None,
                "acl_id": "P17-1001",
                "pmc_id": "PMC53",
                "pubmed_id": "28",
                "doi": "10.3389/F.2017",
                "venue": "Frontiers",
                "journal": "Frontiers J",
            },
            "grobid_parse": {
                "abstract": [{"text": "Another abstract.", "cite_spans": [], "section": "Abstract"}],
                "body_text": BODY,
                "bib_entries": {
                    "BIBREF0": {
                        "title": "Unlinked",
                        "year": None,
                        "other_ids": {"doi": ["10.1/U"]},
                        "links": None,
                    },
                    "BIBREF1": {"title": "Linked", "year": 2019, "other_ids": {}, "links": "88"},
                },
            },
            "latex_parse": None,
        },
    )
    assert rows == {
        "papers": [
            {
                "source_id": "77",
                "title": "A title",
                "abstract": "An abstract.",
                "year": 2017,
                "venue": "Frontiers",
            }
        ],
        "identifiers": [
            {"source_id": "77", "scheme": "doi", "identifier": "10.3389/f.2017"},
            {"source_id": "77", "scheme": "pubmed", "identifier": "28"},
            {"source_id": "77", "scheme": "pmc", "identifier": "53"},
            {"source_id": "77", "scheme": "acl", "identifier": "P17-1001"},
            {"source_id": "77", "scheme": "corpus", "identifier": "77"},
        ],
        "authorships": [
            {
                "source_id": "77",
                "position": 1,
                "author_source_id": "name:Ada B C Noether Jr",
                "author_name": "Ada B C Noether Jr",
            }
        ],
        "sections": [
            {
                "source_id": "77",
                "section_number": 1,
                "title": "Introduction",
                "text": "One sentence. We follow Lee (2019) here.\n\nMore of it.",
            }
        ],
        "references": [
            {"reference_key": "doi:10.1/u", "title": "Unlinked"},
            {"reference_key": "88", "title": "Linked", "year": 2019},
        ],
        "reference_identifiers": [
            {"reference_key": "doi:10.1/u", "scheme": "doi", "identifier": "10.1/u"},
            {"reference_key": "88", "scheme": "corpus", "identifier": "88"},
        ],
        "citations": [
            {"citing_source_id": "77", "reference_key": "88", "source_reference_id": "BIBREF1"} | CONTEXT,
            {"citing_source_id": "77", "reference_key": "doi:10.1/u", "source_reference_id": "BIBREF0"},
        ],
    }


def test_the_variant_of_2020_has_no_metadata_and_links_by_corpus_id(tmp_path: Path) -> None:
    rows = _stage(
        tmp_path,
        {
            "paper_id": "77",
            "_pdf_hash": "ffe9",
            "abstract": [{"text": "First."}, {"text": "Second."}],
            "body_text": BODY,
            "bib_entries": {"BIBREF1": {"title": "Linked", "year": "", "link": "88"}},
            "ref_entries": {},
        },
    )
    assert rows["papers"] == [{"source_id": "77", "abstract": "First.\n\nSecond."}]
    assert rows["identifiers"] == [{"source_id": "77", "scheme": "corpus", "identifier": "77"}]
    assert rows["references"] == [{"reference_key": "88", "title": "Linked"}]
    assert rows["citations"] == [
        {"citing_source_id": "77", "reference_key": "88", "source_reference_id": "BIBREF1"} | CONTEXT
    ]


def test_the_variant_of_2021_is_named_by_a_hash_and_ends_with_back_matter(tmp_path: Path) -> None:
    rows = _stage(
        tmp_path,
        {
            "paper_id": "24e6b80e338a4e543de6b49cada07156c9149d22",
            "metadata": {"title": "A title", "authors": [], "year": "2011-11"},
            "abstract": [],
            "body_text": BODY,
            "back_matter": [{"text": "We thank.", "cite_spans": [], "section": "ACKNOWLEDGMENTS"}],
            "bib_entries": {"BIBREF1": {"title": "", "year": 2019, "other_ids": {}}},
        },
    )
    paper_id = "24e6b80e338a4e543de6b49cada07156c9149d22"
    assert rows["papers"] == [{"source_id": paper_id, "title": "A title", "year": 2011}]
    assert rows["identifiers"] == []
    assert [(row["title"], row["section_number"]) for row in rows["sections"]] == [
        ("Introduction", 1),
        ("ACKNOWLEDGMENTS", 2),
    ]
    assert rows["references"] == [{"reference_key": f"mention:{paper_id}#BIBREF1", "year": 2019}]


@pytest.mark.parametrize("parse", ["pdf_parse", "latex_parse", "jats_parse"])
def test_the_release_variant_has_the_paper_above_its_parse(tmp_path: Path, parse: str) -> None:
    rows = _stage(
        tmp_path,
        {
            "paper_id": "PMC1",
            "header": {"generated_with": "S2ORC 1.0.0", "date_generated": "2021-02-12T10:00:43Z"},
            "title": "A title",
            "authors": [AUTHOR],
            "year": "2019-02-03",
            "venue": "A journal",
            "identifiers": {"pmid": "29", "pmc": "PMC1", "doi": "10.1/X", "publisher-id": "7"},
            "abstract": "An abstract.",
            parse: {
                "abstract": [{"text": "An abstract.", "cite_spans": []}],
                "body_text": BODY,
                "back_matter": [],
                "bib_entries": {
                    "BIBREF1": {
                        "title": "Cited",
                        "year": 2019,
                        "other_ids": {"DOI": ["10.1/C"], "PMID": ["5"]},
                    }
                },
            },
        },
    )
    assert rows["papers"] == [
        {
            "source_id": "PMC1",
            "title": "A title",
            "abstract": "An abstract.",
            "year": 2019,
            "venue": "A journal",
        }
    ]
    assert [(row["scheme"], row["identifier"]) for row in rows["identifiers"]] == [
        ("doi", "10.1/x"),
        ("pubmed", "29"),
        ("pmc", "1"),
    ]
    assert [(row["scheme"], row["identifier"]) for row in rows["reference_identifiers"]] == [
        ("doi", "10.1/c"),
        ("pubmed", "5"),
    ]
    assert rows["citations"][0]["context"] == CONTEXT["context"]


def test_of_several_parses_the_one_from_latex_is_taken(tmp_path: Path) -> None:
    body = [{"text": "From LaTeX.", "section": "Only"}]
    rows = _stage(
        tmp_path,
        {
            "paper_id": "77",
            "metadata": {"title": "A title"},
            "grobid_parse": {"body_text": BODY, "bib_entries": {}},
            "latex_parse": {"body_text": body, "bib_entries": {}},
        },
    )
    assert [row["text"] for row in rows["sections"]] == ["From LaTeX."]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"metadata": {"title": "A title"}}, "missing_field"),
        ({"paper_id": "7", "metadata": []}, "invalid_value"),
        ({"paper_id": "7", "metadata": {"year": "next year"}}, "invalid_value"),
        ({"paper_id": "7", "body_text": {}}, "invalid_value"),
        ({"paper_id": "7", "bib_entries": {"b0": None}}, "invalid_value"),
        ({"paper_id": "7", "bib_entries": {"b0": {"title": {}}}}, "invalid_value"),
        ([], "not_an_object"),
    ],
)
def test_a_wrong_document_is_rejected_and_the_others_stay(
    tmp_path: Path, record: object, reason: str
) -> None:
    (tmp_path / "a.json").write_bytes(orjson.dumps(record))
    (tmp_path / "b.json").write_bytes(orjson.dumps({"paper_id": "8"}))
    staged, rejected = stage_all("s2orc-json", tmp_path)
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [(1, "a.json", reason)]
    assert staged["a.json to b.json"]["papers"] == [{"row_number": 2, "source_id": "8"}]


def test_no_damage_loses_a_document_or_raises(tmp_path: Path) -> None:
    whole = {
        "paper_id": "77",
        "metadata": {"title": "A title", "authors": [AUTHOR], "year": "2017"},
        "body_text": BODY,
        "bib_entries": {"BIBREF1": {"title": "Cited", "year": 2019, "other_ids": {"doi": ["10.1/C"]}}},
    }
    (tmp_path / "b.json").write_bytes(orjson.dumps({"paper_id": "8"}))
    check_damage(LOADER, tmp_path / "a.json", orjson.dumps(whole), (2, 2, 0), source=tmp_path)


@needs_real_data
@pytest.mark.parametrize(
    ("folder", "counts"),
    [
        ("s2orc/20190928", [3, 10, 20, 3, 122, 165, 151, 137]),
        ("s2orc/20200705", [3, 3, 0, 46, 130, 111, 215, 193]),
        ("s2orc/20210101", [2, 0, 6, 16, 105, 1, 150, 119]),
        ("pdf", [2, 0, 28, 34, 80, 7, 107, 78]),
    ],
)
def test_the_published_samples_of_each_variant_are_read_whole(folder: str, counts: list[int]) -> None:
    staged, rejected = stage_all("s2orc-json", REAL_DATA / "s2orc_doc2json" / folder)
    assert rejected == []
    (rows,) = staged.values()
    tables = ("papers", "identifiers", "authorships", "sections", "references", "reference_identifiers")
    located = [row for row in rows["citations"] if "context" in row]
    found = [len(rows.get(table, [])) for table in tables] + [len(rows["citations"]), len(located)]
    assert found == counts
    assert all(0 <= row["context_start"] < row["context_end"] <= len(row["context"]) for row in located)


@needs_real_data
def test_the_published_papers_say_what_they_say() -> None:
    staged, rejected = stage_all("s2orc-json", REAL_DATA / "s2orc_doc2json")
    assert rejected == []
    (rows,) = staged.values()
    found = [
        (row["source_id"], row.get("year"), len(row.get("title", "")), len(row.get("abstract", "")))
        for row in rows["papers"]
    ]
    assert len(found) == 10
    assert [found[0], found[2], found[5], found[9]] == [
        ("2020", None, 84, 1196),  # what the program made of the file name 2020.acl-main.207
        ("10002293", 2017, 213, 1567),
        ("18980380", None, 0, 862),
        ("f2235cd28c171f9f3b6a8bcebe246159c464980c", 2006, 127, 0),
    ]
    assert sum(row["reference_key"].isdecimal() for row in rows["references"]) == 207
