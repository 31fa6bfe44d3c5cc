"""How tables are laid out: whatever their texts, on whatever width."""

from textwrap import fill

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pinakes.report.drawing import draw_columns, draw_expanded
from pinakes.report.fitting import Fitted, fit, wrap
from pinakes.report.layout import Cell, Heading, Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_records, print_rows, print_table
from tests.tables import Printed, Terminal, check_lines, check_table

WORDS = st.text(st.sampled_from("ab日本é🧪_-/. "), max_size=60)
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.4f}") | st.integers(0, 10**9).map(str)
TITLES = st.sampled_from(
    [
        "id",
        "system",
        "nDCG@10",
        "CSFCube.nDCG%20",
        "queries_expected",
        "holm_randomisation_p",
        "from",
        "year",
        "x_y_z",
        "of these unchanged",
        "a",
        "interval_low",
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to seven columns of numbers and texts, whose first is a number or not."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=7))
    titles = draw(st.lists(TITLES, min_size=len(kinds), max_size=len(kinds), unique=True))
    rows = [
        make_row(*(draw(NUMBERS if is_number else WORDS) for is_number in kinds))
        for _row in range(draw(st.integers(1, 3)))
    ]
    columns = [
        make_columns([], [title])[0] if is_number else make_columns([title])[0]
        for title, is_number in zip(titles, kinds, strict=True)
    ]
    return Table("", tuple(columns), rows, lead=tuple(titles[-1:]))


def show(table: Table, fitted: Fitted, width: int = 10_000) -> str:
    lines = "\n".join(line.plain for line in draw_columns(table, fitted))
    told = fill(f"left out: {', '.join(fitted.left_out)}; all with --wide or --expanded", width)
    return f"{lines}\n{told}" if fitted.left_out else lines


@settings(max_examples=60)
@given(tables(), st.integers(40, 200))
def test_any_table_fits_any_terminal_and_no_number_is_broken(table: Table, width: int) -> None:
    fitted = fit(table, width)
    drawn = "\n".join(line.plain for line in draw_columns(table, fitted))
    check_lines(drawn, width)
    check_table(Printed(table, Output(), {}, show(table, fitted, width)), width)
    assert {*fitted.left_out, *(table.columns[place].title for place in fitted.places)} == {
        column.title for column in table.columns
    }
    assert len(table.columns) - 1 in fitted.places  # it leads


@settings(max_examples=60)
@given(tables(), st.integers(40, 200))
def test_an_expanded_table_fits_and_has_everything(table: Table, width: int) -> None:
    drawn = "\n".join(line.plain for line in draw_expanded(table, width))
    check_lines(drawn, width)
    for row in table.rows:
        for cell, column in zip(row.cells, table.columns, strict=True):
            assert not column.is_number or cell.text in drawn


@given(WORDS, st.integers(2, 30))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(cell_len, lines)) <= width


def test_columns_come_in_by_their_importance() -> None:
    columns = make_columns(["path", "system"], ["value", "queries_expected"])
    table = Table("", columns, [make_row("/a/b", "bm25", "0.6999", "300")], lead=("value", "system"))
    assert fit(table, 14) == Fitted((1, 2), (6, 6), "beside", ("path", "queries_expected"))


def test_what_stands_in_parentheses_goes_below_before_it_is_left_out_and_both_before_a_column() -> None:
    columns = make_columns(["system"], ["nDCG@10", "AP"])
    row = make_row("bm25", Cell("0.6999", note="0.65 to 0.73"), Cell("0.6", "warning", note="≠ 0.7"))
    table = Table("", columns, [row])
    beside = fit(table, 80)
    assert (beside.notes, beside.left_out) == ("beside", ())
    below = fit(table, 31)
    assert (below.notes, below.left_out) == ("below", ())
    assert "0.65 to 0.73" in show(table, below)
    none = fit(table, 26)
    assert (none.notes, none.left_out) == ("none", ())
    assert "0.65" not in show(table, none)
    assert "≠ 0.7" in show(table, none)  # a warning stays


def test_a_heading_of_several_columns_stands_above_each_that_is_shown() -> None:
    headings = (Heading("", 1), Heading("background", 2))
    columns = make_columns(["system"], ["P@20", "RR"])
    table = Table("", columns, [make_row("bm25", "1.00", "2.00")], headings=headings)
    lines = show(table, fit(table, 19)).splitlines()
    assert [line.split() for line in lines[:2]] == [["background"], ["system", "P@20"]]
    assert lines[-1] == "left out: background RR; all with --wide or --expanded"


def test_numbers_of_records_are_numbers_though_they_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    rows = [{"name": "a" * 60, "value": 0.69991, "p": 1.5, "n": 123456789} for _row in range(2)]
    print_records(rows, Output(stream=stream))
    assert stream.text.count("0.6999") == 2
    assert stream.text.count("123456789") == 2
    check_lines(stream.text, 40)


@pytest.mark.parametrize("width", [1, 5, 20])
def test_a_terminal_narrower_than_a_number_is_no_error(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for columns in (["n", "text"], ["text", "n"]):
        print_rows(columns, [(123456789, "a text")], Output(stream=Terminal()))
        print_table(Table("t", make_columns(columns), [make_row("a", "b")]), Output(stream=Terminal()))


def test_no_rows_are_told() -> None:
    stream = Terminal()
    print_records([], Output(stream=stream))
    assert stream.text == "no rows\n"
