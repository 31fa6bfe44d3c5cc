"""No control character or mark of direction of the data reaches a terminal, a table or a page as it is."""

import csv
import io
from collections.abc import Callable

import pytest

from pinakes.errors import InputError
from pinakes.report.escapes import escape_controls
from pinakes.report.layout import Table, make_columns, make_row
from pinakes.report.markdown import render_table
from pinakes.report.output import Output
from pinakes.report.pages import make_environment
from pinakes.report.terminal import print_rows, print_table

MARKS = "\x00\x07\x1b\x7f\x9b\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u200b\ufeff\U000e0041"
LINES = "\n\r\t\x85\u2028"


def print_csv(text: str) -> str:
    stream = io.StringIO()
    print_rows([text], [[text]], Output("csv", stream=stream))
    return stream.getvalue()


def print_as_table(text: str) -> str:
    stream = io.StringIO()
    print_rows([text], [[text]], Output(stream=stream))
    print_table(Table(text, make_columns([text]), [make_row(text)], text), Output(stream=stream))
    return stream.getvalue()


def write_markdown(text: str) -> str:
    return render_table(Table(text, make_columns([text]), [make_row(text)], text))


def write_page(text: str) -> str:
    page = make_environment().from_string("<p title='{{ text }}'>{{ text | breakable }}{{ text }}</p>")
    return page.render(text=text)


@pytest.mark.parametrize("write", [print_as_table, write_markdown, write_page, print_csv])
def test_marks_are_written_out(write: Callable[[str], str]) -> None:
    written = write(f"a{MARKS}b{LINES}c")
    assert not set(MARKS) & set(written)
    for escape in ("x1b", "x9b", "u202e", "u2066", "U000e0041"):
        assert f"\\{escape}" in written
    assert "\x85" not in written
    assert "\u2028" not in written


def test_letters_of_every_script_stay() -> None:
    text = "Ünïcode 論文 بحث मराठी 👩\u200d🔬 50\u00a0%"
    assert escape_controls(text) == text


def test_line_ends_in_csv_stay_within_their_cell() -> None:
    assert list(csv.reader(io.StringIO(print_csv("a\nb\tc")))) == [["a\nb\tc"], ["a\nb\tc"]]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_compute_is_guarded_where_asked(start: str) -> None:
    text = f"{start}1+1"
    shown = text.replace("\r", "\\r")
    for guard, expected in ((True, f"'{shown}"), (False, shown)):
        stream = io.StringIO(newline="")
        print_rows(["a", "n"], [[text, -5]], Output("csv", guard_formulas=guard, stream=stream))
        assert list(csv.reader(io.StringIO(stream.getvalue(), newline="")))[1] == [expected, "-5"]


def test_formulas_are_guarded_in_csv_alone() -> None:
    with pytest.raises(InputError, match="add --csv"):
        Output("json", guard_formulas=True)
