"""Records that parts hand to each other where they do not meet in the database.

A field has the column's name. Nothing here computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Judgments = Mapping[str, Mapping[str, int]]
"""query id -> source id of a paper -> grade"""


@dataclass(frozen=True, slots=True)
class Score:
    """One value of one measure: of a query, or of a subset of the queries when `query_id` is None.

    `queries_expected` counts the queries that the subset has judgments for, `queries_answered` those of them
    that the ranking holds; the rest are missing, and each missing one counts as zero.
    """

    measure: str
    subset: str
    query_id: str | None
    value: float
    queries_expected: int
    queries_answered: int

    @property
    def queries_missing(self) -> int:
        """How many expected queries the ranking lacks."""
        return self.queries_expected - self.queries_answered


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over the groups of a column, each counting once, however many queries it has.

    Attributes:
        name: the subset's name in `scores`.
        column: the column of `group_by` whose groups are averaged.
        decimals: None: the groups' means as they are. A number: means and average are rounded as MDCR's
            evaluate.py does, which multiplies by 100 first: 6 decimals of a share are 4 of its percentage.
            Each mean is rounded, then the mean of these, so that 100 times it prints the published figure.
    """

    name: str
    column: str
    decimals: int | None = None
