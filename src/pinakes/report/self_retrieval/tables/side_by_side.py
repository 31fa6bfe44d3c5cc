"""Tables of corpora by systems, as the paper has them: our runs, below them what it printed of the corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pinakes.report.asked_runs import AskedRun
from pinakes.report.layout import Cell, Heading, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.names import format_quantity
from pinakes.report.stored_values import Value


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column: a measure over a subset, its title, and what stands above it and its neighbours.

    Attributes:
        has_best: whether higher is better.
        with_interval: whether the intervals stand beside the values.
    """

    title: str
    subset: str
    measure: str
    above: str = ""
    has_best: bool = True
    with_interval: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table that is to be made."""

    title: str
    quantities: Sequence[Quantity]
    note: str = ""


def compare_table(report: SelfReport, wanted: Wanted) -> Table | None:
    """A row a corpus and run, then what was published of that corpus; None where no run has such scores."""
    rows = [row for corpus in report.list_corpora() for row in _list_rows(report, wanted, corpus)]
    if not any(row.is_ours for row in rows):
        return None
    return _lay_out(wanted, rows)


def compare_tables(report: SelfReport, wanted: Iterable[Wanted]) -> list[Table]:
    """The tables of those that some run has scores of."""
    return keep_tables([compare_table(report, one) for one in wanted])


def keep_tables(tables: Iterable[Table | None]) -> list[Table]:
    """The tables that there are."""
    return [table for table in tables if table is not None]


def published_table(report: SelfReport, wanted: Wanted) -> Table | None:
    """What was published of the corpora that no run asked; None where nothing was."""
    found = dict.fromkeys(corpus for corpus, *_rest in report.index_published() if corpus)
    others = [corpus for corpus in found if corpus not in report.list_corpora()]
    rows = [row for corpus in others for row in list_published(report, wanted.quantities, corpus)]
    return _lay_out(replace(wanted, title=f"{wanted.title}: published", note=""), rows) if rows else None


def _lay_out(wanted: Wanted, rows: Sequence[Row]) -> Table:
    columns = make_columns(["corpus", "system"], [one.title for one in wanted.quantities])
    return Table(wanted.title, columns, rows, wanted.note, make_headings(2, wanted.quantities))


def make_headings(words: int, quantities: Iterable[Quantity]) -> tuple[Heading, ...]:
    """The upper headings over columns of words and then of quantities; () where no quantity has one."""
    spans = [Heading(above, len(list(of))) for above, of in groupby(quantities, key=lambda one: one.above)]
    return (Heading("", words), *spans) if any(one.title for one in spans) else ()


def _list_rows(report: SelfReport, wanted: Wanted, corpus: str) -> list[Row]:
    runs = [run for run in report.list_runs(corpus) if _has_any(report, run, wanted.quantities)]
    columns = [_list_cells(report, runs, quantity) for quantity in wanted.quantities]
    rows = [
        make_row(corpus, run.label, *(cells[place] for cells in columns)) for place, run in enumerate(runs)
    ]
    return rows + list_published(report, wanted.quantities, corpus)


def _has_any(report: SelfReport, run: AskedRun, quantities: Iterable[Quantity]) -> bool:
    return any((run.run_id, one.subset, one.measure) in report.values for one in quantities)


def _list_cells(report: SelfReport, runs: Sequence[AskedRun], quantity: Quantity) -> list[Cell]:
    """The cells of a quantity on one corpus, what is printed highest marked where higher is better."""
    found = [report.values.get((run.run_id, quantity.subset, quantity.measure)) for run in runs]
    cells = [quantity_cell(quantity.measure, one, with_interval=quantity.with_interval) for one in found]
    given = [one.value for one in found if one is not None]
    if not quantity.has_best or len(given) < 2:
        return cells
    best = format_quantity(quantity.measure, max(given))
    return [replace(cell, kind="best") if cell.text == best else cell for cell in cells]


def quantity_cell(measure: str, found: Value | None, *, with_interval: bool = True) -> Cell:
    """The cell of a score, in parentheses its interval.

    >>> quantity_cell("T100", Value(0.5, 10, 10, 0.41, 0.6)).full_text
    '50.0 (41.0 to 60.0)'
    """
    if found is None:
        return absent_cell()
    ends = [format_quantity(measure, end) for end in (found.low, found.high) if end is not None]
    return Cell(format_quantity(measure, found.value), note=" to ".join(ends) if with_interval else "")


def list_published(report: SelfReport, quantities: Iterable[Quantity], corpus: str) -> list[Row]:
    """A row for each system of which something was published on a corpus, as it is printed."""
    figures = report.index_published()
    columns = [(one.subset, one.measure) for one in quantities]
    order = dict.fromkeys(one.system for one in report.published)  # the paper's
    systems = [system for system in order if any((corpus, system, *column) in figures for column in columns)]
    rows = []
    for system in systems:
        found = [figures.get((corpus, system, *column)) for column in columns]
        source = next(one.source for one in found if one is not None).rpartition(", ")[2]
        cells = [absent_cell() if one is None else Cell(one.printed) for one in found]
        rows.append(
            make_row(corpus or "all of the paper's", Cell(system, note=source), *cells, is_ours=False)
        )
    return rows
