"""Lines of relevance judgments: columns, grades, headers, comments."""

from collections.abc import Collection
from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import qrels_columns
from pinakes.loaders.reading.qrels import COLUMNS_HELP, parse_columns, read_qrels
from pinakes.loaders.reading.qrels_columns import settle_qrels
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
        (
            b"1 0 a",
            "malformed_line",
            "3 columns, expected 4: query,iteration,document,grade; --option columns=… says others",
        ),
        (
            b"1 0 a 1 x",
            "malformed_line",
            "5 columns, expected 4: query,iteration,document,grade; --option columns=… says others",
        ),
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


def _settle(
    folder: Path, content: str, queries: Collection[str], papers: Collection[str], **options: str
) -> tuple[tuple[str, ...], list[tuple[str, str, int]], list[Rejected]]:
    """The columns that the ids of a corpus tell, the judgments read by them, and what is rejected."""
    held = {"queries": set(queries), "papers": set(papers)}
    (folder / "qrels").write_text(content, encoding="utf-8")
    file = InputFile(folder / "qrels", "qrels", "judgments")
    settled = settle_qrels(file, options, lambda kind, ids: held[kind] & set(ids), usual=TREC)
    records = list(read_qrels(settled, columns=TREC, split="test"))
    rejected = [record for record in records if isinstance(record, Rejected)]
    return settled.columns, [row[1:] for row in _grades(records)], rejected


NUMBERS = [str(number) for number in range(200)]
"""papers, of which one is called 0"""


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        (TREC, "{q} 0 {d} 1"),
        (TREC, "{q}\tQ0\t{d}\t1"),
        (("query_id", "source_id", "zero", "zero"), "{q} {d} 0 0.000000"),
        (("query_id", "source_id", "iteration", "grade"), "{q} {d} 0 1"),
        (("query_id", "source_id", "grade"), "{q} {d} 1"),
        (("query_id", "source_id"), "{q} {d}"),
    ],
)
def test_the_loaded_ids_tell_the_columns_also_where_a_paper_is_called_as_a_constant(
    tmp_path: Path, layout: tuple[str, ...], line: str
) -> None:
    pairs = [(str(query), str(query * 7 + paper)) for query in range(1, 9) for paper in (30, 60, 90)]
    content = "".join(line.format(q=query, d=paper) + "\n" for query, paper in pairs)
    columns, judgments, rejected = _settle(tmp_path, content, NUMBERS[:20], NUMBERS)
    assert (columns, rejected) == (layout, [])
    assert judgments == [(query, paper, 1) for query, paper in pairs]


def test_where_every_query_has_one_document_a_constant_is_none(tmp_path: Path) -> None:
    content = "".join(f"{number} 0 {number + 40} 1\n" for number in range(1, 20))
    assert _settle(tmp_path, content, NUMBERS[:20], NUMBERS)[0] == TREC


def test_ids_that_fit_two_layouts_stop_the_load_and_the_option_goes_on(tmp_path: Path) -> None:
    content = "1 0 5 1\n2 0 6 1\n"
    message = (
        "qrels: the loaded ids fit its columns as query,iteration,document,grade and as "
        "query,document,iteration,grade. Say what they hold: --option columns=query,iteration,document,grade"
    )
    with pytest.raises(InputError, match=message):
        _settle(tmp_path, content, NUMBERS, NUMBERS)
    for words, judged in (("query,_,document,grade", "5"), ("query,document,iteration,grade", "0")):
        assert _settle(tmp_path, content, NUMBERS, NUMBERS, columns=words)[1][0] == ("1", judged, 1)


def test_where_no_id_is_loaded_the_usual_layout_stays_and_another_must_be_said(tmp_path: Path) -> None:
    assert _settle(tmp_path, "1 0 x 1\n", [], [])[0] == TREC
    assert _settle(tmp_path, "1 x 1\n", [], [])[0] == ("query_id", "source_id", "grade")
    (tmp_path / "qrels").write_text("1 0 x 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="qrels: in none of its 4 columns are ids of the loaded papers"):
        settle_qrels(InputFile(tmp_path / "qrels", "qrels", "judgments"), {}, lambda _kind, _ids: set())


def test_the_documents_tell_where_no_query_is_loaded(tmp_path: Path) -> None:
    assert _settle(tmp_path, "1 p1 0 2\n1 p2 0 1\n", [], ["p1", "p2"])[0][1] == "source_id"


def test_other_numbers_of_columns_must_be_said(tmp_path: Path) -> None:
    columns, _, rejected = _settle(tmp_path, "1 p1 1 0 0.5\n", ["1"], ["p1"])
    assert (columns, [row.reason for row in rejected]) == ((), ["malformed_line"])
    judgments = _settle(tmp_path, "1 p1 1 0 0.5\n", ["1"], ["p1"], columns="query,document,grade,_,_")[1]
    assert judgments == [("1", "p1", 1)]


def test_a_line_that_is_unlike_those_that_told_the_columns_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qrels_columns, "SAMPLE_LINES", 20)
    content = "".join(f"1 {paper} 0 0\n" for paper in range(10, 30)) + "1 31 0 2\n1 32\n"
    _, judgments, rejected = _settle(tmp_path, content, ["1"], NUMBERS)
    assert len(judgments) == 20
    assert [(row.location, row.reason) for row in rejected] == [
        ("line 21", "malformed_line"),
        ("line 22", "malformed_line"),
    ]


def test_numbers_are_read_without_zeros_where_the_corpus_has_none(tmp_path: Path) -> None:
    content = "05 0 0012 1\n05 0 1410 1\n"
    assert _settle(tmp_path, content, ["5"], ["12", "1410"])[1] == [("5", "12", 1), ("5", "1410", 1)]
    assert _settle(tmp_path, content, ["05"], ["0012", "12", "1410"])[1][0] == ("05", "0012", 1)


def test_a_header_names_the_columns_in_any_order(tmp_path: Path) -> None:
    content = "score\tcorpus-id\tquery-id\n2\td1\tq1\n"
    assert _settle(tmp_path, content, [], []) == (("grade", "source_id", "query_id"), [("q1", "d1", 2)], [])


@pytest.mark.parametrize("words", ["query,document,rank", "query,grade", "query,document,grade,grade", ""])
def test_columns_that_no_list_can_have_are_refused(words: str) -> None:
    with pytest.raises(InputError, match="expected query, document and, where there is one, grade once each"):
        parse_columns(words)
    assert "_ is passed over" in COLUMNS_HELP


def test_columns_without_a_grade_may_be_said_of_a_list_with_a_header(tmp_path: Path) -> None:
    content = b"queries\tpapers\nq\td\n"
    records = _read(tmp_path, content, ("query_id", "source_id"), has_header=True)
    assert _grades(records) == [(1, "queries", "papers", 1), (2, "q", "d", 1)]
