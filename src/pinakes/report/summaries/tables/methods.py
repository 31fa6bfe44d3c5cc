"""Table 2, the methods that were run, and the models that runs trained to choose from."""

from collections.abc import Iterable

import orjson

from pinakes.report.layout import Cell, Table, absent_cell, make_columns, make_row
from pinakes.report.summaries.data import SummaryReport, Trained
from pinakes.report.summaries.names import CLASSIFIERS, EMBEDDINGS
from pinakes.report.summaries.tables.scores import index_published


def variation_table(report: SummaryReport) -> Table:
    """Table 2: which classifiers were run over which embeddings, and which of these the paper has."""
    published = {tuple(system.split(", ", 1)) for system, _measure in index_published(report)}
    ours: dict[tuple[str, str], list[int]] = {}
    for run in report.runs:
        variation = report.variations.get(run.run_id)
        if variation is not None:
            ours.setdefault((variation.classifier, variation.embeddings), []).append(run.run_id)
    known = [*ours, *published]
    classifiers = _order((one[0] for one in known), CLASSIFIERS)
    embeddings = _order((one[1] for one in known), EMBEDDINGS)
    rows = [
        make_row(name, *(_cell(ours.get((name, one), []), (name, one) in published) for one in embeddings))
        for name in classifiers
    ]
    note = (
        "“run” with the numbers of our runs, “published” where the paper has the same. Sentence-BERT is "
        "all-MiniLM-L6-v2. Runs with settings that the paper does not have, as TF-IDF fitted on the "
        "training documents, are in Table 3 alone."
    )
    columns = make_columns(["classifier"], (), embeddings)
    return Table("Table 2: methods that were run", columns, rows, note)


def _order(found: Iterable[str], known: tuple[str, ...]) -> list[str]:
    names = set(found)
    return [*(name for name in known if name in names), *sorted(names - set(known))]


def _cell(run_ids: list[int], is_published: bool) -> Cell:
    if run_ids:
        numbers = ", ".join(map(str, sorted(run_ids)))
        return Cell(f"run {numbers}", note="published" if is_published else "")
    return Cell("not run", "absent", "published") if is_published else absent_cell()


def trained_tables(report: SummaryReport) -> list[Table]:
    """The models of each run that trained some, the chosen one bold."""
    titles = ["epochs", "dev AP"]
    note = "Epochs until the best one on dev; the model in bold answered the run."
    return [
        Table(
            f"Models of {run.name}",
            make_columns(["model"], titles, ["settings"]),
            [
                make_row(
                    Cell(str(one.trial), "best" if one.chosen else "plain"),
                    f"{one.epochs:,}",
                    Cell(f"{one.dev_score:.4f}", "best" if one.chosen else "plain"),
                    _write_settings(one),
                )
                for one in report.trained[run.run_id]
            ],
            note,
        )
        for run in report.runs
        if run.run_id in report.trained
    ]


def _write_settings(model: Trained) -> str:
    settings = orjson.loads(model.settings)
    return ", ".join(f"{name} {_write(value)}" for name, value in settings.items())


def _write(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
