"""The report on extraction of sentences as one HTML page, as Markdown, and as tables on a terminal."""

from pathlib import Path

from pinakes.report.asked_runs import AskedRun
from pinakes.report.markdown import escape_markdown, render_table
from pinakes.report.output import Output
from pinakes.report.pages import make_environment, write_files
from pinakes.report.parts_page import describe_part, render_section
from pinakes.report.summaries.data import Gap, ShownExample, SummaryReport
from pinakes.report.summaries.sections import list_sections
from pinakes.report.summaries.tables.dataset import dataset_table, positive_tables, split_table
from pinakes.report.summaries.tables.example import (
    describe_marks,
    example_table,
    list_letters,
    say_gap,
    say_relevant,
)
from pinakes.report.summaries.tables.scores import rouge_tables, score_table
from pinakes.report.tables.runs import describe_run
from pinakes.report.terminal import STANDARD, print_tables


def write_summaries(report: SummaryReport, folder: Path) -> list[Path]:
    """Write `report.html` and `report.md` into a folder, which is made; the paths of both.

    Raises:
        InputError: the folder cannot be written.
    """
    return write_files(folder, {"report.html": render_page(report), "report.md": render_text(report)})


def print_summaries(report: SummaryReport, out: Output = STANDARD) -> None:
    """Print the tables of scores, labels and examples, and the warnings."""
    scores = [score_table(report), *rouge_tables(report)]
    tables = [*scores, *positive_tables(report), dataset_table(report), split_table(report)]
    print_tables(tables, out, warnings=report.warnings)


def render_page(report: SummaryReport) -> str:
    """The report as one page that needs nothing else: the same bytes for the same data."""
    template, values = fill_page(report)
    return make_environment().get_template(template).render(values)


def fill_page(report: SummaryReport) -> tuple[str, dict[str, object]]:
    """The template of the page, and what it shows, by the names that it has there."""
    sections = [(one.heading, [describe_part(part) for part in one.parts]) for one in list_sections(report)]
    return "summaries.html", {
        "report": report,
        "first": sections[:1],
        "sections": sections[1:],
        "letters": list_letters,
        "is_gap": lambda line: isinstance(line, Gap),
        "say_gap": say_gap,
        "say_relevant": say_relevant,
        "marks": describe_marks(),
        "describe_run": list_facts,
    }


def list_facts(run: AskedRun) -> list[tuple[str, str]]:
    """How a run was made: what it asked, and all that decided its answers."""
    return [("corpus", run.corpus), ("examples", ", ".join(run.producers)), *describe_run(run.row)]


def render_text(report: SummaryReport) -> str:
    """The report as Markdown, without the pictures."""
    lines = [f"# {escape_markdown(report.title)}", "", escape_markdown(report.citation), ""]
    lines += [f"- Licence: {escape_markdown(report.licence)}", f"- Mode: {report.mode}"]
    lines += [f"- {escape_markdown(note)}" for note in report.notes]
    lines += [f"- ⚠ **{escape_markdown(warning)}**" for warning in report.warnings]
    parts = ["\n".join(lines), *(text for one in list_sections(report) for text in render_section(one))]
    if report.examples:
        parts += ["## An example side by side", *(_render_example(one) for one in report.examples)]
    parts += ["## How the runs were made", *map(_render_run, report.runs)]
    return "\n\n".join(parts) + "\n"


def _render_example(example: ShownExample) -> str:
    table = render_table(example_table(example), level=3)
    said = [
        f"- {escape_markdown(f'{letter}: {label}, AP {value}')}"
        for letter, label, value in list_letters(example)
    ]
    query = f"Query, the abstract of {example.reference}: {example.query}"
    contexts = [f"- {escape_markdown(context)}" for context in example.contexts]
    return "\n".join([table, "", *said, "", escape_markdown(query), "", "Citing contexts:", "", *contexts])


def _render_run(run: AskedRun) -> str:
    facts = (f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in list_facts(run))
    return "\n".join([f"### {escape_markdown(run.name)}", "", *facts])
