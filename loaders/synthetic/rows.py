"""What all files of the synthetic world share: ids, numbering within groups, and staged tables."""

from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.loaders.staging import STAGED
from pinakes.loaders.synthetic.hashing import Integers


@cache
def _spell_four_digits() -> npt.NDArray[np.uint32]:
    """Four digits as the four bytes of one integer, so that an id is written in three steps."""
    return np.array([f"{number:04}" for number in range(10_000)], dtype="S4").view(np.uint32)


def spell_ids(prefix: bytes, numbers: Integers) -> pa.Array:
    """Ids of twelve characters: a prefix of four and eight digits.

    >>> spell_ids(b"syn-", np.array([1, 12345678])).to_pylist()
    ['syn-00000001', 'syn-12345678']
    """
    digits = _spell_four_digits()
    spelt = np.empty((len(numbers), 3), dtype=np.uint32)
    spelt[:, 0] = np.frombuffer(prefix, np.uint32)
    spelt[:, 1] = digits[numbers // 10_000]
    spelt[:, 2] = digits[numbers % 10_000]
    borders = np.arange(len(numbers) + 1, dtype=np.int32) * 12
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(borders), pa.py_buffer(spelt))


def spell_papers(papers: Integers) -> pa.Array:
    """The source ids of papers, which count from 0: paper 0 is `syn-00000001`."""
    return spell_ids(b"syn-", papers + 1)


def stage_table(name: str, **columns: object) -> pa.Table:
    """A staged table from its columns, in any order: numpy's get their type, a missing one is null."""
    rows = len(columns["row_number"])  # type: ignore[arg-type]
    arrays = [_stage_column(field, columns.get(field.name), rows) for field in STAGED[name]]
    return pa.Table.from_arrays(arrays, schema=STAGED[name])


def _stage_column(field: pa.Field, values: object, rows: int) -> object:
    if values is None:
        return pa.nulls(rows, field.type)
    return pa.array(values).cast(field.type) if isinstance(values, np.ndarray) else values


def count_within(counts: Integers) -> Integers:
    """Numbers the members of each group from 0, the groups one after the other.

    >>> count_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
