"""The links of `.X`: what they mean, and which become citations.

CACM's lines are `other, type, own`; its `cite.info` says the types: 4 bibliographic coupling, 5 "X cites Y,
Y cites X, or X == Y", 6 co-citation. Each link of type 5 stands in both records, and which of the two cites
is not said: it is taken to be the one that appeared later, by year and month, and in the same month the one
with the greater number. CISI's lines are `other, count, own`, counts of co-citation: no citations. So type 5
is a citation in a file that knows no types but these three.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pinakes.loaders.reading.qrels import unpad

_TYPES: Final = frozenset({"4", "5", "6"})
_CITATION: Final = "5"


class Link(NamedTuple):
    """A line of `.X`: in which record, which appeared when (year, month), and its cells."""

    own: str
    date: tuple[int, int]
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """What a file's links become.

    Attributes:
        cited: paper -> those that it cites.
        left_out: paper -> (kind, reason) -> lines of its `.X` that are no citation, or say one again.
    """

    cited: Mapping[str, list[str]] = field(default_factory=dict)
    left_out: Mapping[str, Counter[tuple[str, str]]] = field(default_factory=dict)


def find_links(lines: Iterable[Link]) -> Links:
    """The citations among the lines, and what is none: lines = citations + left out."""
    links = list(lines)
    dates = {link.own: link.date for link in links}
    is_typed = all(len(link.cells) == 3 and link.cells[1] in _TYPES for link in links)
    cited: dict[str, list[str]] = {}
    left_out: dict[str, Counter[tuple[str, str]]] = {}
    seen: set[frozenset[str]] = set()
    for own, _, cells in links:
        reason = _find_reason(own, cells, is_typed, seen)
        if reason is not None:
            left_out.setdefault(own, Counter())[reason] += 1
            continue
        other = unpad(cells[0])
        seen.add(frozenset((own, other)))
        citing, named = _order(own, other, dates)
        cited.setdefault(citing, []).append(named)
    return Links(cited, left_out)


def _find_reason(
    own: str, cells: tuple[str, ...], is_typed: bool, seen: set[frozenset[str]]
) -> tuple[str, str] | None:
    if not is_typed or cells[1] != _CITATION:
        return "field X", "no_column"
    other = unpad(cells[0])
    if other == own:
        return "field X", "no_value"
    return ("citations", "repeated") if frozenset((own, other)) in seen else None


def _order(own: str, other: str, dates: Mapping[str, tuple[int, int]]) -> tuple[str, str]:
    """The citing and the cited one."""
    if other not in dates:
        return own, other
    keys = [(dates[paper], len(paper), paper) for paper in (own, other)]
    return (own, other) if keys[0] > keys[1] else (other, own)
