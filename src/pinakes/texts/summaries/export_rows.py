"""Examples with their papers' sentences and labels, as exports write them."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import (
    cited_references,
    papers,
    sentences,
    summary_examples,
    summary_labellings,
    summary_labels,
    summary_splits,
)

_asked: Final = sa.table("staged_papers", sa.column("paper_id", sa.BigInteger))
Example = dict[str, Any]


def same_example(table: sa.Table) -> sa.ColumnElement[bool]:
    """That a row of the table is of the example."""
    names = ("paper_id", "reference_id", "producer")
    return sa.and_(*(table.c[name] == summary_examples.c[name] for name in names))


def is_labelled(labeller: str) -> sa.ColumnElement[bool]:
    """That the row of `summary_labellings` is the labeller's of the example."""
    return sa.and_(same_example(summary_labellings), summary_labellings.c.labeller == labeller)


def read_examples(
    database: Database, producer: str, labeller: str, scheme: str, batches: list[npt.NDArray[np.int64]]
) -> Iterator[Example]:
    """The examples of papers that the labeller has labelled, batch by batch, with all of their sentences."""
    for batch in batches:
        with database.read() as session, session.staged({_asked.name: pa.table({"paper_id": batch})}):
            examples = session.rows(_select_examples(producer, labeller, scheme))
            texts = _gather(session.stream_rows(_select_sentences(producer)))
            labels = _gather_labels(session.stream_rows(_select_labels(producer, labeller)))
        for example in examples:
            relevant = labels.get((example.pop("ours"), example.pop("our_reference")), set())
            contexts = example["cited"].split("\n")
            places = texts[example.pop("document")]
            yield {
                **example,
                "cited": "".join(contexts),
                "contexts": contexts,
                "text": list(places.values()),
                "labels": [place in relevant for place in places],
            }


def _select_examples(producer: str, labeller: str, scheme: str) -> sa.Select[Any]:
    examples = summary_examples.c
    is_split = sa.and_(same_example(summary_splits), summary_splits.c.scheme == scheme)
    return (
        sa.select(
            papers.c.source_id.label("paper_id"),
            cited_references.c.reference_key.label("reference_id"),
            *(examples[name] for name in ("query", "query_from", "cited")),
            summary_splits.c.part,
            examples.paper_id.label("ours"),
            examples.reference_id.label("our_reference"),
            examples.paper_id.label("document"),
        )
        .join_from(summary_examples, papers, examples.paper_id == papers.c.paper_id)
        .join(_asked, _asked.c.paper_id == examples.paper_id)
        .join(cited_references, examples.reference_id == cited_references.c.reference_id)
        .join(summary_labellings, is_labelled(labeller))
        .outerjoin(summary_splits, is_split)
        .where(examples.producer == producer)
        .order_by(papers.c.source_id, cited_references.c.reference_key)
    )


def _select_sentences(producer: str) -> sa.Select[Any]:
    splitters = (
        sa.select(summary_examples.c.paper_id, summary_examples.c.splitter)
        .join(_asked, _asked.c.paper_id == summary_examples.c.paper_id)
        .where(summary_examples.c.producer == producer)
        .distinct()
        .subquery("splitters")
    )
    names = ("paper_id", "section_number", "position", "text")
    is_split = sa.and_(
        sentences.c.paper_id == splitters.c.paper_id, sentences.c.producer == splitters.c.splitter
    )
    return (
        sa.select(*(sentences.c[name] for name in names))
        .join_from(sentences, splitters, is_split)
        .where(sentences.c.section_number >= 1)
        .order_by(*(sentences.c[name] for name in names[:3]))
    )


def _select_labels(producer: str, labeller: str) -> sa.Select[Any]:
    labels = summary_labels.c
    return (
        sa.select(labels.paper_id, labels.reference_id, labels.section_number, labels.position)
        .join_from(summary_labels, _asked, _asked.c.paper_id == labels.paper_id)
        .where(labels.producer == producer, labels.labeller == labeller)
    )


def _gather(rows: Iterable[tuple[Any, ...]]) -> dict[int, dict[tuple[int, int], str]]:
    texts: dict[int, dict[tuple[int, int], str]] = {}
    for paper_id, section, position, text in rows:
        texts.setdefault(paper_id, {})[(section, position)] = text
    return texts


def _gather_labels(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[int, int], set[tuple[int, int]]]:
    labels: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for paper_id, reference_id, section, position in rows:
        labels.setdefault((paper_id, reference_id), set()).add((section, position))
    return labels
