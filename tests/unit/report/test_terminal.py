import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from pinakes.errors import InputError
from pinakes.report.data import BenchmarkReport
from pinakes.report.layout import Table, make_columns, make_row
from pinakes.report.output import Form, Output
from pinakes.report.present.report import print_report
from pinakes.report.terminal import print_rows, print_table


def printed(columns: list[str], rows: Sequence[tuple[object, ...]], format: Form) -> str:
    stream = io.StringIO()
    print_rows(columns, rows, Output(format, stream=stream))
    return stream.getvalue()


def test_report_is_printed_whole(report: BenchmarkReport) -> None:
    stream = io.StringIO()
    print_report(report, Output(stream=stream))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "tiny: all queries"
    assert lines[1].split() == ["system", "from", "queries", "nDCG@10", "P@10"]
    assert lines[4].split() == ["dense", "run", "2", "3/4,", "1", "missing", "62.50", "12.35"]
    titles = [
        "nDCG@10 by subset",
        "Here and published: all queries",
        "Do the systems differ?",
        "Which system is best?",
        "Coverage",
    ]
    assert [line for line in lines if line in titles] == titles
    assert lines[-1] == "! dense has no answer to 1 of 4 queries; each counts as zero."


def test_nothing_is_cut_where_the_output_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    title = "word " * 100 + "end"
    text = printed(["id", "title"], [(1, title)], "table")
    assert text.splitlines()[2].rstrip() == f" 1  {title}"


def test_a_terminal_folds_a_long_cell_instead_of_cutting_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    print_table(Table("", make_columns(["text"]), (make_row("x" * 100),)), Output(stream=stream))
    text = re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue())
    assert text.count("x") == 100 + "text".count("x")
    assert max(len(line) for line in text.splitlines()) <= 40


def test_csv_is_read_back_as_it_was_written() -> None:
    rows = [("a,b", 'say "x"', None, 0.1), ("two\nlines", "", True, 1e-9)]
    text = printed(["w", "x", "y", "z"], rows, "csv")
    assert list(csv.reader(io.StringIO(text))) == [
        ["w", "x", "y", "z"],
        ["a,b", 'say "x"', "", "0.1"],
        ["two\nlines", "", "true", "1e-09"],
    ]


def test_json_is_one_array_of_objects_with_nulls_and_every_column() -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    text = printed(["a", "a", "at"], [(None, 0.1, moment)], "json")
    assert json.loads(text) == [{"a": None, "a_2": 0.1, "at": "2026-03-01T00:00:00+00:00"}]


def test_no_rows_are_still_columns() -> None:
    assert printed(["a", "b"], [], "csv") == "a,b\n"
    assert printed(["a", "b"], [], "json") == "[]\n"
    assert printed(["a", "b"], [], "table").splitlines()[0].split() == ["a", "b"]


def test_null_is_told_from_text_and_markup_is_text() -> None:
    lines = printed(["n", "text"], [(None, "[bold]x[/bold]"), (12, "")], "table").splitlines()
    assert lines[2].split() == ["NULL", "[bold]x[/bold]"]
    assert lines[3].split() == ["12"]


def test_control_characters_are_written_out() -> None:
    text = printed(["t"], [("\x1b[2Jgone\nnext",)], "table")
    assert "\x1b" not in text
    assert "\\x1b[2Jgone\\nnext" in text


def test_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="'xml'; expected one of table, csv, json"):
        printed(["a"], [], "xml")  # type: ignore[arg-type]
