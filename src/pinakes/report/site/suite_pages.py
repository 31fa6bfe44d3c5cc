"""The page of a suite: its leaderboards with published averages, all figures, its benchmarks with links."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pinakes.database import Database
from pinakes.report.formatting import shorten
from pinakes.report.layout import Cell, Row, Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.site.benchmark_pages import find_benchmark_page
from pinakes.report.site.keys import Key
from pinakes.report.site.layout import Layout, make_site_environment
from pinakes.report.site.looks import make_swatch
from pinakes.report.site.names import make_file_name
from pinakes.report.site.top_pages import OverviewRow, list_lead_looks
from pinakes.report.suite.data import SuiteReport
from pinakes.report.suite.gather import list_figures, read_suite_scores
from pinakes.report.suite.tables import fill_suite
from pinakes.workload.suite import OpenSuite, open_suite

_ROOT = "../../"


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A suite in the overview.

    Attributes:
        lead: the system with the best average over all figures of the board.
        figures: how many figures the averages go over, of how many.
    """

    name: str
    title: str
    mode: str
    lead: str
    average: str
    systems: int
    figures: str
    warnings: int

    def say(self) -> dict[str, Any]:
        """What is remembered of it for the next time."""
        return asdict(self)


def recall_suite(said: Mapping[str, Any]) -> SuiteRow | None:
    """The row of what was remembered; None where that is none, as of another version."""
    try:
        return SuiteRow(**said)
    except TypeError:
        return None


@dataclass(frozen=True, slots=True)
class OpenedSuite:
    """A suite that has scores, and the key of its page."""

    opened: OpenSuite
    key: str


def find_suite_folder(name: str) -> str:
    """Where the page of a suite is, from the top of the site.

    >>> find_suite_folder("scirepeval")
    'suites/scirepeval/'
    """
    return f"suites/{make_file_name(name)}/"


def open_scored_suite(
    database: Database, name: str, looks: Mapping[str, int], rows: Sequence[OverviewRow]
) -> OpenedSuite | None:
    """The suite with the key of its page, which has the rows of its benchmarks too; None without scores."""
    opened = open_suite(database, name)
    scores = read_suite_scores(database, name)
    if not any(
        one.value is not None for of in scores.values() for row in of.values() for one in row.values()
    ):
        return None
    listed = [row.say() for row in _choose_rows(opened, rows)]
    return OpenedSuite(opened, Key(opened, list_figures(opened), scores, dict(looks), listed).finish())


def _choose_rows(opened: OpenSuite, rows: Sequence[OverviewRow]) -> list[OverviewRow]:
    members = {one.name for one in opened.members}
    return [row for row in rows if row.name in members]


def render_suite(
    report: SuiteReport, suite: OpenedSuite, looks: Mapping[str, int], rows: Sequence[OverviewRow]
) -> str:
    """The page of the suite; its benchmarks lead to their pages, where the site has these."""
    chosen = {row.name: row for row in _choose_rows(suite.opened, rows)}
    addresses = {name: _ROOT + find_benchmark_page(name) for name in chosen}
    systems = {system for of_mode in report.scores.values() for system in of_mode}
    named = list_lead_looks(chosen.values())
    named |= {system: make_swatch(looks[system]) for system in systems if system in looks}
    layout = Layout(_ROOT, looks=named, warnings=report.warnings)
    page = make_site_environment().get_template("suite.html")
    return page.render(
        {**fill_suite(report, addresses), **layout.fill()},
        members=_list_members(report, suite.opened, chosen, addresses),
    )


def _list_members(
    report: SuiteReport, opened: OpenSuite, chosen: Mapping[str, OverviewRow], addresses: Mapping[str, str]
) -> Table:
    """A row for each benchmark of the suite, with the systems that have figures of it and the leading one."""
    having: dict[str, set[str]] = {}
    for of_mode in report.scores.values():
        for system, of_system in of_mode.items():
            for key, score in of_system.items():
                if score.value is not None:
                    having.setdefault(key.benchmark, set()).add(system)
    rows: list[Row] = []
    for one in opened.members:
        row = chosen.get(one.name)
        lead = row.lead if row else None
        rows.append(
            make_row(
                Cell(one.name, link=addresses.get(one.name, "")),
                one.suite.group if one.suite else "",
                one.format or "",
                Cell(lead.label) if lead else absent_cell(),
                Cell(lead.value) if lead else absent_cell(),
                row.measure if row else absent_cell(),
                f"{len(having.get(one.name, ()))}",
                shorten(one.title, 90),
            )
        )
    columns = (
        *make_columns(["benchmark", "group", "format", "leading system"], ["value"], ["measure"]),
        *make_columns([], ["systems"], ["title"]),
    )
    note = "Benchmarks without a leading system have no evaluated run here, or no single headline."
    return Table("Benchmarks of the suite", columns, rows, note)


def describe_suite(report: SuiteReport) -> SuiteRow:
    """The row of the overview: the board over all formats, that of corrected runs where there is one."""
    suite = report.suite
    board = next((one for one in report.boards if one.format is None), None)
    best = board.ranked[0] if board else None
    return SuiteRow(
        name=suite.name,
        title=suite.title,
        mode=board.mode if board else "",
        lead=best.system if best else "",
        average=f"{100 * best.averages['Average']:.1f}" if best else "",
        systems=len({system for of_mode in report.scores.values() for system in of_mode}),
        figures=f"{len(board.figures)} of {len(board.expected)}" if board else "",
        warnings=len(report.warnings),
    )


def draw_suites(rows: Sequence[SuiteRow]) -> Table:
    """The suites of a site, each with its best average, as the overview has them."""
    drawn = [
        make_row(
            Cell(row.name, link=f"{find_suite_folder(row.name)}index.html"),
            row.lead or absent_cell(),
            row.average or absent_cell(),
            row.figures or absent_cell(),
            f"{row.systems:,}",
            row.mode or absent_cell(),
            flag_count(row.warnings),
            shorten(row.title, 90),
        )
        for row in rows
    ]
    columns = (
        *make_columns(["suite", "leading system"], ["average", "figures", "systems"], ["mode"]),
        *make_columns([], ["warnings"], ["title"]),
    )
    return Table(
        "Suites", columns, drawn, "Averages times 100, over the figures that the leading system has."
    )
