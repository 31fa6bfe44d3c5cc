"""S2AND: signatures into the authors of papers, with clusters and without, and what is refused."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files


def _signature(paper: int, position: object, **info: Any) -> dict[str, Any]:
    about = {
        "first": "Ann",
        "middle": None,
        "last": "Lee",
        "suffix": None,
        "position": position,
        "block": "a lee",
    }
    return {"paper_id": paper, "author_info": {**about, **info}}


SIGNATURES = {
    "0": _signature(1, 1),
    "1": _signature(
        2, 0, first="A.", middle="B", email="a@b.c", affiliations=["U\nX", "V"], given_block="ann lee"
    ),
    "2": _signature(1, 0, first="", last="", given_name="Cy", block=None),
}
CLUSTERS = {"c1": {"cluster_id": "c1", "signature_ids": ["0", "1"]}}
PAPERS = {
    "1": {
        "paper_id": 1,
        "title": "One",
        "abstract": "A1",
        "journal_name": "J",
        "venue": "",
        "year": 2006,
        "fields_of_study": ["Computer Science"],
        "authors": [
            {"position": 0, "author_name": "Cy"},
            {"position": 1, "author_name": "Ann Lee"},
            {"position": 2, "author_name": "Dee"},
        ],
        "references": [2, 9, 2],
    },
    "3": {
        "paper_id": 3,
        "title": "Three",
        "authors": [{"position": 0, "author_name": "Eve"}],
        "references": None,
    },
}


def _list_files(signatures: object = SIGNATURES, prefix: str = "") -> dict[str, object]:
    contents = {"signatures": signatures, "clusters": CLUSTERS, "papers": PAPERS}
    return {f"{prefix}{name}.json": content for name, content in contents.items()}


def _authorship(row_number: int, source_id: str, position: int, author: str, name: str, **others: str) -> Any:
    return {
        "row_number": row_number,
        "source_id": source_id,
        "position": position,
        "author_source_id": author,
        "author_name": name,
        **others,
    }


def _signed(
    row_number: int, source_id: str, signature: str, number: int, position: int, **others: Any
) -> Any:
    """A row of signatures of the author a lee, without what is null."""
    about = {"first_name": "Ann", "last_name": "Lee", "block": "a lee", **others}
    return {
        "row_number": row_number,
        "source_id": source_id,
        "dataset": others.pop("dataset", ""),
        "signature_id": signature,
        "number": number,
        "position": position,
        **{name: value for name, value in about.items() if value is not None},
    }


def test_all_signatures_of_a_paper_are_one_record_with_its_other_authors(tmp_path: Path) -> None:
    staged, rejected = stage_all("s2and", write_files(tmp_path, _list_files()))
    assert rejected == []
    assert staged == {
        "papers.json": {
            "papers": [
                {
                    "row_number": 1,
                    "source_id": "1",
                    "title": "One",
                    "abstract": "A1",
                    "year": 2006,
                    "venue": "J",
                },
                {"row_number": 2, "source_id": "3", "title": "Three"},
            ],
            "fields": [
                {"row_number": 1, "source_id": "1", "field": "Computer Science", "assigned_by": "mag"}
            ],
            "citations": [
                {"row_number": 1, "citing_source_id": "1", "reference_key": "2"},
                {"row_number": 1, "citing_source_id": "1", "reference_key": "9"},
            ],
        },
        "signatures.json": {
            "papers": [
                {"row_number": 1, "source_id": "1"},
                {"row_number": 2, "source_id": "2"},
                {"row_number": 3, "source_id": "3"},
            ],
            "authorships": [
                _authorship(1, "1", 1, "signature:2", "Cy"),
                _authorship(1, "1", 2, "c1", "Ann Lee", block="a lee"),
                _authorship(1, "1", 3, "name:Dee", "Dee"),
                _authorship(2, "2", 1, "c1", "A. B Lee", block="a lee"),
                _authorship(3, "3", 1, "name:Eve", "Eve"),
            ],
            "signatures": [
                _signed(1, "1", "0", 1, 2, cluster="c1"),
                _signed(1, "1", "2", 3, 1, first_name=None, last_name=None, block=None),
                _signed(
                    2,
                    "2",
                    "1",
                    2,
                    1,
                    first_name="A.",
                    middle_name="B",
                    email="a@b.c",
                    affiliations="U X\nV",
                    given_block="ann lee",
                    cluster="c1",
                ),
            ],
        },
    }


def test_papers_and_signatures_describe_different_parts_of_a_paper() -> None:
    describes = find_loader("s2and").describes
    assert describes("papers") == {"title", "abstract", "year", "venue", "fields", "citations"}
    assert describes("authorships") == {"authorships", "signatures"}


def test_clusters_of_datasets_in_folders_are_told_apart(tmp_path: Path) -> None:
    write_files(tmp_path / "aminer", _list_files(prefix="aminer_"))
    write_files(tmp_path / "zbmath", _list_files({"1": _signature(5, 0)}, prefix="zbmath_"))
    staged, rejected = stage_all("s2and", tmp_path)
    assert rejected == []
    authors = [row["author_source_id"] for row in staged["aminer/aminer_signatures.json"]["authorships"]]
    assert authors == ["aminer/signature:2", "aminer/c1", "name:Dee", "aminer/c1", "name:Eve"]
    assert staged["zbmath/zbmath_signatures.json"]["authorships"][0]["author_source_id"] == "zbmath/c1"
    datasets = {
        row["dataset"]: (row["signature_id"], row["number"], row["cluster"])
        for file in staged.values()
        for row in file.get("signatures", ())
        if row["signature_id"] == "1"
    }
    assert datasets == {"aminer": ("1", 2, "c1"), "zbmath": ("1", 1, "c1")}


def test_a_dataset_is_named_by_its_files_where_it_has_no_folder(tmp_path: Path) -> None:
    staged, _ = stage_all("s2and", write_files(tmp_path, _list_files(prefix="aminer_")))
    assert {row["dataset"] for row in staged["aminer_signatures.json"]["signatures"]} == {"aminer"}


@pytest.mark.parametrize("place", ["blocks", "aminer"])
@pytest.mark.parametrize("blocks", [["a lee"], {"a lee": ["0", "1"]}])
def test_the_split_of_blocks_is_read_from_their_file(tmp_path: Path, place: str, blocks: object) -> None:
    write_files(tmp_path / "aminer", _list_files(prefix="aminer_"))
    splits = {"train": [], "dev": blocks, "test": ["b lee"]}
    write_files(tmp_path / place, {"block_sigs_aminer.json": splits})
    staged, rejected = stage_all("s2and", tmp_path)
    assert rejected == []
    signed = staged["aminer/aminer_signatures.json"]["signatures"]
    assert {row["signature_id"]: row.get("split") for row in signed} == {"0": "dev", "1": "dev", "2": None}


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": ["a"], "test": ["a"]}, "the block 'a' is of two splits, train and test"),
        ({"trial": ["a"]}, "'trial' of the splits is none; expected the blocks of train, dev and test"),
        ({"train": 7}, "'train' of the splits is none"),
    ],
)
def test_a_split_that_is_none_is_refused(tmp_path: Path, splits: object, message: str) -> None:
    write_files(tmp_path / "aminer", {**_list_files(prefix="aminer_"), "block_sigs_aminer.json": splits})
    with pytest.raises(InputError, match=message):
        stage_all("s2and", tmp_path)


def test_signatures_alone_name_papers_and_authors(tmp_path: Path) -> None:
    (tmp_path / "signatures.json").write_bytes(orjson.dumps({"7": _signature(1, 0)}))
    staged, rejected = stage_all("s2and", tmp_path)
    assert rejected == []
    assert staged == {
        "signatures.json": {
            "papers": [{"row_number": 1, "source_id": "1"}],
            "authorships": [_authorship(1, "1", 1, "signature:7", "Ann Lee", block="a lee")],
            "signatures": [_signed(1, "1", "7", 1, 1)],
        }
    }


def test_a_broken_signature_is_rejected_and_the_papers_others_stay(tmp_path: Path) -> None:
    signatures = {
        "0": _signature(1, 1),
        "1": _signature(1, 1, first="Al"),
        "2": _signature(1, None),
        "3": _signature(1, "first"),
        "4": {"paper_id": 1},
        "5": {"author_info": {}},
        "6": [],
        "7": _signature(2, 0, first=None, last=None),
    }
    staged, rejected = stage_all("s2and", write_files(tmp_path, _list_files(signatures)))
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (1, ".2", "missing_field"),
        (2, ".3", "invalid_value"),
        (3, ".4", "missing_field"),
        (4, ".5", "missing_field"),
        (5, ".6", "not_an_object"),
        (6, ".7", "missing_field"),
    ]
    assert staged["signatures.json"]["papers"] == [
        {"row_number": 7, "source_id": "1"},
        {"row_number": 8, "source_id": "3"},
    ]


def test_of_two_signatures_at_one_place_the_first_makes_the_authorship(tmp_path: Path) -> None:
    signatures = {"0": _signature(1, 1), "1": _signature(1, 1, first="Al")}
    staged, rejected = stage_all("s2and", write_files(tmp_path, _list_files(signatures)))
    assert rejected == []
    assert staged["signatures.json"]["authorships"][1] == _authorship(
        1, "1", 2, "c1", "Ann Lee", block="a lee"
    )
    assert staged["signatures.json"]["signatures"] == [
        _signed(1, "1", "0", 1, 2, cluster="c1"),
        _signed(1, "1", "1", 2, 2, first_name="Al", cluster="c1"),
    ]


def test_a_broken_paper_is_rejected_once(tmp_path: Path) -> None:
    (write_files(tmp_path, _list_files()) / "papers.json").write_text(
        '{"1": [], "2": {"authors": [{"position": 0}]}, "3": {"references": 7}, "4": {"title": "Four"}}'
    )
    staged, rejected = stage_all("s2and", tmp_path)
    assert [row["source_id"] for row in staged["papers.json"]["papers"]] == ["4"]
    assert [(row.location, row.reason) for row in rejected] == [
        (".1", "not_an_object"),
        (".2", "missing_field"),
        (".3", "invalid_value"),
    ]


def test_broken_clusters_are_refused(tmp_path: Path) -> None:
    (write_files(tmp_path, _list_files()) / "clusters.json").write_text('{"c1": {"signature_ids": "0"}}')
    with pytest.raises(InputError, match=r"\.c1 of the clusters is none: signature_ids: expected a list"):
        stage_all("s2and", tmp_path)


@pytest.mark.parametrize("name", ["signatures", "clusters", "papers"])
def test_damaged_files_are_never_lost(tmp_path: Path, name: str) -> None:
    contents = {"signatures": SIGNATURES, "clusters": CLUSTERS, "papers": PAPERS}
    path = write_files(tmp_path, _list_files()) / f"{name}.json"
    check_damage("s2and", path, orjson.dumps(contents[name]), (5, 5, 0), source=tmp_path)


@needs_real_data
def test_qian_has_its_published_signatures() -> None:
    staged, rejected = stage_all("s2and", REAL_DATA / "s2and" / "qian")
    assert rejected == []
    rows = staged["signatures.json"]
    assert [len(rows[name]) for name in ("papers", "authorships", "signatures")] == [6542, 6542, 6542]
    assert len({row["author_source_id"] for row in rows["authorships"]}) == 1188
    assert [rows["authorships"][i] for i in (0, 3271, -1)] == [
        _authorship(1, "53235312", 2, "1", "Abdul Sattar", block="a sattar"),
        _authorship(3272, "5359222", 4, "571", "Liping Zhao", block="l zhao"),
        _authorship(6542, "14517592", 1, "1201", "Ying He", block="y he"),
    ]
    assert rows["signatures"][0] == _signed(
        1,
        "53235312",
        "0",
        1,
        2,
        first_name="Abdul",
        last_name="Sattar",
        affiliations="Bridgewater State University",
        block="a sattar",
        given_block="a sattar",
        cluster="1",
    )


@needs_real_data
def test_the_complete_set_loads_with_three_signatures_at_one_place() -> None:
    staged, rejected = stage_all("s2and", REAL_DATA / "s2and" / "dummy")
    assert rejected == []
    assert {name: {kind: len(rows) for kind, rows in tables.items()} for name, tables in staged.items()} == {
        "papers.json": {"papers": 7, "fields": 7, "citations": 9},
        "signatures.json": {"papers": 7, "authorships": 16, "signatures": 9},
    }
