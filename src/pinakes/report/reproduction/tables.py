"""The matrix of reproduction as tables: counts of benchmarks, and a row a figure."""

from collections import Counter
from collections.abc import Sequence

from pinakes.report.formatting import shorten
from pinakes.report.layout import Cell, Table, absent_cell, make_columns, make_row
from pinakes.report.reproduction.data import NEAR, OUTCOMES, Figure, Matrix

_KINDS = {"equal": "best", "near": "plain", "off": "warning", "not run": "absent"}
NOTE = (
    "equal: the same digits as printed; near: within "
    f"{100 * NEAR:g} % of the printed figure; off: further; not run: nothing is stored that it could be held "
    "against."
)


def count_table(matrix: Matrix) -> Table:
    """A row a benchmark or suite: how many figures came out how."""
    rows = [
        make_row(
            name,
            f"{counts.total():,}",
            *(_count_cell(counts, outcome) for outcome in OUTCOMES),
            is_ours=bool(counts.total() - counts["not run"]),
        )
        for name in matrix.list_benchmarks()
        for counts in (matrix.count(name),)
    ]
    total = matrix.count()
    rows.append(make_row("all", f"{total.total():,}", *(_count_cell(total, one) for one in OUTCOMES)))
    return Table("Published figures", make_columns(["benchmark"], ["figures", *OUTCOMES]), rows, NOTE)


def _count_cell(counts: Counter[str], outcome: str) -> Cell:
    kind = "warning" if outcome == "off" and counts[outcome] else "plain"
    return Cell(f"{counts[outcome]:,}", kind)  # type: ignore[arg-type]


def figure_tables(matrix: Matrix, *, with_commands: bool, only_measured: bool = False) -> list[Table]:
    """A table for each source of each benchmark, a row a figure."""
    tables = []
    for benchmark in matrix.list_benchmarks():
        of_benchmark = [one for one in matrix.figures if one.benchmark == benchmark]
        for source in dict.fromkeys(one.source for one in of_benchmark):
            chosen = [
                one
                for one in of_benchmark
                if one.source == source and not (only_measured and one.outcome == "not run")
            ]
            if chosen:
                tables.append(_figure_table(f"{benchmark}: {source}", chosen, with_commands))
    return tables


def _figure_table(title: str, figures: Sequence[Figure], with_commands: bool) -> Table:
    words = ["command", "why"] if with_commands else []
    columns = make_columns(["system or row", "subset", "measure"], ["printed", "here"], ["outcome", *words])
    rows = []
    for one in figures:
        measured = absent_cell() if one.measured is None else Cell(one.measured)
        outcome = Cell(one.outcome, _KINDS[one.outcome])  # type: ignore[arg-type]
        more = [Cell(one.command), Cell(one.why)] if with_commands else []
        rows.append(make_row(one.row, one.subset, one.measure, one.printed, measured, outcome, *more))
    return Table(title, columns, rows)


def reason_table(matrix: Matrix) -> Table | None:
    """Why figures are not run: a row a benchmark and reason; None where all are."""
    found = Counter((one.benchmark, one.why) for one in matrix.figures if one.outcome == "not run")
    if not found:
        return None
    rows = [make_row(benchmark, f"{count:,}", shorten(why, 300)) for (benchmark, why), count in found.items()]
    return Table("Not run, and why", make_columns(["benchmark"], ["figures"], ["why"]), rows)
