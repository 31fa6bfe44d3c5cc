"""The ACL Anthology Network: blocks of metadata in mixed encodings, and lines of the citation network."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.aan import decode_mixed
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

METADATA = (
    b"id = {P99-1001}\n"
    b"author = {Daum&eacute;; III, Hal; G\xfcnter, Andr\xc3\xa9; Mausam; Witte, Ren&eacute; ;"
    b" Iria, Jos&eacute;}\n"
    b"title = {{H}aitian R&amp;D at ELRA\x92s \xe2\x80\x9cHome\xe2\x80?}\n"
    b"venue = {LREC}\n"
    b"year = {1999}\n"
    b"\n"
    b"id = {J93-1003}\n"
    b"author = {}\n"
    b"title = {Q&A: Already A Success?}\n"
    b"venue = {}\n"
    b"year = {}"
)

NETWORK = b"P99-1001 ==> J93-1003\nP99-1001 ==> P99-1001\n"


def _author(row_number: int, position: int, name: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "source_id": "P99-1001",
        "position": position,
        "author_source_id": f"name:{name}",
        "author_name": name,
    }


def test_blocks_become_papers_with_names_and_titles_mended(tmp_path: Path) -> None:
    staged, rejected = stage_all("aan", write_files(tmp_path, {"acl-metadata.txt": METADATA}))
    assert rejected == []
    assert staged == {
        "acl-metadata.txt": {
            "papers": [
                {
                    "row_number": 1,
                    "source_id": "P99-1001",
                    "title": "Haitian R&D at ELRA’s “Home\ufffd",
                    "venue": "LREC",
                    "year": 1999,
                },
                {"row_number": 2, "source_id": "J93-1003", "title": "Q&A: Already A Success?"},
            ],
            "identifiers": [
                {"row_number": 1, "source_id": "P99-1001", "scheme": "acl", "identifier": "P99-1001"},
                {"row_number": 2, "source_id": "J93-1003", "scheme": "acl", "identifier": "J93-1003"},
            ],
            "authorships": [
                _author(1, 1, "Daumé III, Hal"),
                _author(1, 2, "Günter, André"),
                _author(1, 3, "Mausam"),
                _author(1, 4, "Witte, René"),
                _author(1, 5, "Iria, José"),
            ],
        }
    }


def test_lines_of_the_network_become_citations(tmp_path: Path) -> None:
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "paper-citation-network.txt").write_bytes(NETWORK)
    staged, rejected = stage_all("aan", write_files(tmp_path, {"acl-metadata.txt": METADATA}))
    assert rejected == []
    assert staged["networks/paper-citation-network.txt"] == {
        "citations": [
            {"row_number": 1, "citing_source_id": "P99-1001", "reference_key": "J93-1003"},
            {"row_number": 2, "citing_source_id": "P99-1001", "reference_key": "P99-1001"},
        ]
    }


def test_the_fullest_network_is_read_and_its_part_is_not(tmp_path: Path) -> None:
    for name in ("paper-citation-network-nonself.txt", "acl.txt"):
        (tmp_path / name).write_bytes(NETWORK)
    found = find_loader("aan").find_files(write_files(tmp_path, {"acl-metadata.txt": METADATA}), {})
    assert [(file.name, file.role) for file in found] == [
        ("acl-metadata.txt", "papers"),
        ("acl.txt", "citations"),
    ]


def test_one_file_is_told_by_its_name(tmp_path: Path) -> None:
    network = tmp_path / "paper-citation-network.txt.gz"
    network.write_bytes(gzip.compress(NETWORK))
    assert [file.role for file in find_loader("aan").find_files(network, {})] == ["citations"]
    metadata = write_files(tmp_path, {"acl-metadata.txt": METADATA}) / "acl-metadata.txt"
    assert [file.role for file in find_loader("aan").find_files(metadata, {})] == ["papers"]


def test_metadata_leave_abstracts_and_citations_of_other_files_alone() -> None:
    describes = find_loader("aan").describes
    assert describes("papers") == {"title", "year", "venue", "identifiers", "authorships"}
    assert describes("citations") == {"citations"}


def test_broken_records_are_rejected_with_their_text_and_the_rest_is_kept(tmp_path: Path) -> None:
    metadata = (
        b"id = {A}\nyear = {nineteen}\n\nid = {B}\nloose text\n\ntitle = {no id}\n\n"
        b"id = {C}\nid = {D}\n\nid = {C}\nid = {E}\nyear = {1999}\nyear = {2000}\n"
    )
    staged, rejected = stage_all("aan", write_files(tmp_path, {"acl-metadata.txt": metadata}))
    assert [row["source_id"] for row in staged["acl-metadata.txt"]["papers"]] == ["C", "D"]
    assert [(row.row_number, row.location, row.reason, row.raw) for row in rejected] == [
        (1, "line 1", "invalid_value", "id = {A}\nyear = {nineteen}"),
        (2, "line 4", "malformed_line", "id = {B}\nloose text"),
        (3, "line 7", "missing_field", "title = {no id}"),
        (6, "line 12", "duplicate_id", "id = {C}"),
        (7, "line 13", "malformed_line", "id = {E}\nyear = {1999}\nyear = {2000}"),
    ]


def test_a_line_that_is_no_citation_is_rejected(tmp_path: Path) -> None:
    network = tmp_path / "acl.txt"
    network.write_bytes(b"P99-1001 ==> \nP99-1001 J93-1003\nA ==> B ==> C\nA ==> B\n")
    staged, rejected = stage_all("aan", network)
    assert staged["acl.txt"]["citations"] == [
        {"row_number": 4, "citing_source_id": "A", "reference_key": "B"}
    ]
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (1, "line 1", "malformed_line"),
        (2, "line 2", "malformed_line"),
        (3, "line 3", "malformed_line"),
    ]


def test_a_folder_without_the_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has neither acl-metadata\.txt nor a citation network"):
        find_loader("aan").find_files(tmp_path, {})
    with pytest.raises(InputError, match="is no file or folder"):
        find_loader("aan").find_files(tmp_path / "absent", {})


@pytest.mark.parametrize(
    ("name", "whole"), [("acl-metadata.txt", METADATA), ("acl.txt", NETWORK)], ids=["metadata", "network"]
)
def test_damaged_files_lose_nothing(tmp_path: Path, name: str, whole: bytes) -> None:
    (write_files(tmp_path, {"acl-metadata.txt": METADATA}) / "acl.txt").write_bytes(NETWORK)
    check_damage("aan", tmp_path / name, whole, (4, 4, 0), source=tmp_path)


@needs_real_data
def test_the_release_of_2011_has_its_published_records() -> None:
    staged, rejected = stage_all("aan", REAL_DATA / "aan")
    assert rejected == []
    tables = staged["acl-metadata.txt.gz"]
    assert {name: len(rows) for name, rows in tables.items()} == {
        "papers": 18_041,
        "identifiers": 18_041,
        "authorships": 45_350,
    }
    papers = tables["papers"]
    assert [(papers[i]["source_id"], papers[i]["year"], papers[i]["venue"]) for i in (0, 9_000, -1)] == [
        ("D10-1001", 2010, "EMNLP"),
        ("A97-1016", 1997, "Applied Natural Language Processing Conference"),
        ("W11-2045", 2011, "Proceedings of the SIGDIAL 2011 Conference"),
    ]
    assert (min(paper["year"] for paper in papers), max(paper["year"] for paper in papers)) == (1965, 2011)
    names = {row["author_name"] for row in tables["authorships"]}
    assert {"Daumé III, Hal", "Ó Séaghdha, Diarmuid", "Gispert, Adrià de", "Neumann, Günter"} <= names
    assert not any(name.endswith(("&", "{", "}")) or "&eacute" in name for name in names)


@needs_real_data
def test_35_lines_of_the_release_are_not_utf8() -> None:
    raw = gzip.decompress((REAL_DATA / "aan" / "acl-metadata.txt.gz").read_bytes()).split(b"\n")
    mixed = [line for line in raw if line.decode("utf-8", "replace") != decode_mixed(line)]
    lost = [line for line in mixed if "\ufffd" in decode_mixed(line)]
    assert (len(mixed), len(lost)) == (35, 12)
