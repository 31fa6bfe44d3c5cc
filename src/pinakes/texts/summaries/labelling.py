"""The relevant sentences of examples, by who says so; no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pinakes.texts.summaries.alignment import SentenceIndex
from pinakes.texts.summaries.augmenting import augment_example, read_sentences
from pinakes.texts.summaries.labellers import THRESHOLD, Labeller
from pinakes.texts.summaries.splitters import Splitter

if TYPE_CHECKING:
    from pinakes.indexers.rouge.document import Document as ReadDocument

_KEY: Final = [("paper_id", pa.int64()), ("reference_id", pa.int64()), ("labeller", pa.string())]
LABELS: Final = pa.schema(
    [
        *_KEY,
        ("section_number", pa.int32()),
        ("position", pa.int32()),
        ("step", pa.int32()),
        ("score", pa.float64()),
    ]
)
LABELLINGS: Final = pa.schema([*_KEY, ("positives", pa.int32())])
AUGMENTATIONS: Final = pa.schema(
    [
        *_KEY,
        ("steps", pa.int32()),
        ("start_score", pa.float64()),
        ("score", pa.float64()),
        ("published_score", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class LabelBatch:
    """Examples to label: paper_id, reference_id, query, cited, text_digest, and `labellers`, a name a line.

    `sentences` are those of their papers: paper_id, section_number, position, text; in that order.
    """

    examples: pa.Table
    sentences: pa.Table


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows of `summary_labels`, `summary_labellings` and `summary_augmentations`, without their producer."""

    labels: pa.Table
    labellings: pa.Table
    augmentations: pa.Table


@dataclass(frozen=True)
class Document:
    """The sentences of a paper, and where they stand: section and position."""

    places: Sequence[tuple[int, int]]
    sentences: Sequence[str]

    @cached_property
    def index(self) -> SentenceIndex:
        """The sentences by text and token."""
        return SentenceIndex(self.sentences)

    @cached_property
    def _readings(self) -> "dict[str, ReadDocument]":
        return {}

    def read(self, semantics: str) -> "ReadDocument":
        """The sentences as augmentation reads them."""
        if semantics not in self._readings:
            self._readings[semantics] = read_sentences(self.sentences, semantics)
        return self._readings[semantics]


Found = dict[int, tuple[int | None, float | None]]
"""which sentence, from 0 -> step and score"""


def label_batch(labellers: Sequence[Labeller], splitter: Splitter, batch: LabelBatch) -> Labelled:
    """The labels of each example by the labellers that it lacks."""
    documents = _gather_documents(batch.sentences)
    by_name = {labeller.name: labeller for labeller in labellers}
    labels: list[tuple[Any, ...]] = []
    labellings: list[tuple[Any, ...]] = []
    augmentations: list[tuple[Any, ...]] = []
    for example in batch.examples.to_pylist():
        document = documents.get(example["paper_id"])
        if document is None:  # its sentences have gone since; the next derivation finds that
            continue
        contexts = example["cited"].split("\n")
        citing = splitter.split_contexts(contexts)
        for name in example["labellers"].split("\n"):
            key = (example["paper_id"], example["reference_id"], name)
            found, ended = label_example(by_name[name], document, example["query"], contexts, citing)
            labels += [(*key, *document.places[place], *how) for place, how in found.items()]
            labellings.append((*key, len(found)))
            augmentations += [(*key, *ended)] if ended else []
    return Labelled(
        _make_table(labels, LABELS),
        _make_table(labellings, LABELLINGS),
        _make_table(augmentations, AUGMENTATIONS),
    )


def label_example(
    labeller: Labeller, document: Document, query: str, contexts: Sequence[str], citing: Sequence[str]
) -> tuple[Found, tuple[int, float, float, float | None] | None]:
    """The relevant sentences of a document, in its order; of an augmentation: how it ended.

    `contexts` are what the paper says of the work, `citing` the sentences of that.
    """
    index = document.index
    if labeller.kind == "exact":
        return dict.fromkeys(index.find_same(citing), (None, None)), None
    if labeller.kind == "aligned":
        aligned = index.align(citing, labeller.threshold)
        return {place: (None, score) for place, score in aligned.items()}, None
    made = augment_example(labeller, query, document.read(labeller.semantics), contexts)
    seeds: dict[int, float | None]
    if labeller.is_published:
        seeds = dict.fromkeys(index.find_same(citing))
    else:
        seeds = dict(index.align(citing, THRESHOLD))
    found: Found = {place: (None, score) for place, score in seeds.items()}
    steps = zip(made.picks, made.scores, strict=True)
    found |= {place: (step, score) for step, (place, score) in enumerate(steps, start=1)}
    return dict(sorted(found.items())), (len(made.picks), made.start_score, made.score, made.published_score)


def _gather_documents(sentences: pa.Table) -> dict[int, Document]:
    places: dict[int, list[tuple[int, int]]] = {}
    texts: dict[int, list[str]] = {}
    columns = (sentences[name].to_pylist() for name in ("paper_id", "section_number", "position", "text"))
    for paper_id, section, position, text in zip(*columns, strict=True):
        places.setdefault(paper_id, []).append((section, position))
        texts.setdefault(paper_id, []).append(text)
    return {paper_id: Document(places[paper_id], texts[paper_id]) for paper_id in places}


def _make_table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )
