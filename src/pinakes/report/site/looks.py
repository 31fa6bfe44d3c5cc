"""Colours and marks that stay with systems over all pages of a site."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from pinakes.report.plots.drawing import SERIES, place_look

_SALT: Final = 10364
"""chosen so that bm25, tfidf, minilm and specter have the four colours that differ most"""


@dataclass(frozen=True, slots=True)
class Swatch:
    """What stands before a system's name: the number of its colour, from 1, and of its mark, from 0."""

    colour: int
    mark: int


def assign_looks(names: Iterable[str], before: Mapping[str, int] | None = None) -> dict[str, int]:
    """Name -> the number of its look: that of `before`, else by a hash of the name, or the next free one.

    Names come in the order in which they choose; who comes later moves nobody. A look is taken twice only
    where there are more systems than colours, and then with another mark.

    >>> assign_looks(["bm25", "tfidf"])["bm25"] == assign_looks(["bm25"])["bm25"]
    True
    >>> len(set(assign_looks([f"system {number}" for number in range(20)]).values()))
    20
    """
    looks = dict(before or {})
    for name in names:
        if name not in looks:
            taken = set(looks.values())
            looks[name] = next(place for place in _list_places(_digest(name)) if place not in taken)
    return looks


def _list_places(digest: int) -> Iterator[int]:
    """All numbers in the order in which a name wants them: each colour once, then each with another mark."""
    size = len(SERIES)
    return (layer * size + (digest + step) % size for layer in count() for step in range(size))


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{_SALT}:{name}".encode("utf-8", "surrogatepass")).digest()[:8])


def make_swatch(number: int) -> Swatch:
    """The swatch of a look, in the colour and mark of the plots.

    >>> make_swatch(1), make_swatch(9)
    (Swatch(colour=2, mark=1), Swatch(colour=2, mark=2))
    """
    colour, mark = place_look(number)
    return Swatch(colour + 1, mark)
