"""A line for each query, kept while pages are streamed, for the tables of queries and of pairs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from pinakes.report.formatting import shorten
from pinakes.report.site.queries import ShownQuery

NAME_LENGTH: Final = 110


@dataclass(frozen=True, slots=True)
class QueryLine:
    """A query in a table.

    Attributes:
        name: its title or text, cut.
        values: run id -> the headline; without runs that lack it.
        common: two run ids -> papers that both have among their first ten.
    """

    query_id: str
    name: str
    groups: Mapping[str, str]
    relevant: int
    values: Mapping[int, float]
    common: Mapping[frozenset[int], int]

    @property
    def spread(self) -> float:
        """By how much the highest value is above the lowest."""
        return max(self.values.values(), default=0.0) - min(self.values.values(), default=0.0)


def make_line(query: ShownQuery, run_ids: Sequence[int], measure: str) -> QueryLine:
    """The line of a query."""
    tops = {run_id: {one.paper_id for one in query.list_top(run_id)} for run_id in run_ids}
    values = {run_id: of_run[measure] for run_id, of_run in query.values.items() if measure in of_run}
    return QueryLine(
        query.query_id,
        shorten(query.name, NAME_LENGTH),
        query.groups,
        query.relevant,
        values,
        {frozenset(pair): len(tops[pair[0]] & tops[pair[1]]) for pair in combinations(run_ids, 2)},
    )


def order_ids(ids: Iterable[str]) -> list[str]:
    """Ids as a reader counts: numbers in them by their size.

    >>> order_ids(["q10", "q9", "2", "10"])
    ['2', '10', 'q9', 'q10']
    """
    return sorted(ids, key=_split)


def _split(text: str) -> tuple[list[tuple[bool, int, str]], str]:
    parts = [part for part in re.split(r"([0-9]{1,18})", text) if part]
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts], text
