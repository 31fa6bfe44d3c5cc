"""S2ORC of 2019 and 2020: what metadata and full texts become."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.s2orc import LOADER, find_files, read_chunks
from pinakes.loaders.staging import Rejected
from tests.fuzzing import check_damage
from tests.loading import count_left_out, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_lines

METADATA = {
    "paper_id": "11",
    "title": " Dogs and\ncats ",
    "authors": [
        {"first": "Ada", "middle": ["B.", ""], "last": "Lee", "suffix": "Jr."},
        {"first": "", "middle": [], "last": "", "suffix": ""},
        {"first": "", "middle": [], "last": "Plato", "suffix": ""},
    ],
    "abstract": "They get on.",
    "year": 2019,
    "arxiv_id": "1911.02782",
    "acl_id": None,
    "pmc_id": "PMC77",
    "pubmed_id": "88",
    "doi": "10.1/ABC",
    "venue": None,
    "journal": "Pets",
    "mag_id": "99",
    "mag_field_of_study": ["Biology", "Psychology"],
    "outbound_citations": ["12", "13"],
    "inbound_citations": ["14"],
    "has_pdf_parse": True,
}
PARSE = {
    "paper_id": "11",
    "_pdf_hash": "ab",
    "abstract": [],
    "body_text": [
        {
            "section": "Introduction",
            "text": "Dogs bark. Dogs are happier than cats [7]. So they say.",
            "cite_spans": [
                {"start": 38, "end": 41, "text": "[7]", "ref_id": "BIBREF0"},
                {"start": 0, "end": 4, "text": "Dogs", "ref_id": None},
            ],
            "ref_spans": [],
        },
        {"section": "Introduction", "text": "More of it.", "cite_spans": [], "ref_spans": []},
        {"section": "Results", "text": "None.", "cite_spans": [], "ref_spans": []},
    ],
    "bib_entries": {
        "BIBREF0": {"title": "On cats", "authors": [], "year": "1999", "venue": "", "link": "12"},
        "BIBREF1": {"title": "On Dogs!", "authors": [], "year": "20l0", "venue": "", "link": None},
    },
    "ref_entries": {},
}


def _stage(path: Path, options: dict[str, str] | None = None) -> tuple[dict[str, Any], list[Rejected]]:
    """What `stage_all` gives, without staged tables of no rows."""
    staged, rejected = stage_all("s2orc", path, options)
    return {file: {name: rows for name, rows in of.items() if rows} for file, of in staged.items()}, rejected


def _cite(citing: str, cited: str, **more: Any) -> dict[str, Any]:
    return {"row_number": 1, "citing_source_id": citing, "reference_key": cited, **more}


def _of_paper(**columns: Any) -> dict[str, Any]:
    return {"row_number": 1, "source_id": "11", **columns}


def test_metadata_of_2020_become_these_rows(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "metadata_0.jsonl.gz", METADATA)
    staged, rejected = _stage(path)
    assert rejected == []
    assert staged == {
        "metadata_0.jsonl.gz": {
            "papers": [
                _of_paper(title="Dogs and\ncats", abstract="They get on.", year=2019, venue="Pets"),
            ],
            "identifiers": [
                _of_paper(scheme="doi", identifier="10.1/abc"),
                _of_paper(scheme="arxiv", identifier="1911.02782"),
                _of_paper(scheme="mag", identifier="99"),
                _of_paper(scheme="pubmed", identifier="88"),
                _of_paper(scheme="pmc", identifier="77"),
            ],
            "fields": [
                _of_paper(field="Biology", assigned_by="mag"),
                _of_paper(field="Psychology", assigned_by="mag"),
            ],
            "authorships": [
                _of_paper(position=1, author_source_id="name:Ada B. Lee Jr.", author_name="Ada B. Lee Jr."),
                _of_paper(position=3, author_source_id="name:Plato", author_name="Plato"),
            ],
            "citations": [_cite("11", "12"), _cite("11", "13")],
        }
    }


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ("none", []),
        ("inbound", [_cite("14", "11")]),
        ("both", [_cite("11", "12"), _cite("11", "13"), _cite("14", "11")]),
    ],
)
def test_the_option_says_which_links_are_read(
    tmp_path: Path, citations: str, expected: list[dict[str, Any]]
) -> None:
    path = write_lines(tmp_path / "metadata_0.jsonl", METADATA)
    options = {"citations": citations}
    staged, _ = _stage(path, options)
    assert staged["metadata_0.jsonl"].get("citations", []) == expected
    (file,) = find_files(path, options)
    assert ("citations" in LOADER.describes(file.role)) is (citations == "both")


def test_an_unknown_way_of_reading_links_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "metadata_0.jsonl", METADATA)
    with pytest.raises(InputError, match="citations=all is not known; expected one of none, outbound"):
        find_files(path, {"citations": "all"})


def test_full_texts_of_2020_become_sections_and_mentions(tmp_path: Path) -> None:
    staged, rejected = _stage(write_lines(tmp_path / "pdf_parses" / "x.jsonl", PARSE))
    assert rejected == []
    assert staged["x.jsonl"] == {
        "papers": [_of_paper()],
        "sections": [
            _of_paper(
                section_number=1,
                title="Introduction",
                text="Dogs bark. Dogs are happier than cats [7]. So they say.\n\nMore of it.",
            ),
            _of_paper(section_number=2, title="Results", text="None."),
        ],
        "citations": [
            _cite(
                "11",
                "12",
                source_reference_id="BIBREF0",
                context="Dogs are happier than cats [7].",
                context_start=27,
                context_end=30,
            ),
            _cite("11", "title:ondogs", source_reference_id="BIBREF1"),
        ],
        "references": [
            {"row_number": 1, "reference_key": "12", "title": "On cats", "year": 1999},
            {"row_number": 1, "reference_key": "title:ondogs", "title": "On Dogs!"},
        ],
    }


def test_a_release_with_full_texts_takes_no_links_from_its_metadata(tmp_path: Path) -> None:
    write_lines(tmp_path / "full" / "metadata" / "metadata_0.jsonl.gz", METADATA)
    write_lines(tmp_path / "full" / "pdf_parses" / "pdf_parses_0.jsonl.gz", PARSE)
    (tmp_path / "LICENSE").write_text("ODC-By")
    files = find_files(tmp_path, {})
    assert [(file.name, file.role) for file in files] == [
        ("full/metadata/metadata_0.jsonl.gz", "metadata_2020:none"),
        ("full/pdf_parses/pdf_parses_0.jsonl.gz", "pdf_parses"),
    ]
    own = [LOADER.describes(file.role) for file in files]
    assert own == [
        {"title", "abstract", "year", "venue", "identifiers", "fields", "authorships"},
        {"sections", "citations"},
    ]


TABLE = {
    "pid": "11",
    "title": 'A "title"',
    "authors": "[\"D'Arcy\", 'M\\xfcller']",
    "year": "2001",
    "venue": "",
    "has_doi": "10.1/A",
    "has_pmid": "7",
    "has_pmc_id": "PMC8",
    "has_arxiv_id": "",
    "has_acl_id": "W17-4512",
    "mag_fos": "['Biology']",
    "outbound_citations": "['12']",
    "inbound_citations": "['14']",
}


def _write_table(path: Path, *rows: dict[str, str]) -> Path:
    lines = ["\t".join(cells) + "\n" for cells in (TABLE, *(row.values() for row in rows))]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_table_of_2019_becomes_these_rows(tmp_path: Path) -> None:
    staged, rejected = _stage(_write_table(tmp_path / "metadata.tsv", TABLE))
    assert rejected == []
    assert staged["metadata.tsv"] == {
        "papers": [_of_paper(title='A "title"', year=2001)],
        "identifiers": [
            _of_paper(scheme="doi", identifier="10.1/a"),
            _of_paper(scheme="acl", identifier="W17-4512"),
            _of_paper(scheme="pubmed", identifier="7"),
            _of_paper(scheme="pmc", identifier="8"),
        ],
        "fields": [_of_paper(field="Biology", assigned_by="mag")],
        "authorships": [
            _of_paper(position=1, author_source_id="name:D'Arcy", author_name="D'Arcy"),
            _of_paper(position=2, author_source_id="name:Müller", author_name="Müller"),
        ],
        "citations": [_cite("11", "12")],
    }


@pytest.mark.parametrize("cell", ["['12'", "[12]", "['12'] + []", "('12',)", "['12' '13']", "x"])
def test_a_cell_that_is_no_list_of_texts_is_rejected(tmp_path: Path, cell: str) -> None:
    wrong, right = TABLE | {"outbound_citations": cell}, TABLE | {"pid": "12"}
    _, rejected = _stage(_write_table(tmp_path / "metadata.tsv", wrong, right))
    (one,) = rejected
    assert (one.row_number, one.reason) == (1, "invalid_value")
    assert one.message == f"outbound_citations: expected a list of texts, found {cell!r}"


PAPER_2019 = {
    "paper_id": "11",
    "metadata": {**METADATA, "year": "2001"},
    "s2_pdf_hash": "ab",
    "grobid_parse": {"abstract": [], "body_text": [], "bib_entries": {"b": {"title": "Not this"}}},
    "latex_parse": {
        "abstract": [],
        "body_text": [{"text": "As in [1].", "cite_spans": [{"start": 6, "end": 9, "ref_id": "b0"}]}],
        "bib_entries": {"b0": {"title": "", "year": 1999, "links": None, "other_ids": {"DOI": ["10.2/X"]}}},
    },
}


@pytest.mark.parametrize("indent", [0, orjson.OPT_INDENT_2])
def test_a_paper_of_2019_is_read_from_its_latex(tmp_path: Path, indent: int) -> None:
    path = tmp_path / "paper.json"
    path.write_bytes(orjson.dumps(PAPER_2019, option=indent))
    staged, rejected = _stage(path)
    assert rejected == []
    rows = staged["paper.json"]
    assert rows["papers"] == [
        _of_paper(title="Dogs and\ncats", abstract="They get on.", year=2001, venue="Pets")
    ]
    assert rows["citations"] == [
        _cite(
            "11",
            "doi:10.2/x",
            source_reference_id="b0",
            context="As in [1].",
            context_start=6,
            context_end=9,
        )
    ]
    assert rows["references"] == [{"row_number": 1, "reference_key": "doi:10.2/x", "year": 1999}]
    assert rows["reference_identifiers"] == [
        {"row_number": 1, "reference_key": "doi:10.2/x", "scheme": "doi", "identifier": "10.2/x"}
    ]


def test_beside_the_table_a_paper_of_2019_gives_its_text_alone(tmp_path: Path) -> None:
    _write_table(tmp_path / "metadata.tsv", TABLE)
    write_lines(tmp_path / "papers" / "0.jsonl.gz", PAPER_2019)
    files = find_files(tmp_path, {})
    assert [file.role for file in files] == ["metadata_2019:none", "papers_2019:text"]
    (chunk,) = read_chunks(files[1], {}, 1)
    assert chunk.tables["papers"].select(["source_id", "title", "abstract"]).to_pylist() == [
        {"source_id": "11", "title": None, "abstract": "They get on."}
    ]
    assert LOADER.describes(files[1].role) == {"abstract", "sections", "citations"}
    counted = count_left_out("s2orc", tmp_path / "papers")
    in_text = count_left_out("s2orc", tmp_path)
    assert ("authorships", "not_asked") not in counted
    assert in_text["authorships", "not_asked"] == 2


def test_a_document_that_is_no_json_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_bytes(orjson.dumps(PAPER_2019, option=orjson.OPT_INDENT_2))
    (good,) = find_files(tmp_path, {})
    (tmp_path / "good.json").write_bytes(b"{\n")
    (chunk,) = read_chunks(good, {}, 1)
    assert [(row.row_number, row.location, row.reason) for row in chunk.rejected] == [
        (1, "good.json", "not_json")
    ]


def test_what_holds_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no file of S2ORC"):
        find_files(write_lines(tmp_path / "tldrs.jsonl", {"corpusid": 1, "model": "m", "text": "t"}), {})
    with pytest.raises(InputError, match=r"there is no .*nowhere; expected a release"):
        find_files(tmp_path / "nowhere", {})
    with pytest.raises(InputError, match="no source is given"):
        find_files(None, {})


def test_the_corpus_is_named_after_its_folder(tmp_path: Path) -> None:
    described = LOADER.describe_corpus(tmp_path / "20200705v1", {})
    assert (described.name, described.licence) == ("20200705v1", "ODC-By 1.0")


@needs_real_data
def test_the_sample_of_2020_has_its_records() -> None:
    staged, rejected = _stage(REAL_DATA / "s2orc" / "metadata_sample.jsonl.gz")
    assert rejected == []
    rows = staged["metadata_sample.jsonl.gz"]
    assert {name: len(found) for name, found in rows.items()} == {
        "papers": 1000,
        "identifiers": 1690,
        "fields": 1028,
        "authorships": 3141,
        "citations": 3107,
    }
    papers = rows["papers"]
    assert [papers[place]["source_id"] for place in (0, 500, 999)] == ["77490025", "213343826", "123626555"]
    assert [papers[place].get("year") for place in (0, 500, 999)] == [1975, 2019, 2011]
    assert sum("abstract" in paper for paper in papers) == 488


@needs_real_data
def test_the_sample_of_2019_has_its_records() -> None:
    staged, rejected = _stage(REAL_DATA / "s2orc" / "old_20191111")
    assert rejected == []
    table, paper = staged["data/metadata_sample.tsv"], staged["data/example_paper.json"]
    assert {name: len(found) for name, found in table.items()} == {
        "papers": 999,
        "identifiers": 679,
        "fields": 119,
        "authorships": 2875,
    }
    assert [table["papers"][place]["source_id"] for place in (0, 1, 998)] == [
        "104172",
        "1003291",
        "119117702",
    ]
    assert paper["papers"][0]["source_id"] == "15772371"
    assert {name: len(found) for name, found in paper.items()} == {
        "papers": 1,
        "sections": 1,
        "citations": 35,
        "references": 26,
    }
    assert sum("context" in row for row in paper["citations"]) == 31


FILES: dict[str, bytes] = {
    "metadata_0.jsonl": orjson.dumps(METADATA) + b"\n" + orjson.dumps(METADATA | {"paper_id": "12"}) + b"\n",
    "pdf_parses_0.jsonl": orjson.dumps(PARSE) + b"\n",
    "metadata.tsv": ("\t".join(TABLE) + "\n" + "\t".join(TABLE.values()) + "\n").encode(),
    "paper.json": orjson.dumps(PAPER_2019, option=orjson.OPT_INDENT_2),
}


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_lose_no_record(name: str, tmp_path: Path) -> None:
    records = FILES[name].count(b"paper_id") if name.endswith(".jsonl") else 1
    check_damage(LOADER, tmp_path / name, FILES[name], (records, records, 0))
