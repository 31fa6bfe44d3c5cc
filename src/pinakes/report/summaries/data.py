"""What the report on extraction of sentences is made of, unrounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.queries.definition import PublishedScore
from pinakes.report.asked_runs import AskedRun
from pinakes.report.stored_values import Value
from pinakes.report.summaries.names import Variation
from pinakes.workload.summaries import AskedMode

Asked = tuple[str, str]
"""the corpus that runs asked, and the producer of its examples"""


@dataclass(frozen=True, slots=True)
class PartCount:
    """One side of a split.

    Attributes:
        sentences: those of the examples, each counted in every example.
        leaked, leaked_sentences: of these, how many are of papers that training examples are of.
    """

    examples: int
    sentences: int
    leaked: int = 0
    leaked_sentences: int = 0


@dataclass(frozen=True, slots=True)
class Dataset:
    """The examples of a corpus by one producer.

    Attributes:
        pairs: of a paper and a work that it cites: the examples and all that are none.
        absent: reason -> pairs.
        papers, works: that are in some example.
        sentences: of these papers, each counted once.
        median_sentences: of a document.
        splits: scheme -> part -> how many.
    """

    pairs: int
    examples: int
    absent: Mapping[str, int]
    papers: int
    works: int
    sentences: int
    median_sentences: float
    splits: Mapping[str, Mapping[str, PartCount]]


@dataclass(frozen=True, slots=True)
class Positives:
    """Relevant sentences of the examples of one part, in one mode: Table 4.

    Attributes:
        without: examples without a relevant sentence.
        mean_positives: relevant sentences of an example.
        shares: column of the view `positives` -> share of relevant sentences among those of an example.
        spans: length -> how many runs of consecutive relevant sentences, and their share of all.
    """

    examples: int
    without: int
    mean_positives: float
    shares: Mapping[str, float]
    spans: Mapping[int, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class PrintedPositives:
    """What the paper prints in Table 4: shares by column, and spans by length."""

    shares: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepScores:
    """The summary's ROUGE behind a step of the augmentation, over the examples that have that step."""

    step: int
    examples: int
    first_quartile: float
    median: float
    third_quartile: float


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of the example that is read side by side.

    Attributes:
        number: its place in the document, from 1.
        is_citing: whether it is relevant as a citing sentence, not as one that was added.
        step: in which step the augmentation added it; None: it did not.
        ranks: run id -> its rank, from 1, where it is among the run's first.
    """

    number: int
    section: str | None
    text: str
    is_citing: bool
    step: int | None
    ranks: Mapping[int, int]

    @property
    def is_marked(self) -> bool:
        """Whether anybody points to it."""
        return self.is_citing or self.step is not None or bool(self.ranks)


@dataclass(frozen=True, slots=True)
class Gap:
    """Sentences of the document that are not shown."""

    sentences: int


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example side by side: what the paper says of a work, and what each run takes to say it.

    Attributes:
        reference: title of the cited work, or its key.
        contexts: the citing contexts.
        lines: sentences and gaps, in the document's order; long documents have only what is marked, with its
            neighbours.
        values: run id -> its average precision of the example.
        sentences, relevant: of the document.
    """

    query_id: str
    paper: str
    title: str | None
    reference: str
    query: str
    contexts: Sequence[str]
    lines: Sequence[ShownSentence | Gap]
    runs: Sequence[AskedRun]
    values: Mapping[int, float]
    sentences: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Trained:
    """A model that a run trained, as `trained_models` has it."""

    trial: int
    settings: str
    epochs: int
    dev_score: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """All that the report shows, of runs of one mode.

    Attributes:
        asked_mode: which split, labels and sentences the mode reads.
        runs: by corpus, then best first.
        variations: run id -> what it is in the paper's terms.
        values: (run, subset, measure) -> score.
        curves: (corpus, producer) -> labeller -> its steps.
        trained: run id -> the models that it trained, in order.
        warnings: what a reader must know before comparing.
    """

    name: str
    title: str
    citation: str
    licence: str
    mode: str
    asked_mode: AskedMode
    runs: Sequence[AskedRun] = ()
    variations: Mapping[int, Variation] = field(default_factory=dict)
    values: Mapping[tuple[int, str, str], Value] = field(default_factory=dict)
    published: Sequence[PublishedScore] = ()
    datasets: Mapping[Asked, Dataset] = field(default_factory=dict)
    positives: Mapping[Asked, Positives] = field(default_factory=dict)
    printed: PrintedPositives = field(default_factory=PrintedPositives)
    curves: Mapping[Asked, Mapping[str, Sequence[StepScores]]] = field(default_factory=dict)
    examples: Sequence[ShownExample] = ()
    trained: Mapping[int, Sequence[Trained]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def list_corpora(self) -> list[str]:
        """The corpora that some run asked, by name."""
        return sorted({run.corpus for run in self.runs})

    def find_value(self, run_id: int, measure: str) -> Value | None:
        """A score over all test examples."""
        return self.values.get((run_id, "all", measure))

    def name_asked(self, asked: Asked) -> str:
        """The corpus, with the producer of the examples where some other is shown too."""
        corpus, producer = asked
        several = {run.producers for run in self.runs if run.corpus == corpus}
        return corpus if len(several) < 2 else f"{corpus}, {producer}"


def list_asked(runs: Sequence[AskedRun]) -> list[Asked]:
    """What the runs asked, each once, in their order."""
    return list(dict.fromkeys((run.corpus, producer) for run in runs for producer in run.producers))
