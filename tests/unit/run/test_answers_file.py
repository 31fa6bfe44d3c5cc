"""Answers put down in a file while a system works, and read again."""

import io

import pyarrow as pa

from pinakes.run.run import AnswerFile

NAMES = pa.array(["q1", "q2", "q3"])


def make_table(rows: list[tuple[int, int]]) -> pa.Table:
    queries = pa.DictionaryArray.from_arrays(pa.array([query for query, _ in rows], pa.int32()), NAMES)
    return pa.table({"query_id": queries, "paper_id": pa.array([paper for _, paper in rows], pa.int64())})


def test_tables_are_read_as_they_were_written_with_plain_columns() -> None:
    file = AnswerFile(io.BytesIO())
    # the answers to a query may stand in two tables; it is answered once
    tables = [make_table([(0, 5), (2, 6)]), make_table([(2, 7)])]
    for table in tables:
        file.write(table)
    assert file.query_ids == {"q1", "q3"}
    found = list(file.read())
    assert [table.to_pylist() for table in found] == [table.to_pylist() for table in tables]
    assert {str(table.schema.field("query_id").type) for table in found} == {"string"}


def test_a_system_that_answers_nothing_leaves_no_table() -> None:
    file = AnswerFile(io.BytesIO())
    assert file.query_ids == set()
    assert list(file.read()) == []
