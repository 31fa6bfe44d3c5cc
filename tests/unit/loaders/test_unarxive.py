"""unarXive in the layouts of 2022 and 2024: what every paper becomes."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.unarxive import LOADER
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data

NAME = "arXiv_src_2212_086.jsonl"
METADATA: dict[str, Any] = {
    "id": "2212.00001",
    "title": "Zeros of\n  polynomials",
    "categories": "math.PR math.CA",
    "doi": None,
    "journal-ref": None,
    "abstract": "  An abstract\nof two lines.\n",
    "versions": [{"version": "v1", "created": "Thu, 22 Dec 2022 17:01:56 GMT"}],
    "authors_parsed": [["Noether", "Emmy", ""]],
}
TEXT = "Let {{formula:f1}} be. As {{cite:aa}} and {{cite:bb}} show, it is."
SPANS = [
    {"start": 26, "end": 37, "text": "{{cite:aa}}", "ref_id": "aa"},
    {"start": 42, "end": 53, "text": "{{cite:bb}}", "ref_id": "bb"},
]
NO_IDS = {
    "open_alex_id": "",
    "sem_open_alex_id": "",
    "pubmed_id": "",
    "pmc_id": "",
    "doi": "",
    "arxiv_id": "",
}


def _entry(raw: str = "A printed line.", linked: tuple[str, ...] = (), **ids: str) -> dict[str, Any]:
    links = [{"id": arxiv_id, "text": "x", "start": 0, "end": 1} for arxiv_id in linked]
    return {"bib_entry_raw": raw, "contained_arXiv_ids": links, "contained_links": [], "ids": NO_IDS | ids}


BIBLIOGRAPHY = {
    "aa": _entry(arxiv_id="2104.06921", open_alex_id="https://openalex.org/W42"),
    "bb": _entry(doi="10.1090/Tran/8674", sem_open_alex_id="https://semopenalex.org/work/W43"),
    "cc": _entry(),
    "dd": {"bib_entry_raw": "No ids at all.", "contained_arXiv_ids": [], "contained_links": []},
}
PAPER: dict[str, Any] = {
    "paper_id": "2212.00001",
    "_pdf_hash": None,
    "metadata": METADATA,
    "discipline": "Mathematics",
    "abstract": {"section": "Abstract", "text": METADATA["abstract"], "cite_spans": [], "ref_spans": []},
    "body_text": [
        {
            "section": "Introduction",
            "sec_number": "1",
            "sec_type": "section",
            "content_type": "paragraph",
            "text": TEXT,
            "cite_spans": SPANS,
            "ref_spans": [{"start": 4, "end": 18, "text": "{{formula:f1}}", "ref_id": "f1"}],
        },
        {"section": "Introduction", "sec_number": "1", "text": "More.\n", "cite_spans": []},
        {"section": "Proof", "sec_number": "2", "text": "Clear.", "cite_spans": []},
    ],
    "bib_entries": BIBLIOGRAPHY,
    "ref_entries": {"f1": {"latex": "x", "type": "formula"}},
}


def _stage(folder: Path, *records: object) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    path = folder / NAME
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    staged, rejected = stage_all("unarxive", path)
    rows = {
        name: [{key: value for key, value in row.items() if key != "row_number"} for row in members]
        for name, members in staged[NAME].items()
    }
    return rows, [row.reason for row in rejected]


def _cite(key: str, name: str) -> dict[str, Any]:
    return {"citing_source_id": "2212.00001", "reference_key": key, "source_reference_id": name}


CONTEXT = "As {{cite:aa}} and {{cite:bb}} show, it is."
CITATIONS = [
    _cite("2104.06921", "aa") | {"context": CONTEXT, "context_start": 3, "context_end": 14},
    _cite("doi:10.1090/tran/8674", "bb") | {"context": CONTEXT, "context_start": 19, "context_end": 30},
    _cite("mention:2212.00001#cc", "cc"),
    _cite("mention:2212.00001#dd", "dd"),
]


def test_a_paper_of_2022_becomes_these_rows(tmp_path: Path) -> None:
    rows, reasons = _stage(tmp_path, PAPER)
    assert reasons == []
    assert rows == {
        "papers": [
            {
                "source_id": "2212.00001",
                "title": "Zeros of polynomials",
                "abstract": "An abstract of two lines.",
                "year": 2022,
            }
        ],
        "identifiers": [{"source_id": "2212.00001", "scheme": "arxiv", "identifier": "2212.00001"}],
        "fields": [
            {"source_id": "2212.00001", "field": "math.PR", "assigned_by": "arxiv"},
            {"source_id": "2212.00001", "field": "math.CA", "assigned_by": "arxiv"},
            {"source_id": "2212.00001", "field": "Mathematics", "assigned_by": "unarxive"},
        ],
        "authorships": [
            {
                "source_id": "2212.00001",
                "position": 1,
                "author_source_id": "name:Emmy Noether",
                "author_name": "Emmy Noether",
            }
        ],
        "sections": [
            {
                "source_id": "2212.00001",
                "section_number": 1,
                "title": "Introduction",
                "text": f"{TEXT}\n\nMore.",
            },
            {"source_id": "2212.00001", "section_number": 2, "title": "Proof", "text": "Clear."},
        ],
        "references": [
            {"reference_key": "2104.06921"},
            {"reference_key": "doi:10.1090/tran/8674"},
            {"reference_key": "mention:2212.00001#cc"},
            {"reference_key": "mention:2212.00001#dd"},
        ],
        "reference_identifiers": [
            {"reference_key": "2104.06921", "scheme": "arxiv", "identifier": "2104.06921"},
            {"reference_key": "2104.06921", "scheme": "openalex", "identifier": "W42"},
            {
                "reference_key": "doi:10.1090/tran/8674",
                "scheme": "doi",
                "identifier": "10.1090/tran/8674",
            },
            {"reference_key": "doi:10.1090/tran/8674", "scheme": "openalex", "identifier": "W43"},
        ],
        "citations": CITATIONS,
    }


def test_a_paper_of_2024_says_the_same_in_sections(tmp_path: Path) -> None:
    given = {key: value for key, value in PAPER.items() if key not in ("body_text", "discipline")}
    given["metadata"] = METADATA | {"language": "en", "cited_by_count": 5, "discipline": "Mathematics"}
    given["sections"] = {
        "Introduction": {"text": f"{TEXT}More.", "cite_spans": SPANS, "ref_spans": []},
        "": {"text": "Without a heading.", "cite_spans": [], "ref_spans": []},
    }
    of_2022, _ = _stage(tmp_path, PAPER)
    rows, reasons = _stage(tmp_path, given)
    assert reasons == []
    assert rows["papers"] == [of_2022["papers"][0] | {"citation_count": 5}]
    assert rows["fields"] == of_2022["fields"]
    assert rows["references"] == of_2022["references"]
    assert rows["sections"] == [
        {
            "source_id": "2212.00001",
            "section_number": 1,
            "title": "Introduction",
            "text": f"{TEXT}More.",
        },
        {"source_id": "2212.00001", "section_number": 2, "text": "Without a heading."},
    ]
    # The paragraphs are joined without a blank, and so the sentence goes on.
    starts = [(row["reference_key"], row.get("context_start")) for row in rows["citations"]]
    assert starts[:2] == [("2104.06921", 3), ("doi:10.1090/tran/8674", 19)]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        (_entry(doi="https://doi.org/10.48550/arXiv.2103.00020"), "2103.00020"),
        (_entry(linked=("hep-th/9402147",)), "hep-th/9402147"),
        (_entry(linked=("1206.6692v2", "1206.6692v2")), "1206.6692"),
        (_entry(linked=("1206.6692", "1207.0001"), open_alex_id="https://openalex.org/W1"), "openalex:W1"),
        (_entry(doi="10.1/A", arxiv_id="1206.6692"), "1206.6692"),
        (_entry(pubmed_id="https://pubmed.ncbi.nlm.nih.gov/29"), "pubmed:29"),
    ],
)
def test_a_cited_arxiv_paper_is_keyed_by_its_id_and_another_by_its_best(
    tmp_path: Path, entry: dict[str, Any], key: str
) -> None:
    rows, reasons = _stage(tmp_path, {"paper_id": "1", "bib_entries": {"aa": entry}})
    assert reasons == []
    assert [row["reference_key"] for row in rows["citations"]] == [key]


def test_an_abstract_that_is_a_text_stands_in_for_one_that_is_missing(tmp_path: Path) -> None:
    rows, _ = _stage(tmp_path, {"paper_id": "1", "metadata": {}, "abstract": " Words\nhere. "})
    assert rows["papers"] == [{"source_id": "1", "abstract": "Words here."}]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"metadata": METADATA}, "missing_field"),
        (PAPER | {"metadata": "x"}, "invalid_value"),
        (PAPER | {"abstract": 7}, "invalid_value"),
        (PAPER | {"body_text": {"Introduction": {}}}, "invalid_value"),
        (PAPER | {"sections": []}, "invalid_value"),
        (PAPER | {"bib_entries": {"aa": "a line"}}, "invalid_value"),
        (PAPER | {"bib_entries": {"aa": {"ids": []}}}, "invalid_value"),
        (PAPER | {"metadata": METADATA | {"cited_by_count": "many"}}, "invalid_value"),
    ],
)
def test_a_wrong_paper_is_rejected_and_the_others_stay(
    tmp_path: Path, record: dict[str, Any], reason: str
) -> None:
    rows, reasons = _stage(tmp_path, record, {"paper_id": "2212.00002"})
    assert reasons == [reason]
    assert rows["papers"] == [{"source_id": "2212.00002"}]


def test_no_damage_loses_a_paper_or_raises(tmp_path: Path) -> None:
    check_damage(LOADER, tmp_path / NAME, orjson.dumps(PAPER) + b"\n", (1, 1, 0))


@needs_real_data
def test_the_published_sample_is_read_whole() -> None:
    staged, rejected = stage_all("unarxive", REAL_DATA / "unarxive")
    assert rejected == []
    rows = staged["unarXive_data_sample.tar.gz"]
    assert {name: len(members) for name, members in rows.items()} == {
        "papers": 49,
        "identifiers": 51,
        "fields": 142,
        "authorships": 198,
        "sections": 698,
        "references": 1783,
        "reference_identifiers": 1491,
        "citations": 3111,
    }
    papers = [
        (row["source_id"], row["year"], len(row["title"]), len(row["abstract"])) for row in rows["papers"]
    ]
    assert [papers[0], papers[24], papers[48]] == [
        ("2212.11867", 2022, 85, 528),
        ("2212.11899", 2022, 145, 1717),
        ("2212.11827", 2022, 117, 1408),
    ]
    mentions = [row for row in rows["citations"] if "context" in row]
    assert len(mentions) == 3042
    assert all(
        row["context"][row["context_start"] : row["context_end"]]
        == f"{{{{cite:{row['source_reference_id']}}}}}"
        for row in mentions
    )
    unknown = [row for row in rows["references"] if row["reference_key"].startswith("mention:")]
    assert len(unknown) == 1047
