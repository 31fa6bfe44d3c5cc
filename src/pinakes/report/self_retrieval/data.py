"""What the report on alternative-self retrieval is made of, unrounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pinakes.queries.definition import PublishedScore
from pinakes.report.asked_runs import AskedRun
from pinakes.report.self_retrieval.names import CATEGORIES, OWN, split_published
from pinakes.report.stored_values import Value


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of textual neighbour, and the category that the paper puts it in; `own` of a user's own."""

    code: str
    category: str


@dataclass(frozen=True, slots=True)
class LossBin:
    """The neighbours of a code that have about as much changed.

    Attributes:
        place: number of the bin of `aggregate.EDGES`; 0: nothing is changed.
        changed: sum over the pairs of the share of characters that are changed.
        not_first: pairs that do not find their original first.
        lost: sum over the pairs of one minus the reciprocal rank.
    """

    place: int
    pairs: int
    changed: float
    not_first: int
    lost: float

    def __add__(self, other: "LossBin") -> "LossBin":
        """Both together, in the bin of the first."""
        return LossBin(
            self.place,
            self.pairs + other.pairs,
            self.changed + other.changed,
            self.not_first + other.not_first,
            self.lost + other.lost,
        )


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike all pairs of the neighbours of a code are: the columns of `similarity_statistics`."""

    papers: int
    pairs: int
    lowest: float
    highest: float
    mean: float
    deviation: float
    above_mean: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many papers of a corpus have a neighbour of a code, and why the others have none, by reason.

    Attributes:
        equal: neighbours whose text is that of their paper.
        distinct: different texts among the neighbours.
    """

    corpus: str
    producer: str
    code: str
    papers: int
    made: int
    absent: Mapping[str, int]
    equal: int
    distinct: int


@dataclass(frozen=True, slots=True)
class Capability:
    """The rows of the view `capability` in one reading: Table 5 of the paper.

    Attributes:
        limits: category -> what AOP-20 in per cent must be above and below; None: no limit.
        values: (run, category) -> AOP-20 in per cent, and whether it is within the limits.
    """

    limits: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    values: Mapping[tuple[int, str], tuple[float, bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ViewRows:
    """The rows of a view of the benchmark."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


PlaneMap = Mapping[str, NDArray[np.float64]]
"""code -> its points (n, 2)"""


@dataclass(frozen=True, slots=True)
class SelfReport:
    """All that the report shows.

    Attributes:
        codes: by category, in the paper's order.
        runs: by corpus, then best first.
        values: (run, subset, measure) -> score.
        losses: (run, code) -> its bins, by the share that is changed.
        overlaps: (run, code, reading) -> of how many neighbours 0 to 10 of the 10 nearest are shared.
        same: (run, code) -> sampled neighbours that are the same to the system as the original.
        views: name -> rows of the benchmark's views that are shown as they are.
        warnings: what a reader must know before comparing.
    """

    name: str
    title: str
    citation: str
    licence: str
    mode: str
    codes: Sequence[Code] = ()
    runs: Sequence[AskedRun] = ()
    values: Mapping[tuple[int, str, str], Value] = field(default_factory=dict)
    published: Sequence[PublishedScore] = ()
    losses: Mapping[tuple[int, str], Sequence[LossBin]] = field(default_factory=dict)
    overlaps: Mapping[tuple[int, str, str], Sequence[int]] = field(default_factory=dict)
    same: Mapping[tuple[int, str], int] = field(default_factory=dict)
    similarities: Mapping[tuple[int, str], Similarity] = field(default_factory=dict)
    maps: Mapping[int, PlaneMap] = field(default_factory=dict)
    capability: Capability = field(default_factory=Capability)
    coverage: Sequence[Coverage] = ()
    views: Mapping[str, ViewRows] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def list_corpora(self) -> list[str]:
        """The corpora that some run asked, by name."""
        return sorted({run.corpus for run in self.runs})

    def list_runs(self, corpus: str) -> list[AskedRun]:
        """The runs that asked a corpus, best first."""
        return [run for run in self.runs if run.corpus == corpus]

    def list_categories(self) -> list[str]:
        """The categories that some code is of, the most alike first, a user's own last."""
        found = {one.category for one in self.codes}
        return [*(name for name in CATEGORIES if name in found), *([OWN] if OWN in found else [])]

    def list_codes(self, category: str) -> list[str]:
        """The codes of a category, in order."""
        return [one.code for one in self.codes if one.category == category]

    def index_published(self) -> dict[tuple[str, str, str, str], PublishedScore]:
        """(corpus, system, subset, measure) -> figure; of two sources the first."""
        return {
            (corpus, one.system, subset, one.measure): one
            for one in reversed(self.published)
            for corpus, subset in [split_published(one.subset)]
        }
