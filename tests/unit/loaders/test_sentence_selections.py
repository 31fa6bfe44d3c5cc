"""Selections of sentences as JSON Lines and as CSV, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all

SOURCE = DATA / "sentence_selections"


def _row(row_number: int, query_id: str, selection: str, position: int) -> dict[str, Any]:
    return {"row_number": row_number, "query_id": query_id, "selection": selection, "position": position}


def test_lines_and_tables_become_a_row_a_sentence() -> None:
    staged, rejected = stage_all("sentence-selections", SOURCE)
    assert {name: tables["sentence_selections"] for name, tables in staged.items()} == {
        "more.csv": [_row(1, "11_background", "first", 1), _row(2, "11_method", "first", 1)],
        "selections.jsonl": [
            _row(1, "11_background", "mine", 1),
            _row(1, "11_background", "mine", 2),
            _row(2, "11_background", "short", 2),
            _row(3, "11_method", "mine", 9),
            _row(4, "12_method", "mine", 1),
        ],
    }
    assert [(row.location, row.reason, row.message) for row in rejected] == [
        ("line 5", "missing_field", "no positions")
    ]


LINES = {
    '{"query_id": "q", "selection": "a", "positions": [1]}': None,
    '{"query_id": " ", "selection": "a", "positions": [1]}': ("missing_field", "no query_id"),
    '{"selection": "a"}': ("missing_field", "no query_id and no positions"),
    '{"query_id": "q", "positions": [1]}': ("missing_field", "no selection"),
    '{"query_id": "q", "selection": "b", "positions": []}': ("missing_field", "no positions"),
    '{"query_id": "q", "selection": "b", "positions": "1 2"}': (
        "invalid_value", "positions: expected a list, found '1 2'"
    ),
    '{"query_id": "q", "selection": "b", "positions": [0]}': (
        "invalid_value", "positions: expected whole numbers from 1, found 0"
    ),
    '{"query_id": "q", "selection": "b", "positions": [1, true]}': (
        "invalid_value", "positions: expected whole numbers from 1, found True"
    ),
    '{"query_id": "q", "selection": "b", "positions": [3000000000]}': (
        "invalid_value", "position is out of range: 3000000000"
    ),
    '{"query_id": "q", "selection": "b", "positions": [2, 1, 2]}': (
        "invalid_value", "positions: one stands there twice: [2, 1, 2]"
    ),
    '{"query_id": "q", "selection": "facet", "positions": [1]}': (
        "invalid_value",
        "selection: 'facet' is no name; expected up to 64 letters, digits, `_`, `.` or `-`, and not 'facet', "
        "which means the sentences of the query's facet",
    ),
    '{"query_id": "q", "selection": "a/b", "positions": [1]}': (
        "invalid_value",
        "selection: 'a/b' is no name; expected up to 64 letters, digits, `_`, `.` or `-`, and not 'facet', "
        "which means the sentences of the query's facet",
    ),
    '{"query_id": "q", "selection": "a", "positions": [2]}': (
        "duplicate_id", "an earlier record of the same file has the same id: q a"
    ),
    "[1]": ("not_an_object", "a JSON list, expected an object"),
    "{": (
        "not_json",
        "the record goes on in the next line; expected one line a record, as `jq -c .` writes them",
    ),
}  # fmt: skip


def test_each_wrong_line_is_rejected_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "selections.jsonl"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    staged, rejected = stage_all("sentence-selections", file)
    assert staged["selections.jsonl"]["sentence_selections"] == [_row(1, "q", "a", 1)]
    assert [(row.location, row.reason, row.message) for row in rejected] == [
        (f"line {number}", *refusal) for number, refusal in enumerate(LINES.values(), 1) if refusal
    ]


CELLS = {
    "q,a,3 1": None,
    'q,b,"2"': None,
    "q,c,": ("missing_field", "no positions"),
    "q,d,1 x": ("invalid_value", "positions: expected whole numbers from 1, found 'x'"),
    "q,e,-1": ("invalid_value", "positions: expected whole numbers from 1, found '-1'"),
    "q,f,0": ("invalid_value", "positions: expected whole numbers from 1, found '0'"),
    "q,a,1": ("duplicate_id", "an earlier record of the same file has the same id: q a"),
    "q,g": ("malformed_line", "2 cells, expected 3"),
}


def test_each_wrong_row_of_a_table_is_rejected_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "selections.csv"
    file.write_text("query_id,selection,positions\n" + "".join(f"{row}\n" for row in CELLS), encoding="utf-8")
    staged, rejected = stage_all("sentence-selections", file)
    assert staged["selections.csv"]["sentence_selections"] == [
        _row(1, "q", "a", 1),
        _row(1, "q", "a", 3),
        _row(2, "q", "b", 2),
    ]
    assert [(row.reason, row.message) for row in rejected] == [
        refusal for refusal in CELLS.values() if refusal
    ]


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "selections.csv").write_text("query_id,positions\nq,1\n")
    with pytest.raises(
        InputError, match=r"selections\.csv has no column selection; its columns are query_id"
    ):
        stage_all("sentence-selections", tmp_path / "selections.csv")


def test_a_source_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"there is no file or folder .*expected selections as JSON Lines or CSV"
    ):
        find_loader("sentence-selections").find_files(tmp_path / "none", {})
    with pytest.raises(InputError, match="is empty; expected selections"):
        find_loader("sentence-selections").find_files(tmp_path, {})


@pytest.mark.parametrize(
    ("name", "expected"), [("selections.jsonl", (5, 4, 1)), ("more.csv", (2, 2, 0))], ids=["lines", "table"]
)
def test_damaged_files_are_never_lost(tmp_path: Path, name: str, expected: tuple[int, int, int]) -> None:
    check_damage("sentence-selections", tmp_path / name, (SOURCE / name).read_bytes(), expected)
