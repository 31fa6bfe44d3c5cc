"""Tables of one measure over the groups of a benchmark: systems by pool sizes and by candidate types.

Fields stand in `tables.subset_table`, since they are too many for columns.
"""

from collections.abc import Sequence

from pinakes.report.data import BenchmarkReport
from pinakes.report.formatting import format_size, format_value
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_row, number_columns, text_columns
from pinakes.report.subsets import TYPE, read_size
from pinakes.report.tables import mark_scores, scale_note, source_note, subset_table

_Keyed = tuple[tuple[int, float], Row]
"""a row and what it is ordered by"""


def size_tables(report: BenchmarkReport) -> list[Table]:
    """For each measure the systems by pool sizes, each value with its deviation over the repeats."""
    headings = [format_size(read_size(subset)) for subset in report.sizes]
    return [
        _tabulate(report, f"{measure} by pool size", measure, report.sizes, headings)
        for measure in _list_measures(report, report.sizes)
    ]


def type_tables(report: BenchmarkReport) -> list[Table]:
    """For each measure the systems by candidate types."""
    headings = [subset.removeprefix(TYPE) for subset in report.types]
    note = "Each query's cited papers among the candidates of one type: the lower, the harder the type."
    return [
        _tabulate(report, f"{measure} by candidate type", measure, report.types, headings, note)
        for measure in _list_measures(report, report.types)
    ]


def other_subset_tables(report: BenchmarkReport) -> list[Table]:
    """The table of subsets for each measure but the headline, where a report is by measure."""
    if not report.is_by_measure:
        return []
    measures = _list_measures(report, report.subsets)
    return [subset_table(report, measure) for measure in measures if measure != report.headline_measure]


def _list_measures(report: BenchmarkReport, subsets: Sequence[str]) -> list[str]:
    """The lead measures that some run has a value of, or some paper a figure, in one of the subsets."""
    known = {measure for subset in subsets for measure in report.list_measures(subset)}
    return [measure for measure in report.list_lead_measures(report.headline_subset) if measure in known]


def _tabulate(
    report: BenchmarkReport,
    title: str,
    measure: str,
    subsets: Sequence[str],
    headings: Sequence[str],
    note: str = "",
) -> Table:
    """Systems by subsets in one measure, best first by their first value, the published among ours."""
    published = _list_published(report, measure, subsets)
    rows = [*_list_runs(report, measure, subsets), *published]
    ordered = sorted(rows, key=lambda row: (row[0], not row[1].is_ours, row[1].cells[0].text))
    sources = {source_note(report, subset): None for subset in subsets if published}
    notes = (scale_note(report), note, *sources)
    columns = (*text_columns("system", "from"), *number_columns(headings))
    return Table(title, columns, tuple(row for _key, row in ordered), " ".join(filter(None, notes)))


def _key(values: Sequence[float | None]) -> tuple[int, float]:
    """What a row is ordered by: where its first value stands, then that value; a row without one is last.

    >>> sorted([(None, None), (None, 0.5), (0.25, None), (0.5, None)], key=_key)
    [(0.5, None), (0.25, None), (None, 0.5), (None, None)]
    """
    return next(
        ((place, -value) for place, value in enumerate(values) if value is not None), (len(values), 0.0)
    )


def _list_runs(report: BenchmarkReport, measure: str, subsets: Sequence[str]) -> list[_Keyed]:
    scores = report.index_scores()
    columns = [
        mark_scores(report, [scores.get((run.run_id, subset, measure)) for run in report.runs])
        for subset in subsets
    ]
    return [
        (
            _key([values[place] for values, _cells in columns]),
            make_row(run.label, f"run {run.run_id}", *(cells[place] for _values, cells in columns)),
        )
        for place, run in enumerate(report.runs)
    ]


def _list_published(report: BenchmarkReport, measure: str, subsets: Sequence[str]) -> list[_Keyed]:
    """A row for each system and source that tell a figure of the measure in one of the subsets."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for figure in report.published:
        if figure.measure == measure and figure.subset in subsets:
            found.setdefault((figure.system, figure.source), {})[figure.subset] = figure.value
    several = len({source for _system, source in found}) > 1
    rows = []
    for (system, source), values in found.items():
        cells = [
            Cell(format_value(values[subset], report.scale, measure)) if subset in values else absent_cell()
            for subset in subsets
        ]
        row = make_row(system, source if several else "published", *cells, is_ours=False)
        rows.append((_key([values.get(subset) for subset in subsets]), row))
    return rows
