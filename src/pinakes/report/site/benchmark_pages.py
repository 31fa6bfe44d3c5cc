"""The pages of a benchmark beside those of its queries: its report, all queries, pairs of systems."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pinakes.report.data import PairTest
from pinakes.report.formatting import format_difference, format_p, shorten
from pinakes.report.html import fill_report
from pinakes.report.layout import Cell, Row, Table, make_columns, make_row, mark_best
from pinakes.report.parts import Part, Picture, Section, Sql, Words
from pinakes.report.plots.scores import plot_differences
from pinakes.report.site.folder import FIRST
from pinakes.report.site.gather import OwnSubject, Subject, find_folder
from pinakes.report.site.layout import (
    MOST_ROWS,
    Layout,
    NamedRun,
    list_headings,
    make_site_environment,
    render_sections,
)
from pinakes.report.site.lines import QueryLine
from pinakes.report.site.names import name_page, name_pair
from pinakes.report.site.queries import TOP
from pinakes.report.site.query_page import find_query_page
from pinakes.report.site.reader_sql import select_differences, select_scores
from pinakes.report.tables.paper import find_letters
from pinakes.report.tables.scores import result_table
from pinakes.report.tables.significance import SIGNIFICANT

MOST_TELLING: Final = 12
"""queries that the page of a benchmark names in a table"""
_LONGEST_ID: Final = 60


class BenchmarkPages:
    """Makes the pages of one benchmark from its report and the lines of its queries.

    `paged` are the ids of the queries that have a page.
    """

    def __init__(self, subject: Subject, lines: Sequence[QueryLine], paged: frozenset[str]) -> None:
        self._subject = subject
        self._report = subject.report
        self._lines = lines
        self._paged = paged
        self._runs = subject.list_shown()
        self._swatches = {run.label: run.swatch for run in subject.named.values()}

    def render_report(self) -> Iterator[tuple[str, str]]:
        """Name and text of the page of the benchmark, and of that with its details."""
        report = self._report
        rest = select_scores(report.name)
        filled = {**fill_report(report), "queries": None}
        below = Layout("../../", [self._crumb()], looks=self._swatches, rest=rest)
        details = make_site_environment().get_template("site/details.html").render(filled, **below.fill())
        layout = Layout("../../", looks=self._swatches, warnings=report.warnings, rest=rest)
        results = result_table(report, letters=find_letters(report))
        page = make_site_environment().get_template("site/benchmark.html")
        yield (
            FIRST,
            page.render(
                {**filled, **layout.fill()},
                results=_put_values_first(results),
                query_count=len(self._lines),
                task=self._subject.benchmark.task.replace("_", " "),
                query_tables=self._list_telling(),
                pair_table=self._list_pairs(),
                more=list_headings(details),
            ),
        )
        yield "details.html", details

    def _list_telling(self) -> list[Table]:
        """The queries on which the systems differ most, and those that no system does well on."""
        scored = [line for line in self._lines if line.values]
        spread = sorted(scored, key=lambda line: (-line.spread, line.query_id))
        hard = sorted(scored, key=lambda line: (max(line.values.values()), line.query_id))
        chosen = {"Where no system does well": hard}
        if len(self._runs) > 1:
            chosen = {"Where the systems differ most": [one for one in spread if one.spread > 0], **chosen}
        return [
            self._draw_queries(title, found[:MOST_TELLING], "", "")
            for title, found in chosen.items()
            if found
        ]

    def render_lists(self) -> Iterator[tuple[str, str]]:
        """Name and text of the pages that list all queries."""
        parts = [self._lines[place : place + MOST_ROWS] for place in range(0, len(self._lines), MOST_ROWS)]
        names = [name_page("queries", number) for number in range(1, len(parts) + 1)]
        for place, part in enumerate(parts):
            pager = [
                (f"{one[0].query_id} – {one[-1].query_id}", "" if number == place else names[number])
                for number, one in enumerate(parts)
            ]
            layout = Layout("../../", [self._crumb()], self._swatches)
            title = f"Queries of {self._report.name}"
            parts_of_page: list[Part] = [self._draw_queries("All queries", part, "", self._say_paged())]
            yield (
                names[place],
                render_sections(
                    layout,
                    self._report.title,
                    title,
                    [Section("All queries", parts_of_page)],
                    facts=[("Queries", f"{len(self._lines):,}"), ("Measure", self._report.headline_measure)],
                    pager=pager if len(parts) > 1 else (),
                ),
            )

    def _say_paged(self) -> str:
        missing = len(self._lines) - len(self._paged)
        if not missing:
            return ""
        return (
            f"The {len(self._paged):,} queries with the lowest values of the leading system have a page; "
            f"{missing:,} others have none."
        )

    def _draw_queries(self, title: str, lines: Sequence[QueryLine], root: str, note: str) -> Table:
        groups = self._subject.benchmark.group_by
        titles = [run.label for run in self._runs]
        columns = make_columns(["query"], [*titles, "relevant"], [*groups, "text"])
        return Table(title, columns, [self._draw_line(line, root) for line in lines], note)

    def _draw_line(self, line: QueryLine, root: str) -> Row:
        values = [line.values.get(run.run_id) for run in self._runs]
        cells = mark_best(values, self._report.scale, self._report.headline_measure)
        groups = [line.groups.get(name, "") for name in self._subject.benchmark.group_by]
        return make_row(self._link(line, root), *cells, f"{line.relevant:,}", *groups, line.name)

    def _link(self, line: QueryLine, root: str) -> Cell:
        address = root + find_query_page(line.query_id) if line.query_id in self._paged else ""
        return Cell(shorten(line.query_id, _LONGEST_ID) or "(empty)", link=address)

    def _list_pairs(self) -> Table | None:
        pairs = self.list_pairs()
        if not pairs:
            return None
        rows = [
            make_row(
                Cell(f"{one.label} – {other.label}", link=f"pair/{self.name_pair(pair)}"),
                self._difference(pair.mean_difference),
                Cell(
                    format_p(pair.randomisation_p), "best" if pair.randomisation_p < SIGNIFICANT else "plain"
                ),
                f"{pair.wins}/{pair.ties}/{pair.losses}",
            )
            for pair in pairs
            for one, other in (self._find_sides(pair),)
        ]
        titles = ["second - first", "p", "wins/ties/losses of the second"]
        note = f"{self._report.headline_measure}, paired randomisation test, p after Holm's correction."
        if len(pairs) < len(self._report.list_pairs()):
            note += f" Pairs of the {len(self._runs)} best systems."
        return Table("Pairs of systems", make_columns(["pair"], titles), rows, note)

    def list_pairs(self) -> list[PairTest]:
        """The pairs that have a page: those of the systems that pages of queries show; none without these."""
        shown = {run.run_id for run in self._runs} if self._lines else set()
        return [pair for pair in self._report.list_pairs() if {pair.run_a, pair.run_b} <= shown]

    def name_pair(self, pair: PairTest) -> str:
        """The file of a pair's page."""
        one, other = self._find_sides(pair)
        return f"{name_pair(one.label, other.label)}.html"

    def _find_sides(self, pair: PairTest) -> tuple[NamedRun, NamedRun]:
        return self._subject.named[pair.run_a], self._subject.named[pair.run_b]

    def render_pair(self, pair: PairTest) -> str:
        """The page of two systems: the queries by the difference of the second from the first."""
        one, other = self._find_sides(pair)
        report = self._report
        low, high = (self._difference(end) for end in pair.interval)
        facts = [
            (f"{other.label} minus {one.label}", self._difference(pair.mean_difference)),
            (f"{pair.confidence * 100:.0f} % interval", f"{low} to {high}"),
            ("p, randomisation test", format_p(pair.randomisation_p)),
            (f"{other.label} higher, equal, lower", f"{pair.wins}, {pair.ties}, {pair.losses}"),
            ("Measure", report.headline_measure),
        ]
        plot = Picture(lambda: plot_differences(report, pair, name="pair"))
        sections = [Section("Differences", [plot]), Section("Query by query", self._list_differences(pair))]
        layout = Layout("../../../", [self._crumb()], self._swatches)
        title = f"{one.label} against {other.label}"
        return render_sections(
            layout, f"Two systems · {report.name}", title, sections, facts=facts, named=(one, other)
        )

    def _list_differences(self, pair: PairTest) -> list[Part]:
        both = [line for line in self._lines if {pair.run_a, pair.run_b} <= line.values.keys()]
        both.sort(key=lambda line: (line.values[pair.run_a] - line.values[pair.run_b], line.query_id))
        left_out = max(0, len(both) - MOST_ROWS)
        shown = [*both[: MOST_ROWS // 2], *both[-(MOST_ROWS // 2) :]] if left_out else both
        one, other = self._find_sides(pair)
        titles = [one.label, other.label, "difference", f"alike of {TOP}"]
        columns = make_columns(["query"], titles, ["text"])
        note = (
            f"{self._report.headline_measure} of each query; the difference is {other.label} minus "
            f"{one.label}. Alike are papers that both have among their first {TOP}."
        )
        if left_out:
            note += f" {left_out:,} queries between the highest and the lowest differences are left out."
        said: list[Part] = [
            Table("Query by query", columns, [self._draw_pair(line, pair) for line in shown], note)
        ]
        if left_out:
            said.append(Sql(select_differences(pair.run_b, pair.run_a, self._report.headline_measure)))
        if not both:
            said = [Words(["No query was scored for both."])]
        return said

    def _draw_pair(self, line: QueryLine, pair: PairTest) -> Row:
        values = [line.values[pair.run_a], line.values[pair.run_b]]
        cells = mark_best(values, self._report.scale, self._report.headline_measure)
        difference = self._difference(values[1] - values[0])
        alike = str(line.common[frozenset((pair.run_a, pair.run_b))])
        return make_row(self._link(line, "../"), *cells, difference, alike, line.name)

    def _difference(self, value: float) -> str:
        return format_difference(value, self._report.scale, self._report.headline_measure)

    def _crumb(self) -> tuple[str, str]:
        return self._report.name, f"{self._subject.folder}/index.html"


def _put_values_first(table: Table) -> Table:
    """The results with what counts beside the names, for narrow screens: origin and coverage come last."""
    last = [place for place, column in enumerate(table.columns) if column.title in ("from", "queries")]
    order = [*(place for place in range(len(table.columns)) if place not in last), *last]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in order),
        rows=[replace(row, cells=tuple(row.cells[place] for place in order)) for row in table.rows],
    )


def render_own(subject: OwnSubject) -> str:
    """The page of a benchmark whose task has a report of its own."""
    name = subject.benchmark.name
    layout = Layout("../../", warnings=subject.report.warnings, rest=select_scores(name))
    return make_site_environment().get_template(subject.template).render({**subject.values, **layout.fill()})


def find_benchmark_page(name: str) -> str:
    """The page of a benchmark, from the top of the site."""
    return f"{find_folder(name)}/{FIRST}"
