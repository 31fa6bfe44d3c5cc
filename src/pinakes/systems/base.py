"""What a ranking system is: it says what decides its scores and what it can do, indexes, and ranks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import PinakesError
from pinakes.indexers.lexical import Ranked, TieOrder
from pinakes.indexers.names import EXACT
from pinakes.indexers.sparse_bm25.score_parts import ScoreParts
from pinakes.progress import Progress, say_nothing
from pinakes.queries.definition import Benchmark
from pinakes.vectors.precisions import list_encoders
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.readers import FormatChoice
from pinakes.workload.scope import CorpusScope
from pinakes.workload.summaries import SummaryQuestions
from pinakes.workload.workload import Ids, Workload

Ability = str
"""one of `ABILITIES`"""

ABILITIES: Final[Mapping[Ability, str]] = {
    "rank": "rank a benchmark",
    "rank_groups": "rank all pools of a grouped benchmark at once",
    "index_corpus": "index a corpus without a benchmark",
    "search": "search a corpus",
    "search_through": "search through an approximate index of vectors",
    "sentences": "compare sentences",
    "embed": "give the vectors of papers",
    "weigh": "give the weighted terms of papers",
    "explain": "explain a score term by term",
    "write_down": "write its terms and postings into tables",
    "extract": "score the sentences of papers for a query",
    "share": "share its work among the machines of a cluster",
}
"""what a system can declare, in words; the method of `extract` is `score_sentences`; `sentences`,
`search_through` and `share` have none of their own"""


@dataclass(frozen=True, slots=True)
class SystemDescription:
    """All that decides a system's scores, apart from the texts."""

    parameters: dict[str, Any]
    device: str
    encoder_id: int | None = None
    encoder_revision: str | None = None
    precision: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """One query's ranking, best first: rows of `Workload.paper_ids`, and their scores (float32)."""

    query_id: str
    rows: Ids
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """What a user may say about a system.

    Attributes:
        index_folder: where side indexes lie.
        precision: of an encoder.
        distance: how vectors are compared; None: as the encoder's makers do, or cosine.
        device: cpu, cuda, or None for CUDA where there is one.
        through: how a search compares vectors: exact, pgvector or faiss:KIND; a run is always exact.
        parameters: the system's own options, name to value, as typed.
        fixed: those of its options that a named baseline sets, and that nobody else may.
        format: the code, or SRCH, whose embeddings are asked for; None: those of `own_format`.
        own_format: the format of what asks, set by what runs a benchmark or searches; None: it has none.
        stored: the encoders that the database has vectors of, set by what asks; `auto` chooses by them.
        tell: what takes a line for the user, as which precision `auto` takes.
        on: the address of a Ray cluster that shares the work of systems that can; None: this machine.
    """

    index_folder: Path
    precision: str = "auto"
    distance: str | None = None
    device: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    through: str = EXACT
    fixed: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    own_format: str | None = None
    stored: frozenset[str] = frozenset()
    tell: Callable[[str], None] = say_nothing
    on: str | None = None

    @property
    def choice(self) -> FormatChoice:
        """Which of several embeddings is asked for."""
        return FormatChoice(self.own_format, self.format)

    @property
    def requested(self) -> str:
        """The options that a user gave, as a command takes them.

        >>> SystemOptions(Path(), parameters={"analysis": "words"}).requested
        ' --option analysis=words'
        """
        return "".join(f" --option {name}={value}" for name, value in self.parameters.items())


def note_stored(database: Database, options: SystemOptions) -> SystemOptions:
    """The options with the names of the encoders that the database has vectors of, which `auto` goes by."""
    with database.read() as session:
        return replace(options, stored=list_encoders(session))


def tell_alone(system: "System", options: SystemOptions) -> None:
    """Say where a cluster was named and the system has no use for it."""
    if options.on is not None and "share" not in system.can:
        options.tell(f"{system.name} works on this machine alone; the cluster {options.on} is not used.")


def choose_options(benchmark: Benchmark, options: SystemOptions) -> SystemOptions:
    """The options of a system for a benchmark: its format, and its distance unless the user gave one."""
    return replace(options, distance=options.distance or benchmark.distance, own_format=benchmark.format)


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What indexing did: how many texts or papers were read now, and how many were there already."""

    system: str
    added: int
    existing: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """An index that is in tables: its name in `term_indexes`, and how many terms and postings it has."""

    name: str
    terms: int
    postings: int


@dataclass(frozen=True, slots=True, eq=False)
class CorpusQuery:
    """What to search a corpus for.

    Attributes:
        text: any words.
        k: how many papers.
        pool: the papers that may be found (ascending ids); None: all of the corpus.
        tie_order: of papers with equal scores.
        by_paper: whether the text is that of a paper, which is then read as one.
    """

    scope: CorpusScope
    text: str
    k: int
    pool: Ids | None
    tie_order: TieOrder
    by_paper: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SearchedPapers:
    """Which papers are searched again and again.

    Attributes:
        pool: the papers that may be found (ascending ids); None: all of the corpus.
        tie_order: of papers with equal scores; asked from several threads at once.
    """

    scope: CorpusScope
    pool: Ids | None
    tie_order: TieOrder


class OpenSearch(Protocol):
    """A corpus that is ready to be searched, without the database."""

    def search(self, texts: Sequence[str], k: int) -> list[Ranked]:
        """The best papers for each text, as `System.search` gives them for one."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreQuestion:
    """Whose score is to be explained.

    Attributes:
        text: the query's.
        ranked: the papers among which its rank is counted (ascending ids); None: all of the corpus.
        tie_order: of papers with equal scores.
        workload: the benchmark that asks, whose tuned numbers count; None: a text of a user's own.
        own_statistics: whether terms are counted in `ranked` alone, as a grouped pool's are.
        ranks_all: whether a paper that shares no term has a rank.
    """

    scope: CorpusScope
    text: str
    paper_id: int
    ranked: Ids | None
    tie_order: TieOrder
    workload: Workload | None = None
    own_statistics: bool = False
    ranks_all: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedScore:
    """A score with its parts.

    Attributes:
        rank: 1 is the best; None: the paper is not ranked, since it shares no term or is none of `ranked`.
        ranked: how many papers are ranked.
        tuning: where k1 and b are from.
    """

    parts: ScoreParts
    k1: float
    b: float
    tuning: str
    formula: str
    rank: int | None
    ranked: int


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Vectors of papers.

    Attributes:
        rows: rows of `PaperTexts.paper_ids` that have a vector, ascending (n,).
        vectors: one for each (n, d), finite.
    """

    rows: NDArray[np.intp]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceScores:
    """How relevant each sentence of an example's document is to its query (sentences,): finite numbers."""

    query_id: str
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """A model that a system trained to choose from.

    Attributes:
        settings: the architecture and how it was trained; fit for JSON.
        epochs: passes over the training examples until the best one on dev.
        dev_score: what the choice was made by, at that epoch.
        chosen: whether it gives the answers.
    """

    settings: Mapping[str, Any]
    epochs: int
    dev_score: float
    chosen: bool


class Asked(Protocol):
    """What every system reads of what it is asked: a `Workload`, `PaperTexts` or `SummaryQuestions`."""

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that asks."""

    @property
    def scope(self) -> CorpusScope:
        """The corpus of the papers."""

    @property
    def digest(self) -> str:
        """What tells it from others."""

    def select_query_texts(self) -> sa.Select[Any] | None:
        """A select whose column `text` has every text that a query asks with; None: there are no queries."""

    def select_paper_texts(self) -> sa.Select[Any]:
        """A select whose column `text` has every paper's text."""


class System(Protocol):
    """One way to answer the questions of a task.

    A system is made from its name and `SystemOptions`, says what decides its answers, and implements what it
    declares. What it is asked is of the form that `Task.read` gives: of rankings, a `Workload`.

    Attributes:
        name: what it is called in its runs.
        can: what it can do; a caller asks `registry.require_ability` before it calls a method of these.
        own_options: the dataclass that declares its own options.
    """

    name: str
    can: ClassVar[frozenset[Ability]]
    own_options: ClassVar[type[Any]]

    def index(self, database: Database, workload: Any, progress: Progress) -> IndexSummary:
        """Make what answering needs, a trained model too; what exists already is not made again."""
        return IndexSummary(self.name, 0, 0, 0.0)

    def describe(self, database: Database, workload: Any) -> SystemDescription:
        """What decides the answers. Raises `RunError` with the command to run when an index is missing."""
        ...

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """The ranking of each query that has a text; `workload.benchmark.depth` papers at most."""
        raise _not_declared(self, "rank")

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        """The vector of each paper that has one."""
        raise _not_declared(self, "embed")

    def weigh(self, database: Database, texts: PaperTexts, progress: Progress) -> Any:
        """The weighted terms of each paper whose text has one, by the statistics of the corpus of `texts`.

        They are `SparseTexts` of `indexers.self_retrieval.space`; rows are those of `texts.paper_ids`. The
        numbers of terms are the same in every call.
        """
        raise _not_declared(self, "weigh")

    def score_sentences(
        self, database: Database, questions: SummaryQuestions, progress: Progress
    ) -> Iterator[SentenceScores]:
        """The scores of the sentences of each test example; `can` says `extract`."""
        raise _not_declared(self, "extract")

    def list_trials(self, database: Database, questions: SummaryQuestions) -> Sequence[Trial]:
        """The models that were trained to score sentences with, in the order of the search; none of most."""
        return ()

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """The ranking of each query of a grouped workload, in its pool without its own paper.

        Rows are those of `workload.paper_ids`; `workload.benchmark.depth` papers at most.
        """
        raise _not_declared(self, "rank_groups")

    def index_corpus(self, database: Database, scope: CorpusScope, progress: Progress) -> IndexSummary:
        """Make what searching the corpus needs; what exists already is not made again."""
        raise _not_declared(self, "index_corpus")

    def search(self, database: Database, query: CorpusQuery) -> Ranked:
        """The best papers, score descending."""
        raise _not_declared(self, "search")

    def open_search(self, database: Database, searched: SearchedPapers) -> OpenSearch:
        """A search that holds what it needs in memory; `can` says `search`."""
        raise _not_declared(self, "search")

    def explain(self, database: Database, question: ScoreQuestion) -> ExplainedScore:
        """The score of a paper for a text, term by term; `InputError` where it has none."""
        raise _not_declared(self, "explain")

    def write_down(
        self, database: Database, scope: CorpusScope, progress: Progress, *, asked: bool
    ) -> WrittenDown | None:
        """Write the index of a corpus into tables, where it is not there as it is; None: nothing was written.

        Unless it is `asked` for, only what is there of an older index is written again, with its own k1, b
        and formula.
        """
        raise _not_declared(self, "write_down")

    def strike_out(self, database: Database, scope: CorpusScope) -> None:
        """Remove what `write_down` wrote of the index of a corpus."""
        raise _not_declared(self, "write_down")


def _not_declared(system: System, ability: Ability) -> PinakesError:
    """What a caller gets that did not ask `registry.require_ability`."""
    return PinakesError(f"{system.name} cannot {ABILITIES[ability]}, and does not say that it can.")
