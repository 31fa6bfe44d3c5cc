r"""Rows as a LaTeX table with the rules of the package booktabs: text to the left, numbers to the right."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import IO, Final

import pyarrow as pa

from pinakes.python_values import use_python_types

_ESCAPES: Final = {
    **dict.fromkeys((*range(32), *range(127, 160)), " "),
    **{ord(sign): f"\\{sign}" for sign in "&%$#_{}"},
    ord("\\"): r"\textbackslash{}",
    ord("~"): r"\textasciitilde{}",
    ord("^"): r"\textasciicircum{}",
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
    ord("|"): r"\textbar{}",
    ord('"'): r"\textquotedbl{}",
    ord("±"): r"$\pm$",
    ord("−"): "$-$",
    ord("≤"): r"$\leq$",
    ord("≥"): r"$\geq$",
}


def escape_latex(text: str) -> str:
    r"""The text as LaTeX prints it; control characters become blanks.

    >>> escape_latex("50% of A_1 & {B}\n")
    '50\\% of A\\_1 \\& \\{B\\} '
    """
    return text.translate(_ESCAPES)


def write_latex(stream: IO[bytes], schema: pa.Schema, parts: Iterator[pa.Table]) -> None:
    r"""Write a `tabular`; what reads it says `\usepackage{booktabs}`."""
    is_number = [
        pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        for field in schema
    ]
    columns = "".join("r" if number else "l" for number in is_number)
    head = _make_line(schema.names)
    stream.write(f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n".encode())
    for part in parts:
        values = [column.to_pylist() for column in use_python_types(part).columns]
        for row in zip(*values, strict=True):
            stream.write(_make_line([_write_value(value) for value in row]).encode())
    stream.write(b"\\bottomrule\n\\end{tabular}\n")


def _make_line(cells: list[str]) -> str:
    # Braces: a cell that begins with a bracket or an asterisk would be an argument of the line above.
    escaped = [escape_latex(cell) for cell in cells]
    return " & ".join(f"{{{cell}}}" if cell.startswith(("[", "*")) else cell for cell in escaped) + " \\\\\n"


def _write_value(value: object) -> str:
    """A value as text; null is nothing.

    >>> _write_value(None), _write_value(True), _write_value(0.1)
    ('', 'true', '0.1')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
