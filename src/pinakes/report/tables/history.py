"""The table of a benchmark's history: each new value, and what had changed."""

from typing import Final

from pinakes.report.data import BenchmarkReport
from pinakes.report.formatting import format_difference, format_time
from pinakes.report.layout import Table, absent_cell, make_columns, make_row, value_cell

MOST_ROWS: Final = 30


def history_table(report: BenchmarkReport) -> Table | None:
    """Every value that took the place of another, the newest first; None without a history."""
    measure = report.headline_measure
    rows = []
    for curve in report.history:
        label = report.find_run(curve.run_id).label
        for before, point in zip(curve.points, curve.points[1:], strict=False):
            change = format_difference(point.value - before.value, report.scale, measure)
            run = absent_cell() if point.run_id is None else f"run {point.run_id}"
            cells = (value_cell(one.value, report.scale, measure) for one in (before, point))
            changed = ", ".join(point.changes) or "nothing known"
            rows.append((point.at, make_row(format_time(point.at), label, run, *cells, change, changed)))
    if not rows:
        return None
    rows.sort(key=lambda row: row[0], reverse=True)
    note = "What was another than at the value before. The view score_history has every measure and subset."
    if len(rows) > MOST_ROWS:
        note += f" {len(rows) - MOST_ROWS} older changes are there too."
    columns = make_columns(["when", "system", "from"], ["before", measure, "change"], ["what changed"])
    return Table("Changes of the headline", columns, [row for _at, row in rows[:MOST_ROWS]], note)
