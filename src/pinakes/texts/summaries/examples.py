"""The pairs of a corpus's papers and what they cite, made into examples or reasons why they are none."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.schema import (
    summary_augmentations,
    summary_examples,
    summary_labellings,
    summary_labels,
    summary_splits,
)
from pinakes.texts.summaries.temporary import PAIR_TABLES, making

DEPENDENT: Final = (
    summary_augmentations,
    summary_labellings,
    summary_labels,
    summary_splits,
    summary_examples,
)
"""the tables whose rows go when their example goes, and the examples"""
_gone: Final = sa.table(
    "making_gone", sa.column("paper_id", sa.BigInteger), sa.column("reference_id", sa.BigInteger)
)


class Renewed(NamedTuple):
    """What was done, and what all mentions of the corpus are: how many, and how many without a context."""

    made: int
    removed: int
    mentions: int
    without_context: int


def list_papers_to_split(database: Database, corpus_id: int) -> npt.NDArray[np.int64]:
    """The ids of papers whose sentences examples may need, ascending."""
    with database.read() as session, making(session, {"corpus_id": corpus_id}) as blocks:
        blocks.make(*PAIR_TABLES)
        found: npt.NDArray[np.int64] = blocks.fetch("papers_to_split")["paper_id"].to_numpy()
    return found


def renew_examples(
    database: Database, corpus_id: int, producer: str, splitter: str | None, min_sentences: int
) -> Renewed:
    """Bring the producer's examples of a corpus up to date in one transaction, and the reasons for none.

    An example that is of something else now goes, with its labels and splits, and is made again.
    """
    values = {
        "corpus_id": corpus_id,
        "producer": producer,
        "splitter": splitter,
        "min_sentences": min_sentences,
    }
    with database.begin() as session, making(session, values) as blocks:
        blocks.make(*PAIR_TABLES, "documents", "candidates")
        blocks.run("refuse_again")
        blocks.make("gone")
        removed = _delete_gone(session, producer)
        blocks.run("delete_absent")
        blocks.run("insert_absent")
        made = blocks.run("insert_examples")
        return Renewed(made, removed, *_count_mentions(session))


def refuse_examples(
    database: Database, corpus_id: int, producer: str, labeller: str, min_positives: int
) -> int:
    """Make the examples absent of which the labeller takes fewer sentences to be relevant; how many."""
    values = {
        "corpus_id": corpus_id,
        "producer": producer,
        "labeller": labeller,
        "min_positives": min_positives,
    }
    with database.begin() as session, making(session, values) as blocks:
        blocks.make_as("gone", "make_refused")
        blocks.run("insert_refused")
        return _delete_gone(session, producer)


def _delete_gone(session: Session, producer: str) -> int:
    """Delete the examples of `making_gone` with what depends on them; how many examples there were."""
    deleted = 0
    for table in DEPENDENT:
        is_gone = sa.exists().where(
            table.c.paper_id == _gone.c.paper_id, table.c.reference_id == _gone.c.reference_id
        )
        deleted = session.execute(sa.delete(table).where(table.c.producer == producer, is_gone))
    return deleted


def _count_mentions(session: Session) -> tuple[int, int]:
    counted: dict[str, Any] = session.rows(
        "SELECT COALESCE(SUM(mentions), 0) AS mentions, COALESCE(SUM(with_context), 0) AS with_context "
        "FROM making_pairs"
    )[0]
    mentions = int(counted["mentions"])
    return mentions, mentions - int(counted["with_context"])
