"""Columns into JSON, a whole column at a time: texts, lists, objects, lines.

Arrow joins the parts of all rows at once; nothing is built row by row. Control characters, which the world's
texts do not have, are not escaped.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.synthetic.hashing import Integers

NULL = "null"


def take_column(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece."""
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def quote_texts(texts: pa.Array) -> pa.Array:
    r"""Texts as JSON; a missing one is null.

    >>> quote_texts(pa.array(['a "b" \\ c', None])).to_pylist()
    ['"a \\"b\\" \\\\ c"', 'null']
    """
    for character in ("\\", '"'):
        texts = pc.replace_substring(texts, character, f"\\{character}")
    return pc.fill_null(pc.binary_join_element_wise('"', texts, '"', ""), NULL)


def write_numbers(numbers: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Whole numbers as JSON.

    >>> write_numbers(np.array([7, -1])).to_pylist()
    ['7', '-1']
    """
    return pa.array(numbers).cast(pa.string())


def write_flags(flags: npt.NDArray[np.bool_]) -> pa.Array:
    """Truth values as JSON.

    >>> write_flags(np.array([True, False])).to_pylist()
    ['true', 'false']
    """
    return pa.array(flags).cast(pa.string())


def write_lists(ends: Integers, members: pa.Array) -> pa.Array:
    """Lists of what is JSON already; list i holds the members from `ends[i]` to `ends[i + 1]` - 1.

    >>> write_lists(np.array([0, 2, 2]), pa.array(["1", "null"])).to_pylist()
    ['[1, null]', '[]']
    """
    lists = pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), members)
    return pc.binary_join_element_wise("[", pc.binary_join(lists, ", "), "]", "")


def write_objects(members: Mapping[str, pa.Array | str]) -> pa.Array:
    """Objects of what is JSON already; a text instead of a column is the same in all rows.

    >>> write_objects({"a": pa.array(["1", "2"]), "b": "null"}).to_pylist()
    ['{"a": 1, "b": null}', '{"a": 2, "b": null}']
    """
    parts: list[pa.Array | str] = []
    for number, (name, values) in enumerate(members.items()):
        start = f'{", " if number else "{"}"{name}": '
        # Literals that touch are one part: each part costs a pass over the rows.
        if parts and isinstance(parts[-1], str):
            parts[-1] += start
        else:
            parts.append(start)
        if isinstance(values, str):
            parts[-1] += values
        else:
            parts.append(values)
    return pc.binary_join_element_wise(*parts, "}", "")


def write_lines(objects: pa.Array) -> memoryview:
    """The objects as JSON Lines, as bytes.

    >>> bytes(write_lines(pa.array(["{}", "{}"])))
    b'{}\\n{}\\n'
    """
    lines = pc.binary_join_element_wise(objects, "\n", "")
    _, borders, data = lines.buffers()
    used = np.frombuffer(borders, np.int32, len(lines) + 1, lines.offset * 4)
    return memoryview(data)[used[0] : used[-1]]
