"""Staged rows of which each is kept once, whatever their keys are."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pinakes.loaders.merge.rows import keep_first

NUMBERS = st.one_of(
    st.integers(-2, 2), st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 31, -(1 << 31), 1 << 62]), st.none()
)
ROWS = st.lists(st.tuples(NUMBERS, st.sampled_from([0, 1, 1 << 30]), st.sampled_from(["a", "b", None])))


@given(ROWS, st.permutations(["paper", "position", "scheme"]), st.integers(1, 3))
def test_the_first_of_equal_rows_is_kept(rows: list[tuple[Any, ...]], names: list[str], count: int) -> None:
    schema = pa.schema([("paper", pa.int64()), ("position", pa.int32()), ("scheme", pa.string())])
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(list(map(list, columns)), schema=schema).append_column("n", pa.array(range(len(rows))))
    key = names[:count]
    expected: dict[tuple[Any, ...], int] = {}
    for number, row in enumerate(table.select(key).to_pylist()):
        expected.setdefault(tuple(row.values()), number)
    assert keep_first(table, key)["n"].to_pylist() == list(expected.values())
