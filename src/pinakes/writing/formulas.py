"""Texts in CSV that a spreadsheet would compute: an apostrophe before them makes them texts.

A title that begins with `=` is else run as a formula by whoever opens the file.
"""

import re
from typing import Final

import pyarrow as pa

_STARTS: Final = r"^[=+\-@\t\r]"


def guard_formula(text: str) -> str:
    """The text behind an apostrophe where a spreadsheet would take it for a formula.

    >>> guard_formula("=1+1"), guard_formula("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if re.match(_STARTS, text) else text


def guard_formulas(rows: pa.Table) -> pa.Table:
    """The table with each of its texts as `guard_formula` has it; numbers stay."""
    import pyarrow.compute as pc  # late: a tenth of a second, and whoever prints imports this module

    for place, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            guarded = pc.binary_join_element_wise(
                pa.scalar("'", column.type), column, pa.scalar("", column.type)
            )
            chosen = pc.if_else(pc.match_substring_regex(column, _STARTS), guarded, column)
            rows = rows.set_column(place, name, chosen)
    return rows
