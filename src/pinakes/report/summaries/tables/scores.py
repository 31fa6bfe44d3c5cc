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
    columns = make_columns(
        ["corpus", "method"],
        ["AP", "ROC AUC", "AP", "ROC AUC", "answered", "no AP", "no AUC"],
    )
    headings = (
        Heading("", 2),
        Heading("mean of examples", 2),
        Heading("all sentences at once", 2),
        Heading("examples", 3),
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
            corpus,
            _name(report, run),
            *(cells[place] for cells in (*means, *wholes)),
            coverage_cell(run.row.queries_answered, run.row.queries_expected),
            *(_undefined_cell(report, run, measure) for measure in _MEANS),
        )
        for place, run in enumerate(runs)
    ]


def _name(report: SummaryReport, run: AskedRun) -> Cell:
    """The run's label, with what the paper calls it."""
    variation = report.variations.get(run.run_id)
    return Cell(run.label, note=variation.published if variation else "")


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
            f"{PUBLISHED_CORPUS}, published",
            system,
            *(_printed_mean(figures, system, measure) for measure in _MEANS),
            *(_printed(figures, system, f"{measure}[global]") for measure in _MEANS),
            *(absent_cell() for _column in range(3)),
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


def rouge_table(report: SummaryReport) -> Table | None:
    """ROUGE of the sentences that runs extract, with intervals; None where none was computed."""
    known = {measure for _run, _subset, measure in report.values}
    found = sorted((match for name in known if (match := _ROUGE.fullmatch(name))), key=_place_rouge)
    if not found:
        return None
    runs = [run for run in report.runs if any(report.find_value(run.run_id, one[0]) for one in found)]
    columns = make_columns(["corpus", "method"], [f"ROUGE-{one[1]}" for one in found])
    rows = []
    for corpus in report.list_corpora():
        of_corpus = [run for run in runs if run.corpus == corpus]
        cells = [
            _interval_cells([report.find_value(run.run_id, one[0]) for run in of_corpus]) for one in found
        ]
        rows += [
            make_row(corpus, run.label, *(column[place] for column in cells))
            for place, run in enumerate(of_corpus)
        ]
    groups = list(dict.fromkeys((one[2], one[3]) for one in found))
    headings = [
        Heading(f"{k} best {_SAYS[text]}", sum((one[2], one[3]) == (k, text) for one in found))
        for k, text in groups
    ]
    note = (
        "F1 of the best sentences, in the paper's order, in parentheses the 95 % bootstrap interval over "
        "papers, where it was computed. The mode corrected counts as rouge-score does, the mode published as "
        "pip rouge 1.0.1."
    )
    return Table("ROUGE of the extracted summaries", columns, rows, note, (Heading("", 2), *headings))


def _place_rouge(match: re.Match[str]) -> tuple[bool, int, str]:
    return match[3] == "cited", int(match[2]), match[1]


def _interval_cells(values: Sequence[Value | None]) -> list[Cell]:
    cells = mark_best(values)
    return [
        replace(cell, note=f"{one.low:.3f} to {one.high:.3f}")
        if one is not None and one.low is not None and one.high is not None
        else cell
        for cell, one in zip(cells, values, strict=True)
    ]


def order_table(report: SummaryReport, corpus: str) -> Table | None:
    """The methods of the paper that were run on a corpus, in the paper's order by AP; None of less than two."""
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
    """What the paper calls it -> the best run of ours that is it."""
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
