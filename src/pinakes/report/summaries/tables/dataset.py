"""Tables of the examples: how many, why the other pairs are none, their splits, and Table 4."""

from collections.abc import Sequence
from typing import Final

from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.summaries import published
from pinakes.report.summaries.data import Asked, PartCount, Positives, StepScores, SummaryReport
from pinakes.report.summaries.datasets import PARTS
from pinakes.report.summaries.labels import SHARES
from pinakes.report.summaries.names import PUBLISHED_CORPUS, write_share

_PUBLISHED: Final = f"{PUBLISHED_CORPUS}, published"
_SHARES: Final = {
    "mean": "mean",
    "deviation": "standard deviation",
    "lowest": "minimum",
    "first_quartile": "first quartile",
    "median": "median",
    "third_quartile": "third quartile",
    "highest": "maximum",
}
_SCHEMES: Final = {"by_example": "by example", "by_paper": "by paper"}


def dataset_table(report: SummaryReport) -> Table:
    """How many examples come out of each corpus, and of how much text."""
    titles = ["pairs", "examples", "papers", "cited works", "sentences", "median a paper"]
    rows = [
        make_row(
            report.name_asked(asked),
            f"{one.pairs:,}",
            Cell(f"{one.examples:,}", note=write_share(one.examples / one.pairs, 1) if one.pairs else ""),
            f"{one.papers:,}",
            f"{one.works:,}",
            f"{one.sentences:,}",
            f"{one.median_sentences:,.0f}",
        )
        for asked, one in report.datasets.items()
    ]
    printed = make_row(
        _PUBLISHED,
        absent_cell(),
        Cell(published.KEPT, note=f"of {published.EXAMPLES}"),
        Cell(published.PAPERS),
        *(absent_cell() for _column in range(3)),
        is_ours=False,
    )
    note = (
        "A pair is a paper and a work that it cites; it is an example where there are the work's abstract, "
        "a citing context and the paper's text. The paper left long documents out, which were too many "
        "sentences for its augmentation; here none is."
    )
    return Table("Examples", make_columns(["corpus"], titles), [*rows, printed], note)


def absent_table(report: SummaryReport) -> Table | None:
    """Why pairs are no examples; None where all are."""
    reasons = list(dict.fromkeys(reason for one in report.datasets.values() for reason in one.absent))
    if not reasons:
        return None
    columns = make_columns(["reason"], [report.name_asked(asked) for asked in report.datasets])
    rows = [
        make_row(reason, *(_count_cell(one.absent.get(reason)) for one in report.datasets.values()))
        for reason in reasons
    ]
    return Table("Pairs that are no example", columns, rows)


def _count_cell(count: int | None) -> Cell:
    return absent_cell() if count is None else Cell(f"{count:,}")


def split_table(report: SummaryReport) -> Table:
    """Both splits of each corpus, with what leaks from training papers into the test examples."""
    titles = [f"{part} {what}" for part in PARTS for what in ("examples", "sentences")]
    leaks = ["leaked examples", "leaked sentences"]
    rows = [
        make_row(
            report.name_asked(asked),
            Cell(
                _SCHEMES.get(scheme, scheme), note="read here" if scheme == report.asked_mode.scheme else ""
            ),
            *(cell for part in PARTS for cell in _part_cells(parts[part])),
            *_leak_cells(parts["test"]),
        )
        for asked, one in report.datasets.items()
        for scheme, parts in one.splits.items()
    ]
    printed = [cell for part in PARTS for cell in published.PARTS[part]]
    theirs = make_row(_PUBLISHED, "by example", *printed, absent_cell(), absent_cell(), is_ours=False)
    note = (
        "Leaked: test examples, and their sentences, of papers that training examples are of too. Sentences "
        "are counted in every example; the published ones are of the first 512 of each document."
    )
    return Table("Splits", make_columns(["corpus", "split"], [*titles, *leaks]), [*rows, theirs], note)


def _part_cells(part: PartCount) -> list[str]:
    return [f"{part.examples:,}", f"{part.sentences:,}"]


def _leak_cells(test: PartCount) -> list[Cell]:
    pairs = ((test.leaked, test.examples), (test.leaked_sentences, test.sentences))
    return [_leak_cell(leaked, whole) for leaked, whole in pairs]


def _leak_cell(leaked: int, whole: int) -> Cell:
    if not whole:
        return absent_cell()
    return Cell(write_share(leaked / whole, 1), "warning" if leaked else "plain", f"{leaked:,}")


def positive_tables(report: SummaryReport) -> list[Table]:
    """Table 4: the share of relevant sentences of the training examples, and the length of their spans."""
    if not report.positives:
        return []
    names = [report.name_asked(asked) for asked in report.positives]
    found = list(report.positives.values())
    read = _say_labels(report)
    shares = [
        make_row(
            _SHARES[name],
            *(write_share(one.shares[name]) for one in found),
            report.printed.shares.get(name, absent_cell()),
        )
        for name in SHARES
    ]
    counts = [
        make_row("training examples", *(f"{one.examples:,}" for one in found), published.PARTS["train"][0]),
        make_row("without a relevant sentence", *(f"{one.without:,}" for one in found), absent_cell()),
        make_row("mean relevant sentences", *(f"{one.mean_positives:.2f}" for one in found), absent_cell()),
    ]
    columns = make_columns([""], [*names, _PUBLISHED])
    return [
        Table("Table 4: share of relevant sentences in an example", columns, [*shares, *counts], read),
        Table(
            "Table 4: length of spans of relevant sentences",
            make_columns(["length"], [*names, _PUBLISHED]),
            _list_spans(report, found),
            "Of all spans of consecutive relevant sentences of the training examples.",
        ),
    ]


def _say_labels(report: SummaryReport) -> str:
    mode = report.asked_mode
    first = "" if mode.first_sentences is None else f", of the first {mode.first_sentences} of a document"
    scheme = _SCHEMES.get(mode.scheme, mode.scheme)
    return f"Training examples of the split {scheme}; relevant is what “{mode.labeller}” says{first}."


def _list_spans(report: SummaryReport, found: Sequence[Positives]) -> list[Row]:
    lengths = sorted({length for one in found for length in one.spans} | set(report.printed.spans))
    return [
        make_row(
            str(length),
            *(_span_cell(one.spans.get(length)) for one in found),
            report.printed.spans.get(length, absent_cell()),
        )
        for length in lengths
    ]


def _span_cell(span: tuple[int, float] | None) -> Cell:
    return absent_cell() if span is None else Cell(write_share(span[1], 3), note=f"{span[0]:,}")


def step_table(report: SummaryReport, asked: Asked, labeller: str, steps: Sequence[StepScores]) -> Table:
    """The figures behind a curve: how many examples have each step, and the summary's ROUGE there."""
    rows = [
        make_row(
            "citing sentences" if one.step == 0 else str(one.step),
            f"{one.examples:,}",
            *(f"{value:.4f}" for value in (one.first_quartile, one.median, one.third_quartile)),
        )
        for one in steps
    ]
    columns = make_columns(["step"], ["examples", "first quartile", "median", "third quartile"])
    return Table(f"{labeller}, on {report.name_asked(asked)}", columns, rows)
