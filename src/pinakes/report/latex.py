"""Tables as LaTeX with booktabs, to be pasted into a paper."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pinakes.report.escapes import escape_controls
from pinakes.report.layout import Cell, Row, Table

_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "…": r"\ldots{}",
}
_HEAD: Final = """% Needs \\usepackage{booktabs}, and \\usepackage[T1]{fontenc} for quotation marks.
"""


def render_latex(tables: Iterable[Table], name: str) -> str:
    """Each table as a float with a caption and a label, `tab:NAME-1` first; the same data, the same bytes."""
    floats = [_render(table, f"tab:{_write_label(name)}-{number}") for number, table in enumerate(tables, 1)]
    return "\n".join([_HEAD, *floats])


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints as it is, on one line.

    >>> escape_latex("nDCG%20 & a_b \\input{x}")
    'nDCG\\%20 \\& a\\_b \\textbackslash{}input\\{x\\}'
    """
    plain = escape_controls(" ".join(text.split()))
    return "".join(_SPECIAL.get(character, character) for character in plain)


def _render(table: Table, label: str) -> str:
    caption = ". ".join(filter(None, (escape_latex(table.title), escape_latex(table.note))))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if column.is_number else 'l' for column in table.columns)}}}",
        r"\toprule",
        *_render_headings(table),
        _join(escape_latex(column.title) for column in table.columns),
        r"\midrule",
        *_render_rows(table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _render_headings(table: Table) -> list[str]:
    """The upper level of headings, each with a rule below."""
    if not table.headings:
        return []
    cells, rules, start = [], [], 1
    for heading in table.headings:
        cells.append(rf"\multicolumn{{{heading.span}}}{{c}}{{{escape_latex(heading.title)}}}")
        if heading.title:
            rules.append(rf"\cmidrule(lr){{{start}-{start + heading.span - 1}}}")
        start += heading.span
    return [_join(cells), " ".join(rules)]


def _render_rows(rows: Sequence[Row]) -> list[str]:
    """The rows, with a rule where published figures end and ours begin."""
    lines: list[str] = []
    for place, row in enumerate(rows):
        if place and row.is_ours != rows[place - 1].is_ours and not row.follows:
            lines.append(r"\midrule")
        lines.append(_join(map(_render_cell, row.cells)))
    return lines


def _render_cell(cell: Cell) -> str:
    if cell.kind == "absent":
        return "--"
    text = escape_latex(cell.text)
    if cell.kind == "best":
        text = rf"\textbf{{{text}}}"
    elif cell.kind == "second":
        text = rf"\underline{{{text}}}"
    if not cell.note:
        return text
    note = escape_latex(cell.note)
    return f"{text} {note}" if cell.note.startswith("±") else rf"{text}\textsuperscript{{{note}}}"


def _join(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _write_label(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)
