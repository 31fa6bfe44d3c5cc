"""What `decode_tuples` makes of a binary COPY: what was encoded, wherever it is cut; no other widths."""

from itertools import pairwise
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.database.binary_copy import HEADER, TRAILER, decode_tuples, encode_tuples
from pinakes.matrices import to_lists

TYPES = ["integer", "uuid", "vector", "bigint", "smallint"]
COLUMNS = {"a": None, "b": None, "c": 3, "d": None, "e": None}


def _make_batch(count: int) -> pa.RecordBatch:
    generator = np.random.default_rng(count)
    digests = [str(UUID(bytes=generator.bytes(16))) for _ in range(count)]
    return pa.record_batch(
        {
            "a": pa.array(generator.integers(-(2**31), 2**31, count), pa.int32()),
            "b": pa.array(digests, pa.string()),
            "c": to_lists(generator.standard_normal((count, 3), dtype=np.float32)),
            "d": pa.array(generator.integers(-(2**63), 2**63 - 1, count), pa.int64()),
            "e": pa.array(generator.integers(-(2**15), 2**15, count), pa.int16()),
        }
    )


@given(count=st.integers(0, 40), rows=st.integers(1, 50), cuts=st.lists(st.integers(0, 3_000), max_size=20))
def test_what_was_encoded_comes_back_wherever_it_is_cut(count: int, rows: int, cuts: list[int]) -> None:
    batch = _make_batch(count)
    sent = HEADER + encode_tuples(batch, TYPES).to_pybytes() + TRAILER
    places = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    parts = [sent[first:last] for first, last in pairwise(places)]
    found = list(decode_tuples(parts, COLUMNS, rows))
    assert [row for part in found for row in part.to_pylist()] == batch.to_pylist()
    assert all(part.num_rows for part in found)


@pytest.mark.parametrize("row", range(6))
@pytest.mark.parametrize("rows", [1, 2, 3, 6, 100])
@pytest.mark.parametrize("column", range(5))
def test_a_null_is_told_in_whatever_row_and_column(row: int, rows: int, column: int) -> None:
    batch = _make_batch(6)
    nulled = batch.column(column)
    mask = pa.array([place == row for place in range(6)])
    values = to_lists(np.zeros((6, 3), np.float32), mask) if column == 2 else _set_null(nulled, row)
    changed = batch.set_column(column, batch.schema.names[column], values)
    sent = HEADER + encode_tuples(changed, TYPES).to_pybytes() + TRAILER
    with pytest.raises(ValueError, match="a field is null"):
        list(decode_tuples([sent], COLUMNS, rows))


@pytest.mark.parametrize(("types", "dimensions"), [(["text"], None), (["text"], 1), (["boolean"], None)])
def test_a_field_of_another_type_is_not_taken_for_a_number(types: list[str], dimensions: int | None) -> None:
    value = pa.array([True]) if types == ["boolean"] else pa.array(["three"])
    sent = HEADER + encode_tuples(pa.record_batch({"a": value}), types).to_pybytes() + TRAILER
    with pytest.raises(ValueError, match="not of the one length"):
        list(decode_tuples([sent], {"a": dimensions}, 1))


def test_vectors_of_another_length_than_declared_are_refused() -> None:
    batch = pa.record_batch({"c": to_lists(np.ones((4, 2), np.float32))})
    sent = HEADER + encode_tuples(batch, ["vector"]).to_pybytes() + TRAILER
    with pytest.raises(ValueError, match="not of the one length"):
        list(decode_tuples([sent], {"c": 3}, 1))


def test_a_cut_copy_is_refused() -> None:
    sent = HEADER + encode_tuples(_make_batch(3), TYPES).to_pybytes()
    with pytest.raises(ValueError, match="not of the one length"):
        list(decode_tuples([sent[:-5], TRAILER], COLUMNS, 100))


def _set_null(values: pa.Array, row: int) -> pa.Array:
    kept = values.to_pylist()
    kept[row] = None
    return pa.array(kept, values.type)
