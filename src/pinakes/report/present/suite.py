"""What the commands on a suite have to say: tables, files of HTML and Markdown, and what was not done."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.evaluate.suite import Missing, describe_missing
from pinakes.report.latex import render_latex
from pinakes.report.layout import Table
from pinakes.report.markdown import escape_markdown, render_table
from pinakes.report.output import Output
from pinakes.report.pages import make_environment, write_files
from pinakes.report.suite.data import SuiteReport
from pinakes.report.suite.gather import read_suite_scores
from pinakes.report.suite.tables import fill_suite, list_sections
from pinakes.report.terminal import STANDARD, print_records, print_tables

_LEAD: Final = ("system", "benchmark", "figure", "value")


def print_suite(report: SuiteReport, out: Output = STANDARD) -> None:
    """Print the leaderboards, the figures and the warnings."""
    print_tables(_list_tables(report), out, warnings=report.warnings)


def write_suite(report: SuiteReport, folder: Path, *, latex: bool = False) -> list[Path]:
    """Write `report.html`, `report.md` and on request `report.tex` into a folder, which is made; their paths.

    Raises:
        InputError: the folder cannot be written.
    """
    contents = {"report.html": render_suite_html(report), "report.md": render_suite(report)}
    if latex:
        contents["report.tex"] = render_latex(_list_tables(report), report.suite.name)
    return write_files(folder, contents)


def render_suite_html(report: SuiteReport) -> str:
    """The report as one page that needs nothing else."""
    page = make_environment().get_template("suite.html")
    return page.render(fill_suite(report))


def render_suite(report: SuiteReport) -> str:
    """The report as Markdown."""
    suite = report.suite
    lines = [f"# {escape_markdown(suite.title)}", "", escape_markdown(suite.citation), ""]
    lines.append(f"- Licence: {escape_markdown(suite.licence)}")
    lines += [f"- {escape_markdown(note)}" for note in suite.notes]
    lines += [f"- ⚠ **{escape_markdown(warning)}**" for warning in report.warnings]
    return "\n\n".join(["\n".join(lines), *map(render_table, _list_tables(report))]) + "\n"


def _list_tables(report: SuiteReport) -> list[Table]:
    return [table for _heading, tables in list_sections(report) for table in tables]


def print_suite_scores(database: Database, name: str, out: Output) -> None:
    """Print the figures of a suite."""
    print_records(list_suite_rows(database, name), out, lead=_LEAD)


def list_suite_rows(database: Database, name: str) -> list[dict[str, object]]:
    """The figures of a suite as rows: one a system and figure."""
    return [
        {
            "mode": mode,
            "system": system,
            "benchmark": key.benchmark,
            "figure": key.figure,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "queries_expected": one.queries_expected,
            "queries_answered": one.queries_answered,
        }
        for mode, of_mode in read_suite_scores(database, name).items()
        for system, of_system in of_mode.items()
        for key, one in of_system.items()
    ]


def list_missing(missing: Iterable[Missing]) -> list[str]:
    """A line for each benchmark whose data are not loaded, with the command that brings them."""
    return list(map(describe_missing, missing))
