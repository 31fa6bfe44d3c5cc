"""Columns of whole numbers, each packed into one value by Postgres."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

Numbers = npt.NDArray[np.int64]


def pack_numbers(query: sa.Select[Any]) -> sa.Select[Any]:
    """The number of rows of a query of whole numbers, and each column as bytes, eight for each number.

    Postgres makes a value of 1 GB at most, which is 134 million rows.
    """
    rows = query.subquery("rows_to_pack")
    packed = [
        sa.func.string_agg(sa.func.int8send(sa.cast(column, sa.BigInteger)), sa.cast("", sa.LargeBinary))
        for column in rows.columns
    ]
    return sa.select(sa.func.count(), *packed).select_from(rows)


def unpack_numbers(packed: Sequence[Any]) -> list[Numbers]:
    """The columns of what `pack_numbers` gives. Raises `ValueError` where a number was null.

    >>> unpack_numbers((2, bytes(15) + b"\\x07"))
    [array([0, 7])]
    """
    count, *columns = packed
    numbers = [np.frombuffer(column or b"", dtype=">i8").astype(np.int64) for column in columns]
    if any(len(column) != count for column in numbers):
        raise ValueError("a number that is to be packed is null")
    return numbers
