"""What a generator has to make: papers without its rows of their text as it is, and what it is made of."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.schema import absent_variants, paper_variants, papers, text_analyses
from pinakes.texts.generator import Generator

_digests: Final = sa.table(
    "text_digests",
    sa.column("paper_id", sa.BigInteger),
    sa.column("section_number", sa.Integer),
    sa.column("text_digest", sa.Uuid),
)
_asked: Final = sa.table("staged_papers", sa.column("paper_id", sa.BigInteger))
_OF_PAPER: Final = sa.and_(papers.c.paper_id == _digests.c.paper_id, _digests.c.section_number == 0)
_HAS_TEXT: Final = sa.func.coalesce(papers.c.title, papers.c.abstract).is_not(None)


def list_outdated(session: Session, corpus_id: int, generator: Generator) -> pa.Table:
    """paper_id, ascending, and size of papers that lack rows of the generator of their text as it is now.

    The size is that of title and abstract in characters. Of a generator with codes a paper without a text
    counts too: that it has none is why there is no variant.
    """
    sizes = [sa.func.length(sa.func.coalesce(papers.c[name], "")) for name in ("title", "abstract")]
    query = (
        sa.select(papers.c.paper_id, sa.cast(sizes[0] + sizes[1], sa.BigInteger).label("size"))
        .join_from(papers, _digests, _OF_PAPER)
        .where(papers.c.corpus_id == corpus_id, ~_is_made(corpus_id, generator))
        .order_by(papers.c.paper_id)
    )
    return session.fetch_arrow(query if generator.codes else query.where(_HAS_TEXT))


def _is_made(corpus_id: int, generator: Generator) -> sa.ColumnElement[bool]:
    if generator.codes:
        counted = _count_held(generator, papers.c.corpus_id == corpus_id, by=[])
        wanted = len(generator.codes)
        is_whole = [counted.c[name] == wanted for name in ("held", "codes", "current")]
        return papers.c.paper_id.in_(sa.select(counted.c.paper_id).where(*is_whole))
    table = generator.table
    return sa.exists().where(
        table.c.paper_id == papers.c.paper_id,
        table.c.producer == generator.producer,
        table.c.text_digest == _digests.c.text_digest,
    )


def _count_held(generator: Generator, of_papers: sa.ColumnElement[bool], by: list[str]) -> sa.Subquery:
    """Of each paper (and code, where `by` names it) how many rows and codes there are, and current rows."""
    listed = [
        sa.select(table.c.paper_id, table.c.code, table.c.text_digest).where(
            table.c.producer == generator.producer, table.c.code.in_(generator.codes)
        )
        for table in (paper_variants, absent_variants)
    ]
    held = sa.union_all(*listed).subquery("held")
    is_current = sa.case((held.c.text_digest == _digests.c.text_digest, 1), else_=0)
    keys = [held.c.paper_id, *(held.c[name] for name in by)]
    return (
        sa.select(
            *keys,
            sa.func.count().label("held"),
            sa.func.count(sa.distinct(held.c.code)).label("codes"),
            sa.func.sum(is_current).label("current"),
        )
        .join_from(held, papers, held.c.paper_id == papers.c.paper_id)
        .join(_digests, _OF_PAPER)
        .where(of_papers)
        .group_by(*keys)
        .subquery("counted")
    )


def read_texts(session: Session, generator: Generator, paper_ids: npt.NDArray[np.int64]) -> pa.Table:
    """paper_id, source_id, title, abstract and text_digest of the papers, ascending; of those that are there.

    And where the generator asks for them, `codes` and `analysis`; a paper that lacks no code is left out.
    """
    between = papers.c.paper_id.between(int(paper_ids.min()), int(paper_ids.max()))
    chosen = sa.and_(between, papers.c.paper_id.in_(sa.select(_asked.c.paper_id)))
    columns: list[Any] = [
        *(papers.c[name] for name in ("paper_id", "source_id", "title", "abstract")),
        _digests.c.text_digest,
    ]
    query = sa.select(*columns).join_from(papers, _digests, _OF_PAPER).where(chosen)
    if generator.analysis is not None:
        is_analysed = _is_analysed(generator.analysis)
        query = query.add_columns(text_analyses.c.analysis).outerjoin(text_analyses, is_analysed)
        query = query.where(text_analyses.c.analysis.is_not(None) | ~_HAS_TEXT)
    with session.staged({_asked.name: pa.table({"paper_id": paper_ids})}):
        texts = session.fetch_arrow(query.order_by(papers.c.paper_id))
        if generator.codes:
            texts = texts.append_column("codes", _list_missing(session, generator, texts, chosen))
            texts = texts.filter(pc.not_equal(texts["codes"], ""))  # another process may have made all
    return texts


def _is_analysed(producer: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        text_analyses.c.paper_id == papers.c.paper_id,
        text_analyses.c.producer == producer,
        text_analyses.c.text_digest == _digests.c.text_digest,
    )


def select_current_analyses(producer: str) -> sa.Select[Any]:
    """title, abstract and analysis of the papers that the producer has analysed as they are now."""
    return (
        sa.select(papers.c.title, papers.c.abstract, text_analyses.c.analysis)
        .join_from(papers, _digests, _OF_PAPER)
        .join(text_analyses, _is_analysed(producer))
    )


def _list_missing(
    session: Session, generator: Generator, texts: pa.Table, chosen: sa.ColumnElement[bool]
) -> pa.Array:
    """Of each paper the codes that it lacks, joined by commas, in the generator's order."""
    counted = _count_held(generator, chosen, by=["code"])
    query = sa.select(counted.c.paper_id, counted.c.code).where(counted.c.held == 1, counted.c.current == 1)
    held = set(zip(*(column.to_pylist() for column in session.fetch_arrow(query).columns), strict=True))
    missing = [
        ",".join(code for code in generator.codes if (paper_id, code) not in held)
        for paper_id in texts["paper_id"].to_pylist()
    ]
    return pa.array(missing, pa.string())
