"""What `rerun` has to say: whether the answers are the same, or what is no longer there."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pinakes.errors import RunError
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import ABSENT, shorten
from pinakes.report.layout import Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import STANDARD, print_tables
from pinakes.run.compare_answers import Compared
from pinakes.run.rerun import Change, Rerun

_WIDTH = 16
"""characters of a digest"""


def print_rerun(done: Rerun, out: Output = STANDARD) -> None:
    """Print what was compared and what is another, or one JSON object."""
    if out.is_for_programs:
        print_data(asdict(done), out)
        return
    tables = []
    if done.missing:
        tables.append(_change_table("Not there any more, or another", done.missing))
    if done.changes:
        tables.append(_change_table("Another now, and no hindrance", done.changes))
    if done.tables:
        tables.append(_compared_table(done))
    print_tables(tables, out)
    for one in done.tables:
        for line in (*describe_cut(one, done.tolerance), *describe_first(one)):
            print(line, file=out.file)


def require_same(done: Rerun) -> None:
    """Raise `RunError` unless the run's answers came out the same."""
    run = f"run {done.run_id} ({done.system} on {done.benchmark})"
    if done.outcome == "not possible":
        whys = "; ".join(_tell(change) for change in done.missing)
        raise RunError(f"{run} cannot be made again: {whys.rstrip('.')}.")
    if done.outcome == "different":
        rows = sum(one.rows_different for one in done.tables)
        queries = max(one.queries_different for one in done.tables)
        raise RunError(
            f"{run} came out different: {rows} rows, {queries} queries, by more than {done.tolerance:g}."
        )


def describe_cut(one: Compared, tolerance: float) -> Iterator[str]:
    """How many papers changed places with one below the cut of a ranking, and why that is no difference."""
    if one.rows_at_cut:
        yield f"At the cut of the ranking: {one.rows_at_cut:,} rows are on one side alone."
        yield f"Their scores are within {tolerance:g} of the last one that the other side keeps:"
        yield "rounding can do that, and they are not counted as different."


def describe_first(one: Compared) -> Iterator[str]:
    """The first row that is another, on both sides."""
    if one.first_stored is None and one.first_again is None:
        return
    where = f" of query {one.first}" if one.first is not None else ""
    yield f"The first row{where} that is another:"
    for side, row in (("stored", one.first_stored), ("again ", one.first_again)):
        yield f"  {side}  {_write_row(row)}"


def _write_row(row: dict[str, Any] | None) -> str:
    if row is None:
        return "no such row"
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != "query_id")


def _tell(change: Change) -> str:
    if change.why:
        return f"{change.what}: {change.why}"
    return f"{change.what} was {_cut(change.then)}, is {_cut(change.now)}"


def _cut(text: str | None) -> str:
    return ABSENT if text is None else shorten(text, _WIDTH)


def _change_table(title: str, changes: Sequence[Change]) -> Table:
    rows = [
        make_row(change.what, _cut(change.then), _cut(change.now), shorten(change.why, 200))
        for change in changes
    ]
    return Table(title, make_columns(["what", "then", "now", "why"]), rows)


def _compared_table(done: Rerun) -> Table:
    rows = [
        make_row(
            one.table,
            f"{one.rows_stored:,}",
            f"{one.rows_again:,}",
            f"{one.rows_different:,}",
            f"{one.queries_different:,}",
            f"{one.largest_difference:.1e}" if one.largest_difference else "0",
        )
        for one in done.tables
    ]
    words = {
        "equal": "Equal to the last bit.",
        "within tolerance": f"Equal within {done.tolerance:g} of the numbers' size.",
        "different": f"Different: by more than {done.tolerance:g} of the numbers' size.",
    }
    columns = make_columns(["table"], ["stored", "again", "different", "queries", "largest within"])
    return Table(f"Run {done.run_id} again: {done.outcome}", columns, rows, words[done.outcome])
