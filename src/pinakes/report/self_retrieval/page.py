"""The report on alternative-self retrieval as one HTML page and as Markdown."""

from pathlib import Path

from pinakes.report.asked_runs import AskedRun
from pinakes.report.markdown import escape_markdown
from pinakes.report.pages import make_environment, write_files
from pinakes.report.parts_page import describe_part, render_section
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.sections import list_sections
from pinakes.report.tables.runs import describe_run


def write_self_retrieval(report: SelfReport, folder: Path) -> list[Path]:
    """Write `report.html` and `report.md` into a folder, which is made; the paths of both.

    Raises:
        InputError: the folder cannot be written.
    """
    return write_files(folder, {"report.html": render_page(report), "report.md": render_text(report)})


def render_page(report: SelfReport) -> str:
    """The report as one page that needs nothing else: the same bytes for the same data."""
    template, values = fill_page(report)
    return make_environment().get_template(template).render(values)


def fill_page(report: SelfReport) -> tuple[str, dict[str, object]]:
    """The template of the page, and what it shows, by the names that it has there."""
    sections = [(one.heading, [describe_part(part) for part in one.parts]) for one in list_sections(report)]
    return "self_retrieval.html", {
        "report": report,
        "sections": sections,
        "corpora": report.list_corpora(),
        "describe_run": list_facts,
    }


def list_facts(run: AskedRun) -> list[tuple[str, str]]:
    """How a run was made: what it asked, and all that decided its answers."""
    return [("corpus", run.corpus), ("neighbours", ", ".join(run.producers)), *describe_run(run.row)]


def render_text(report: SelfReport) -> str:
    """The report as Markdown, without the pictures."""
    lines = [f"# {escape_markdown(report.title)}", "", escape_markdown(report.citation), ""]
    lines += [f"- Licence: {escape_markdown(report.licence)}", f"- Mode: {report.mode}"]
    lines += [f"- {escape_markdown(note)}" for note in report.notes]
    lines += [f"- ⚠ **{escape_markdown(warning)}**" for warning in report.warnings]
    parts = ["\n".join(lines), *(text for one in list_sections(report) for text in render_section(one))]
    parts += ["## How the runs were made", *map(_render_run, report.runs)]
    return "\n\n".join(parts) + "\n"


def _render_run(run: AskedRun) -> str:
    facts = (f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in list_facts(run))
    return "\n".join([f"### {escape_markdown(run.name)}", "", *facts])
