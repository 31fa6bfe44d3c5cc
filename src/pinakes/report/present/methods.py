"""What `compare-methods` has to say: tables on a terminal, and a page with the losses of each training."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from pinakes.evaluate.methods import (
    FigureValue,
    MethodComparison,
    MethodDifference,
    MethodMean,
    list_columns,
)
from pinakes.indexers.encoder.trained import TrainingRecord
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_difference, format_p, format_seconds
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.markdown import escape_markdown, render_table
from pinakes.report.output import Output
from pinakes.report.pages import Drawn, make_environment, write_files
from pinakes.report.suite.tables import mark_two
from pinakes.report.tables.significance import SIGNIFICANT
from pinakes.report.terminal import print_tables

_TITLE: Final = "Methods of training, compared"
_SEEDS: Final = (
    "± is half of the 95 % t interval over seeds: how far a figure depends on the seed, not on which papers "
    "were tested."
)


def print_methods(found: MethodComparison, out: Output) -> None:
    """Print the tables; or one JSON object."""
    if out.is_for_programs:
        shown = asdict(found)
        shown.pop("trainings")
        print_data(shown, out)
        return
    print_tables(list_tables(found), out, warnings=found.warnings)


def write_methods(found: MethodComparison, folder: Path) -> list[Path]:
    """Write `report.html` and `report.md` into a folder, which is made; their paths.

    Raises:
        InputError: the folder cannot be written.
    """
    warnings = "\n".join(f"- ⚠ **{escape_markdown(warning)}**" for warning in found.warnings)
    parts = [f"# {_TITLE}", *filter(None, [warnings]), *map(render_table, list_tables(found))]
    text = "\n\n".join(parts) + "\n"
    return write_files(folder, {"report.html": render_methods_html(found), "report.md": text})


def render_methods_html(found: MethodComparison) -> str:
    """The tables and the losses of each training as one page that needs nothing else."""
    from pinakes.report.plots.training import plot_training  # Matplotlib is loaded for pages alone

    losses = [
        (_name_training(one), Drawn(plot_training(one, name=f"losses-{place}")))
        for place, one in enumerate(found.trainings)
    ]
    page = make_environment().get_template("methods.html")
    return page.render(report=found, title=_TITLE, tables=list_tables(found), losses=losses)


def list_tables(found: MethodComparison) -> list[Table]:
    """The means, what is compared, every figure, and what was trained."""
    columns = list_columns(found.figures)
    parts = [column for column in columns if " " not in column]
    tables = [_table_means(found, parts, "Averages")]
    by_format = [column for column in columns if " " in column]
    if len(by_format) > 1:
        tables.append(_table_means(found, by_format, "Averages by format"))
    tables += [_table_differences(found.differences, column) for column in parts]
    tables.append(_table_figures(found))
    if found.trainings:
        tables.append(_table_trainings(found.trainings))
    return tables


def _table_means(found: MethodComparison, columns: Sequence[str], title: str) -> Table:
    means = {(one.method, one.column): one for one in found.means}
    marked = {
        column: mark_two([means[method.name, column].value for method in found.methods]) for column in columns
    }
    rows = [
        make_row(
            method.name,
            str(len(method.systems)),
            *(_mark_mean(marked[column][place], means[method.name, column]) for column in columns),
        )
        for place, method in enumerate(found.methods)
    ]
    counts = {column: means[found.methods[0].name, column].figures for column in columns}
    heads = [f"{column} ({count})" for column, count in counts.items()]
    note = (
        f"Values times 100; the best is bold, the second underlined; (n) is the number of figures. {_SEEDS}"
    )
    return Table(title, make_columns(["method"], ["seeds", *heads]), rows, note)


def _mark_mean(cell: Cell, mean: MethodMean) -> Cell:
    if mean.low is None or mean.high is None:
        return cell
    return Cell(cell.text, cell.kind, note=f"±{100 * (mean.high - mean.low) / 2:.1f}")


def _table_differences(differences: Sequence[MethodDifference], column: str) -> Table:
    rows = [_draw_difference(one) for one in differences if one.column == column]
    heads = make_columns(["A", "B"], ["B - A", "95 % interval", "p", "p after Holm"])
    note = (
        "Student's t over the seeds that both were trained with; what was not trained has one value. "
        f"{len(rows)} pairs are corrected for."
    )
    return Table(f"Do the methods differ? ({column})", heads, rows, note)


def _draw_difference(one: MethodDifference) -> Row:
    tested: list[Cell | str] = [absent_cell(), absent_cell(), absent_cell()]
    if one.low is not None and one.high is not None and one.p is not None and one.holm_p is not None:
        interval = " to ".join(format_difference(end, "percent") for end in (one.low, one.high))
        marked = [Cell(format_p(p), "best" if p < SIGNIFICANT else "plain") for p in (one.p, one.holm_p)]
        tested = [interval, *marked]
    return make_row(one.a, one.b, format_difference(one.difference, "percent"), *tested)


def _table_figures(found: MethodComparison) -> Table:
    """A row a figure, a column a method: the mean of its seeds, and the least and the greatest."""
    grouped: dict[tuple[str, str, str, int, str], dict[str, list[FigureValue]]] = {}
    for one in found.figures:
        key = (one.part, one.format, one.benchmark, one.figure, one.measures)
        grouped.setdefault(key, {}).setdefault(one.method, []).append(one)
    names = [method.name for method in found.methods]
    rows = []
    for (part, format, benchmark, _figure, measures), of_row in sorted(grouped.items()):
        means = [sum(one.value for one in of_row[name]) / len(of_row[name]) for name in names]
        cells = [
            Cell(cell.text, cell.kind, note=_say_range(of_row[name]))
            for cell, name in zip(mark_two(means), names, strict=True)
        ]
        rows.append(
            make_row(
                part,
                format,
                benchmark,
                measures,
                *cells,
            )
        )
    columns = make_columns(["part", "format", "benchmark", "measure"], names)
    note = "Values times 100, the mean of the seeds, in parentheses the least and the greatest."
    return Table("All figures", columns, rows, note)


def _say_range(values: Sequence[FigureValue]) -> str:
    if len(values) < 2:
        return ""
    ordered = sorted(one.value for one in values)
    return f"{100 * ordered[0]:.1f} to {100 * ordered[-1]:.1f}"


def _table_trainings(trainings: Sequence[TrainingRecord]) -> Table:
    rows = [
        make_row(
            _name_training(one),
            one.method,
            _describe_kept(one.kept_epoch),
            str(one.seed),
            f"{len(one.tasks)}",
            f"{len(one.losses):,}",
            f"{one.parameters:,}",
            f"{one.trained:,}",
            format_seconds(one.elapsed_s),
        )
        for one in trainings
    ]
    numbers = ["seed", "tasks", "steps", "parameters", "trained", "time"]
    texts = ["encoder", "method", "kept epoch"]
    return Table("What was trained", make_columns(texts, numbers), rows)


def _describe_kept(kept_epoch: Mapping[str, int]) -> Cell | str:
    """The epoch whose weights are kept, by code where codes differ in it."""
    epochs = set(kept_epoch.values())
    if not epochs:
        return absent_cell()
    if len(epochs) == 1:
        return str(epochs.pop())
    return ", ".join(f"{code} {epoch}" for code, epoch in kept_epoch.items())


def _name_training(record: TrainingRecord) -> str:
    return Path(record.folder).name
