"""Our runs against what papers reported: the same system again, and the distance to every published one."""

from collections.abc import Sequence

from pinakes.report.data import BenchmarkReport, PublishedFigure, RunRow, in_order
from pinakes.report.formatting import format_difference, format_subset, format_value
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_row, number_columns, text_columns
from pinakes.report.tables import source_note


def match_published(report: BenchmarkReport) -> dict[int, str]:
    """Run id -> the published system that the benchmark says the run to be, else the one of the run's name.

    Names are compared without case and punctuation. A run that the benchmark says to be none has none.
    """
    known = {_simplify(figure.system): figure.system for figure in reversed(report.published)}
    systems = {figure.system for figure in report.published}
    matched = {}
    for run in report.runs:
        named = run.published_as
        system = known.get(_simplify(run.system), "") if named is None else named
        if system in systems:
            matched[run.run_id] = system
    return matched


def _simplify(name: str) -> str:
    """A name without case and punctuation.

    >>> _simplify("all-MiniLM-L6-v2")
    'allminilml6v2'
    """
    return "".join(character for character in name.casefold() if character.isalnum())


def list_published_subsets(report: BenchmarkReport) -> list[str]:
    """The subsets in which a system was published that one of the runs is, in the report's order."""
    matched = match_published(report).values()
    order = (*report.subsets, *report.sizes, *report.types)
    return in_order(order, {figure.subset for figure in report.published if figure.system in matched})


def reproduction_table(report: BenchmarkReport) -> Table | None:
    """Runs beside the published figures of the same system: value, and ours minus theirs; None without any.

    A row for each subset: for benchmarks of more subsets than `side_by_side` has room for.
    """
    matched = match_published(report)
    told = [figure for figure in report.published if figure.system in matched.values()]
    measures = in_order(report.measures, {figure.measure for figure in told})
    subsets = list_published_subsets(report)
    scored = {(score.run_id, score.subset) for score in report.scores}
    rows = [
        make_row(run.label, format_subset(subset), *_reproduce(report, run, subset, measures))
        for run in report.rank_runs()
        if run.run_id in matched
        for subset in subsets
        if (run.run_id, subset) in scored
    ]
    if not rows:
        return None
    columns = (*text_columns("system", "subset"), *number_columns(measures))
    note = "Our value, and beside it ours minus the published one of the same system."
    return Table("The same system, published and here", columns, tuple(rows), note)


def _reproduce(report: BenchmarkReport, run: RunRow, subset: str, measures: Sequence[str]) -> list[Cell]:
    system = match_published(report)[run.run_id]
    scores, figures = report.index_scores(), report.index_published()
    cells = []
    for measure in measures:
        score = scores.get((run.run_id, subset, measure))
        figure = figures.get((system, subset, measure))
        if score is None:
            cells.append(absent_cell())
            continue
        difference = "" if figure is None else _subtract(report, score.value, figure)
        cells.append(Cell(format_value(score.value, report.scale, measure), note=difference))
    return cells


def _subtract(report: BenchmarkReport, value: float, figure: PublishedFigure) -> str:
    return format_difference(value - figure.value, report.scale, figure.measure)


def difference_table(report: BenchmarkReport, subset: str) -> Table | None:
    """Published systems by runs in the headline measure: ours minus theirs; None where none is published."""
    runs = report.rank_runs()
    wanted = (subset, report.headline_measure)
    found = [figure for figure in report.published if (figure.subset, figure.measure) == wanted]
    if not found:
        return None
    ordered = sorted(found, key=lambda one: (-one.value, one.system, one.source))
    titles = ["published", *(f"{run.label} minus published" for run in runs)]
    return Table(
        f"{report.headline_measure} against published figures: {format_subset(subset)}",
        (*text_columns("system"), *number_columns(titles)),
        tuple(_distance_row(report, runs, figure) for figure in ordered),
        f"Ours minus theirs; what is above stands out. {source_note(report, subset)}".strip(),
    )


def _distance_row(report: BenchmarkReport, runs: Sequence[RunRow], figure: PublishedFigure) -> Row:
    scores = report.index_scores()
    ours = [scores.get((run.run_id, figure.subset, figure.measure)) for run in runs]
    cells = [absent_cell() if one is None else _sign(_subtract(report, one.value, figure)) for one in ours]
    value = format_value(figure.value, report.scale, figure.measure)
    several = len(report.list_sources(figure.subset)) > 1
    system = Cell(figure.system, note=figure.source if several else "")
    return make_row(system, value, *cells, is_ours=False)


def _sign(text: str) -> Cell:
    return Cell(text, "best" if text.startswith("+") else "plain")
