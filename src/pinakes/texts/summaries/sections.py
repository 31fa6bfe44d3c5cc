"""The sentences of papers' sections by a splitter, brought up to date."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.progress import Progress
from pinakes.schema import papers, sections, sentences
from pinakes.texts.ahead import compute_ahead
from pinakes.texts.summaries.batches import cut
from pinakes.texts.summaries.splitters import Splitter

PAPERS_PER_BATCH: Final = 200
"""papers whose sentences are written in one transaction, at most"""
CHARACTERS_PER_BATCH: Final = 2_000_000
"""characters of their sections, at most"""

_digests: Final = sa.table(
    "text_digests",
    sa.column("paper_id", sa.BigInteger),
    sa.column("section_number", sa.Integer),
    sa.column("text_digest", sa.Uuid),
)
_asked: Final = sa.table("staged_papers", sa.column("paper_id", sa.BigInteger))
_TEXT: Final = ("paper_id", "section_number", "text_digest")
_MADE: Final = pa.schema(
    [
        ("paper_id", pa.int64()),
        ("section_number", pa.int32()),
        ("position", pa.int32()),
        ("text", pa.string()),
        ("text_digest", pa.string()),
    ]
)


def split_papers(
    database: Database,
    splitter: Splitter,
    paper_ids: npt.NDArray[np.int64],
    *,
    jobs: int = 1,
    progress: Progress,
) -> int:
    """Make the sentences of sections that have none of their text as it is now; of how many papers.

    A batch of papers is one transaction: stopped and started again, it goes on with those that are left.
    Of a splitter without a producer there is nothing to make.
    """
    if splitter.producer is None or not len(paper_ids):
        return 0
    with database.read() as session:
        outdated = _list_outdated(session, splitter.producer, paper_ids)
    batches = cut(outdated["paper_id"], outdated["size"], PAPERS_PER_BATCH, CHARACTERS_PER_BATCH)
    changed = 0
    progress.start(splitter.producer, outdated.num_rows)
    try:
        split = partial(split_sections, splitter)
        inputs = _read(database, batches)
        with closing(compute_ahead(split, inputs, min(jobs, len(batches)))) as computed:
            for batch, (_given, made) in zip(batches, computed, strict=True):
                with database.begin() as session:
                    changed += store_sentences(session, splitter.producer, batch, made)
                progress.advance(len(batch))
    finally:
        progress.finish()
    return changed


def _list_outdated(session: Session, producer: str, paper_ids: npt.NDArray[np.int64]) -> pa.Table:
    """paper_id and characters of papers of which a section has no sentences, or sentences no such section."""
    held = (
        sa.select(sentences.c.paper_id, sentences.c.section_number, sentences.c.text_digest)
        .where(
            sentences.c.producer == producer,
            sentences.c.section_number >= 1,
            sentences.c.paper_id.in_(sa.select(_asked.c.paper_id)),
        )
        .distinct()
        .subquery("held")
    )
    wanted = (
        sa.select(_digests.c.paper_id, _digests.c.section_number, _digests.c.text_digest)
        .join_from(_digests, sections, _is_of_section())
        .where(sections.c.text != "", _digests.c.paper_id.in_(sa.select(_asked.c.paper_id)))
        .subquery("wanted")
    )
    same = sa.and_(*(held.c[name] == wanted.c[name] for name in held.c.keys()))  # noqa: SIM118
    lacking = sa.select(wanted.c.paper_id).where(~sa.exists().where(same))
    left_over = sa.select(held.c.paper_id).where(~sa.exists().where(same))
    changed = sa.union(lacking, left_over).subquery("changed")
    size = sa.cast(sa.func.coalesce(sa.func.sum(sa.func.length(sections.c.text)), 0), sa.BigInteger)
    query = (
        sa.select(changed.c.paper_id, size.label("size"))
        .join_from(changed, sections, changed.c.paper_id == sections.c.paper_id, isouter=True)
        .group_by(changed.c.paper_id)
        .order_by(changed.c.paper_id)
    )
    with session.staged({_asked.name: pa.table({"paper_id": paper_ids})}):
        return session.fetch_arrow(query)


def _is_of_section() -> sa.ColumnElement[bool]:
    return sa.and_(
        sections.c.paper_id == _digests.c.paper_id,
        sections.c.section_number == _digests.c.section_number,
        sections.c.section_number >= 1,
    )


def _read(database: Database, batches: list[npt.NDArray[np.int64]]) -> Iterator[pa.Table]:
    query = (
        sa.select(sections.c.paper_id, sections.c.section_number, sections.c.text, _digests.c.text_digest)
        .join_from(sections, _digests, _is_of_section())
        .order_by(sections.c.paper_id, sections.c.section_number)
    )
    for batch in batches:
        between = sections.c.paper_id.between(int(batch.min()), int(batch.max()))
        chosen = query.where(between, sections.c.paper_id.in_(sa.select(_asked.c.paper_id)))
        with database.read() as session, session.staged({_asked.name: pa.table({"paper_id": batch})}):
            texts = session.fetch_arrow(chosen)
        yield texts


def split_sections(splitter: Splitter, texts: pa.Table) -> pa.Table:
    """Rows of `sentences`, without their producer, of sections with the digests of their texts."""
    rows = []
    for paper_id, number, text, digest in zip(*(c.to_pylist() for c in texts.columns), strict=True):
        for position, sentence in enumerate(splitter.split(text), start=1):
            rows.append((paper_id, number, position, sentence, digest))
    columns = list(zip(*rows, strict=True)) or [()] * len(_MADE)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, _MADE, strict=True)], _MADE
    )


def store_sentences(session: Session, producer: str, paper_ids: npt.NDArray[np.int64], made: pa.Table) -> int:
    """Put the rows in the place of the producer's rows of these papers' sections; how many papers changed.

    A paper that is gone since gets no rows; sentences of a text that changed since are stale. A paper with a
    blank section is looked at each time: where its sentences are there, nothing is written.
    """
    between = sentences.c.paper_id.between(int(paper_ids.min()), int(paper_ids.max()))
    is_asked = sa.exists().where(sentences.c.paper_id == _asked.c.paper_id)
    ours = (sentences.c.producer == producer, sentences.c.section_number >= 1, between, is_asked)
    there = sa.select(papers.c.paper_id).where(papers.c.paper_id.in_(sa.select(_asked.c.paper_id)))
    with session.staged({_asked.name: pa.table({"paper_id": paper_ids})}):
        held = set(session.fetch_arrow(there)["paper_id"].to_pylist())
        had = _list_texts(
            session.fetch_arrow(sa.select(*(sentences.c[name] for name in _TEXT)).distinct().where(*ours))
        )
    has = {text for text in _list_texts(made) if text[0] in held}
    changed = np.array(sorted({paper_id for paper_id, *_ in had ^ has}), dtype=np.int64)
    with session.staged({_asked.name: pa.table({"paper_id": changed})}):
        session.execute(sa.delete(sentences).where(*ours))
    rows = made.filter(pc.is_in(made["paper_id"], value_set=pa.array(changed)))
    rows = rows.filter(pc.is_in(rows["paper_id"], value_set=pa.array(sorted(held), pa.int64())))
    session.insert(sentences, rows.append_column("producer", pa.repeat(pa.scalar(producer), rows.num_rows)))
    return len(changed)


def _list_texts(rows: pa.Table) -> set[tuple[int, int, str]]:
    """The sections that sentences are of: paper, number, digest."""
    return set(zip(*(rows[name].to_pylist() for name in _TEXT), strict=True))
