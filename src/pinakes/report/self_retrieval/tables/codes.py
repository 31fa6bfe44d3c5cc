"""Tables of single codes: all that a run's neighbours do, loss by change, coverage."""

from collections.abc import Mapping, Sequence

from pinakes.report.asked_runs import AskedRun
from pinakes.report.layout import Cell, Heading, Row, Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.self_retrieval.aggregate import EDGES, add_losses, name_bin, sum_bins
from pinakes.report.self_retrieval.data import Coverage, LossBin, SelfReport, ViewRows
from pinakes.report.self_retrieval.names import ORIGINAL, name_overlap
from pinakes.report.self_retrieval.tables.side_by_side import quantity_cell

_MEASURES = ("NN1", "NN10", "MRR", name_overlap(10), name_overlap(20))


def code_table(report: SelfReport, run: AskedRun) -> Table:
    """A row a code: how much it changes, how it finds its original, what nearest it shares."""
    columns = make_columns(
        ["code", "category"],
        ["queries", "missing", "changed, %", "NN1", "NN10", "MRR", "AOP-10", "AOP-20", "same vector"],
    )
    rows = [_code_row(report, run, one.code, one.category) for one in report.codes]
    note = (
        "Changed: the mean share of characters, by edit distance over the longer text. Same vector: sampled "
        "neighbours that the system cannot tell from their original."
    )
    return Table(f"All codes: {run.name}", columns, rows, note)


def _code_row(report: SelfReport, run: AskedRun, code: str, category: str) -> Row:
    found = {name: report.values.get((run.run_id, f"code={code}", name)) for name in _MEASURES}
    known = found["NN1"] or found["MRR"]
    bins = report.losses.get((run.run_id, code))
    changed = absent_cell()
    if bins:
        whole = sum_bins(bins)
        changed = Cell(f"{100 * whole.changed / whole.pairs:.1f}")
    same = report.same.get((run.run_id, code))
    return make_row(
        code,
        category,
        f"{known.expected:,}" if known else absent_cell(),
        flag_count(known.expected - known.answered) if known else absent_cell(),
        changed,
        *(quantity_cell(name, value, with_interval=False) for name, value in found.items()),
        absent_cell() if same is None else f"{same:,}",
    )


def similarity_table(report: SelfReport, run: AskedRun) -> Table | None:
    """A row a code: the cosines of all pairs of its neighbours; None where the run has none."""
    rows = []
    for code, category in [(ORIGINAL, "originals"), *((one.code, one.category) for one in report.codes)]:
        found = report.similarities.get((run.run_id, code))
        if found is not None:
            numbers = (found.lowest, found.highest, found.mean, found.deviation)
            share = f"{100 * found.above_mean / found.pairs:.1f}" if found.pairs else absent_cell()
            cells = (f"{found.papers:,}", f"{found.pairs:,}", *(f"{number:.3f}" for number in numbers))
            rows.append(make_row(code, category, *cells, share))
    columns = make_columns(
        ["code", "category"], ["papers", "pairs", "min", "max", "mean", "sd", "above the mean, %"]
    )
    return Table(f"Similarity of all pairs: {run.name}", columns, rows) if rows else None


def loss_table(report: SelfReport, run: AskedRun) -> Table | None:
    """A row a bin of how much is changed: pairs and what does not come first, by category."""
    categories = report.list_categories()
    sums = {
        category: {
            one.place: one for one in add_losses(report.losses, run.run_id, report.list_codes(category))
        }
        for category in categories
    }
    places = [place for place in range(len(EDGES)) if any(place in bins for bins in sums.values())]
    if not places:
        return None
    rows = [
        make_row(name_bin(place), *(cell for name in categories for cell in _loss_cells(sums[name], place)))
        for place in places
    ]
    columns = make_columns(["changed"], ["pairs", "not first, %", "1 - MRR"] * len(categories))
    headings = (Heading("", 1), *(Heading(category, 3) for category in categories))
    note = (
        "Pairs of a neighbour and its original that the system answered, by the share of changed characters."
    )
    return Table(f"Loss against change: {run.name}", columns, rows, note, headings)


def _loss_cells(bins: Mapping[int, LossBin], place: int) -> list[Cell]:
    found = bins.get(place)
    if found is None:
        return [absent_cell()] * 3
    shares = (f"{100 * found.not_first / found.pairs:.1f}", f"{found.lost / found.pairs:.3f}")
    return [Cell(f"{found.pairs:,}"), *map(Cell, shares)]


def coverage_tables(report: SelfReport) -> list[Table]:
    """For each corpus and producer a row a code: papers with a neighbour, and why the others have none."""
    found: dict[tuple[str, str], dict[str, Coverage]] = {}
    for one in report.coverage:
        found.setdefault((one.corpus, one.producer), {})[one.code] = one
    order = {one.code: place for place, one in enumerate(report.codes)}
    return [
        _cover(corpus, producer, sorted(of.values(), key=lambda one: (order.get(one.code, 999), one.code)))
        for (corpus, producer), of in found.items()
    ]


def _cover(corpus: str, producer: str, found: Sequence[Coverage]) -> Table:
    rows = []
    for one in found:
        ordered = sorted(one.absent.items(), key=lambda item: (-item[1], item[0]))
        reasons = "; ".join(f"{reason}: {number:,}" for reason, number in ordered)
        share = f"{100 * one.made / one.papers:.2f}" if one.papers else absent_cell()
        counts = (f"{one.papers:,}", f"{one.made:,}", share, f"{one.equal:,}", f"{one.distinct:,}")
        rows.append(make_row(one.code, *counts, reasons))
    columns = make_columns(
        ["code"],
        ["papers", "with a neighbour", "%", "as the original", "distinct texts"],
        ["why others have none, and how many"],
    )
    note = (
        f"Made by {producer}. As the original: neighbours whose text is that of their paper. Texts that are "
        "not distinct are encoded once."
    )
    return Table(f"Coverage of {corpus}", columns, rows, note)


def view_table(title: str, view: ViewRows) -> Table:
    """The rows of a view as they are, without their `number`: figures at the right, fractions rounded."""
    places = [place for place, name in enumerate(view.columns) if name != "number"]
    numbers = [all(isinstance(row[place], int | float | None) for row in view.rows) for place in places]
    columns = tuple(
        column
        for name, is_number in zip([view.columns[place] for place in places], numbers, strict=True)
        for column in make_columns(
            *([[], [name.replace("_", " ")]] if is_number else [[name.replace("_", " ")]])
        )
    )
    return Table(title, columns, [make_row(*(_write(row[place]) for place in places)) for row in view.rows])


def _write(value: object) -> Cell:
    """A value as a cell: counts with commas, fractions with four decimals.

    >>> _write(35482).text, _write(0.25).text, _write(None).kind
    ('35,482', '0.2500', 'absent')
    """
    if value is None:
        return absent_cell()
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(f"{value:,}")
    return Cell(f"{value:.4f}" if isinstance(value, float) else str(value))
