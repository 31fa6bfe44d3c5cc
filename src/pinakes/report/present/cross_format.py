"""What `cross-format` has to say: a row a benchmark and a row a format, a column a code."""

from collections.abc import Sequence
from dataclasses import asdict

from pinakes.evaluate.cross_format import CodeMean, CodeScore, average_figures, average_formats
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_value
from pinakes.report.layout import Cell, Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_tables
from pinakes.workload.readers import CODES

_NOTE = "* the best of its row; [ ] the code of the row's own format."
_SEEDS = " Means of {} seeds; ± is half of the 95 % t interval over them."


def print_cross_format(scores: Sequence[CodeScore], out: Output) -> None:
    """The figures of each benchmark and the means of each format, by code; or one JSON object."""
    of_figures, of_formats = average_figures(scores), average_formats(scores)
    if out.is_for_programs:
        found = {
            "scores": [asdict(one) for one in scores],
            "figures": [asdict(one) for one in of_figures],
            "means": [asdict(one) for one in of_formats],
        }
        print_data(found, out)
        return
    measures = {(one.benchmark, one.figure): one.measure for one in scores}
    note = _NOTE + (_SEEDS.format(of_formats[0].seeds) if of_formats[0].seeds > 1 else "")
    tables = [
        _make_table(
            "Figures by code",
            ["group", "format", "benchmark", "measure"],
            [
                (one.group, one.format, one.benchmark, measures[one.benchmark, one.figure])
                for one in of_figures
            ],
            of_figures,
            f"A query without an answer counts as zero. {note}",
        ),
        _make_table(
            "Means by format",
            ["group", "format", "figures"],
            [(one.group, one.format, str(one.figures)) for one in of_formats],
            of_formats,
            f"Each figure counts once. {note}",
        ),
    ]
    print_tables(tables, out)


def _make_table(
    title: str, heads: list[str], words: Sequence[tuple[str, ...]], means: Sequence[CodeMean], note: str
) -> Table:
    """A row for each run of as many means as there are codes."""
    rows = [
        make_row(*words[start], *map(_make_cell, means[start : start + len(CODES)]))
        for start in range(0, len(means), len(CODES))
    ]
    return Table(title, make_columns(heads, CODES), rows, note)


def _make_cell(found: CodeMean) -> Cell:
    text = format_value(found.value, "percent")
    text = f"[{text}]" if found.own else text
    text = f"{text}*" if found.best else text
    note = "" if found.low is None or found.high is None else f"±{100 * (found.high - found.low) / 2:.1f}"
    return Cell(text, "best" if found.best else "plain", note=note)
