"""Lines of relevance judgments: columns, grades, headers, comments."""

from pathlib import Path

import pytest

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.qrels import read_qrels
from pinakes.loaders.staging import Accepted, Rejected

TREC = ("query_id", "iteration", "source_id", "grade")
BEIR = ("query_id", "source_id", "grade")


def _read(
    folder: Path, content: bytes, columns: tuple[str, ...] = TREC, *, has_header: bool = False
) -> list[Accepted | Rejected]:
    path = folder / "qrels"
    path.write_bytes(content)
    return list(
        read_qrels(
            InputFile(path, "qrels", "judgments"), columns=columns, split="test", has_header=has_header
        )
    )


def _grades(records: list[Accepted | Rejected]) -> list[tuple[int, str, str, int]]:
    return [
        (record.row_number, row["query_id"], row["source_id"], row["grade"])
        for record in records
        if isinstance(record, Accepted)
        for row in record.rows["judgments"]
    ]


def test_comments_and_empty_lines_are_no_records(tmp_path: Path) -> None:
    records = _read(tmp_path, b"# by hand\n\n1 0 a 2\r\n  \n1\t0\tb\t-1\n")
    assert len(records) == 2
    assert _grades(records) == [(3, "1", "a", 2), (5, "1", "b", -1)]


@pytest.mark.parametrize(
    ("line", "reason", "message"),
    [
        (b"1 0 a", "malformed_line", "3 columns, expected 4: query_id iteration source_id grade"),
        (b"1 0 a 1 x", "malformed_line", "5 columns, expected 4: query_id iteration source_id grade"),
        (b"1 0 a high", "invalid_value", "the grade 'high' is no whole number"),
        (b"1 0 a 1.5", "invalid_value", "the grade '1.5' is no whole number"),
        (b"1 0 a nan", "invalid_value", "the grade 'nan' is no whole number"),
        (b"1 0 a 1_0", "invalid_value", "the grade '1_0' is no whole number"),
        (b"1 0 \xff 1", "invalid_utf8", "byte 5 is not UTF-8"),
    ],
)
def test_a_bad_line_is_rejected_with_its_raw_text(
    tmp_path: Path, line: bytes, reason: str, message: str
) -> None:
    records = _read(tmp_path, b"1 0 good 1\n" + line + b"\n")
    raw = line.decode("utf-8", "backslashreplace")
    assert records[1:] == [Rejected(2, "line 2", reason, message, raw)]  # type: ignore[arg-type]


def test_a_grade_may_be_written_as_a_real_number(tmp_path: Path) -> None:
    assert _grades(_read(tmp_path, b"1 0 a 2.0\n1 0 b +1\n")) == [(1, "1", "a", 2), (2, "1", "b", 1)]


def test_a_first_line_without_a_grade_is_the_header(tmp_path: Path) -> None:
    content = b"query-id\tcorpus-id\tscore\nq\td\t1\n"
    assert _grades(_read(tmp_path, content, BEIR, has_header=True)) == [(2, "q", "d", 1)]


def test_a_first_line_with_a_grade_is_a_judgment(tmp_path: Path) -> None:
    assert _grades(_read(tmp_path, b"q\td\t1\n", BEIR, has_header=True)) == [(1, "q", "d", 1)]


def test_a_first_line_of_other_columns_is_no_header(tmp_path: Path) -> None:
    records = _read(tmp_path, b"q\td\n", BEIR, has_header=True)
    assert [type(record) for record in records] == [Rejected]


def test_without_a_column_of_grades_every_pair_is_relevant(tmp_path: Path) -> None:
    columns = ("query_id", "source_id", "_", "_")
    assert _grades(_read(tmp_path, b"1 17 0 0.000000\n", columns)) == [(1, "1", "17", 1)]
