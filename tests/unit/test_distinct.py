"""Distinct numbers: what numpy's own function gives, of one array and of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.distinct import find_distinct

numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3))


@given(st.lists(numbers, min_size=1, max_size=4))
def test_numbers_of_several_arrays_are_distinct_and_ascending(parts: list[list[int]]) -> None:
    arrays = [np.array(part, dtype=np.int64) for part in parts]
    found = find_distinct(*arrays)
    assert found.tolist() == sorted({number for part in parts for number in part})
    assert found.dtype == np.int64
    assert [array.tolist() for array in arrays] == parts


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.uint64])
def test_the_kind_of_numbers_stays(kind: type[np.integer]) -> None:
    assert find_distinct(np.array([5, 0, 5], dtype=kind)).dtype == kind
