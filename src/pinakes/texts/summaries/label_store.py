"""Labels of examples: which are missing, what they are made of, and the rows put in."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.progress import Progress
from pinakes.schema import (
    papers,
    sentences,
    summary_augmentations,
    summary_examples,
    summary_labellings,
    summary_labels,
)
from pinakes.texts.ahead import compute_ahead
from pinakes.texts.summaries.batches import cut
from pinakes.texts.summaries.labellers import Labeller
from pinakes.texts.summaries.labelling import LabelBatch, Labelled, label_batch
from pinakes.texts.summaries.splitters import Splitter

PAPERS_PER_BATCH: Final = 100
"""papers whose examples are labelled in one transaction, at most"""
SENTENCES_PER_BATCH: Final = 100_000
"""sentences of their examples, at most, each counted as often as it is looked at"""

_asked: Final = sa.table("staged_papers", sa.column("paper_id", sa.BigInteger))
_made: Final = sa.table(
    "staged_labellings",
    sa.column("paper_id", sa.BigInteger),
    sa.column("reference_id", sa.BigInteger),
    sa.column("text_digest", sa.Text),
    sa.column("labeller", sa.Text),
)


def make_labels(
    database: Database,
    corpus_id: int,
    producer: str,
    splitter: Splitter,
    labellers: Sequence[Labeller],
    *,
    jobs: int,
    progress: Progress,
) -> int:
    """Make the labels that examples of the producer lack; how many examples were labelled, by each labeller.

    A batch of papers is one transaction: stopped and started again, it goes on with those that are left.
    """
    names = [labeller.name for labeller in labellers]
    with database.read() as session:
        pending = _list_pending(session, corpus_id, producer, names)
    batches = cut(pending["paper_id"], pending["size"], PAPERS_PER_BATCH, SENTENCES_PER_BATCH)
    labelled = 0
    progress.start("label sentences", pending.num_rows)
    try:
        label = partial(label_batch, labellers, splitter)
        inputs = _read(database, producer, names, batches)
        with closing(compute_ahead(label, inputs, min(jobs, len(batches)))) as computed:
            for batch, (given, made) in zip(batches, computed, strict=True):
                with database.begin() as session:
                    labelled += store_labels(session, producer, given, made)
                progress.advance(len(batch))
    finally:
        progress.finish()
    return labelled


def _list_pending(session: Session, corpus_id: int, producer: str, names: list[str]) -> pa.Table:
    """paper_id, ascending, and size of papers with an example that lacks one of the labellers."""
    examples, labellings = summary_examples.c, summary_labellings.c
    done = (
        sa.select(labellings.paper_id, labellings.reference_id, sa.func.count().label("labellers"))
        .where(labellings.producer == producer, labellings.labeller.in_(names))
        .group_by(labellings.paper_id, labellings.reference_id)
        .subquery("done")
    )
    is_same = sa.and_(examples.paper_id == done.c.paper_id, examples.reference_id == done.c.reference_id)
    query = (
        sa.select(examples.paper_id, sa.cast(sa.func.sum(examples.sentences), sa.BigInteger).label("size"))
        .join_from(summary_examples, papers, examples.paper_id == papers.c.paper_id)
        .outerjoin(done, is_same)
        .where(
            papers.c.corpus_id == corpus_id,
            examples.producer == producer,
            sa.func.coalesce(done.c.labellers, 0) < len(names),
        )
        .group_by(examples.paper_id)
        .order_by(examples.paper_id)
    )
    return session.fetch_arrow(query)


def _read(
    database: Database, producer: str, names: list[str], batches: list[npt.NDArray[np.int64]]
) -> Iterator[LabelBatch]:
    for batch in batches:
        with database.read() as session, session.staged({_asked.name: pa.table({"paper_id": batch})}):
            given = _read_batch(session, producer, names, batch)
        yield given


def _read_batch(
    session: Session, producer: str, names: list[str], paper_ids: npt.NDArray[np.int64]
) -> LabelBatch:
    columns = ("paper_id", "reference_id", "query", "cited", "text_digest")
    examples = session.fetch_arrow(
        sa.select(*(summary_examples.c[name] for name in columns))
        .where(*_is_of(summary_examples, producer, paper_ids))
        .order_by(summary_examples.c.paper_id, summary_examples.c.reference_id)
    )
    held = session.fetch_arrow(
        sa.select(*(summary_labellings.c[name] for name in ("paper_id", "reference_id", "labeller"))).where(
            *_is_of(summary_labellings, producer, paper_ids)
        )
    )
    done = set(zip(*(column.to_pylist() for column in held.columns), strict=True))
    keys = zip(examples["paper_id"].to_pylist(), examples["reference_id"].to_pylist(), strict=True)
    missing = ["\n".join(name for name in names if (*key, name) not in done) for key in keys]
    examples = examples.append_column("labellers", pa.array(missing, pa.string()))
    examples = examples.filter(pc.not_equal(examples["labellers"], ""))
    return LabelBatch(examples, _read_sentences(session, producer, paper_ids))


def _is_of(table: sa.Table, producer: str, paper_ids: npt.NDArray[np.int64]) -> list[sa.ColumnElement[bool]]:
    return [
        table.c.producer == producer,
        table.c.paper_id.between(int(paper_ids.min()), int(paper_ids.max())),
        table.c.paper_id.in_(sa.select(_asked.c.paper_id)),
    ]


def _read_sentences(session: Session, producer: str, paper_ids: npt.NDArray[np.int64]) -> pa.Table:
    splitters = (
        sa.select(summary_examples.c.paper_id, summary_examples.c.splitter)
        .where(*_is_of(summary_examples, producer, paper_ids))
        .distinct()
        .subquery("splitters")
    )
    is_split = sa.and_(
        sentences.c.paper_id == splitters.c.paper_id, sentences.c.producer == splitters.c.splitter
    )
    names = ("paper_id", "section_number", "position", "text")
    between = sentences.c.paper_id.between(int(paper_ids.min()), int(paper_ids.max()))
    return session.fetch_arrow(
        sa.select(*(sentences.c[name] for name in names))
        .join_from(sentences, splitters, is_split)
        .where(sentences.c.section_number >= 1, between)
        .order_by(*(sentences.c[name] for name in names[:3]))
    )


def store_labels(session: Session, producer: str, given: LabelBatch, made: Labelled) -> int:
    """Put in the rows of examples that are as they were read, in the place of older ones; of how many."""
    digests = given.examples.select(["paper_id", "reference_id", "text_digest"])
    keys = made.labellings.join(digests, ["paper_id", "reference_id"]).combine_chunks()
    examples, names = summary_examples.c, ("paper_id", "reference_id", "labeller")
    current = (
        sa.select(*(_made.c[name] for name in names))
        .join_from(
            _made,
            summary_examples,
            sa.and_(*(_made.c[name] == examples[name] for name in names[:2])),
        )
        .where(examples.producer == producer, sa.cast(_made.c.text_digest, sa.Uuid) == examples.text_digest)
    )
    tables = {
        summary_labels: made.labels,
        summary_labellings: made.labellings,
        summary_augmentations: made.augmentations,
    }
    with session.staged({_made.name: keys}):
        kept = session.fetch_arrow(current)
        for table in tables:
            same = sa.exists().where(*(table.c[name] == _made.c[name] for name in names))
            session.execute(sa.delete(table).where(table.c.producer == producer, same))
    for table, rows in tables.items():
        _insert(session, table, producer, rows, kept, names)
    return int(kept.num_rows)


def _insert(
    session: Session, table: sa.Table, producer: str, rows: pa.Table, kept: pa.Table, names: Sequence[Any]
) -> None:
    """Insert the rows whose keys are among `kept`."""
    wanted = set(zip(*(kept[name].to_pylist() for name in names), strict=True))
    keys = zip(*(rows[name].to_pylist() for name in names), strict=True)
    mask = pa.array([key in wanted for key in keys], pa.bool_())
    held = rows.filter(mask)
    session.insert(table, held.append_column("producer", pa.repeat(pa.scalar(producer), held.num_rows)))
