"""Tables as text: every row is a record, and a row that is not whole is rejected."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import streams, tables
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.staging import Accepted, Rows
from tests.fuzzing import mutations


def _file(path: Path, content: bytes) -> InputFile:
    path.write_bytes(content)
    return InputFile(path, path.name, "papers")


def _keep(row: dict[str, str]) -> Rows:
    return {"papers": [row]}


def _rows(path: Path, content: bytes, **options: Any) -> list[tuple[Any, ...]]:
    """(location, cells) of an accepted row, (location, reason, message, raw) of a rejected one."""
    records = list(read_table(_file(path, content), _keep, **options))
    assert [record.row_number for record in records] == list(range(1, len(records) + 1))
    for record in records:
        if isinstance(record, Accepted):
            assert record.first_byte is not None
            assert content[record.first_byte : record.end_byte] == record.raw
    return [
        (record.location, list(record.rows["papers"][0].values()))
        if isinstance(record, Accepted)
        else (record.location, record.reason, record.message, record.raw)
        for record in records
    ]


def test_cells_are_named_by_the_header(tmp_path: Path) -> None:
    file = _file(tmp_path / "a", b'\xef\xbb\xbfid\t title \r\n1\tA "quoted" one\r\n\r\n2\t\n')
    assert [record.rows for record in read_table(file, _keep) if isinstance(record, Accepted)] == [
        {"papers": [{"id": "1", "title": 'A "quoted" one'}]},
        {"papers": [{"id": "2", "title": ""}]},
    ]


def test_columns_may_be_given_instead_of_a_header(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "a", b"1,x\n2,y", delimiter=",", columns=["id", "name"])
    assert rows == [("line 1", ["1", "x"]), ("line 2", ["2", "y"])]


def test_a_row_of_another_length_is_rejected(tmp_path: Path) -> None:
    assert _rows(tmp_path / "a", b"id\tt\n1\tx\n2\n3\tx\ty\n4\tz\n") == [
        ("line 2", ["1", "x"]),
        ("line 3", "malformed_line", "1 cells, expected 2", "2"),
        ("line 4", "malformed_line", "3 cells, expected 2", "3\tx\ty"),
        ("line 5", ["4", "z"]),
    ]


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf"id",t\r\n1,"a, ""b""\nc\r\n\nd"\r\n\r\n2,plain\r\n3,""\n'
    assert _rows(tmp_path / "a", content, delimiter=",", quoted=True) == [
        ("line 2", ["1", 'a, "b"\nc\r\n\nd']),
        ("line 7", ["2", "plain"]),
        ("line 8", ["3", ""]),
    ]


def test_a_quote_in_the_wrong_place_is_rejected_and_the_next_row_read(tmp_path: Path) -> None:
    assert _rows(tmp_path / "a", b'id,t\n1,"a"b\n2,c\n', delimiter=",", quoted=True) == [
        ("line 2", "malformed_line", "',' expected after '\"'", '1,"a"b'),
        ("line 3", ["2", "c"]),
    ]


def test_a_quote_that_never_closes_is_one_rejected_row(tmp_path: Path) -> None:
    assert _rows(tmp_path / "a", b'id,t\n1,a\n2,"b\n3,c\n', delimiter=",", quoted=True) == [
        ("line 2", ["1", "a"]),
        ("line 3", "malformed_line", "unexpected end of data", '2,"b\n3,c'),
    ]


def test_a_long_cell_is_no_fault(tmp_path: Path) -> None:
    content = b'id,t\n1,"' + b"x" * 500_000 + b'"\n'
    ((_, cells),) = _rows(tmp_path / "a", content, delimiter=",", quoted=True)
    assert [len(cell) for cell in cells] == [1, 500_000]


@pytest.mark.parametrize("quoted", [True, False])
def test_a_line_that_is_too_large_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quoted: bool
) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 2_000)
    content = b"id,t\n1," + b"x" * 5_000 + b"\n2,y\n"
    assert _rows(tmp_path / "a", content, delimiter=",", quoted=quoted) == [
        ("line 2", "too_large", "the line has more than 2000 bytes", "1," + "x" * 998),
        ("line 3", ["2", "y"]),
    ]


def test_a_cell_that_is_too_large_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CELL_CHARACTERS", 1_000)
    content = b'id,t\n1,"' + b"x\n" * 600 + b'"\n2,y\n'
    rows = _rows(tmp_path / "a", content, delimiter=",", quoted=True)
    assert rows[0][:2] == ("line 2", "malformed_line")
    assert rows[-1] == ("line 602", "malformed_line", "unexpected end of data", '"\n2,y')
    monkeypatch.undo()
    assert _rows(tmp_path / "a", content, delimiter=",", quoted=True)[-1] == ("line 603", ["2", "y"])


@pytest.mark.parametrize("quoted", [True, False])
def test_bytes_of_another_encoding_are_rejected_or_read_as_what_they_are(
    tmp_path: Path, quoted: bool
) -> None:
    content = "id\tt\n1\tZürich\n2\tx\n".encode("latin-1")
    assert _rows(tmp_path / "a", content, quoted=quoted) == [
        ("line 2", "invalid_utf8", "byte 4 is not UTF-8", "1\tZ\\xfcrich"),
        ("line 3", ["2", "x"]),
    ]
    assert _rows(tmp_path / "a", content, quoted=quoted, encoding="latin-1")[0] == (
        "line 2",
        ["1", "Zürich"],
    )
    assert _rows(tmp_path / "a", content, quoted=quoted, encoding="ascii")[0][:3] == (
        "line 2",
        "invalid_utf8",
        "byte 4 is not ascii",
    )


@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a is empty; expected a line that names the columns"),
        (b"\n\n", "a is empty"),
        (b"id\ttitle\n1\tx\n", "a has no column abstract; its columns are id, title"),
        (b"id\tabstract\tid\n", "a names a column twice: id, abstract, id"),
        (b"\xff\n", "a: the header is unreadable: byte 1 is not UTF-8"),
    ],
)
def test_a_table_without_its_columns_is_refused(
    tmp_path: Path, content: bytes, message: str, quoted: bool
) -> None:
    with pytest.raises(InputError, match=message):
        _rows(tmp_path / "a", content, required=["id", "abstract"], quoted=quoted)


@pytest.mark.parametrize("quoted", [True, False])
def test_the_rows_before_a_break_come_first(tmp_path: Path, quoted: bool) -> None:
    file = _file(tmp_path / "a.gz", gzip.compress(b"id\tt\n1\tx\n2\ty\n")[:-3])
    rows = read_table(file, _keep, quoted=quoted)
    assert [next(rows).location, next(rows).location] == ["line 2", "line 3"]
    with pytest.raises(LoadError, match="breaks off after line 3"):
        next(rows)


TABLE = b'id,t\n1,"a, b"\n2,c\n3,"d\ne"\n4,"f ""g"""\n'


@settings(max_examples=100)
@given(data=mutations(TABLE), quoted=st.booleans())
def test_no_line_of_a_damaged_table_is_lost(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, quoted: bool
) -> None:
    file = _file(tmp_path_factory.mktemp("damaged") / "a", data)
    records = list(read_table(file, _keep, delimiter=",", columns=["id", "t"], quoted=quoted))
    shown = [record.raw if isinstance(record.raw, bytes) else record.raw.encode() for record in records]
    expected = sum(1 for line in data.split(b"\n") if line.strip())
    held = sum(1 for raw in shown for line in raw.split(b"\n") if line.strip())
    assert held == expected
