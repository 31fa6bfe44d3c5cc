"""What extraction of sentences asks: how relevant each sentence of a paper is to a query.

Source: Ramirez-Orta et al., ROUGE-SciQFS, section 4.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.workload.scope import CorpusScope

PARTS: Final = ("train", "dev", "test")
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "modes": ("mode", "scheme", "labeller", "first_sentences"),
    "examples": (
        *("corpus", "producer", "query_id", "paper_id", "source_id", "reference_id", "reference_key"),
        *("query", "cited", "splitter", "sentences"),
    ),
    "document_sentences": (
        *("corpus", "splitter", "paper_id", "source_id", "section_number", "position", "place", "text"),
    ),
    "labels": (
        *("corpus", "producer", "query_id", "paper_id", "labeller", "section_number", "position"),
        *("step", "score"),
    ),
    "splits": ("corpus", "producer", "query_id", "paper_id", "scheme", "part"),
}
"""view -> the columns that it has"""


def list_columns(benchmark: Benchmark, view: str) -> tuple[str, ...]:
    """The columns that a view of a benchmark must have."""
    return COLUMNS[view]


def relate(benchmark: Benchmark, view: str) -> sa.TableClause:
    """A view of the benchmark, with its columns."""
    return sa.table(view, *map(sa.column, COLUMNS[view]), schema=benchmark.name)


@dataclass(frozen=True, slots=True)
class AskedMode:
    """What the mode of a run asks: a row of the view `modes`.

    Attributes:
        scheme: the split.
        labeller: who says that a sentence is relevant.
        first_sentences: how many sentences of a document are read; None: all.
    """

    scheme: str
    labeller: str
    first_sentences: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The sentences of a paper's sections by one splitter, in their order.

    Attributes:
        sections, positions: `section_number` and `position` of each in the table `sentences` (n,).
    """

    paper_id: int
    source_id: str
    sections: NDArray[np.int32]
    positions: NDArray[np.int32]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A query and the document whose sentences are scored for it.

    Attributes:
        query_id: `<source_id of the paper>|<reference_key>`.
        query: the abstract of the cited work.
        document: its place in `SummaryQuestions.documents`.
        part: train, dev or test.
        labels: whether each sentence is relevant (n,).
        cited: the citing contexts, one a line.
    """

    query_id: str
    query: str
    document: int
    part: str
    labels: NDArray[np.bool_]
    cited: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SummaryQuestions:
    """The examples of a corpus, of one producer, in one mode; systems answer those of the part `test`.

    Attributes:
        mode: which split, which labels, and how much of a document.
        documents: by source id.
        examples: of all parts, by query id.
        digest: sha256 over all that decides answers: the labels of `test` do not.
    """

    benchmark: Benchmark
    mode: AskedMode
    documents: tuple[Document, ...]
    examples: tuple[Example, ...]
    digest: str

    @property
    def train(self) -> tuple[Example, ...]:
        """What is trained on."""
        return self._select("train")

    @property
    def dev(self) -> tuple[Example, ...]:
        """What settings are chosen by."""
        return self._select("dev")

    @property
    def test(self) -> tuple[Example, ...]:
        """What is answered and scored."""
        return self._select("test")

    def _select(self, part: str) -> tuple[Example, ...]:
        return tuple(example for example in self.examples if example.part == part)

    @property
    def query_template(self) -> None:
        """None: a query is a text of its own."""
        return None

    @property
    def paper_template(self) -> None:
        """None: a document is its sentences."""
        return None

    @property
    def queries_expected(self) -> int:
        """How many examples are to be answered."""
        return len(self.test)

    @property
    def candidates_expected(self) -> int:
        """How many sentences are to be scored, one of each example."""
        return sum(len(example.labels) for example in self.test)

    @property
    def candidates_without_text(self) -> int:
        """Of these, how many are white space alone."""
        empty = [sum(not text.strip() for text in document.sentences) for document in self.documents]
        return sum(empty[example.document] for example in self.test)

    @property
    def scope(self) -> CorpusScope:
        """The corpus, and the question as `pinakes index` takes it."""
        benchmark = self.benchmark
        named = benchmark.name + (f" --corpus {benchmark.asked_of}" if benchmark.asked_of else "")
        mode = f" --mode {benchmark.mode}" if benchmark.mode != "corrected" else ""
        return CorpusScope(benchmark.corpus, benchmark.paper_template, named + mode)

    def select_query_texts(self, parts: Collection[str] = PARTS) -> sa.Select[Any]:
        """query_id and text of every query of the parts, in no order."""
        view = relate(self.benchmark, "examples")
        chosen = self._choose(view, parts)
        return sa.select(view.c.query_id, view.c.query.label("text")).where(chosen)

    def select_paper_texts(
        self, parts: Collection[str] = PARTS, papers: Collection[int] | None = None
    ) -> sa.Select[Any]:
        """paper_id, place (from 1) and text of every sentence that is read of the parts, in no order.

        `papers` are the paper_ids whose sentences are asked for; None: all.
        """
        view, examples = relate(self.benchmark, "document_sentences"), relate(self.benchmark, "examples")
        asked = sa.select(examples.c.paper_id, examples.c.splitter).where(self._choose(examples, parts))
        documents = asked.distinct().subquery("documents")
        same = sa.and_(documents.c.paper_id == view.c.paper_id, documents.c.splitter == view.c.splitter)
        texts = sa.select(view.c.paper_id, view.c.place, view.c.text).join_from(view, documents, same)
        if papers is not None:
            texts = texts.where(view.c.paper_id.in_(sorted(papers)))
        limit = self.mode.first_sentences
        return texts if limit is None else texts.where(view.c.place <= limit)

    def _choose(self, examples: sa.TableClause, parts: Collection[str]) -> sa.ColumnElement[bool]:
        asked = choose_rows(self.benchmark, examples)
        if set(parts) >= set(PARTS):
            return asked
        splits = relate(self.benchmark, "splits")
        of_parts = sa.select(splits.c.query_id).where(
            choose_rows(self.benchmark, splits),
            splits.c.scheme == self.mode.scheme,
            splits.c.part.in_(sorted(parts)),
        )
        return sa.and_(asked, examples.c.query_id.in_(of_parts))


def choose_rows(benchmark: Benchmark, view: sa.TableClause) -> sa.ColumnElement[bool]:
    """Which rows of a view are of the corpus and the producer that are asked."""
    return sa.and_(view.c.corpus == benchmark.asked_of, view.c.producer.in_(benchmark.producers))


def select_labels(benchmark: Benchmark) -> tuple[sa.Select[Any], list[sa.Select[Any]]]:
    """The relevant sentences as `query_id`, `item` and `value`; and the other views but the labels."""
    labels = relate(benchmark, "labels")
    where = ("corpus", "producer", "labeller", "section_number", "position")
    item = sa.func.concat_ws(" ", *(labels.c[name] for name in where))
    rows = sa.select(labels.c.query_id, item.label("item"), sa.literal("").label("value"))
    others = [relate(benchmark, view) for view in COLUMNS if view != "labels"]
    return rows, [sa.select(*view.c) for view in others]


def read_summaries(
    database: Database, benchmark: Benchmark, query_template: str, paper_template: str
) -> SummaryQuestions:
    """The examples of the corpus, the producer and the mode that `benchmark` says; no template is used.

    Raises `BenchmarkError` where examples, sentences, labels and splits do not fit together.
    """
    from pinakes.workload.summary_reading import read_questions  # imported late: it reads this module

    return read_questions(database, benchmark)
