"""The report's sections, in the order in which one reads them; the example side by side is the page's own."""

from functools import partial

from pinakes.report.layout import Table
from pinakes.report.parts import Part, Picture, Section, Words, fold
from pinakes.report.summaries.data import Asked, SummaryReport
from pinakes.report.summaries.plots import FEWEST, FEWEST_SHARE, plot_curves
from pinakes.report.summaries.tables.dataset import (
    absent_table,
    dataset_table,
    positive_tables,
    split_table,
    step_table,
)
from pinakes.report.summaries.tables.methods import trained_tables, variation_table
from pinakes.report.summaries.tables.scores import order_table, rouge_tables, score_table

_CURVE = (
    "Median over examples, the band from the first to the third quartile, of the steps that at least "
    f"{FEWEST} examples and {100 * FEWEST_SHARE:.0f} % of them have. The loop ends where no sentence "
    "raises the score: a later step is of fewer examples, and of others."
)


def list_sections(report: SummaryReport) -> list[Section]:
    """All sections that have something to show."""
    made = [
        Section("Which sentences matter?", _show_scores(report)),
        Section("Methods", _show_methods(report)),
        Section("Relevant sentences", list(positive_tables(report))),
        Section("Augmentation", _show_curves(report)),
        Section("Where the examples come from", _show_datasets(report)),
    ]
    return [section for section in made if section.parts]


def _show_scores(report: SummaryReport) -> list[Part]:
    orders = [order_table(report, corpus) for corpus in report.list_corpora()]
    return [score_table(report), *_keep(orders), *rouge_tables(report)]


def _show_methods(report: SummaryReport) -> list[Part]:
    trained = trained_tables(report)
    return [variation_table(report), *fold("Models that were trained to choose from", trained)]


def _show_curves(report: SummaryReport) -> list[Part]:
    parts: list[Part] = []
    for place, (asked, curves) in enumerate(report.curves.items()):
        name = report.name_asked(asked)
        parts.append(Picture(partial(plot_curves, curves, name=f"curve{place}"), f"On {name}. {_CURVE}"))
        tables = [step_table(report, asked, labeller, steps) for labeller, steps in curves.items()]
        parts += fold(f"The same in figures, on {name}", tables)
    return parts


def _show_datasets(report: SummaryReport) -> list[Part]:
    tables = [dataset_table(report), absent_table(report), split_table(report)]
    return [*_keep(tables), Words([_describe_leak(report, asked) for asked in report.datasets])]


def _describe_leak(report: SummaryReport, asked: Asked) -> str:
    """What leaks in the split that is read, and in the other."""
    said = []
    for scheme, parts in report.datasets[asked].splits.items():
        test = parts["test"]
        words = scheme.replace("_", " ")
        said.append(f"split {words}, {test.leaked:,} of {test.examples:,}")
    listed = "; ".join(said) or "it has no split"
    return f"Test examples of {report.name_asked(asked)} whose paper has training examples too: {listed}."


def _keep(tables: list[Table | None]) -> list[Table]:
    return [table for table in tables if table is not None]
