"""Finding the files of a benchmark collection, and what their names say."""

from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.loaders.reading.finding import find_roles, list_files, name_split


def test_files_come_in_the_order_of_their_names_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.json", "a/c.json", ".hidden/d.json", "a/._c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [name for name, _ in list_files(tmp_path, "files")] == ["a/c.json", "b.json"]
    assert list_files(tmp_path / "b.json", "files") == [("b.json", tmp_path / "b.json")]


def test_roles_are_told_by_the_name_without_its_compression(tmp_path: Path) -> None:
    for name in ("x.JSON.gz", "y.tsv", "z.txt"):
        (tmp_path / name).touch()
    roles = {".json": "judgments", ".tsv": "papers"}
    found = find_roles(tmp_path, lambda name: roles.get(Path(name).suffix), "files", ("papers", "judgments"))
    assert [(file.name, file.role) for file in found] == [("y.tsv", "papers"), ("x.JSON.gz", "judgments")]


def test_a_source_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file or folder .*; expected golden\.json"):
        list_files(tmp_path / "nowhere", "golden.json")
    with pytest.raises(InputError, match=r"holds none of the files that were expected: golden\.json"):
        find_roles(tmp_path, lambda _: "papers", "golden.json", ("papers",))


def test_a_split_is_said_by_the_files_own_name() -> None:
    names = ("fos/train.jsonl", "mdcr_val.json", "test_hard_qrel.jsonl", "train/meta.jsonl")
    assert [name_split(name, "all") for name in names] == ["train", "dev", "test", "all"]
