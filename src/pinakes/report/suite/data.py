"""What the report on a suite is made of, unrounded."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.evaluators.paired import Difference
from pinakes.queries.definition import PublishedScore
from pinakes.queries.suites import AVERAGE, Suite


@dataclass(frozen=True, slots=True, order=True)
class FigureKey:
    """A figure of a suite: the benchmark's, by its number."""

    benchmark: str
    figure: int


@dataclass(frozen=True, slots=True)
class Figure:
    """What a figure is: its group, the format of its benchmark, and the scores that it is the mean of.

    Attributes:
        scores: subset and measure of each.
        in_average: whether it counts in averages.
    """

    key: FigureKey
    group: str
    format: str | None
    scores: tuple[tuple[str, str], ...]
    in_average: bool


@dataclass(frozen=True, slots=True)
class FigureScore:
    """A figure of one system: the columns of the view `suite_scores`."""

    run_id: int
    value: float | None
    low: float | None
    high: float | None
    queries_expected: int | None
    queries_answered: int | None


@dataclass(frozen=True, slots=True)
class Standing:
    """The averages of a system over the figures of a board.

    Attributes:
        averages: group, and `Average` -> the mean of its figures of the board.
        interval: of the average over all figures; None where no resamples are.
        letters: systems that share one do not differ.
        coverage: the share of queries and test papers that have an answer, over the figures.
        published: the published rows of the same encoder, by source.
    """

    system: str
    averages: Mapping[str, float]
    interval: tuple[float, float] | None
    letters: str
    coverage: float
    published: Mapping[str, Mapping[str, PublishedScore]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Board:
    """The ranking of the systems of one mode over the same figures, best first.

    Attributes:
        format: whose figures are averaged; None: all.
        figures: those of the board; `expected` are all that there are.
        ranked: the systems that have every figure of the board.
        apart: the others: how many of the board's figures each has.
        differences: of every pair of the ranked, on the same resamples.
        fixed: figures of the board that have no resamples, and do not move in the tests.
    """

    mode: str
    format: str | None
    figures: Sequence[Figure]
    expected: Sequence[Figure]
    ranked: Sequence[Standing]
    apart: Mapping[str, int]
    differences: Sequence[Difference[str]]
    fixed: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the board is over all figures of the suite."""
        return len(self.figures) == len(self.expected)

    def is_whole(self, group: str) -> bool:
        """Whether the board has every figure of a group, so that published averages are of the same."""
        of_board, of_all = (
            sum(group in (AVERAGE, one.group) for one in figures) for figures in (self.figures, self.expected)
        )
        return of_board == of_all


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """All that a report on a suite shows.

    Attributes:
        figures: all of them, by group, benchmark and number.
        scores: mode -> system -> figure -> its score.
        boards: by mode: over all formats, then over those that averages were published of.
        warnings: what a reader must know before comparing.
    """

    suite: Suite
    figures: Sequence[Figure]
    scores: Mapping[str, Mapping[str, Mapping[FigureKey, FigureScore]]]
    boards: Sequence[Board]
    warnings: Sequence[str]

    def list_groups(self, board: Board) -> list[str]:
        """The groups of which a board has figures, then the average of all."""
        return [
            *(name for name in self.suite.groups if any(one.group == name for one in board.figures)),
            AVERAGE,
        ]


def mean_of(values: Iterable[float]) -> float:
    """The mean, its sum exactly rounded.

    >>> mean_of([0.1] * 10)
    0.1
    """
    listed = list(values)
    return math.fsum(listed) / len(listed)
