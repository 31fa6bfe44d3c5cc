"""What the sections of the report are made of; a picture is drawn when it is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pinakes.report.layout import Table


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot that is drawn when it is called, and what stands below it."""

    draw: Callable[[], str]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences, each a line of a list."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fold:
    """What a reader opens."""

    title: str
    parts: Sequence[Table | Picture | Words]


@dataclass(frozen=True, slots=True)
class Sql:
    """A query that gives all rows of what stands above it, for a reader to copy."""

    text: str
    title: str = "All in SQL"


Part = Words | Table | Picture | Fold | Sql


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: Sequence[Part]


def fold(title: str, parts: Sequence[Table | Picture | Words]) -> list[Part]:
    """A fold of the parts; nothing where there are none."""
    return [Fold(title, parts)] if parts else []
