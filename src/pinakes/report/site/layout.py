"""How every page of a site is laid out: its environment of templates, the way to the top, its contents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from pinakes.report.pages import make_environment
from pinakes.report.parts import Section
from pinakes.report.parts_page import describe_part
from pinakes.report.site.looks import Swatch

MOST_ROWS: Final = 300
"""rows that a table of a page has"""
_HEADING: Final = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)
_NAMED: Final = re.compile(r'<h2 id="([^"]*)">(.*?)</h2>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the layout of a page asks for.

    Attributes:
        root: the way from the page to the top of the site, empty or ending in a stroke.
        crumbs: the pages above it: what they are called, and where they are from the top.
        looks: the label of a system -> its swatch.
        rest: a query that gives the rows that tables have no room for.
        wide: whether the contents stand above the sections, whose tables need the room.
    """

    root: str
    crumbs: Sequence[tuple[str, str]] = ()
    looks: Mapping[str, Swatch] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    rest: str = ""
    wide: bool = False

    def fill(self) -> dict[str, object]:
        """The names that the templates of the layout have."""
        return {
            "layout": "site/page.html",
            "root": self.root,
            "crumbs": self.crumbs,
            "looks": self.looks,
            "warnings": self.warnings,
            "most_rows": MOST_ROWS,
            "rest": self.rest,
            "wide": self.wide,
        }


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run as pages name it."""

    run_id: int
    label: str
    swatch: Swatch


@cache
def make_site_environment() -> Environment:
    """Where the templates of pages are looked up, with the filter `contents`."""
    environment = make_environment()
    environment.filters["contents"] = add_contents
    return environment


def render_sections(
    layout: Layout,
    kind: str,
    title: str,
    sections: Sequence[Section],
    *,
    facts: Sequence[tuple[str, str]] = (),
    named: Sequence[NamedRun] = (),
    pager: Sequence[tuple[str, str]] = (),
) -> str:
    """A page of sections. `named` are the systems that the heading names, `pager` pages beside this one."""
    page = make_site_environment().get_template("site/tables.html")
    return page.render(
        layout.fill(),
        kind=kind,
        title=title,
        facts=facts,
        named=named,
        pager=pager,
        sections=[(one.heading, [describe_part(part) for part in one.parts]) for one in sections],
    )


def list_headings(page: str) -> list[tuple[str, str]]:
    """The headings of the sections of a page, as text, with their ids.

    >>> list_headings(add_contents("<h2>Text &amp; <i>more</i></h2>"))
    [('Text & more', 'text-more')]
    """
    return [(re.sub(r"<[^>]*>", "", unescape(text)), key) for key, text in _NAMED.findall(page)]


def add_contents(body: str, wide: bool = False) -> Markup:
    """The body of a page with ids in its second headings, behind links to these if there are several.

    >>> '<h2 id="what-differs">What differs</h2>' in add_contents("<h2>What differs</h2>")
    True
    >>> "<nav" in add_contents("<h2>One</h2>"), "<nav" in add_contents("<h2>One</h2><h2>Two</h2>")
    (False, True)
    """
    links: list[tuple[str, str]] = []
    taken: set[str] = set()

    def name(match: re.Match[str]) -> str:
        text = match[1]
        words = re.sub(r"<[^>]*>", "", unescape(text)).lower()
        stem = re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "section"
        key, number = stem, 2
        while key in taken:
            key, number = f"{stem}-{number}", number + 1
        taken.add(key)
        links.append((key, text))
        return f'<h2 id="{key}">{text}</h2>'

    marked = _HEADING.sub(name, body)
    listed = "".join(f'<li><a href="#{key}">{text}</a></li>' for key, text in links)
    contents = (
        f'<nav class="contents" aria-label="Contents"><h2>On this page</h2><ol>{listed}</ol></nav>'
        if len(links) > 1
        else ""
    )
    body_class = "body roomy" if wide else "body" if contents else "body whole"
    return Markup(f'<div class="{body_class}">{contents}<div class="sections">{marked}</div></div>')  # noqa: S704 - made of markup
