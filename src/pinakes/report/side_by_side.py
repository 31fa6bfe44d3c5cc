"""Our runs and the published rows side by side, in the layout of the papers: subsets in groups of measures.

A run that has a published row is three lines: ours, published, ours minus published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pinakes.report.data import BenchmarkReport, PublishedFigure, RunRow, SubsetScore, in_order
from pinakes.report.formatting import format_difference, format_group, format_value
from pinakes.report.layout import (
    Cell,
    Heading,
    Row,
    Table,
    absent_cell,
    make_row,
    number_columns,
    text_columns,
)
from pinakes.report.published import list_published_subsets, match_published, reproduction_table
from pinakes.report.tables import mark_scores

MOST_COLUMNS: Final = 10
"""columns of figures that stand beside each other"""
MOST_SUBSETS: Final = 8
"""more published subsets than these are rows of one table, not columns of several"""


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
        chosen = _order([subset for subset in subsets if subset.partition("/")[2] == split])
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


def _order(subsets: Sequence[str]) -> list[str]:
    """Groups in the report's order, then averages, then all queries.

    >>> _order(["all/test", "mean(facet)/test", "facet=method/test"])
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
    stem = _find_stem(measures)
    columns = (
        *text_columns("system", "from"),
        *number_columns([measure.removeprefix(stem) for measure in measures] * len(subsets)),
    )
    headings = (Heading("", 2), *(Heading(format_group(subset), len(measures)) for subset in subsets))
    keys = [(subset, measure) for subset in subsets for measure in measures]
    names = ", ".join(format_group(subset) for subset in subsets)
    title = f"Here and published: {names}" + (f" ({split})" if split else "")
    return Table(
        title, columns, tuple(_list_rows(report, keys)), _write_note(report, subsets, stem), headings
    )


def _find_stem(measures: Sequence[str]) -> str:
    """What all the measures' names begin with, up to a point; empty where they differ.

    >>> _find_stem(["CSFCube.RP", "CSFCube.P@20"]), _find_stem(["RR", "CSFCube.RP"])
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
    """The report's figures in the columns of one table.

    Attributes:
        keys: subset and measure of each column.
        scores, figures, matched: as the report indexes them.
    """

    report: BenchmarkReport
    keys: Sequence[tuple[str, str]]
    scores: Mapping[tuple[int, str, str], SubsetScore]
    figures: Mapping[tuple[str, str, str], PublishedFigure]
    matched: Mapping[int, str]

    def list_systems(self) -> set[str]:
        """The published systems that have a figure in one of the columns."""
        return {system for system, *key in self.figures if tuple(key) in self.keys}

    def list_ours(self) -> list[list[Cell]]:
        """For each run its values, the best of each column marked."""
        runs = self.report.runs
        columns = [
            mark_scores(self.report, [self.scores.get((run.run_id, *key)) for run in runs])[1]
            for key in self.keys
        ]
        return [[column[place] for column in columns] for place in range(len(runs))]

    def list_theirs(self, system: str) -> list[Cell]:
        """The figures of a published system."""
        found = [self.figures.get((system, *key)) for key in self.keys]
        scale = self.report.scale
        return [
            absent_cell() if one is None else Cell(format_value(one.value, scale, one.measure))
            for one in found
        ]

    def list_differences(self, run: RunRow, system: str) -> list[Cell]:
        """Ours minus theirs."""
        pairs = [(self.scores.get((run.run_id, *key)), self.figures.get((system, *key))) for key in self.keys]
        scale = self.report.scale
        return [
            absent_cell()
            if score is None or figure is None
            else Cell(format_difference(score.value - figure.value, scale, figure.measure))
            for score, figure in pairs
        ]


def _list_rows(report: BenchmarkReport, keys: Sequence[tuple[str, str]]) -> list[Row]:
    """Blocks of rows, best first by the headline: a run and its like, a run alone, a published row alone."""
    columns = _Columns(report, keys, report.index_scores(), report.index_published(), match_published(report))
    headline = (report.headline_subset, report.headline_measure)
    blocks = []
    for run, cells in zip(report.runs, columns.list_ours(), strict=True):
        lead = columns.scores.get((run.run_id, *headline))
        blocks.append((_key(lead.value if lead else None), run.label, _make_block(columns, run, cells)))
    for system in columns.list_systems() - set(columns.matched.values()):
        told = columns.figures.get((system, *headline))
        row = make_row(system, "published, not run", *columns.list_theirs(system), is_ours=False)
        blocks.append((_key(told.value if told else None), system, [row]))
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
