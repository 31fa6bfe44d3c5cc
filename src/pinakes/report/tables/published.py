"""Our runs beside what papers reported of the same systems, and the distance to every published one.

Side by side they stand in the layout of the papers, subsets in groups of measures; a run that has a
published row is three lines: ours, published, ours minus published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pinakes.report.data import BenchmarkReport, PublishedFigure, RunRow, SubsetScore, in_order
from pinakes.report.formatting import format_difference, format_group, format_subset, format_value
from pinakes.report.layout import (
    Cell,
    Heading,
    Row,
    Table,
    absent_cell,
    make_columns,
    make_row,
    value_cell,
)
from pinakes.report.tables.scores import list_runs, source_note

MOST_COLUMNS: Final = 10
"""columns of figures that stand beside each other"""
MOST_SUBSETS: Final = 8
"""more published subsets than these are rows of one table, not columns of several"""


def match_published(report: BenchmarkReport) -> dict[int, str]:
    """Run id -> the published system that the benchmark says the run to be, else the one of the run's name.

    Names are compared without case and punctuation. A run that the benchmark says to be none has none.
    """
    systems_by_name = {simplify(figure.system): figure.system for figure in reversed(report.published)}
    systems = {figure.system for figure in report.published}
    matched = {}
    for run in report.runs:
        named = run.published_as
        system = systems_by_name.get(simplify(run.system), "") if named is None else named
        if system in systems:
            matched[run.run_id] = system
    return matched


def simplify(name: str) -> str:
    """A name without case and punctuation.

    >>> simplify("all-MiniLM-L6-v2")
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

    A row for each subset: for benchmarks of more subsets than `side_by_side_tables` has room for.
    """
    matched = match_published(report)
    found = [figure for figure in report.published if figure.system in matched.values()]
    measures = in_order(report.measures, {figure.measure for figure in found})
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
    columns = make_columns(["system", "subset"], measures)
    note = "Our value, and beside it ours minus the published one of the same system."
    return Table("The same system, published and here", columns, rows, note)


def _reproduce(report: BenchmarkReport, run: RunRow, subset: str, measures: Sequence[str]) -> list[Cell]:
    columns = _index_columns(report, [(subset, measure) for measure in measures])
    differences = columns.list_differences(run, columns.matched[run.run_id])
    scores = [columns.scores.get((run.run_id, *key)) for key in columns.keys]
    cells = [value_cell(one.value, report.scale, one.measure) if one else absent_cell() for one in scores]
    return [
        cell if difference.kind == "absent" else replace(cell, note=difference.text)
        for cell, difference in zip(cells, differences, strict=True)
    ]


def _subtract(report: BenchmarkReport, value: float, figure: PublishedFigure) -> str:
    return format_difference(value - figure.value, report.scale, figure.measure)


def difference_table(report: BenchmarkReport, subset: str) -> Table | None:
    """Published systems by runs in the headline measure: ours minus theirs; None where none is published."""
    runs = report.rank_runs()
    found = report.list_published(subset, report.headline_measure)
    if not found:
        return None
    ordered = sorted(found, key=lambda one: (-one.value, one.system, one.source))
    titles = ["published", *(f"{run.label} minus published" for run in runs)]
    return Table(
        f"{report.headline_measure} against published figures: {format_subset(subset)}",
        make_columns(["system"], titles),
        [_distance_row(report, runs, figure) for figure in ordered],
        f"Ours minus theirs; what is above stands out. {source_note(report, subset)}".strip(),
    )


def _distance_row(report: BenchmarkReport, runs: Sequence[RunRow], figure: PublishedFigure) -> Row:
    scores = report.index_scores()
    ours = [scores.get((run.run_id, figure.subset, figure.measure)) for run in runs]
    texts = ["" if one is None else _subtract(report, one.value, figure) for one in ours]
    cells = [Cell(text, "best" if text[0] == "+" else "plain") if text else absent_cell() for text in texts]
    value = format_value(figure.value, report.scale, figure.measure)
    several = len(report.list_sources(figure.subset)) > 1
    system = Cell(figure.system, note=figure.source if several else "")
    return make_row(system, value, *cells, is_ours=False)


def side_by_side_tables(report: BenchmarkReport) -> list[Table]:
    """Systems by measures, grouped by subset, ours beside the published; none where no run was published.

    Each split has tables of its own, of as many subsets as have room. Subsets come before all queries, as
    papers print them.
    """
    subsets = list_published_subsets(report)
    if len(subsets) > MOST_SUBSETS:
        return []
    splits = list(dict.fromkeys(subset.partition("/")[2] for subset in subsets))
    tables = []
    for split in splits:
        chosen = _order_groups([subset for subset in subsets if subset.partition("/")[2] == split])
        measures = _list_measures(report, chosen)
        room = max(1, MOST_COLUMNS // len(measures))
        parts = [chosen[place : place + room] for place in range(0, len(chosen), room)]
        tables += [_make_table(report, part, measures, split) for part in parts]
    return tables


def list_reproduced(report: BenchmarkReport) -> list[Table]:
    """The tables of runs beside what was published of the same systems, in the layout that has room."""
    tables = side_by_side_tables(report)
    rows = None if tables else reproduction_table(report)
    return tables if rows is None else [rows]


def _order_groups(subsets: Sequence[str]) -> list[str]:
    """Groups in the report's order, then averages, then all queries.

    >>> _order_groups(["all/test", "mean(facet)/test", "facet=method/test"])
    ['facet=method/test', 'mean(facet)/test', 'all/test']
    """
    return sorted(subsets, key=lambda name: (name.partition("/")[0] == "all", name.startswith("mean(")))


def _list_measures(report: BenchmarkReport, subsets: Sequence[str]) -> list[str]:
    """The published measures, in the order in which they were published."""
    order = report.published_measures or report.measures
    return in_order(order, {figure.measure for figure in report.published if figure.subset in subsets})


def _make_table(
    report: BenchmarkReport, subsets: Sequence[str], measures: Sequence[str], split: str
) -> Table:
    stem = find_stem(measures)
    titles = [measure.removeprefix(stem) for measure in measures] * len(subsets)
    columns = make_columns(["system", "from"], titles)
    headings = (Heading("", 2), *(Heading(format_group(subset), len(measures)) for subset in subsets))
    keys = [(subset, measure) for subset in subsets for measure in measures]
    names = ", ".join(format_group(subset) for subset in subsets)
    title = f"Here and published: {names}" + (f" ({split})" if split else "")
    return Table(title, columns, _list_rows(report, keys), _write_note(report, subsets, stem), headings)


def find_stem(measures: Sequence[str]) -> str:
    """What all the measures' names begin with, up to a point; empty where they differ.

    >>> find_stem(["CSFCube.RP", "CSFCube.P@20"]), find_stem(["RR", "CSFCube.RP"])
    ('CSFCube.', '')
    """
    stems = {measure.rpartition(".")[0] for measure in measures}
    stem = stems.pop() if len(stems) == 1 else ""
    return f"{stem}." if stem else ""


def _write_note(report: BenchmarkReport, subsets: Sequence[str], stem: str) -> str:
    sources = sorted({figure.source for figure in report.published if figure.subset in subsets})
    said = [
        "Values times 100." if report.scale == "percent" else "",
        f"Measures are {stem.removesuffix('.')}'s own." if stem else "",
        "Below a run the published figures of the same system, and ours minus those.",
        f"Published figures: {'; '.join(sources)}.",
    ]
    return " ".join(filter(None, said))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The figures in the columns of one table, as the report indexes them; `keys` are subset and measure."""

    report: BenchmarkReport
    keys: Sequence[tuple[str, str]]
    scores: Mapping[tuple[int, str, str], SubsetScore]
    figures: Mapping[tuple[str, str, str], PublishedFigure]
    matched: Mapping[int, str]

    def list_systems(self) -> set[str]:
        """The published systems that have a figure in one of the columns."""
        return {system for system, *key in self.figures if tuple(key) in self.keys}

    def list_theirs(self, system: str) -> list[Cell]:
        """The figures of a published system."""
        found = [self.figures.get((system, *key)) for key in self.keys]
        scale = self.report.scale
        return [value_cell(one.value, scale, one.measure) if one else absent_cell() for one in found]

    def list_differences(self, run: RunRow, system: str) -> list[Cell]:
        """Ours minus theirs."""
        pairs = [(self.scores.get((run.run_id, *key)), self.figures.get((system, *key))) for key in self.keys]
        return [
            Cell(_subtract(self.report, score.value, figure)) if score and figure else absent_cell()
            for score, figure in pairs
        ]


def _index_columns(report: BenchmarkReport, keys: Sequence[tuple[str, str]]) -> _Columns:
    return _Columns(report, keys, report.index_scores(), report.index_published(), match_published(report))


def _list_rows(report: BenchmarkReport, keys: Sequence[tuple[str, str]]) -> list[Row]:
    """Blocks of rows, best first by the headline: a run and its like, a run alone, a published row alone."""
    columns = _index_columns(report, keys)
    headline = (report.headline_subset, report.headline_measure)
    blocks = []
    for run, _values, cells in list_runs(report, keys):
        lead = columns.scores.get((run.run_id, *headline))
        blocks.append((_key(lead.value if lead else None), run.label, _make_block(columns, run, cells)))
    for system in columns.list_systems() - set(columns.matched.values()):
        found = columns.figures.get((system, *headline))
        row = make_row(system, "published, not run", *columns.list_theirs(system), is_ours=False)
        blocks.append((_key(found.value if found else None), system, [row]))
    return [row for _key_of_block, _name, rows in sorted(blocks, key=lambda one: one[:2]) for row in rows]


def _key(value: float | None) -> float:
    """What a block is ordered by: the lower the further up; one without the value is last."""
    return float("inf") if value is None else -value


def _make_block(columns: _Columns, run: RunRow, cells: Sequence[Cell]) -> list[Row]:
    system = columns.matched.get(run.run_id, "")
    if system not in columns.list_systems():
        return [make_row(run.label, f"run {run.run_id}, none published", *cells)]
    theirs, differences = columns.list_theirs(system), columns.list_differences(run, system)
    return [
        make_row(run.label, f"run {run.run_id}", *cells),
        make_row(system, "published", *theirs, is_ours=False, follows=True),
        make_row("", "difference", *differences, is_ours=False, follows=True),
    ]
