"""What pages of queries consist of, thousands of times over: systems, papers, cells, in few characters.

Written here and not in the template, where each value would be looked up and escaped anew.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from markupsafe import escape

from pinakes.report.escapes import escape_marks
from pinakes.report.formatting import ABSENT, shorten
from pinakes.report.pages import Drawn
from pinakes.report.site.layout import NamedRun
from pinakes.report.site.queries import TOP, ShownPaper

_TITLE = 140


class QueryCells:
    """Draws systems and papers for the runs of a benchmark; a grade is filled where it is relevant."""

    def __init__(self, runs: Sequence[NamedRun], relevant_from: int) -> None:
        self._runs = runs
        self._relevant_from = relevant_from
        self._names = {run.run_id: _draw_name(run) for run in runs}
        self._heads = "".join(f'<th scope="col">{name}</th>' for name in self._names.values())

    def draw_name(self, run: NamedRun) -> Drawn:
        """The name of a system behind its swatch."""
        return _draw(self._names[run.run_id])

    def draw_heads(self) -> Drawn:
        """The heading of a column for each system."""
        return _draw(self._heads)

    def draw_values(self, values: Sequence[str]) -> Drawn:
        """Each system with its value."""
        return _draw(
            "\n".join(
                f"<div><dt>{name}</dt><dd><strong>{value}</strong></dd></div>"
                for name, value in zip(self._names.values(), values, strict=True)
            )
        )

    def draw_tops(self, tops: Sequence[Sequence[ShownPaper]]) -> Drawn:
        """A row for each rank, with the paper that each system has there."""
        rows = [
            f'<tr><th scope="row" class="number">{place + 1}</th>'
            + "".join(f"<td>{self._draw_short(one[place]) if place < len(one) else ''}</td>" for one in tops)
            for place in range(max(map(len, tops), default=0))
        ]
        return _draw("</tr>\n".join([*rows, ""]))

    def draw_papers(self, papers: Iterable[ShownPaper], label: str) -> Drawn:
        """A table of papers: title, grade, the rank in each run, links. Empty where there are none."""
        rows = "\n".join(map(self._draw_row, papers))
        return _draw(
            f'<div class="scroll" role="region" tabindex="0" aria-label="{_escape(label)}">\n'
            '<table class="sortable n-last papers">\n'
            f'<thead><tr><th scope="col">paper</th><th scope="col">grade</th>\n{self._heads}\n'
            f'<th scope="col">id</th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>'
            if rows
            else ""
        )

    def draw_scores(self, rows: Iterable[tuple[NamedRun, Sequence[str]]]) -> Drawn:
        """A row for each system with its values."""
        return _draw(
            "\n".join(
                f'<tr><th scope="row">{self._names[run.run_id]}</th>'
                + "".join(f'<td class="number">{value}</td>' for value in values)
                + "</tr>"
                for run, values in rows
            )
        )

    def _draw_short(self, paper: ShownPaper) -> str:
        return f"{self._draw_grade(paper.grade)} {_draw_title(paper)}"

    def _draw_row(self, paper: ShownPaper) -> str:
        found = paper.ranks
        ranks = "".join([_draw_rank(found.get(run.run_id)) for run in self._runs])
        links = "".join([f" {_link(_escape(name), address)}" for name, address in paper.links])
        empty = ' data-sort=""' if paper.grade is None else ""
        return (
            f'<tr><th scope="row">{_draw_title(paper)}</th><td{empty}>{self._draw_grade(paper.grade)}</td>'
            f'{ranks}<td class="links">{_escape(paper.source_id)}{links}</td></tr>'
        )

    def _draw_grade(self, grade: int | None) -> str:
        if grade is None:
            return '<b class="grade none">·</b>'
        return f'<b class="grade{" yes" if grade >= self._relevant_from else ""}">{grade}</b>'


def link_pages(pages: Iterable[tuple[str, str]]) -> Drawn:
    """Pages by text and address, beside each other."""
    return _draw(" · ".join(_link(_escape(text), address) for text, address in pages))


def _draw_rank(rank: int | None) -> str:
    if rank is None:
        return f'<td class="absent" data-sort="">{ABSENT}</td>'
    return f'<td class="top">{rank}</td>' if rank <= TOP else f"<td>{rank}</td>"


def _draw_name(run: NamedRun) -> str:
    return f'<span class="look c{run.swatch.colour} m{run.swatch.mark}">{_escape(run.label)}</span>'


def _draw_title(paper: ShownPaper) -> str:
    return _link_title(paper.title, paper.links[0][1] if paper.links else "")


@lru_cache(8_192)  # a page has a paper in several tables, and many pages have it
def _link_title(text: str, address: str) -> str:
    title = _escape(shorten(text, _TITLE) or "(no title)")
    return _link(title, address) if address else title


def _link(text: str, address: str) -> str:
    return f'<a href="{_escape(address)}">{text}</a>'


def _escape(text: str) -> str:
    return str(escape(escape_marks(text)))


def _draw(text: str) -> Drawn:
    return Drawn(text)  # each text of it was escaped above
