"""The tables of results as papers print them: published systems above, ours below, best and second marked."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pinakes.evaluators.letters import assign_letters
from pinakes.report.data import BenchmarkReport, RunRow, SubsetScore
from pinakes.report.formatting import format_group, format_size, format_subset, format_value
from pinakes.report.layout import Cell, Kind, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.subsets import SPREAD, TYPE, read_size
from pinakes.report.tables.published import find_stem
from pinakes.report.tables.significance import SIGNIFICANT

Key = tuple[str, str]
"""subset and measure of a column"""


def list_paper_tables(report: BenchmarkReport) -> list[Table]:
    """Systems by measures over the headline's subset; then by subsets, pool sizes and candidate types."""
    lead, measure = report.headline_subset, report.headline_measure
    measures = report.list_lead_measures(lead)
    stem = find_stem(measures)
    headings = [one.removeprefix(stem) for one in measures]
    tables = [_make(report, format_subset(lead), [(lead, one) for one in measures], headings)]
    split = lead.partition("/")[2]
    subsets = [subset for subset in report.subsets if subset.partition("/")[2] == split]
    groups: dict[str, tuple[Sequence[str], Callable[[str], str]]] = {
        "subset": (subsets if len(subsets) > 1 else (), format_group),
        "pool size": (report.sizes, lambda subset: format_size(read_size(subset))),
        "candidate type": (report.types, lambda subset: subset.removeprefix(TYPE)),
    }
    for group, (chosen, name) in groups.items():
        if chosen:
            title = f"{measure} by {group}{f', {split}' if split and chosen is subsets else ''}"
            keys = [(subset, measure) for subset in chosen]
            tables.append(_make(report, title, keys, [name(subset) for subset in chosen]))
    return tables


def find_letters(report: BenchmarkReport) -> dict[int, str]:
    """Run id -> letters: runs that share one do not differ by the randomisation test of the headline.

    Tests are over all queries, whatever their split. Empty where the report has none.
    """
    pairs = report.list_pairs()
    compared = {run for pair in pairs for run in (pair.run_a, pair.run_b)}
    ordered = [run.run_id for run in report.rank_runs() if run.run_id in compared]
    different = [(pair.run_a, pair.run_b) for pair in pairs if pair.randomisation_p < SIGNIFICANT]
    return assign_letters(ordered, different)


def _make(report: BenchmarkReport, title: str, keys: Sequence[Key], headings: Sequence[str]) -> Table:
    lead = (report.headline_subset, report.headline_measure)
    letters = find_letters(report)
    scores, deviations = report.index_scores(), report.index_deviations()
    published = _list_published(report, keys)
    runs = [run for run in report.rank_runs() if any((run.run_id, *key) in scores for key in keys)]
    found = [[_value(scores.get((run.run_id, *key))) for key in keys] for run in runs]
    columns = [
        _mark(report, measure, [row[place] for row in [*(figures for _name, figures in published), *found]])
        for place, (_subset, measure) in enumerate(keys)
    ]
    cells = [[column[place] for column in columns] for place in range(len(published) + len(runs))]
    rows: list[Row] = [
        make_row(name, *marked, is_ours=False)
        for (name, _figures), marked in zip(published, cells, strict=False)
    ]
    for run, marked in zip(runs, cells[len(published) :], strict=True):
        noted = [
            _note(report, run, key, cell, letters, deviations) for key, cell in zip(keys, marked, strict=True)
        ]
        rows.append(make_row(run.label, *noted))
    note = _explain(
        report,
        letters if lead in keys else {},
        find_stem([measure for _subset, measure in keys]),
        has_published=bool(published),
    )
    return Table(f"{report.title}: {title}", make_columns(["System"], headings), rows, note)


def _value(score: SubsetScore | None) -> float | None:
    return None if score is None else score.value


def _note(
    report: BenchmarkReport,
    run: RunRow,
    key: Key,
    cell: Cell,
    letters: dict[int, str],
    deviations: dict[tuple[int, str, str], float],
) -> Cell:
    """The cell with the deviation over repeats, or the letters where it is of the headline."""
    subset, measure = key
    deviation = deviations.get((run.run_id, subset, measure))
    if deviation is not None:
        return replace(cell, note=f"± {format_value(deviation, report.scale, measure)}")
    is_lead = key == (report.headline_subset, report.headline_measure)
    return replace(cell, note=letters.get(run.run_id, "") if is_lead else "")


def _list_published(report: BenchmarkReport, keys: Sequence[Key]) -> list[tuple[str, list[float | None]]]:
    """Published systems with their figures in the columns, best first by the first column that they have."""
    found: dict[tuple[str, str], dict[Key, float]] = {}
    for figure in report.published:
        if (figure.subset, figure.measure) in keys:
            figures = found.setdefault((figure.system, figure.source), {})
            figures[figure.subset, figure.measure] = figure.value
    several = len({source for _system, source in found}) > 1
    rows = [
        (f"{system} ({source})" if several else system, [figures.get(key) for key in keys])
        for (system, source), figures in found.items()
    ]
    return sorted(rows, key=lambda row: ([-(value or 0.0) for value in row[1]], row[0]))


def _mark(report: BenchmarkReport, measure: str, values: Sequence[float | None]) -> list[Cell]:
    """The cells of a column, the best and the second marked; what prints alike is marked alike."""
    given = [value for value in values if value is not None]
    printed = {value: format_value(value, report.scale, measure) for value in given}
    order = list(dict.fromkeys(printed[value] for value in sorted(given, reverse=True)))
    kinds: dict[str, Kind] = {}
    if len(given) > 1:
        kinds = dict(zip(order, ("best", "second"), strict=False))
    return [
        absent_cell() if value is None else Cell(printed[value], kinds.get(printed[value], "plain"))
        for value in values
    ]


def _explain(report: BenchmarkReport, letters: dict[int, str], stem: str, *, has_published: bool) -> str:
    said = ["Values times 100." if report.scale == "percent" else ""]
    said.append(f"Measures are {stem.removesuffix('.')}'s own." if stem else "")
    said.append("The best of a column is bold, the second underlined.")
    if has_published:
        sources = "; ".join(sorted({figure.source for figure in report.published}))
        said.append(f"Above the rule what was published ({sources}).")
    if letters:
        said.append(
            f"Systems that share a letter do not differ in {report.headline_measure.removeprefix(stem)} "
            f"(paired randomisation test over all queries, p < {SIGNIFICANT} after Holm's correction)."
        )
    if report.index_deviations():
        said.append(SPREAD)
    return " ".join(filter(None, said))
