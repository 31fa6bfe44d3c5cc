"""What the tags of JATS mean for a running text."""

from typing import Final

from pinakes.loaders.reading.running_text import Element, Markup, read_running_text

MARKUP: Final = Markup(
    floats=frozenset(
        {
            "fig", "fig-group", "table-wrap", "table-wrap-group", "supplementary-material", "media", "fn",
            "fn-group", "alt-text", "long-desc", "object-id", "tex-math", "annotation", "annotation-xml",
            "contrib-group", "ref-list", "boxed-text",
        }
    ),
    blocks=frozenset(
        {
            "p", "title", "list", "list-item", "def-item", "def", "term", "disp-formula", "disp-quote",
            "verse-line", "break", "td", "th", "tr", "caption", "label", "sec",
        }
    ),
    containers=frozenset(
        {
            "p", "title", "td", "th", "caption", "fn", "list-item", "def", "term", "disp-quote",
            "verse-line", "attrib", "subtitle", "article-title",
        }
    ),
)  # fmt: skip


def read_text(element: Element | None) -> str | None:
    """The element's text with white space collapsed; None where there is none."""
    return read_running_text(element, MARKUP).text or None
