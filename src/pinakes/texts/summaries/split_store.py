"""The splits of a producer's examples, brought up to date."""

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.schema import cited_references, papers, summary_examples, summary_splits
from pinakes.texts.summaries.request import SummaryRequest
from pinakes.texts.summaries.splits import SCHEMES, split_as_published, split_by_paper

_KEY = ("paper_id", "reference_id")


def renew_splits(database: Database, corpus_id: int, producer: str, request: SummaryRequest) -> None:
    """Split the examples again where they are others than those that are split.

    Their order is that of the papers' source ids, then of the works' keys, byte by byte.
    """
    with database.begin() as session:
        examples = _read_examples(session, corpus_id, producer)
        made = _split(examples, request)
        if not _read_held(session, corpus_id, producer).equals(made):
            of_corpus = sa.select(papers.c.paper_id).where(papers.c.corpus_id == corpus_id)
            same = summary_splits.c.producer == producer, summary_splits.c.paper_id.in_(of_corpus)
            session.execute(sa.delete(summary_splits).where(*same))
            producers = pa.repeat(pa.scalar(producer), made.num_rows)
            session.insert(summary_splits, made.append_column("producer", producers))


def _read_examples(session: Session, corpus_id: int, producer: str) -> pa.Table:
    examples = summary_examples.c
    query = (
        sa.select(examples.paper_id, examples.reference_id, papers.c.source_id)
        .join_from(summary_examples, papers, examples.paper_id == papers.c.paper_id)
        .join(cited_references, examples.reference_id == cited_references.c.reference_id)
        .where(papers.c.corpus_id == corpus_id, examples.producer == producer)
        .order_by(papers.c.source_id, cited_references.c.reference_key)
    )
    return session.fetch_arrow(query)


def _split(examples: pa.Table, request: SummaryRequest) -> pa.Table:
    """paper_id, reference_id, scheme, part; by scheme, paper and reference."""
    shares = request.split_seed, request.test, request.dev
    parts = {
        "by_example": split_as_published(examples.num_rows, *shares),
        "by_paper": split_by_paper(request.corpus, examples["source_id"].to_pylist(), *shares),
    }
    tables = []
    for scheme in SCHEMES:
        table = examples.select(_KEY)
        table = table.append_column("scheme", pa.repeat(pa.scalar(scheme), table.num_rows))
        tables.append(table.append_column("part", pa.array(parts[scheme], pa.string())))
    return _sort(pa.concat_tables(tables))


def _read_held(session: Session, corpus_id: int, producer: str) -> pa.Table:
    names = (*_KEY, "scheme", "part")
    query = (
        sa.select(*(summary_splits.c[name] for name in names))
        .join_from(summary_splits, papers, summary_splits.c.paper_id == papers.c.paper_id)
        .where(papers.c.corpus_id == corpus_id, summary_splits.c.producer == producer)
    )
    return _sort(session.fetch_arrow(query))


def _sort(rows: pa.Table) -> pa.Table:
    schema = pa.schema(
        [*((name, pa.int64()) for name in _KEY), ("scheme", pa.string()), ("part", pa.string())]
    )
    keys = [(name, "ascending") for name in ("scheme", *_KEY)]
    return rows.cast(schema).sort_by(keys).combine_chunks()
