"""The tables of scores: systems by measures, measures and subsets by systems."""

from collections.abc import Sequence
from dataclasses import replace

from pinakes.report.data import BenchmarkReport, RunRow, SubsetScore
from pinakes.report.formatting import ABSENT, format_deviation, format_subset, format_value
from pinakes.report.layout import (
    Cell,
    Row,
    Table,
    absent_cell,
    make_row,
    mark_best,
    number_columns,
    text_columns,
)


def result_table(
    report: BenchmarkReport, subset: str | None = None, measures: Sequence[str] | None = None
) -> Table:
    """Systems by measures over one subset, the published systems among ours, best first.

    The order is that of the headline measure, or of the first measure where the table lacks it. Without
    `measures` those stand there that matter first (`BenchmarkReport.list_lead_measures`).
    """
    subset = subset or report.headline_subset
    chosen = list(measures) if measures is not None else report.list_lead_measures(subset)
    ours = _score_cells(report, subset, chosen)
    rows = [
        (_key(report, chosen, values), make_row(run.label, f"run {run.run_id}", coverage, *cells))
        for run, values, cells, coverage in ours
    ]
    rows += _published_rows(report, subset, chosen)
    ordered = sorted(rows, key=lambda row: (row[0], not row[1].is_ours, row[1].cells[0].text))
    return Table(
        f"{report.name}: {format_subset(subset)}",
        (*text_columns("system", "from"), *number_columns(["queries", *chosen])),
        tuple(row for _key_of_row, row in ordered),
        " ".join((scale_note(report), source_note(report, subset))).strip(),
    )


def _key(report: BenchmarkReport, measures: Sequence[str], values: Sequence[float | None]) -> float:
    """What a row is ordered by: the lower the further up; a row without the value is last."""
    lead = report.headline_measure
    value = values[measures.index(lead) if lead in measures else 0] if measures else None
    return float("inf") if value is None else -value


def _score_cells(
    report: BenchmarkReport, subset: str, measures: Sequence[str]
) -> list[tuple[RunRow, list[float | None], list[Cell], Cell]]:
    """For each run its values, their cells with the best of each measure marked, and its coverage."""
    scores = report.index_scores()
    columns = []
    for measure in measures:
        found = [scores.get((run.run_id, subset, measure)) for run in report.runs]
        columns.append(mark_scores(report, found))
    rows = []
    for place, run in enumerate(report.runs):
        values = [values[place] for values, _cells in columns]
        cells = [cells[place] for _values, cells in columns]
        rows.append((run, values, cells, _coverage_cell(report, run, subset)))
    return rows


def mark_scores(
    report: BenchmarkReport, scores: Sequence[SubsetScore | None]
) -> tuple[list[float | None], list[Cell]]:
    """Values and their cells, the best marked, a deviation over repeats beside it; None where no score is."""
    values = [None if score is None else score.value for score in scores]
    texts = [ABSENT if s is None else format_value(s.value, report.scale, s.measure) for s in scores]
    cells = mark_best(texts, values)
    return values, [_add_deviation(report, *pair) for pair in zip(cells, scores, strict=True)]


def _add_deviation(report: BenchmarkReport, cell: Cell, score: SubsetScore | None) -> Cell:
    """The cell, with the deviation over the repeats beside the value where there are several."""
    if score is None:
        return cell
    deviation = report.index_deviations().get((score.run_id, score.subset, score.measure))
    if deviation is None:
        return cell
    return replace(cell, note=format_deviation(deviation, report.scale, score.measure))


def _coverage_cell(report: BenchmarkReport, run: RunRow, subset: str) -> Cell:
    found = [score for score in report.scores if score.run_id == run.run_id and score.subset == subset]
    if not found:
        return Cell("not evaluated", "warning")
    worst = max(found, key=lambda score: score.queries_missing)
    return coverage_cell(worst.queries_answered, worst.queries_expected)


def coverage_cell(answered: int, expected: int) -> Cell:
    """How many of the owed queries were answered, flagged where some are missing.

    >>> coverage_cell(50, 50).text, coverage_cell(47, 50).text
    ('50/50', '47/50, 3 missing')
    """
    if answered >= expected:
        return Cell(f"{answered}/{expected}")
    return Cell(f"{answered}/{expected}, {expected - answered} missing", "warning")


def _published_rows(report: BenchmarkReport, subset: str, measures: Sequence[str]) -> list[tuple[float, Row]]:
    values: dict[tuple[str, str], dict[str, float]] = {}
    for figure in report.published:
        if figure.subset == subset and figure.measure in measures:
            values.setdefault((figure.system, figure.source), {})[figure.measure] = figure.value
    rows = []
    for (system, source), found in values.items():
        listed = [found.get(measure) for measure in measures]
        cells = [
            absent_cell() if value is None else Cell(format_value(value, report.scale, measure))
            for measure, value in zip(measures, listed, strict=True)
        ]
        row = make_row(system, _name_source(report, subset, source), absent_cell(), *cells, is_ours=False)
        rows.append((_key(report, measures, listed), row))
    return rows


def _name_source(report: BenchmarkReport, subset: str, source: str) -> str:
    """The source where there are several; else the note below the table names it."""
    return source if len(report.list_sources(subset)) > 1 else "published"


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
        rows.append(make_row(measure, *mark_scores(report, found)[1]))
    columns = (*text_columns("measure"), *number_columns(run.label for run in runs))
    return Table(f"Every measure: {format_subset(subset)}", columns, tuple(rows), scale_note(report))


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
        cells = [_flag(cell, score) for cell, score in zip(mark_scores(report, found)[1], found, strict=True)]
        best = [_best_published(report, subset, measure)] if shows_published else []
        rows.append(make_row(format_subset(subset), count, *cells, *best))
    titles = ["queries", *(run.label for run in runs), *(["best published"] if shows_published else [])]
    columns = (*text_columns("subset"), *number_columns(titles))
    return Table(f"{measure} by subset", columns, tuple(rows), scale_note(report))


def _flag(cell: Cell, score: SubsetScore | None) -> Cell:
    """The cell, with the number of missing queries beside the value."""
    if score is None or not score.queries_missing:
        return cell
    missing = f"{score.queries_missing} missing"
    return Cell(cell.text, "warning", f"{cell.note}, {missing}" if cell.note else missing)


def _best_published(report: BenchmarkReport, subset: str, measure: str) -> Cell:
    wanted = (subset, measure)
    found = [figure for figure in report.published if (figure.subset, figure.measure) == wanted]
    if not found:
        return absent_cell()
    best = max(found, key=lambda figure: figure.value)
    return Cell(format_value(best.value, report.scale, best.measure), note=best.system)


def query_table(report: BenchmarkReport) -> Table:
    """Queries by runs in the headline measure, by query id."""
    runs = [run for run in report.rank_runs() if run.run_id in report.query_values]
    ids = sorted({query_id for values in report.query_values.values() for query_id in values})
    rows = []
    for query_id in ids:
        values = [report.query_values[run.run_id].get(query_id) for run in runs]
        texts = [
            ABSENT if value is None else format_value(value, report.scale, report.headline_measure)
            for value in values
        ]
        rows.append(make_row(query_id, *mark_best(texts, values)))
    columns = (*text_columns("query"), *number_columns(run.label for run in runs))
    return Table(f"{report.headline_measure} by query", columns, tuple(rows), scale_note(report))


def scale_note(report: BenchmarkReport) -> str:
    """The unit of the values, what became of missing queries, and what stands behind ±."""
    unit = "Values times 100. " if report.scale == "percent" else ""
    spread = " ± is the standard deviation over repeats of the pools." if report.index_deviations() else ""
    return f"{unit}A query without an answer counts as zero.{spread}"
