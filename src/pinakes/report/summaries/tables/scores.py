"""Tables of scores: Table 3, ROUGE of what is extracted, and the order of methods."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from pinakes.report.asked_runs import AskedRun
from pinakes.report.layout import (
    Cell,
    Heading,
    Row,
    Table,
    absent_cell,
    flag_count,
    make_columns,
    make_row,
)
from pinakes.report.stored_values import Value
from pinakes.report.summaries.data import SummaryReport
from pinakes.report.summaries.names import PUBLISHED_CORPUS, write_with_error
from pinakes.report.tables.scores import coverage_cell

_MEANS: Final = ("AP", "AUC")
_ROUGE: Final = re.compile(r"ROUGE([12L])@(\d+)\[(query|cited)\]")
_SAYS: Final = {"query": "against the query", "cited": "against the citing contexts"}


def score_table(report: SummaryReport) -> Table:
    """Table 3: our runs, corpus by corpus, and below them what the paper printed of its own."""
    rows = [row for corpus in report.list_corpora() for row in _list_ours(report, corpus)]
    titles = ["AP", "ROC AUC", "AP", "ROC AUC", "answered", "no AP", "no AUC"]
    columns = make_columns(["method"], titles, ["corpus"])
    headings = (
        Heading("", 1),
        Heading("mean of examples", 2),
        Heading("all sentences at once", 2),
        Heading("examples", 3),
        Heading("", 1),
    )
    note = (
        "Mean ± two standard errors of the mean over the test examples; the best of each corpus is bold. "
        "AP is not defined of an example without a relevant sentence, AUC of one whose sentences are all "
        "relevant or all not: these are counted, and in no mean. An example without an answer counts as "
        "zero. Paler, or in italics, what the paper prints of its own corpus; global figures are of the "
        "repository's notebook 08."
    )
    return Table(
        "Table 3: average precision and ROC AUC", columns, [*rows, *_list_published(report)], note, headings
    )


def _list_ours(report: SummaryReport, corpus: str) -> list[Row]:
    runs = [run for run in report.runs if run.corpus == corpus and report.find_value(run.run_id, "AP")]
    means = [_mean_cells(report, runs, measure) for measure in _MEANS]
    wholes = [
        mark_best([report.find_value(run.run_id, f"{measure}[global]") for run in runs]) for measure in _MEANS
    ]
    return [
        make_row(
            name_method(report, run),
            *(cells[place] for cells in (*means, *wholes)),
            coverage_cell(run.row.queries_answered, run.row.queries_expected),
            *(_undefined_cell(report, run, measure) for measure in _MEANS),
            corpus,
        )
        for place, run in enumerate(runs)
    ]


def name_method(report: SummaryReport, run: AskedRun) -> Cell:
    """What the paper calls a run, with its label; the label alone where the paper has no such method."""
    variation = report.variations.get(run.run_id)
    return Cell(variation.published, note=run.label) if variation else Cell(run.label)


def _mean_cells(report: SummaryReport, runs: Sequence[AskedRun], measure: str) -> list[Cell]:
    found = [report.find_value(run.run_id, measure) for run in runs]
    errors = [report.find_value(run.run_id, f"{measure}[2SE]") for run in runs]
    best = mark_best(found)
    return [
        absent_cell() if value is None else replace(cell, text=write_with_error(value, error))
        for cell, value, error in zip(best, found, errors, strict=True)
    ]


def _undefined_cell(report: SummaryReport, run: AskedRun, measure: str) -> Cell:
    found = report.find_value(run.run_id, f"{measure}[undefined]")
    return absent_cell() if found is None else flag_count(int(found.value))


def mark_best(values: Sequence[Value | None]) -> list[Cell]:
    """The cell of each value with three decimals, what is printed highest marked; one alone is not.

    >>> [cell.kind for cell in mark_best([Value(0.2, 1, 1), None, Value(0.3, 1, 1)])]
    ['plain', 'absent', 'best']
    """
    given = [one.value for one in values if one is not None]
    best = f"{max(given):.3f}" if len(given) > 1 else None
    cells = [absent_cell() if one is None else Cell(f"{one.value:.3f}") for one in values]
    return [replace(cell, kind="best") if cell.text == best else cell for cell in cells]


def index_published(report: SummaryReport) -> dict[tuple[str, str], str]:
    """(system, measure) -> figure as printed, of the paper's own corpus."""
    return {
        (one.system, one.measure): one.printed
        for one in report.published
        if one.subset.partition("/")[0] == PUBLISHED_CORPUS
    }


def _list_published(report: SummaryReport) -> list[Row]:
    """The published rows, the highest ROC AUC first, as the paper has them."""
    figures = index_published(report)
    systems = list(dict.fromkeys(system for system, _measure in figures))
    order = sorted(systems, key=lambda system: -float(figures.get((system, "AUC"), "0")))
    return [
        make_row(
            system,
            *(_printed_mean(figures, system, measure) for measure in _MEANS),
            *(_printed(figures, system, f"{measure}[global]") for measure in _MEANS),
            *(absent_cell() for _column in range(3)),
            f"{PUBLISHED_CORPUS}, published",
            is_ours=False,
        )
        for system in order
    ]


def _printed(figures: Mapping[tuple[str, str], str], system: str, measure: str) -> Cell:
    text = figures.get((system, measure))
    return absent_cell() if text is None else Cell(text)


def _printed_mean(figures: Mapping[tuple[str, str], str], system: str, measure: str) -> Cell:
    mean, error = (figures.get((system, f"{measure}{form}")) for form in ("", "[2SE]"))
    if mean is None:
        return absent_cell()
    return Cell(f"{mean} ± {error}" if error else mean)


def rouge_tables(report: SummaryReport) -> list[Table]:
    """ROUGE of the sentences that runs extract, with intervals: a table a text to compare with."""
    known = sorted({measure for _run, _subset, measure in report.values})
    found = [match for name in known if (match := _ROUGE.fullmatch(name))]
    groups = dict.fromkeys((match[3], int(match[2])) for match in reversed(found))
    return [
        _rouge_table(report, k, text, [one for one in found if (one[3], int(one[2])) == (text, k)])
        for text, k in sorted(groups, key=lambda group: (group[0] == "cited", group[1]))
    ]


def _rouge_table(report: SummaryReport, k: int, text: str, measures: Sequence[re.Match[str]]) -> Table:
    rows = []
    for corpus in report.list_corpora():
        runs = [
            run
            for run in report.runs
            if run.corpus == corpus and any(report.find_value(run.run_id, one[0]) for one in measures)
        ]
        cells = [_interval_cells([report.find_value(run.run_id, one[0]) for run in runs]) for one in measures]
        rows += [
            make_row(name_method(report, run), *(column[place] for column in cells), corpus)
            for place, run in enumerate(runs)
        ]
    columns = make_columns(["method"], [f"ROUGE-{one[1]}" for one in measures], ["corpus"])
    note = (
        "F1, the sentences in the paper's order; in parentheses the 95 % bootstrap interval over papers, "
        "where it was computed. The mode corrected counts as rouge-score does, the mode published as pip "
        "rouge 1.0.1."
    )
    return Table(f"ROUGE of the {k} best sentences {_SAYS[text]}", columns, rows, note)


def _interval_cells(values: Sequence[Value | None]) -> list[Cell]:
    cells = mark_best(values)
    return [
        replace(cell, note=f"{one.low:.3f} to {one.high:.3f}")
        if one is not None and one.low is not None and one.high is not None
        else cell
        for cell, one in zip(cells, values, strict=True)
    ]


def order_table(report: SummaryReport, corpus: str) -> Table | None:
    """The methods of the paper that were run on a corpus, in its order by AP; None of less than two."""
    figures = index_published(report)
    ours = _find_counterparts(report, corpus)
    systems = [system for system in ours if (system, "AP") in figures]
    systems.sort(key=lambda system: -float(figures[system, "AP"]))
    if len(systems) < 2:
        return None
    columns = make_columns(["method"], ["AP, ours", "AP, published", "ROC AUC, ours", "ROC AUC, published"])
    rows = [
        make_row(
            Cell(system, note=ours[system].label),
            *(
                cell
                for measure in _MEANS
                for cell in (_value_cell(report, ours[system], measure), _printed(figures, system, measure))
            ),
        )
        for system in systems
    ]
    note = " ".join(_compare_order(report, figures, ours, systems, measure) for measure in _MEANS)
    return Table(f"The order of methods, on {corpus}", columns, rows, note)


def _find_counterparts(report: SummaryReport, corpus: str) -> dict[str, AskedRun]:
    """What the paper calls it -> our best run of it."""
    found: dict[str, AskedRun] = {}
    for run in report.runs:
        variation = report.variations.get(run.run_id)
        if run.corpus == corpus and variation is not None and report.find_value(run.run_id, "AP"):
            found.setdefault(variation.published, run)
    return found


def _value_cell(report: SummaryReport, run: AskedRun, measure: str) -> Cell:
    value = report.find_value(run.run_id, measure)
    return absent_cell() if value is None else Cell(f"{value.value:.3f}")


def _compare_order(
    report: SummaryReport,
    figures: Mapping[tuple[str, str], str],
    ours: Mapping[str, AskedRun],
    systems: Sequence[str],
    measure: str,
) -> str:
    """How many pairs of methods are in the same order as in the paper."""
    pairs = [
        (float(figures[first, measure]) - float(figures[second, measure]), one.value - other.value)
        for first, second in combinations(systems, 2)
        if (one := report.find_value(ours[first].run_id, measure))
        and (other := report.find_value(ours[second].run_id, measure))
        and (first, measure) in figures
        and (second, measure) in figures
    ]
    same = sum(theirs * found > 0 for theirs, found in pairs)
    name = {"AP": "average precision", "AUC": "ROC AUC"}[measure]
    return f"By {name} {same} of {len(pairs)} pairs of methods are in the paper's order."
