"""What an error analysis is made of, as `pinakes.report.errors` gathers it from the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pinakes.report.data import RunRow, Scale

MISSING: Final = float("inf")
"""the rank of a candidate that a run did not rank, for an order"""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where a run has a candidate: 1 is the best."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ErrorCandidate:
    """A candidate that a run has too high or too low.

    Attributes:
        grade: None: nobody judged it.
        sources: what put it into the pool; empty where the benchmark does not say.
        ranked: run id -> where the run has it; without runs that do not rank it.
    """

    source_id: str
    title: str
    abstract: str
    grade: int | None
    sources: str
    ranked: Mapping[int, Ranked]

    def find_ranks(self, runs: Sequence[RunRow]) -> list[float]:
        """Its rank in each run, `MISSING` where there is none."""
        found = (self.ranked.get(run.run_id) for run in runs)
        return [MISSING if one is None else one.rank for one in found]


@dataclass(frozen=True, slots=True)
class QuerySentence:
    """A sentence of a query paper's abstract, and whether the query asks with it."""

    text: str
    is_requested: bool


@dataclass(frozen=True, slots=True)
class ErrorQuery:
    """A query with its errors.

    Attributes:
        groups: grouping column -> value.
        values: run id -> value of the headline measure.
        relevant: how many candidates are judged relevant.
        text: the query's own text; empty where it is a paper.
        title, abstract, sentences: of the query paper; `sentences` are empty where the abstract is not split.
        false_positives: candidates that are not relevant, highest first.
        low: relevant candidates, those that no run ranks first, then the lowest.
    """

    query_id: str
    groups: Mapping[str, str]
    values: Mapping[int, float]
    relevant: int
    text: str
    title: str
    abstract: str
    sentences: tuple[QuerySentence, ...]
    false_positives: tuple[ErrorCandidate, ...]
    low: tuple[ErrorCandidate, ...]


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """The errors of some runs of a benchmark, the worst query first.

    Attributes:
        relevant_from: the lowest grade that is relevant.
        top: how many candidates of each kind each run gives.
        left_out: queries that were too many, all of them better than the last one here.
    """

    name: str
    title: str
    measure: str
    scale: Scale
    relevant_from: int
    grades: Mapping[str, str]
    top: int
    runs: tuple[RunRow, ...]
    queries: tuple[ErrorQuery, ...]
    left_out: int = 0
