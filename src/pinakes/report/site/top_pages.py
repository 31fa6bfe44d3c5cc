"""The pages of a whole site: the overview of its benchmarks, published figures, the quality of the data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Any, Final

from pinakes.database import Database
from pinakes.database.sql_blocks import read_blocks
from pinakes.report.formatting import format_time, shorten
from pinakes.report.layout import Cell, Row, Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.parts import Part, Section, Sql, Words
from pinakes.report.reproduction.data import OUTCOMES, Matrix
from pinakes.report.reproduction.page import TITLE, list_warnings
from pinakes.report.reproduction.tables import count_table, figure_tables, reason_table
from pinakes.report.site.benchmark_pages import find_benchmark_page
from pinakes.report.site.gather import Lead
from pinakes.report.site.layout import Layout, render_sections
from pinakes.report.site.looks import Swatch
from pinakes.report.site.names import make_file_name
from pinakes.report.site.reader_sql import (
    EMPTY_PAPERS,
    REJECTED_ROWS,
    UNRESOLVED_CITATIONS,
    select_published,
)

_QUALITY: Final = "Data quality"


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A benchmark in the overview.

    Attributes:
        lead: None where no run has the headline, or where runs asked several corpora.
        queries: that the headline is the mean of; None where no run has it.
    """

    name: str
    title: str
    task: str
    measure: str
    lead: Lead | None
    runs: int
    queries: int | None
    evaluated_at: datetime | None
    warnings: Sequence[str]

    def say(self) -> dict[str, Any]:
        """What is remembered of it for the next time: all but when it was evaluated."""
        lead = self.lead and [
            self.lead.label,
            self.lead.value,
            self.lead.swatch and [*astuple(self.lead.swatch)],
        ]
        named = ("name", "title", "task", "measure", "runs", "queries")
        return {**{name: getattr(self, name) for name in named}, "lead": lead, "warnings": [*self.warnings]}


def recall_row(said: Mapping[str, Any], evaluated_at: datetime | None) -> OverviewRow | None:
    """The row of what was remembered; None where that is none, as of another version."""
    try:
        lead = None
        if said["lead"] is not None:
            label, value, swatch = said["lead"]
            lead = Lead(label, value, swatch and Swatch(*swatch))
        return OverviewRow(**{**said, "lead": lead}, evaluated_at=evaluated_at)
    except (KeyError, TypeError, ValueError):
        return None


def render_overview(
    rows: Sequence[OverviewRow], failed: Sequence[tuple[str, str]], suites: Sequence[Table] = ()
) -> str:
    """The first page: a row a benchmark; the tables of suites; below it what a reader of each must know."""
    looks = list_lead_looks(rows)
    columns = (
        *make_columns(["benchmark", "leading system"], ["value"], ["measure", "task"]),
        *make_columns([], ["queries", "warnings"], ["evaluated", "title"]),
    )
    table = Table("Benchmarks", columns, [_draw_row(row) for row in rows])
    sections = [Section("Benchmarks", [table]), *(Section(one.title, [one]) for one in suites)]
    warnings = [make_row(_link(row), warning) for row in rows for warning in row.warnings]
    if warnings:
        listed = Table("Warnings", make_columns(["benchmark", "warning"]), warnings)
        sections.append(Section("Warnings", [listed]))
    facts = [("Benchmarks", f"{len(rows):,}"), ("Runs", f"{sum(row.runs for row in rows):,}")]
    said = [f"{name} could not be done now, its pages are of before: {why}" for name, why in failed]
    layout = Layout("", looks=looks, warnings=said, wide=True)
    return render_sections(layout, "Overview", "Benchmarks and their systems", sections, facts=facts)


def list_lead_looks(rows: Iterable[OverviewRow]) -> dict[str, Swatch]:
    """Leading system -> its look, where it has one."""
    leads = [row.lead for row in rows if row.lead]
    return {lead.label: lead.swatch for lead in leads if lead.swatch}


def _link(row: OverviewRow) -> Cell:
    return Cell(row.name, link=find_benchmark_page(row.name))


def _draw_row(row: OverviewRow) -> Row:
    system, value = (
        (Cell(row.lead.label), Cell(row.lead.value)) if row.lead else (absent_cell(), absent_cell())
    )
    return make_row(
        _link(row),
        system,
        value,
        row.measure,
        row.task.replace("_", " "),
        absent_cell() if row.queries is None else f"{row.queries:,}",
        flag_count(len(row.warnings)),
        absent_cell() if row.evaluated_at is None else format_time(row.evaluated_at)[:10],
        shorten(row.title, 90),
    )


def render_reproduction(matrix: Matrix) -> Iterator[tuple[str, str]]:
    """Name and text of the page of all published figures, and of one for each benchmark that has some."""
    counts = count_table(matrix)
    rows = [
        Row((Cell(row.cells[0].text, link=_find_page(row.cells[0].text)), *row.cells[1:]), row.is_ours)
        if row.cells[0].text in matrix.list_benchmarks()
        else row
        for row in counts.rows
    ]
    sections = [Section(counts.title, [Table(counts.title, counts.columns, rows, counts.note)])]
    reasons = reason_table(matrix)
    if reasons is not None:
        sections.append(Section(reasons.title, [reasons]))
    facts = [("Figures", f"{len(matrix.figures):,}"), *_list_outcomes(matrix)]
    layout = Layout("", warnings=list_warnings(matrix))
    yield "reproduction.html", render_sections(layout, "Reproduction", TITLE, sections, facts=facts)
    for name in matrix.list_benchmarks():
        yield _find_page(name), _render_figures(matrix, name)


def _list_outcomes(matrix: Matrix) -> list[tuple[str, str]]:
    counts = matrix.count()
    return [(outcome.capitalize(), f"{counts[outcome]:,}") for outcome in OUTCOMES]


def _find_page(benchmark: str) -> str:
    return f"reproduction/{make_file_name(benchmark)}.html"


def _render_figures(matrix: Matrix, name: str) -> str:
    chosen = Matrix([one for one in matrix.figures if one.benchmark == name])
    rest = select_published(name)
    layout = Layout("../", [("Reproduction", "reproduction.html")], rest=rest)
    sections = []
    for table in figure_tables(chosen, with_commands=True):
        source = table.title.removeprefix(f"{name}: ") or table.title
        sections.append(Section(source, [replace(table, title=source)]))
    facts = _list_outcomes(chosen)
    return render_sections(layout, "Published figures and ours", name, sections, facts=facts)


def read_quality(database: Database) -> dict[str, list[dict[str, Any]]]:
    """What corpora lack: rows by the names of the blocks of `quality.sql`."""
    with database.read() as session:
        return {
            name: session.rows(statement)
            for name, statement in read_blocks("pinakes.report", "sql", "quality.sql").items()
        }


def render_quality(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The page on what was not loaded and what is missing, by corpus."""
    sections = [
        Section(
            "Corpora",
            [
                _draw_corpora(found["corpora"]),
                Sql(EMPTY_PAPERS, "Papers without abstract in SQL"),
                Sql(UNRESOLVED_CITATIONS, "Unresolved citations in SQL"),
            ],
        )
    ]
    listed: list[tuple[str, str, list[str], list[str], list[str], str]] = [
        (
            "rejected",
            "Rejected rows",
            ["corpus", "file", "reason"],
            ["rows"],
            ["first at", "what was wrong"],
            "A row for each file and reason, with the first record of the kind.",
        ),
        (
            "left_out",
            "Items left out",
            ["corpus", "file", "kind", "reason"],
            ["items"],
            [],
            "Items of accepted records of which no row was made.",
        ),
        ("unread", "Files not read", ["corpus", "reason"], ["files"], ["for example"], ""),
    ]
    for name, title, words, numbers, more, note in listed:
        rows = [make_row(*(_write(value) for value in row.values())) for row in found[name]]
        if rows:
            parts: list[Part] = [Table(title, make_columns(words, numbers, more), rows, note)]
            sections.append(
                Section(
                    title,
                    [*parts, *([Sql(REJECTED_ROWS, "Rejected rows in SQL")] if name == "rejected" else [])],
                )
            )
        else:
            sections.append(Section(title, [Words(["None."])]))
    return render_sections(Layout(""), "Site", _QUALITY, sections)


def _write(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else shorten(str(value or ""), 200)


def _draw_corpora(rows: Sequence[Mapping[str, Any]]) -> Table:
    titles = [
        "papers",
        "no title",
        "no abstract",
        "citations",
        "unresolved",
        "rows read",
        "rejected",
    ]
    drawn = [
        make_row(
            row["corpus"],
            f"{row['papers']:,}",
            flag_count(row["without_title"]),
            _share(row["without_abstract"], row["papers"]),
            f"{row['citations']:,}",
            _share(row["unresolved"], row["citations"]),
            f"{row['rows_in']:,}",
            flag_count(row["rows_rejected"]),
            flag_count(row["left_out"]),
            flag_count(row["unread"]),
            shorten(row["version"]),
            shorten(row["licence"]),
        )
        for row in rows
    ]
    columns = make_columns(["corpus"], [*titles, "left out", "files not read"], ["version", "licence"])
    note = "Unresolved are citations of works that are no paper of the corpus."
    return Table("Corpora", columns, drawn, note)


def _share(count: int, total: int) -> Cell:
    """A count with its share; a count that is zero alone."""
    share = f"{100 * count / total:.1f}" if count else ""
    return Cell(f"{count:,}", note="" if not count else "<0.1 %" if share == "0.0" else f"{share} %")
