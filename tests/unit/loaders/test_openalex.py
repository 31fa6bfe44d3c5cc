"""OpenAlex's works: what every record becomes, and what a snapshot's folders mean."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.openalex import LOADER
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.writing import write_lines

TOPIC = {
    "id": "https://openalex.org/T10102",
    "display_name": "Scientometrics",
    "score": 0.99,
    "subfield": {"id": "https://openalex.org/subfields/1804", "display_name": "Statistics"},
    "field": {"id": "https://openalex.org/fields/18", "display_name": "Decision Sciences"},
    "domain": {"id": "https://openalex.org/domains/2", "display_name": "Social Sciences"},
}
WORK: dict[str, Any] = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/PeerJ.4375",
    "title": "The state of OA",
    "display_name": "The state of OA: another",
    "publication_year": 2018,
    "publication_date": "2018-02-13",
    "ids": {
        "openalex": "https://openalex.org/W2741809807",
        "doi": "https://doi.org/10.7717/PeerJ.4375",
        "mag": "2741809807",
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
        "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC5815332",
    },
    "type": "article",
    "primary_location": {"source": {"id": "https://openalex.org/S1983995261", "display_name": "PeerJ"}},
    "authorships": [
        {"author": {"id": "https://openalex.org/A5048491430", "display_name": "Heather Piwowar"}},
        {"author": {"id": None, "display_name": None}, "raw_author_name": "J. Priem"},
        {"author": {"id": None, "display_name": None}},
    ],
    "cited_by_count": 382,
    "is_retracted": True,
    "is_paratext": False,
    "primary_topic": TOPIC,
    "topics": [TOPIC],
    "concepts": [
        {"display_name": "Open access", "level": 2, "score": 0.8},
        {"display_name": "Law", "level": 0, "score": 0},
    ],
    "mesh": [
        {"descriptor_name": "Humans", "qualifier_name": None, "is_major_topic": False},
        {"descriptor_name": "Publishing", "qualifier_name": "economics", "is_major_topic": True},
    ],
    "abstract_inverted_index": {"Despite": [0], "growth": [1, 4], "of": [2], "access": [3]},
    "referenced_works": ["https://openalex.org/W1", "https://openalex.org/W2", "https://openalex.org/W1"],
    "related_works": ["https://openalex.org/W9"],
}

SHARD = "part_000.gz"


def _stage(folder: Path, *records: object) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    staged, rejected = stage_all("openalex", write_lines(folder / SHARD, *records))
    rows = {
        name: [{key: value for key, value in row.items() if key != "row_number"} for row in members]
        for name, members in staged["part_000.gz"].items()
    }
    return rows, [row.reason for row in rejected]


def test_a_work_becomes_these_rows(tmp_path: Path) -> None:
    rows, reasons = _stage(tmp_path, WORK)
    assert reasons == []
    work_id = {"source_id": "W2741809807"}
    assert rows == {
        "papers": [
            work_id
            | {
                "title": "The state of OA",
                "abstract": "Despite growth of access growth",
                "year": 2018,
                "venue": "PeerJ",
                "citation_count": 382,
            }
        ],
        "identifiers": [
            work_id | {"scheme": "doi", "identifier": "10.7717/peerj.4375"},
            work_id | {"scheme": "pubmed", "identifier": "29456894"},
            work_id | {"scheme": "pmc", "identifier": "5815332"},
            work_id | {"scheme": "mag", "identifier": "2741809807"},
        ],
        "fields": [
            work_id | {"field": "Scientometrics", "assigned_by": "openalex_topic"},
            work_id | {"field": "Decision Sciences", "assigned_by": "openalex"},
            work_id | {"field": "Statistics", "assigned_by": "openalex_subfield"},
            work_id | {"field": "Social Sciences", "assigned_by": "openalex_domain"},
            work_id | {"field": "Open access", "assigned_by": "openalex_concept"},
            work_id | {"field": "Humans", "assigned_by": "mesh"},
            work_id | {"field": "Publishing/economics", "assigned_by": "mesh"},
            work_id | {"field": "Publishing/economics", "assigned_by": "mesh_major"},
            work_id | {"field": "article", "assigned_by": "openalex_type"},
            work_id | {"field": "retracted", "assigned_by": "openalex_status"},
        ],
        "authorships": [
            work_id | {"position": 1, "author_source_id": "A5048491430", "author_name": "Heather Piwowar"},
            work_id | {"position": 2, "author_source_id": "name:J. Priem", "author_name": "J. Priem"},
        ],
        "citations": [
            {"citing_source_id": "W2741809807", "reference_key": "W1"},
            {"citing_source_id": "W2741809807", "reference_key": "W2"},
        ],
    }


def test_a_bare_work_has_nulls_and_an_older_one_its_host_venue(tmp_path: Path) -> None:
    older = {
        "id": "https://openalex.org/W3",
        "title": None,
        "display_name": "Shown",
        "host_venue": {"display_name": "A venue"},
        "ids": {"mag": 3, "doi": "https://doi.org/10.48550/arXiv.2103.00020"},
    }
    rows, reasons = _stage(tmp_path, {"id": "w2", "abstract_inverted_index": None}, older)
    assert reasons == []
    assert rows["papers"] == [
        {"source_id": "W2"},
        {"source_id": "W3", "title": "Shown", "venue": "A venue"},
    ]
    assert [(row["scheme"], row["identifier"]) for row in rows["identifiers"]] == [
        ("doi", "10.48550/arxiv.2103.00020"),
        ("arxiv", "2103.00020"),
        ("mag", "3"),
    ]


@pytest.mark.parametrize(
    ("index", "abstract"),
    [
        ({"b": [7], "a": [2, 900_000_000]}, "a b a"),
        ('{"IndexLength": 2, "InvertedIndex": {"two": [1], "one": [0]}}', "one two"),
        ({}, None),
    ],
)
def test_an_abstract_is_its_words_in_the_order_of_their_positions(
    tmp_path: Path, index: object, abstract: str | None
) -> None:
    rows, _ = _stage(tmp_path, {"id": "W1", "abstract_inverted_index": index})
    assert rows["papers"][0].get("abstract") == abstract


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": None}, "missing_field"),
        ({"id": "https://openalex.org/A5048491430"}, "invalid_value"),
        ({"publication_year": "soon"}, "invalid_value"),
        ({"cited_by_count": "many"}, "invalid_value"),
        ({"abstract_inverted_index": []}, "invalid_value"),
        ({"abstract_inverted_index": {"a": ["0"]}}, "invalid_value"),
        ({"abstract_inverted_index": "{"}, "invalid_value"),
        ({"referenced_works": ["https://openalex.org/S1"]}, "invalid_value"),
        (
            {"authorships": [{"author": {"id": "https://openalex.org/W1", "display_name": "A"}}]},
            "invalid_value",
        ),
        ({"topics": ["Scientometrics"]}, "invalid_value"),
        ({"is_retracted": "yes"}, "invalid_value"),
        ({"primary_location": "PeerJ"}, "invalid_value"),
    ],
)
def test_a_wrong_work_is_rejected_and_the_others_stay(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    rows, reasons = _stage(tmp_path, WORK | changed, {"id": "W4"})
    assert reasons == [reason]
    assert [row["source_id"] for row in rows["papers"]] == ["W4"]


def _write_snapshot(root: Path) -> Path:
    for date, work_id in (("2023-01-02", "W2"), ("2022-12-31", "W1")):
        folder = root / "data" / "works" / f"updated_date={date}"
        folder.mkdir(parents=True)
        write_lines(folder / SHARD, {"id": work_id})
    (root / "data/works/manifest").write_text("{}")
    authors = root / "data/authors/updated_date=2022-01-01"
    authors.mkdir(parents=True)
    write_lines(authors / SHARD, {"id": "A1"})
    merged = root / "data/merged_ids/works"
    merged.mkdir(parents=True)
    lines = "merge_date,id,merge_into_id\n2022-06-07,W77,W1\n2022-06-07,https://openalex.org/W78,W1\n2022-06-07,S1,S2\n"
    (merged / "2022-06-07.csv.gz").write_bytes(gzip.compress(lines.encode()))
    return root


def test_a_snapshots_works_come_by_date_and_merged_ones_are_deleted(tmp_path: Path) -> None:
    staged, rejected = stage_all("openalex", _write_snapshot(tmp_path))
    assert [(row.row_number, row.reason) for row in rejected] == [(3, "invalid_value")]
    assert [(name, rows["papers"][0]["source_id"]) for name, rows in list(staged.items())[:2]] == [
        ("data/works/updated_date=2022-12-31/part_000.gz", "W1"),
        ("data/works/updated_date=2023-01-02/part_000.gz", "W2"),
    ]
    assert staged["data/merged_ids/works/2022-06-07.csv.gz"] == {
        "deletions": [
            {"row_number": 1, "kind": "papers", "key": "W77"},
            {"row_number": 2, "kind": "papers", "key": "W78"},
        ]
    }
    assert len(staged) == 3


def test_the_folder_of_works_alone_is_read_as_well(tmp_path: Path) -> None:
    _write_snapshot(tmp_path)
    staged, _ = stage_all("openalex", tmp_path / "data" / "works")
    assert sorted(staged) == [f"updated_date={date}/part_000.gz" for date in ("2022-12-31", "2023-01-02")]


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no shard of works"):
        stage_all("openalex", tmp_path)


PAGE: dict[str, Any] = {"meta": {"count": 3}, "results": [WORK, {"id": "W4"}, {"id": "S1"}, 5]}
LAST: dict[str, Any] = {"meta": {"count": 3}, "results": [], "group_by": []}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (orjson.dumps(PAGE), ["results[2]", "results[3]"]),
        (b"\xef\xbb\xbf" + orjson.dumps(PAGE, option=orjson.OPT_INDENT_2), ["results[2]", "results[3]"]),
        (orjson.dumps(dict(reversed(PAGE.items()))), ["results[2]", "results[3]"]),
        (
            b"\n".join([orjson.dumps(LAST), b"{", orjson.dumps(PAGE), orjson.dumps({"id": "W5"})]),
            ["line 2", "line 3: results[2]", "line 3: results[3]"],
        ),
    ],
    ids=["a page", "with line ends and a byte order mark", "keys in another order", "a page a line"],
)
def test_pages_of_the_api_are_their_works(tmp_path: Path, text: bytes, places: list[str]) -> None:
    (tmp_path / "page.json").write_bytes(text)
    staged, rejected = stage_all("openalex", tmp_path)
    found = [(row["row_number"], row["source_id"]) for row in staged["page.json"]["papers"]]
    assert [source_id for _, source_id in found] == ["W2741809807", "W4", "W5"][: len(places)]
    assert [row.location for row in rejected] == places
    numbers = [number for number, _ in found] + [row.row_number for row in rejected]
    assert sorted(numbers) == list(range(1, len(found) + len(places) + 1))
    assert "W4" not in [row.raw for row in rejected]


def test_a_page_without_works_and_an_error_of_the_api(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(orjson.dumps(LAST))
    (tmp_path / "2.json").write_bytes(orjson.dumps({"meta": {}, "error": "Rate limit"}))
    error = orjson.dumps({"meta": {}, "error": "Rate limit"})
    (tmp_path / "3.json").write_bytes(orjson.dumps(LAST) + b"\n" + error)
    _, rejected = stage_all("openalex", tmp_path)
    assert [(row.reason, "Rate limit" in row.raw) for row in rejected] == [("missing_field", True)] * 2
    assert [row.location for row in rejected] == ["line 1", "line 2"]


def test_no_damage_of_a_page_loses_a_work_or_raises(tmp_path: Path) -> None:
    lines = (
        orjson.dumps({**PAGE, "results": [WORK]})
        + b"\n"
        + orjson.dumps({"meta": 1, "results": [{"id": "W4"}]})
    )
    check_damage(LOADER, tmp_path / "part_000.jsonl", lines, (2, 2, 0))


def test_no_damage_loses_a_work_or_raises(tmp_path: Path) -> None:
    whole = orjson.dumps(WORK) + b"\n" + orjson.dumps({"id": "W4"})
    check_damage(LOADER, tmp_path / "part_000.jsonl", whole, (2, 2, 0))
