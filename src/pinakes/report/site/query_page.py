"""The page of a query: its text, the systems' highest papers side by side, what differs, judged papers."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from jinja2 import Template

from pinakes.report.formatting import ABSENT, format_value, shorten
from pinakes.report.pages import Drawn
from pinakes.report.site.gather import Subject
from pinakes.report.site.layout import Layout, NamedRun, make_site_environment
from pinakes.report.site.names import make_file_name, name_pair
from pinakes.report.site.queries import MOST_JUDGED, TOP, ShownPaper, ShownQuery
from pinakes.report.site.query_cells import QueryCells, link_pages
from pinakes.report.site.reader_sql import select_judged, select_rankings

MOST_DIFFERING: Final = 40
"""papers that a page shows of those that some systems have among their first"""
_HEADING: Final = 200


class QueryPages:
    """The pages of a benchmark's queries, of one template that is compiled once."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._runs = subject.list_shown()
        self._measures = subject.list_measures()
        self._cells = QueryCells(self._runs, subject.relevant_from)
        self._page: Template = make_site_environment().get_template("site/query.html")
        report, folder = subject.report, subject.folder
        crumbs = [(report.name, f"{folder}/index.html"), ("Queries", f"{folder}/queries.html")]
        self._shared = {
            **Layout("../../../", crumbs).fill(),
            "name": report.name,
            "relevant_from": subject.relevant_from,
            "grades": report.grades,
            "top": TOP,
            "left_out": len(report.query_values) - len(self._runs),
            "run_count": len(self._runs),
            "run_heads": self._cells.draw_heads(),
            "measures": self._measures,
            "pairs": link_pages(_list_pairs(subject, self._runs)),
        }

    def render(
        self, query: ShownQuery, before: tuple[str, str] | None = None, after: tuple[str, str] | None = None
    ) -> str:
        """The page; `before` and `after` are ids and addresses of its neighbours."""
        run_ids = [run.run_id for run in self._runs]
        tops = [query.list_top(run_id) for run_id in run_ids]
        differing = _find_differing(query, tops)
        shown = differing[:MOST_DIFFERING]
        judged = sorted(
            (one for one in query.papers if one.grade is not None),
            key=lambda one: (-(one.grade or 0), min(one.ranks.values(), default=1 << 60), one.paper_id),
        )[:MOST_JUDGED]
        cells, lead = self._cells, self._measures[0]
        return self._page.render(
            self._shared,
            query=query,
            title=shorten(query.name, _HEADING),
            values=cells.draw_values(
                [self._format(query.values.get(run_id, {}).get(lead), lead) for run_id in run_ids]
            ),
            tops=cells.draw_tops(tops),
            findings=self._find_alone(tops),
            differing=cells.draw_papers(shown, "Papers among the first of some systems"),
            differing_left_out=len(differing) - len(shown),
            judged=cells.draw_papers(judged, "Judged papers"),
            judged_count=len(judged),
            scores=cells.draw_scores(self._list_values(query)),
            sql=select_rankings(self._subject.report.name, run_ids, query.query_id),
            judged_sql=select_judged(self._subject.report.name, query.query_id),
            before=before,
            after=after,
        )

    def _format(self, value: float | None, measure: str) -> str:
        return ABSENT if value is None else format_value(value, self._subject.report.scale, measure)

    def _find_alone(self, tops: Sequence[Sequence[ShownPaper]]) -> list[tuple[Drawn, int, int]]:
        """The runs that alone have papers among their first: how many, and how many of these are relevant."""
        counted = Counter(paper.paper_id for one in tops for paper in one)
        found = []
        for run, one in zip(self._runs, tops, strict=True):
            alone = [paper for paper in one if counted[paper.paper_id] == 1]
            relevant = [paper for paper in alone if (paper.grade or 0) >= self._subject.relevant_from]
            if alone:
                found.append((self._cells.draw_name(run), len(alone), len(relevant)))
        return found

    def _list_values(self, query: ShownQuery) -> list[tuple[NamedRun, list[str]]]:
        return [
            (run, [self._format(values.get(measure), measure) for measure in self._measures])
            for run in self._runs
            if (values := query.values.get(run.run_id))
        ]


def _find_differing(query: ShownQuery, tops: Sequence[Sequence[ShownPaper]]) -> list[ShownPaper]:
    """The papers that some of the systems have among their first, and not all; the highest grades first."""
    sets = [{paper.paper_id for paper in one} for one in tops]
    some, every = set().union(*sets), set.intersection(*sets) if sets else set()
    found = [one for one in query.papers if one.paper_id in some - every]
    return sorted(
        found,
        key=lambda one: (-(-1 if one.grade is None else one.grade), min(one.ranks.values()), one.paper_id),
    )


def _list_pairs(subject: Subject, runs: Sequence[NamedRun]) -> list[tuple[str, str]]:
    """The pairs of the shown runs that have a page, as text and address."""
    shown = {run.run_id for run in runs}
    return [
        (
            f"{subject.named[pair.run_a].label} – {subject.named[pair.run_b].label}",
            f"../pair/{name_pair(subject.named[pair.run_a].label, subject.named[pair.run_b].label)}.html",
        )
        for pair in subject.report.list_pairs()
        if {pair.run_a, pair.run_b} <= shown
    ]


def find_query_page(query_id: str) -> str:
    """The file of a query's page, in the folder of the benchmark."""
    return f"query/{make_file_name(query_id)}.html"
