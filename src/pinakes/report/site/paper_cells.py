"""A paper as the pages of queries show it, several times a page: drawn once, in few characters.

Written here and not in the template, since these are nearly all that such a page consists of.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from pinakes.report.escapes import escape_marks
from pinakes.report.formatting import ABSENT, shorten
from pinakes.report.site.queries import TOP, ShownPaper

_TITLE = 140


class PaperCells:
    """Draws papers for the runs of a benchmark; a grade is filled where it is relevant."""

    def __init__(self, run_ids: Sequence[int], relevant_from: int) -> None:
        self._run_ids = run_ids
        self._relevant_from = relevant_from

    def draw_short(self, paper: ShownPaper) -> Markup:
        """Its grade and its title."""
        return Markup(f"{self._draw_grade(paper.grade)} {_draw_title(paper)}")  # noqa: S704 - escaped below

    def draw_row(self, paper: ShownPaper) -> Markup:
        """A row of a table: title, grade, the rank in each run, links."""
        ranks = "".join(self._draw_rank(paper.ranks.get(run_id)) for run_id in self._run_ids)
        links = "".join(f" {_draw_link(name, address)}" for name, address in paper.links)
        empty = ' data-sort=""' if paper.grade is None else ""
        return Markup(  # noqa: S704 - escaped here
            f'<tr><th scope="row">{_draw_title(paper)}</th><td{empty}>{self._draw_grade(paper.grade)}</td>'
            f'{ranks}<td class="links">{_escape(paper.source_id)}{links}</td></tr>'
        )

    def _draw_grade(self, grade: int | None) -> str:
        if grade is None:
            return '<b class="grade none">·</b>'
        return f'<b class="grade{" yes" if grade >= self._relevant_from else ""}">{grade}</b>'

    def _draw_rank(self, rank: int | None) -> str:
        if rank is None:
            return f'<td class="absent" data-sort="">{ABSENT}</td>'
        return f'<td class="top">{rank}</td>' if rank <= TOP else f"<td>{rank}</td>"


def _draw_title(paper: ShownPaper) -> str:
    title = _escape(shorten(paper.title, _TITLE) or "(no title)")
    return _link(title, paper.links[0][1]) if paper.links else title


def _draw_link(name: str, address: str) -> str:
    return _link(_escape(name), address)


def _link(text: str, address: str) -> str:
    return f'<a href="{_escape(address)}">{text}</a>'


def _escape(text: str) -> str:
    return str(escape(escape_marks(text)))
