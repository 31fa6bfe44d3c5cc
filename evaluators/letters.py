"""Which systems do not differ, as letters: two that share one were found equal."""

from collections.abc import Collection, Hashable, Sequence
from string import ascii_lowercase
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def assign_letters(ordered: Sequence[T], different: Collection[tuple[T, T]]) -> dict[T, str]:
    """The letters of each of the systems, given best first, from the pairs that differ (in either order).

    Two share a letter if and only if they do not differ; the best system has the first one. By insertion and
    absorption (Piepho 2004, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons).

    >>> assign_letters(["best", "second", "third"], [("best", "third")])
    {'best': 'a', 'second': 'ab', 'third': 'b'}
    >>> assign_letters(["best", "second"], [])
    {'best': 'a', 'second': 'a'}
    """
    columns: list[frozenset[T]] = [frozenset(ordered)] if ordered else []
    for one, other in different:
        split = [
            part
            for column in columns
            for part in ((column - {one}, column - {other}) if {one, other} <= column else (column,))
        ]
        columns = _absorb(split)
    place = {system: number for number, system in enumerate(ordered)}
    columns.sort(key=lambda column: sorted(place[system] for system in column))
    named = list(zip(map(_name, range(len(columns))), columns, strict=True))
    return {system: "".join(name for name, column in named if system in column) for system in ordered}


def _absorb(columns: Sequence[frozenset[T]]) -> list[frozenset[T]]:
    """The columns that are within no other one, each once."""
    unique = list(dict.fromkeys(columns))
    return [column for column in unique if not any(column < other for other in unique)]


def _name(number: int) -> str:
    """The letter of a number, from 0; after z come letters with a number.

    >>> _name(0), _name(25), _name(26)
    ('a', 'z', 'a2')
    """
    round_, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(round_ + 1) if round_ else "")
