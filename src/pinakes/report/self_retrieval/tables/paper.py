"""The tables of scores: those of the paper under its numbers, and the ones that it has as pictures."""

from dataclasses import replace
from typing import Final

from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.names import (
    CATEGORIES,
    READINGS,
    ROBUSTNESS,
    name_overlap,
)
from pinakes.report.self_retrieval.tables.side_by_side import Quantity, Wanted, list_published

_READING_WORDS: Final = {
    "all": "all candidates",
    "without_own": "without the query itself",
    "without_pair": "nor its original",
}
_INTERVALS: Final = "In parentheses the 95 % bootstrap interval over papers."
_PUBLISHED: Final = "Paler, or in italics, what the paper prints."


def robustness_table(report: SelfReport) -> Wanted:
    """How well each run finds the original of a neighbour, the categories weighing the same."""
    parts = (replace(one, with_interval=False) for one in _by_category(report, "MRR", "MRR"))
    columns = [Quantity(ROBUSTNESS, "all", ROBUSTNESS), *parts]
    note = (
        "Robustness is the mean over LL-HS, LO-HS, LL-PS and LO-PS of the mean reciprocal rank at which a "
        "neighbour finds its original; each category weighs the same. LO-DS neighbours mean something else, "
        "and do not count. "
    )
    return Wanted("Robustness", columns, note + _INTERVALS)


def _by_category(report: SelfReport, measure: str, above: str = "") -> list[Quantity]:
    return [
        Quantity(category, f"category={category}", measure, above, category != "LO-DS")
        for category in report.list_categories()
    ]


def task_table() -> Wanted:
    """Table 3: titles as queries against titles and abstracts, and against other titles too."""
    columns = [
        Quantity(measure, f"task={task}", measure, f"Task {task}")
        for task in ("I", "II")
        for measure in ("MRR", "T100")
    ]
    note = (
        "Task I asks with titles among titles with abstracts; Task II among these and the other papers' "
        "titles. T100 is the per cent of titles that find their paper among the first 100. "
    )
    return Wanted("Table 3: titles as queries", columns, f"{note}{_INTERVALS} {_PUBLISHED}")


def normalised_table() -> Wanted:
    """Table 9: Task I with L2-normalised and with standardised vectors."""
    columns = [
        Quantity(measure, f"task=I/vectors={vectors}", measure, words)
        for vectors, words in (("l2", "L2-normalised"), ("standardised", "standardised"))
        for measure in ("MRR", "T100")
    ]
    note = "Systems without vectors have no row. "
    return Wanted("Table 9: Task I with normalised vectors", columns, f"{note}{_INTERVALS} {_PUBLISHED}")


def return_table(report: SelfReport) -> Wanted:
    """NN1 and NN10 by category, which the paper draws in Figures 5 and 11."""
    columns = [
        replace(one, with_interval=False)
        for measure in ("NN1", "NN10")
        for one in _by_category(report, measure, f"{measure}, % of neighbours")
    ]
    note = "The per cent of neighbours whose original is the nearest, or among the ten nearest."
    return Wanted("Neighbours that find their original (Figures 5 and 11)", columns, note)


def overlap_table(report: SelfReport) -> Wanted:
    """Table 4: AOP-10 by category, in the reading that the report leads with."""
    note = (
        "The per cent of the 10 nearest that a neighbour shares with its original, among originals and "
        "neighbours together, the query itself among them, as the paper writes its set of candidates; the "
        "other readings stand below. "
    )
    columns = [replace(one, has_best=False) for one in _by_category(report, name_overlap(10))]
    return Wanted("Table 4: overlap of the 10 nearest (AOP-10)", columns, f"{note}{_INTERVALS} {_PUBLISHED}")


def reading_tables(report: SelfReport) -> list[Wanted]:
    """AOP-10 and AOP-20 by category in all three readings."""
    note = "; ".join(f"{name}: {words}" for name, words in _READING_WORDS.items())
    return [
        Wanted(
            f"AOP-{k} in the three readings",
            [
                Quantity(
                    reading.replace("_", " "),
                    f"category={category}",
                    name_overlap(k, reading),
                    category,
                    has_best=False,
                    with_interval=False,
                )
                for category in report.list_categories()
                for reading in READINGS
            ],
            f"Candidates: {note.replace('_', ' ')}.",
        )
        for k in (10, 20)
    ]


def capability_table(report: SelfReport) -> Table | None:
    """Table 5: AOP-20 by category, what meets its category's threshold marked."""
    published = [Quantity(name, f"category={name}", name_overlap(20)) for name in CATEGORIES]
    judged = {run_id for run_id, _category in report.capability.values}
    rows = [
        make_row(run.corpus, run.label, *(_judge(report, run.run_id, name) for name in CATEGORIES))
        for run in report.runs
        if run.run_id in judged
    ]
    if not rows:
        return None
    limits = make_row("threshold", "", *(_write_limits(report, name) for name in CATEGORIES), is_ours=False)
    printed = [_judge_published(report, row) for row in list_published(report, published, "")]
    rows = [limits, *rows, *printed]
    note = (
        "Bold meets the threshold of its category: neighbours that mean the same should have the same "
        "nearest papers, those that do not should not. The thresholds are the paper's, and heuristic."
    )
    columns = make_columns(["corpus", "system"], CATEGORIES)
    return Table("Table 5: capability, by AOP-20", columns, rows, note)


def _write_limits(report: SelfReport, category: str) -> str:
    low, high = report.capability.limits.get(category, (None, None))
    if low is not None and high is not None:
        return f"{low:.0f} to {high:.0f}"
    return f"> {low:.0f}" if low is not None else f"< {high:.0f}" if high is not None else ""


def is_within(limits: tuple[float | None, float | None], value: float) -> bool:
    """Whether a value is above the first and below the second of two limits, where there are some.

    >>> is_within((75, None), 75.1), is_within((50, 70), 80), is_within((None, 20), 19)
    (True, False, True)
    """
    low, high = limits
    return (low is None or value > low) and (high is None or value < high)


def _judge(report: SelfReport, run_id: int, category: str) -> Cell:
    found = report.capability.values.get((run_id, category))
    return absent_cell() if found is None else Cell(f"{found[0]:.1f}", "best" if found[1] else "plain")


def _judge_published(report: SelfReport, row: Row) -> Row:
    """A published row with what is within its category's limits marked."""
    limits = report.capability.limits
    judged = [
        replace(cell, kind="best")
        if cell.kind != "absent" and name in limits and is_within(limits[name], float(cell.text))
        else cell
        for name, cell in zip(CATEGORIES, row.cells[2:], strict=True)
    ]
    return Row((*row.cells[:2], *judged), is_ours=False)
