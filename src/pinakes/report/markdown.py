"""A report as GitHub Markdown."""

import re
from collections.abc import Iterable

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.escapes import escape_controls
from pinakes.report.exhibits.tables import exhibit_tables
from pinakes.report.layout import Cell, Row, Table
from pinakes.report.tables import published, runs, scores, significance
from pinakes.report.tables.history import history_table

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")


def render_markdown(report: BenchmarkReport) -> str:
    """The whole report as one Markdown text: the same bytes for the same data."""
    parts = [_render_heading(report)]
    parts += [render_table(table) for table in _list_results(report)]
    parts += [_render_comparison(report, subset) for subset in significance.list_compared(report)]
    parts += [render_table(significance.resampled_table(report))] if report.resampled else []
    parts += [render_table(table) for exhibit in report.exhibits for table in exhibit_tables(report, exhibit)]
    details = (scores.measure_table(report, subset) for subset in scores.list_detailed(report))
    parts += [render_table(table) for table in (runs.coverage_table(report), *details)]
    parts += ["## How the runs were made", *map(_render_run, report.rank_runs())]
    return "\n\n".join(parts) + "\n"


def render_table(table: Table, *, level: int = 2) -> str:
    """One table with its title as a heading of that level and its note below; the best values are bold."""
    lines = [
        f"{'#' * level} {escape_markdown(table.title)}",
        "",
        _join(escape_markdown(title) for title in table.full_titles()),
        _join("---:" if column.is_number else ":---" for column in table.columns),
        *(_join(_render_cell(cell, row) for cell in row.cells) for row in table.rows),
    ]
    return "\n".join([*lines, "", escape_markdown(table.note)] if table.note else lines)


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line, control characters written out.

    >>> escape_markdown("a|b *c* <d>")
    'a\\\\|b \\\\*c\\\\* \\\\<d\\\\>'
    """
    return _SPECIAL.sub(r"\\\1", escape_controls(" ".join(text.split())))


def _join(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _render_cell(cell: Cell, row: Row) -> str:
    text = escape_markdown(cell.full_text)
    if cell.kind in ("warning", "best"):
        return f"{'⚠ ' if cell.kind == 'warning' else ''}**{text}**"
    if cell.kind == "second":
        return f"<ins>{text}</ins>"
    return text if row.is_ours or not text else f"*{text}*"


def _render_comparison(report: BenchmarkReport, subset: str) -> str:
    """The table of pairs over a subset, and below it what follows from it in words."""
    findings = (f"- {escape_markdown(finding)}" for finding in significance.describe_winner(report, subset))
    return "\n".join([render_table(significance.comparison_table(report, subset)), "", *findings])


def _list_results(report: BenchmarkReport) -> list[Table]:
    chosen = [
        scores.result_table(report),
        *scores.size_tables(report),
        scores.subset_table(report) if len(report.subsets) > 1 else None,
        *scores.other_subset_tables(report),
        *scores.type_tables(report),
        history_table(report),
        *published.list_reproduced(report),
        published.difference_table(report, report.headline_subset),
    ]
    return [table for table in chosen if table is not None]


def _render_heading(report: BenchmarkReport) -> str:
    lines = [f"# {escape_markdown(report.title)}", "", escape_markdown(report.citation), ""]
    lines += [
        f"- Licence: {escape_markdown(report.licence)}",
        f"- Headline measure: {escape_markdown(report.headline_measure)}",
    ]
    if report.grades:
        grades = "; ".join(f"{grade}: {meaning}" for grade, meaning in report.grades.items())
        lines.append(f"- Grades: {escape_markdown(grades)}")
    lines += [f"- {escape_markdown(note)}" for note in report.notes]
    lines += [f"- ⚠ **{escape_markdown(warning)}**" for warning in report.warnings]
    return "\n".join(lines)


def _render_run(run: RunRow) -> str:
    facts = (f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in runs.describe_run(run))
    return "\n".join([f"### {escape_markdown(run.label)}", "", *facts])
