"""What `cross-format` has to say: a row a benchmark and a row a format, a column a code."""

from collections.abc import Sequence
from dataclasses import asdict

from pinakes.evaluate.cross_format import CodeMean, CodeScore, average_formats
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_value
from pinakes.report.layout import Cell, Row, Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_tables
from pinakes.workload.readers import CODES

_NOTE = "* the best of its row; [ ] the code of the row's own format."


def print_cross_format(scores: Sequence[CodeScore], out: Output) -> None:
    """The scores of each benchmark and the means of each format, by code; or one JSON object."""
    means = average_formats(scores)
    if out.is_for_programs:
        print_data({"scores": [asdict(one) for one in scores], "means": [asdict(one) for one in means]}, out)
        return
    print_tables([_table_benchmarks(scores), _table_formats(means)], out)


def _table_benchmarks(scores: Sequence[CodeScore]) -> Table:
    rows = []
    for start in range(0, len(scores), len(CODES)):
        of_row = scores[start : start + len(CODES)]
        first = of_row[0]
        rows.append(_make_row([first.group, first.format, first.benchmark, first.measure], of_row))
    columns = make_columns(["group", "format", "benchmark", "measure"], CODES)
    return Table(
        "Headline scores by code", columns, rows, f"A query without an answer counts as zero. {_NOTE}"
    )


def _table_formats(means: Sequence[CodeMean]) -> Table:
    rows = []
    for start in range(0, len(means), len(CODES)):
        of_row = means[start : start + len(CODES)]
        first = of_row[0]
        rows.append(_make_row([first.group, first.format, str(first.benchmarks)], of_row))
    columns = make_columns(["group", "format", "benchmarks"], CODES)
    return Table("Means by format", columns, rows, f"Each benchmark counts once. {_NOTE}")


def _make_row(words: list[str], found: Sequence[CodeScore | CodeMean]) -> Row:
    return make_row(*words, *map(_make_cell, found))


def _make_cell(found: CodeScore | CodeMean) -> Cell:
    text = format_value(found.value, "percent")
    text = f"[{text}]" if found.own else text
    return Cell(f"{text}*" if found.best else text, "best" if found.best else "plain")
