"""The tables of scores: systems by measures, pool sizes and types; measures, subsets, queries by systems."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pinakes.report.data import BenchmarkReport, RunRow, SubsetScore
from pinakes.report.formatting import format_size, format_subset, format_value
from pinakes.report.layout import (
    Cell,
    Row,
    Table,
    absent_cell,
    make_columns,
    make_row,
    mark_best,
    value_cell,
)
from pinakes.report.subsets import SPREAD, TYPE, read_size

Key = tuple[str, str]
"""subset and measure of a column"""


def result_table(
    report: BenchmarkReport,
    subset: str | None = None,
    measures: Sequence[str] | None = None,
    *,
    letters: Mapping[int, str] | None = None,
) -> Table:
    """Systems by measures over one subset, the published systems among ours, best first.

    The order is that of the headline measure, or of the first measure where the table lacks it. Without
    `measures` those stand there that matter first (`BenchmarkReport.list_lead_measures`). `letters` are of
    significance, by run id, and have a column where there are any.
    """
    subset = subset or report.headline_subset
    chosen = list(measures) if measures is not None else report.list_lead_measures(subset)
    lead = chosen.index(report.headline_measure) if report.headline_measure in chosen else 0
    keys = [(subset, measure) for measure in chosen]
    beside = {run.run_id: [_coverage_cell(report, run, subset)] for run in report.runs}
    words = ["system", "from"]
    said = [scale_note(report), source_note(report, subset)]
    if letters:
        words.append("alike")
        said.append(
            f"Systems that share a letter do not differ in {report.headline_measure} over all queries: "
            "paired randomisation test, p of 0.05 or more after Holm's correction."
        )
        beside = {run: [Cell(letters.get(run, "")), *cells] for run, cells in beside.items()}
    return Table(
        f"{report.name}: {format_subset(subset)}",
        make_columns(words, ["queries", *chosen]),
        _rank_systems(report, keys, len(report.list_sources(subset)) > 1, slice(lead, lead + 1), beside),
        " ".join(filter(None, said)),
    )


def _rank_systems(
    report: BenchmarkReport,
    keys: Sequence[Key],
    several_sources: bool,
    lead: slice = slice(None),
    beside: Mapping[int, Sequence[Cell]] | None = None,
) -> list[Row]:
    """A row a run and a published system, best first by their `lead` values; of equal ones ours first.

    `beside` are cells of each run before its values.
    """
    given = beside or {}
    empty = [absent_cell() for _cell in next(iter(given.values()), ())]
    rows = []
    for run, values, cells in list_runs(report, keys):
        row = make_row(run.label, f"run {run.run_id}", *given.get(run.run_id, ()), *cells)
        rows.append((_order_key(values[lead]), row))
    for system, source, values, cells in _list_published(report, keys):
        origin = source if several_sources else "published"  # the note below the table names a single one
        rows.append((_order_key(values[lead]), make_row(system, origin, *empty, *cells, is_ours=False)))
    rows.sort(key=lambda row: (row[0], not row[1].is_ours, row[1].cells[0].text))
    return [row for _key, row in rows]


def size_tables(report: BenchmarkReport) -> list[Table]:
    """For each measure the systems by pool sizes, each value with its deviation over the repeats."""
    headings = [format_size(read_size(subset)) for subset in report.sizes]
    return _group_tables(report, "pool size", report.sizes, headings)


def type_tables(report: BenchmarkReport) -> list[Table]:
    """For each measure the systems by candidate types."""
    headings = [subset.removeprefix(TYPE) for subset in report.types]
    note = "Each query's cited papers among the candidates of one type: the lower, the harder the type."
    return _group_tables(report, "candidate type", report.types, headings, note)


def _group_tables(
    report: BenchmarkReport, group: str, subsets: Sequence[str], headings: Sequence[str], note: str = ""
) -> list[Table]:
    """For each measure the systems by subsets, best first by their first value, the published among ours."""
    tables = []
    for measure in _list_measures(report, subsets):
        keys = [(subset, measure) for subset in subsets]
        origins = {source for _system, source, *_figures in _list_published(report, keys)}
        sources = dict.fromkeys(source_note(report, subset) for subset in subsets if origins)
        rows = _rank_systems(report, keys, len(origins) > 1)
        said = " ".join(filter(None, (scale_note(report), note, *sources)))
        columns = make_columns(["system", "from"], headings)
        tables.append(Table(f"{measure} by {group}", columns, rows, said))
    return tables


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


def list_runs(
    report: BenchmarkReport, keys: Sequence[Key]
) -> list[tuple[RunRow, list[float | None], list[Cell]]]:
    """For each run its values in the columns, and their cells with the best of each column marked."""
    scores = report.index_scores()
    found = [[scores.get((run.run_id, *key)) for run in report.runs] for key in keys]
    marked = [mark_scores(report, column) for column in found]
    return [
        (run, [_value(column[place]) for column in found], [cells[place] for cells in marked])
        for place, run in enumerate(report.runs)
    ]


def _list_published(
    report: BenchmarkReport, keys: Sequence[Key]
) -> list[tuple[str, str, list[float | None], list[Cell]]]:
    """System, source, values and cells of each system and source with a figure in one of the columns."""
    found: dict[tuple[str, str], dict[Key, float]] = {}
    for figure in report.published:
        if (figure.subset, figure.measure) in keys:
            figures = found.setdefault((figure.system, figure.source), {})
            figures[figure.subset, figure.measure] = figure.value
    rows = []
    for (system, source), figures in found.items():
        values = [figures.get(key) for key in keys]
        cells = [
            value_cell(value, report.scale, measure)
            for value, (_subset, measure) in zip(values, keys, strict=True)
        ]
        rows.append((system, source, values, cells))
    return rows


def _order_key(values: Sequence[float | None]) -> tuple[int, float]:
    """What a row is ordered by: where its first value stands, then that value; a row without one is last.

    >>> sorted([(None, None), (None, 0.5), (0.25, None), (0.5, None)], key=_order_key)
    [(0.5, None), (0.25, None), (None, 0.5), (None, None)]
    """
    return next(
        ((place, -value) for place, value in enumerate(values) if value is not None), (len(values), 0.0)
    )


def _value(score: SubsetScore | None) -> float | None:
    return None if score is None else score.value


def mark_scores(report: BenchmarkReport, scores: Sequence[SubsetScore | None]) -> list[Cell]:
    """The cells of scores by one measure, the best marked, the deviation over repeats beside each value."""
    deviations = report.index_deviations()
    measure = next((score.measure for score in scores if score), "")
    cells = mark_best([_value(score) for score in scores], report.scale, measure)
    for place, score in enumerate(scores):
        deviation = deviations.get((score.run_id, score.subset, measure)) if score else None
        if deviation is not None:
            cells[place] = replace(cells[place], note=f"± {format_value(deviation, report.scale, measure)}")
    return cells


def _coverage_cell(report: BenchmarkReport, run: RunRow, subset: str) -> Cell:
    found = [score for score in report.scores if score.run_id == run.run_id and score.subset == subset]
    if not found:
        return Cell("not evaluated", "warning")
    worst = max(found, key=lambda score: score.queries_missing)
    return coverage_cell(worst.queries_answered, worst.queries_expected)


def coverage_cell(answered: int, expected: int) -> Cell:
    """How many of the expected queries were answered, flagged where some are missing.

    >>> coverage_cell(50, 50).text, coverage_cell(47, 50).text
    ('50/50', '47/50, 3 missing')
    """
    if answered >= expected:
        return Cell(f"{answered}/{expected}")
    return Cell(f"{answered}/{expected}, {expected - answered} missing", "warning")


def source_note(report: BenchmarkReport, subset: str) -> str:
    """Where the published figures of a subset come from, if it is one place; else the rows say it."""
    sources = report.list_sources(subset)
    return f"Published figures: {sources[0]}." if len(sources) == 1 else ""


def list_detailed(report: BenchmarkReport) -> list[str]:
    """The subsets that have a table of every measure: all, or the headline's where a report is by measure."""
    return [report.headline_subset] if report.is_by_measure else list(report.subsets)


def measure_table(report: BenchmarkReport, subset: str) -> Table:
    """Measures by runs over one subset."""
    scores = report.index_scores()
    runs = report.rank_runs()
    rows = []
    for measure in report.list_measures(subset):
        found = [scores.get((run.run_id, subset, measure)) for run in runs]
        rows.append(make_row(measure, *mark_scores(report, found)))
    columns = make_columns(["measure"], [run.label for run in runs])
    return Table(f"Every measure: {format_subset(subset)}", columns, rows, scale_note(report))


def subset_table(report: BenchmarkReport, measure: str | None = None) -> Table:
    """Subsets by runs in a measure (None: the headline), with the best published system of each subset."""
    measure = measure or report.headline_measure
    # a column of nothing is a hint that papers could report there; beside many runs it only takes room
    shows_published = not report.is_by_measure or any(
        one.measure == measure and one.subset in report.subsets for one in report.published
    )
    scores = report.index_scores()
    runs = report.rank_runs()
    rows = []
    for subset in report.subsets:
        found = [scores.get((run.run_id, subset, measure)) for run in runs]
        expected = max((score.queries_expected for score in found if score), default=None)
        count = absent_cell() if expected is None else Cell(str(expected))
        cells = [_flag(cell, score) for cell, score in zip(mark_scores(report, found), found, strict=True)]
        best = [_best_published(report, subset, measure)] if shows_published else []
        rows.append(make_row(format_subset(subset), count, *cells, *best))
    titles = ["queries", *(run.label for run in runs), *(["best published"] if shows_published else [])]
    return Table(f"{measure} by subset", make_columns(["subset"], titles), rows, scale_note(report))


def _flag(cell: Cell, score: SubsetScore | None) -> Cell:
    """The cell, with the number of missing queries beside the value."""
    if score is None or not score.queries_missing:
        return cell
    missing = f"{score.queries_missing} missing"
    return Cell(cell.text, "warning", f"{cell.note}, {missing}" if cell.note else missing)


def _best_published(report: BenchmarkReport, subset: str, measure: str) -> Cell:
    best = max(report.list_published(subset, measure), key=lambda figure: figure.value, default=None)
    if best is None:
        return absent_cell()
    return Cell(format_value(best.value, report.scale, best.measure), note=best.system)


def query_table(report: BenchmarkReport) -> Table:
    """Queries by runs in the headline measure, by query id."""
    runs = [run for run in report.rank_runs() if run.run_id in report.query_values]
    ids = sorted({query_id for values in report.query_values.values() for query_id in values})
    rows = []
    for query_id in ids:
        values = [report.query_values[run.run_id].get(query_id) for run in runs]
        rows.append(make_row(query_id, *mark_best(values, report.scale, report.headline_measure)))
    columns = make_columns(["query"], [run.label for run in runs])
    return Table(f"{report.headline_measure} by query", columns, rows, scale_note(report))


def scale_note(report: BenchmarkReport) -> str:
    """The unit of the values, what became of missing queries, and what stands behind ±."""
    unit = "Values times 100. " if report.scale == "percent" else ""
    spread = f" {SPREAD}" if report.index_deviations() else ""
    return f"{unit}A query without an answer counts as zero.{spread}"
