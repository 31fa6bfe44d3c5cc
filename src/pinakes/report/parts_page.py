"""The parts of a report's sections, as the template `parts.html` draws them and as Markdown."""

from collections.abc import Iterable

from markupsafe import Markup

from pinakes.report.layout import Table
from pinakes.report.markdown import escape_markdown, render_table
from pinakes.report.parts import Fold, Part, Picture, Section, Sql, Words


def describe_part(part: Part) -> dict[str, object]:
    """A part as the template draws it."""
    if isinstance(part, Words):
        return {"kind": "words", "lines": part.lines}
    if isinstance(part, Table):
        return {"kind": "table", "table": part}
    if isinstance(part, Picture):
        return {"kind": "picture", "svg": Markup(part.draw()), "caption": part.caption}  # noqa: S704 - matplotlib escapes the text
    if isinstance(part, Sql):
        return {"kind": "sql", "text": part.text, "title": part.title}
    return {"kind": "fold", "title": part.title, "parts": [describe_part(one) for one in part.parts]}


def render_section(section: Section) -> list[str]:
    """The section as Markdown, paragraph by paragraph, without its pictures; nothing where it has no more."""
    said = [text for part in section.parts for text in _render_part(part)]
    return [f"## {escape_markdown(section.heading)}", *said] if said else []


def _render_part(part: Part) -> Iterable[str]:
    if isinstance(part, Words):
        yield "\n".join(f"- {escape_markdown(line)}" for line in part.lines)
    elif isinstance(part, Table):
        yield render_table(part, level=3)
    elif isinstance(part, Fold):
        for one in part.parts:
            yield from _render_part(one)
