"""Records into chunks: sizes, numbers, what is refused, and where a resumed load goes on."""

from collections.abc import Iterator
from typing import Any

import pytest

from pinakes.loaders import staging
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.staging import (
    REASONS,
    STAGED,
    Accepted,
    Chunk,
    RecordError,
    Rejected,
    show_raw,
    take_record,
)
from pinakes.schema.batches import REJECTION_REASONS


def _paper(number: int, source_id: str, **fields: Any) -> Accepted:
    row = {"source_id": source_id, **fields}
    return Accepted(number, {"papers": [row]}, f"line {number}", f"raw {number}")


def _papers(count: int) -> Iterator[Accepted]:
    return (_paper(number, f"p{number}") for number in range(1, count + 1))


def _ids(chunk: Chunk) -> list[str]:
    found: list[str] = chunk.tables["papers"]["source_id"].to_pylist()
    return found


def test_chunks_are_full_but_for_the_last() -> None:
    chunks = list(gather_chunks(_papers(7), chunk_rows=3))
    assert [(chunk.last_row, chunk.rows_in, _ids(chunk)) for chunk in chunks] == [
        (3, 3, ["p1", "p2", "p3"]),
        (6, 3, ["p4", "p5", "p6"]),
        (7, 1, ["p7"]),
    ]


def test_the_chunk_size_is_that_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    assert [chunk.rows_in for chunk in gather_chunks(_papers(5))] == [2, 2, 1]


def test_nothing_gives_no_chunk() -> None:
    assert list(gather_chunks([])) == []


def test_a_resumed_load_gets_the_chunks_that_an_uninterrupted_one_gets() -> None:
    whole = list(gather_chunks(_papers(7), chunk_rows=3))
    resumed = list(gather_chunks(_papers(7), first_row=4, chunk_rows=3))
    assert resumed == whole[1:]


def test_rejected_records_count_towards_a_chunk() -> None:
    bad = Rejected(2, "line 2", "not_json", "no JSON", "{")
    chunks = list(gather_chunks([_paper(1, "a"), bad, _paper(3, "b")], chunk_rows=2))
    assert [(chunk.rows_in, len(chunk.rejected), _ids(chunk)) for chunk in chunks] == [
        (2, 1, ["a"]),
        (1, 0, ["b"]),
    ]


def test_an_id_is_repeated_wherever_the_first_one_stood() -> None:
    records = [_paper(1, "a"), _paper(2, "b"), _paper(3, "a"), _paper(4, "c")]
    first, second = gather_chunks(records, chunk_rows=2)
    assert (_ids(first), first.rejected) == (["a", "b"], [])
    expected = Rejected(
        3, "line 3", "duplicate_id", "an earlier record of the same file has the same id: a", "raw 3"
    )
    assert (_ids(second), second.rejected) == (["c"], [expected])
    assert list(gather_chunks(records, first_row=3, chunk_rows=2)) == [second]


def test_a_record_that_was_rejected_does_not_take_its_id() -> None:
    records = [_paper(1, "a", title="\x00"), _paper(2, "a")]
    (chunk,) = gather_chunks(records)
    assert (_ids(chunk), [row.row_number for row in chunk.rejected]) == (["a"], [1])


def test_judgments_repeat_where_query_paper_assessor_and_split_do() -> None:
    def judge(number: int, **changes: str) -> Accepted:
        row = {"query_id": "q", "source_id": "p", "assessor": "a", "split": "s", "grade": number} | changes
        return Accepted(number, {"judgments": [row]})

    records = [judge(1), judge(2, split="t"), judge(3, assessor="b"), judge(4, query_id="r"), judge(5)]
    (chunk,) = gather_chunks(records)
    assert chunk.tables["judgments"]["grade"].to_pylist() == [1, 2, 3, 4]
    assert [(row.row_number, row.reason, row.location) for row in chunk.rejected] == [
        (5, "duplicate_id", "record 5")
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": "a\x00b"}, "title holds a NUL character"),
        ({"title": "\ud800"}, "title holds half of a surrogate pair"),
        ({"title": 7}, "title is no text: 7"),
        ({"title": b"x"}, "title is no text: b'x'"),
        ({"year": "2001"}, "year is no whole number: '2001'"),
        ({"year": 2001.0}, "year is no whole number: 2001.0"),
        ({"year": True}, "year is no whole number: True"),
        ({"year": 2**31}, "year is out of range: 2147483648"),
        ({"citation_count": -(2**31) - 1}, "citation_count is out of range: -2147483649"),
    ],
)
def test_a_value_that_no_column_can_hold_is_rejected(fields: dict[str, Any], message: str) -> None:
    (chunk,) = gather_chunks([_paper(1, "a", **fields)])
    assert chunk.tables == {}
    assert chunk.rejected == [Rejected(1, "line 1", "invalid_value", message, "raw 1")]


def test_the_ends_of_the_range_and_all_of_unicode_are_accepted() -> None:
    (chunk,) = gather_chunks([_paper(1, "a", year=2**31 - 1, citation_count=-(2**31), title="𝒳 漢 é")])
    assert chunk.tables["papers"].to_pylist() == [
        {
            "row_number": 1,
            "source_id": "a",
            "title": "𝒳 漢 é",
            "abstract": None,
            "year": 2147483647,
            "venue": None,
            "citation_count": -2147483648,
        }
    ]


def test_what_hangs_on_a_rejected_record_is_rejected_with_it() -> None:
    sentence = {"source_id": "a", "section_number": 0, "position": 1, "text": "\x00"}
    record = Accepted(1, {"papers": [{"source_id": "a"}], "sentences": [sentence]})
    (chunk,) = gather_chunks([record])
    assert (chunk.tables, [row.message for row in chunk.rejected]) == ({}, ["text holds a NUL character"])


def test_what_a_rejection_says_can_be_stored() -> None:
    (chunk,) = gather_chunks([Rejected(1, "a\x00", "not_json", "b\x00", "c\x00\ud800")])
    assert chunk.rejected == [Rejected(1, "a\\x00", "not_json", "b\\x00", "c\\x00\\ud800")]


def test_a_parsers_error_becomes_a_rejection() -> None:
    def refuse() -> dict[str, list[dict[str, Any]]]:
        raise RecordError("missing_field", "no id")

    assert take_record(3, "line 3", b"\xff", refuse) == Rejected(
        3, "line 3", "missing_field", "no id", "\\xff"
    )


def test_raw_text_is_kept_as_it_is() -> None:
    assert show_raw('{"a": "é\\u0000"}') == '{"a": "é\\u0000"}'


def test_the_reasons_are_those_that_the_table_accepts() -> None:
    assert tuple(REASONS) == REJECTION_REASONS


def test_every_staged_table_begins_with_the_row_number() -> None:
    assert {schema.names[0] for schema in STAGED.values()} == {"row_number"}


def test_where_the_last_record_counts_a_repeated_id_begins_a_new_chunk() -> None:
    ids = ["a", "b", "a", "a", "c"]
    records = [Accepted(n, {"papers": [{"source_id": name}]}) for n, name in enumerate(ids, start=1)]
    chunks = list(gather_chunks(records, last_counts=True, chunk_rows=2))
    assert [chunk.tables["papers"]["source_id"].to_pylist() for chunk in chunks] == [
        ["a", "b"],
        ["a"],
        ["a", "c"],
    ]
    assert [chunk.rejected for chunk in chunks] == [[], [], []]


def test_a_null_where_a_value_is_expected_is_rejected() -> None:
    (chunk,) = gather_chunks([Accepted(1, {"papers": [{"source_id": None}]})])
    (row,) = chunk.rejected
    assert (row.reason, row.message) == ("invalid_value", "source_id is missing")
