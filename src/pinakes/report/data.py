"""What a report is made of, unrounded, as `pinakes.report.gather` gathers it from the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from pinakes.report.exhibits.data import Exhibit

if TYPE_CHECKING:  # it loads scipy, which a command that prints a list does not need
    from pinakes.evaluate.compare import ResampledPair

Scale = Literal["share", "percent"]
"""how values are shown: 0.5328, or 53.28 as the benchmark's published figures are printed"""

FEW_MEASURES: Final = 8
"""as many measures stand beside each other before a table leaves some out"""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: the columns of `runs`, and `label`, a name that no other run of the report has.

    Attributes:
        encoder: the encoder's name where the system compares vectors.
        parameters: the system's parameters as a JSON object.
        is_current: whether the benchmark was defined then as it is now.
        published_as: the published system that the run is; "" is none, None: the benchmark does not say.
    """

    run_id: int
    label: str
    system: str
    parameters: str
    encoder: str | None
    encoder_revision: str | None
    precision: str | None
    query_template: str | None
    paper_template: str | None
    code_version: str
    dataset_digest: str
    view_digest: str
    run_digest: str
    device: str | None
    depth: int | None
    started_at: datetime
    elapsed_s: float
    queries_expected: int
    queries_answered: int
    candidates_expected: int
    candidates_without_text: int
    hit_count: int
    imported_from: str | None
    import_digest: str | None
    is_current: bool
    published_as: str | None = None

    @property
    def queries_missing(self) -> int:
        """Queries of the benchmark that have no hit."""
        return self.queries_expected - self.queries_answered


@dataclass(frozen=True, slots=True)
class SubsetScore:
    """One measure of one run over one subset of the queries; a missing query is in it as zero."""

    run_id: int
    subset: str
    measure: str
    value: float
    queries_expected: int
    queries_answered: int

    @property
    def queries_missing(self) -> int:
        """Expected queries that the run did not answer."""
        return self.queries_expected - self.queries_answered


@dataclass(frozen=True, slots=True)
class Spread:
    """How a value of a run moves with the repeats of its pools: the sample's deviation, if they compare."""

    run_id: int
    subset: str
    measure: str
    repeats: int
    deviation: float | None


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure that a paper reports: `value` on the scale of our scores, `printed` as it stands there."""

    system: str
    subset: str
    measure: str
    source: str
    value: float
    printed: str


@dataclass(frozen=True, slots=True)
class PairTest:
    """Paired tests of run b against run a over the queries of a subset; p values after Holm's correction.

    `mean_difference` and `interval` are of b - a; `wins` counts the queries where b is above.
    """

    run_a: int
    run_b: int
    queries: int
    mean_difference: float
    interval: tuple[float, float]
    confidence: float
    wins: int
    ties: int
    losses: int
    effect_size: float
    t_test_p: float
    wilcoxon_p: float
    randomisation_p: float
    subset: str = "all"


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A value that an evaluation gave and that was new.

    Attributes:
        at: when; never before that of the point before, though a clock went back.
        changes: what was another than at the point before, in words; of a first point nothing.
    """

    at: datetime
    run_id: int | None
    value: float
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryCurve:
    """The values of a run and of the runs of the same settings before it, oldest first.

    Attributes:
        run_id: the run of the report that it leads to.
        until: when the last of them was evaluated last.
    """

    run_id: int
    points: tuple[HistoryPoint, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All that a report on one benchmark shows.

    Attributes:
        headline_measure: the measure that the report leads with.
        headline_subset: the subset that it leads with: all queries, or the published split of them.
        measures, subsets: in the order in which they are shown.
        sizes: the subsets `pool_size=…`, smallest first; they are none of `subsets`.
        types: the subsets `type=…`, one candidate type each; they are none of `subsets` either.
        spreads: over the repeats of pools and of few-shot draws, where there are any.
        grades: grade -> what it means.
        query_values: run id -> query id -> value of the headline measure.
        published_measures: in the order in which papers print them.
        exhibits: tables and figures that the benchmark asks for, besides those of runs.
        history: of the headline over its subset; none where no value was ever another.
        looks: run id -> number of its look in plots; a run that has none is drawn by its place.
        resampled: in place of `comparisons` where a value is no mean over single queries.
        warnings: what a reader must know before comparing the figures.
    """

    name: str
    title: str
    citation: str
    licence: str
    headline_measure: str
    headline_subset: str
    measures: tuple[str, ...]
    subsets: tuple[str, ...]
    sizes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    scale: Scale = "share"
    grades: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    runs: Sequence[RunRow] = ()
    scores: Sequence[SubsetScore] = ()
    spreads: Sequence[Spread] = ()
    published: Sequence[PublishedFigure] = ()
    query_values: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    comparisons: Sequence[PairTest] = ()
    warnings: Sequence[str] = ()
    published_measures: tuple[str, ...] = ()
    exhibits: Sequence[Exhibit] = ()
    resampled: Sequence["ResampledPair"] = ()
    history: Sequence[HistoryCurve] = ()
    looks: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_by_measure(self) -> bool:
        """Whether each measure has a table of all subsets, instead of each subset one of all measures."""
        return len(self.measures) <= FEW_MEASURES and any(name.startswith("mean(") for name in self.subsets)

    @property
    def has_repeats(self) -> bool:
        """Whether queries have several pools."""
        return bool(self.sizes or self.index_deviations())

    def find_run(self, run_id: int) -> RunRow:
        """The run of that id."""
        return next(run for run in self.runs if run.run_id == run_id)

    def find_look(self, run: RunRow, place: int) -> int:
        """The number of a run's look, where `place` is its place in the plot."""
        return self.looks.get(run.run_id, place)

    def index_scores(self) -> dict[tuple[int, str, str], SubsetScore]:
        """(run id, subset, measure) -> score."""
        return {(score.run_id, score.subset, score.measure): score for score in self.scores}

    def index_deviations(self) -> dict[tuple[int, str, str], float]:
        """(run id, subset, measure) -> standard deviation over the repeats, where there are several."""
        return {
            (spread.run_id, spread.subset, spread.measure): spread.deviation
            for spread in self.spreads
            if spread.deviation is not None
        }

    def index_published(self) -> dict[tuple[str, str, str], PublishedFigure]:
        """(system, subset, measure) -> figure; of two sources the one that comes first."""
        return {(one.system, one.subset, one.measure): one for one in reversed(self.published)}

    def list_published(self, subset: str, measure: str) -> list[PublishedFigure]:
        """The published figures of a measure over a subset."""
        return [figure for figure in self.published if (figure.subset, figure.measure) == (subset, measure)]

    def list_pairs(self, subset: str = "all") -> list[PairTest]:
        """The pairs of runs that were compared over the queries of a subset."""
        return [pair for pair in self.comparisons if pair.subset == subset]

    def rank_runs(self) -> list[RunRow]:
        """The runs, best first by the headline; runs without scores last."""
        scores = self.index_scores()

        def key(run: RunRow) -> tuple[bool, float, int]:
            score = scores.get((run.run_id, self.headline_subset, self.headline_measure))
            return (score is None, 0.0 if score is None else -score.value, run.run_id)

        return sorted(self.runs, key=key)

    def list_measures(self, subset: str) -> list[str]:
        """The measures that some run has a score by, or some paper a figure, over a subset."""
        found = {score.measure for score in self.scores if score.subset == subset}
        return in_order(self.measures, found | {f.measure for f in self.published if f.subset == subset})

    def list_lead_measures(self, subset: str) -> list[str]:
        """The headline, then the other measures: all where they are few, else those that papers report."""
        listed = self.list_measures(subset)
        if len(listed) > FEW_MEASURES:
            published = {figure.measure for figure in self.published if figure.subset == subset}
            listed = in_order(self.measures, published) or listed[:FEW_MEASURES]
        return in_order([self.headline_measure, *listed], {self.headline_measure, *listed})

    def list_sources(self, subset: str) -> list[str]:
        """Which papers report figures of a subset."""
        return sorted({figure.source for figure in self.published if figure.subset == subset})


def in_order(order: Sequence[str], found: Iterable[str]) -> list[str]:
    """The names that were found, in the given order; names that it lacks come last, by alphabet.

    >>> in_order(["b", "a"], {"a", "c", "b"})
    ['b', 'a', 'c']
    """
    places = {name: place for place, name in enumerate(order)}
    return sorted(set(found), key=lambda name: (places.get(name, len(places)), name))
