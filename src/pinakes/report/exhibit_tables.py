"""A benchmark's exhibits as tables: heat maps as counts, papers under two groups."""

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.exhibit_data import (
    Exhibit,
    GroupPair,
    GroupPairsExhibit,
    HeatMapExhibit,
    HeatMapPanel,
    TableExhibit,
)
from pinakes.report.formatting import ABSENT, format_difference, format_value
from pinakes.report.layout import Cell, Heading, Table, make_row, number_columns, text_columns
from pinakes.report.printed_tables import split_printed, view_table
from pinakes.report.tables import scale_note


def exhibit_tables(report: BenchmarkReport, exhibit: Exhibit) -> list[Table]:
    """The tables of one exhibit; of pairs of groups that of the best run.

    Where many rows of a view were not printed and some were, those that were not are a table of their own.
    """
    if isinstance(exhibit, TableExhibit):
        return [view_table(part) for part in split_printed(exhibit)]
    if isinstance(exhibit, HeatMapExhibit):
        return [count_table(exhibit, panel) for panel in exhibit.panels]
    return [pair_table(report, exhibit, run) for run in list_paired_runs(report, exhibit)[:1]]


def count_table(exhibit: HeatMapExhibit, panel: HeatMapPanel) -> Table:
    """The counts of a panel: a row for each grade in the first group, a column for each in the other."""
    rows = [
        make_row(str(grade), *(f"{panel.counts.get((grade, other), 0):,}" for other in exhibit.grades))
        for grade in exhibit.grades
    ]
    columns = (*text_columns(panel.group_a), *number_columns(str(grade) for grade in exhibit.grades))
    headings = (Heading("", 1), Heading(panel.group_b, len(exhibit.grades)))
    total = sum(panel.counts.values())
    title = f"{exhibit.title}: {panel.group_a} and {panel.group_b}, {total:,} candidates"
    return Table(title, columns, tuple(rows), exhibit.note, headings)


def list_paired_runs(report: BenchmarkReport, exhibit: GroupPairsExhibit) -> list[RunRow]:
    """The runs that have a value of some pair's both queries, best first."""
    return [run for run in report.rank_runs() if list_pair_values(report, exhibit, run)]


def list_pair_values(
    report: BenchmarkReport, exhibit: GroupPairsExhibit, run: RunRow
) -> list[tuple[GroupPair, float, float]]:
    """Each pair with a run's values in both groups, the largest distance first."""
    values = report.query_values.get(run.run_id, {})
    found = [
        (pair, values[pair.query_a], values[pair.query_b])
        for pair in exhibit.pairs
        if pair.query_a in values and pair.query_b in values
    ]
    return sorted(found, key=lambda one: (-abs(one[1] - one[2]), one[0].paper, one[0].group_a))


def pair_table(report: BenchmarkReport, exhibit: GroupPairsExhibit, run: RunRow) -> Table:
    """A run's values of papers that are asked with two groups, a row for each paper."""
    found = list_pair_values(report, exhibit, run)
    groups = sorted({group for pair, *_values in found for group in (pair.group_a, pair.group_b)})
    rows = []
    for pair, value_a, value_b in found:
        told = {pair.group_a: value_a, pair.group_b: value_b}
        cells = [_pair_cell(report, told.get(group)) for group in groups]
        distance = abs(value_a - value_b)
        rows.append(make_row(pair.paper, *cells, _difference(report, distance)))
    columns = (*text_columns("paper"), *number_columns([*groups, "distance"]))
    note = " ".join(filter(None, (exhibit.note, scale_note(report))))
    return Table(f"{exhibit.title}: {run.label}", columns, tuple(rows), note)


def _pair_cell(report: BenchmarkReport, value: float | None) -> Cell:
    if value is None:
        return Cell(ABSENT, "absent")
    return Cell(format_value(value, report.scale, report.headline_measure))


def _difference(report: BenchmarkReport, value: float) -> str:
    return format_difference(value, report.scale, report.headline_measure).removeprefix("+")
