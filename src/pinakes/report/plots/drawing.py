"""Matplotlib figures as SVG that can stand in a page: the same bytes each time, colours by CSS variables.

The first six colours of series are from Okabe and Ito 2008, the others after Tol 2021; with their marks they
differ for colour-blind readers. In a page that sets
`--series-1` …, `--plot-muted`, they follow the page's theme; alone, the SVG shows the colours below.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK: Final = "#010203"
MUTED: Final = "#6f7682"
SERIES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3d2f8f", "#7d7a1c")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "p")
HATCHES: Final = ("", "///", "...", "xxx")
"""of bars, where the colours are used up"""
WIDTH_INCHES: Final = 7.6

_SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pinakes",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "grid.color": MUTED,
    "grid.alpha": 0.25,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
_THEMED: Final = {
    INK: "currentColor",
    MUTED: f"var(--plot-muted, {MUTED})",
    **{colour: f"var(--series-{number}, {colour})" for number, colour in enumerate(SERIES, 1)},
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a system is drawn: the first eight looks differ in colour, the next ones in mark."""

    colour: str
    marker: str
    hatch: str


def make_look(number: int) -> Look:
    """The look of a number, from 0.

    >>> make_look(1), make_look(9) == make_look(1)
    (Look(colour='#d55e00', marker='s', hatch=''), False)
    """
    colour, mark = place_look(number)
    return Look(SERIES[colour], MARKERS[mark], HATCHES[number // len(SERIES) % len(HATCHES)])


def place_look(number: int) -> tuple[int, int]:
    """The places of the colour and the mark of a look, from 0.

    >>> place_look(1), place_look(9)
    ((1, 1), (1, 2))
    """
    return number % len(SERIES), (number + number // len(SERIES)) % len(MARKERS)


@contextmanager
def plot_settings() -> Iterator[None]:
    """Matplotlib's settings for our plots, put back at the end; figures are made and written inside.

    A character that the measuring font lacks is no warning: the reader's fonts draw the text.
    """
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def make_axes(height_inches: float) -> tuple[Figure, Axes]:
    """A figure of our width and its one pair of axes."""
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")
    return figure, figure.add_subplot()


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Name the rows of a plot, the first at the top."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def write_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an `<svg>` element with a label for screen readers, without outside references.

    Args:
        name: prefix of the element's ids, so that several can stand in a page.
        description: what a reader who cannot see it is told.
    """
    stream = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(stream, format="svg", metadata=nothing)
    return _adapt(stream.getvalue(), name, description)


def _adapt(svg: str, name: str, description: str) -> str:
    body = svg[svg.index("<svg") :].strip()
    view_box = re.search(r'viewBox="[^"]*"', body)
    content = body[body.index(">") + 1 :]
    opening = f'<svg {view_box[0] if view_box else ""} role="img" aria-label={quoteattr(description)}>'
    content = re.sub(r"<metadata>.*?</metadata>", "", content, flags=re.DOTALL)
    content = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", content)
    content = re.sub(r"font: (?:(\w+) )?([\d.]+px) [^;\"]*", _write_font, content)
    for colour, themed in _THEMED.items():
        content = content.replace(colour, themed)
    return opening + content


def _write_font(match: re.Match[str]) -> str:
    weight = f"font-weight: {match[1]}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}; font-family: var(--plot-font, sans-serif)"
