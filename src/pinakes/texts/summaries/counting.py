"""What examples a corpus has of a producer: counted by labeller, reason and part."""

from typing import Any

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.schema import (
    absent_examples,
    papers,
    summary_examples,
    summary_labellings,
    summary_splits,
)
from pinakes.texts.summaries.request import LabellerMade, SplitMade
from pinakes.texts.summaries.splits import SCHEMES

_leaks = sa.table(
    "summary_leaks",
    *(
        sa.column(name)
        for name in (
            "corpus",
            "producer",
            "scheme",
            "test_examples",
            "test_examples_of_training_papers",
            "test_sentences",
            "test_sentences_of_training_papers",
        )
    ),
)


def count_examples(session: Session, corpus_id: int, producer: str) -> dict[str, Any]:
    """examples, papers, sentences (of these papers), absent (by reason) and query_from (by where)."""
    by_paper = (
        _select(summary_examples, corpus_id, producer)
        .add_columns(
            summary_examples.c.paper_id,
            sa.func.count().label("examples"),
            sa.func.max(summary_examples.c.sentences).label("sentences"),
        )
        .group_by(summary_examples.c.paper_id)
        .subquery("by_paper")
    )
    row = session.rows(
        sa.select(
            sa.func.count().label("papers"),
            *(
                sa.func.coalesce(sa.func.sum(by_paper.c[name]), 0).label(name)
                for name in ("examples", "sentences")
            ),
        )
    )[0]
    return {
        **{name: int(value) for name, value in row.items()},
        "absent": _count_by(session, absent_examples, "reason", corpus_id, producer),
        "query_from": _count_by(session, summary_examples, "query_from", corpus_id, producer),
    }


def _select(table: sa.Table, corpus_id: int, producer: str) -> sa.Select[Any]:
    return (
        sa.select()
        .join_from(table, papers, table.c.paper_id == papers.c.paper_id)
        .where(papers.c.corpus_id == corpus_id, table.c.producer == producer)
    )


def _count_by(
    session: Session, table: sa.Table, column: str, corpus_id: int, producer: str
) -> dict[str, int]:
    """value -> rows with it, the most first."""
    query = (
        _select(table, corpus_id, producer)
        .add_columns(table.c[column], sa.func.count().label("rows"))
        .group_by(table.c[column])
        .order_by(sa.func.count().desc(), table.c[column])
    )
    return {row[column]: int(row["rows"]) for row in session.rows(query)}


def count_labels(session: Session, corpus_id: int, producer: str) -> list[LabellerMade]:
    """What each labeller says of the producer's examples, by its name."""
    made, examples = summary_labellings.c, summary_examples.c
    is_same = sa.and_(
        made.paper_id == examples.paper_id,
        made.reference_id == examples.reference_id,
        made.producer == examples.producer,
    )
    share = sa.cast(made.positives, sa.Double) / examples.sentences
    query = (
        _select(summary_labellings, corpus_id, producer)
        .join(summary_examples, is_same)
        .add_columns(
            made.labeller,
            sa.func.count().label("examples"),
            sa.func.sum(made.positives).label("labels"),
            sa.func.sum(sa.case((made.positives == 0, 1), else_=0)).label("without"),
            sa.func.avg(share).label("share"),
        )
        .group_by(made.labeller)
        .order_by(made.labeller)
    )
    return [
        LabellerMade(
            row["labeller"],
            int(row["examples"]),
            int(row["labels"]),
            int(row["labels"]) / int(row["examples"]),
            int(row["without"]),
            round(float(row["share"]), 12),  # a sum's last digits depend on its order
        )
        for row in session.rows(query)
    ]


def count_splits(session: Session, corpus: str, corpus_id: int, producer: str) -> list[SplitMade]:
    """How many examples are on each side, and what leaks."""
    splits = summary_splits.c
    query = (
        _select(summary_splits, corpus_id, producer)
        .add_columns(splits.scheme, splits.part, sa.func.count().label("examples"))
        .group_by(splits.scheme, splits.part)
    )
    parts = {(row["scheme"], row["part"]): int(row["examples"]) for row in session.rows(query)}
    of_corpus = sa.select(_leaks).where(_leaks.c.corpus == corpus, _leaks.c.producer == producer)
    leaks = {row["scheme"]: row for row in session.rows(of_corpus)}
    return [
        SplitMade(
            scheme,
            parts.get((scheme, "train"), 0),
            parts.get((scheme, "dev"), 0),
            parts.get((scheme, "test"), 0),
            _divide(leaks.get(scheme), "test_examples"),
            _divide(leaks.get(scheme), "test_sentences"),
        )
        for scheme in SCHEMES
    ]


def _divide(leak: dict[str, Any] | None, name: str) -> float | None:
    if leak is None or not leak[name]:
        return None
    return int(leak[f"{name}_of_training_papers"]) / int(leak[name])
