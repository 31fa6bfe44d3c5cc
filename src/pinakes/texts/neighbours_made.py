"""What neighbours a corpus has of a producer: counted by code and by reason, and how many texts are equal."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.schema import absent_variants, paper_variants, papers
from pinakes.texts.neighbours.codes import CODES


@dataclass(frozen=True, slots=True)
class CodeMade:
    """How many papers have a neighbour of a code, how many of these are unchanged, why others have none."""

    code: str
    category: str
    made: int
    unchanged: int
    absent: dict[str, int]


class Counted(NamedTuple):
    """What the corpus has of the producer.

    Attributes:
        codes: what was asked for, code by code.
        papers: of the corpus.
        texts: of the papers and of all their variants that were asked for: title and abstract.
        distinct_texts: of these, how many differ: each has to be encoded once.
    """

    codes: list[CodeMade]
    papers: int
    texts: int
    distinct_texts: int


@dataclass(frozen=True, slots=True)
class NeighboursMade:
    """What a derivation has made, and what the corpus then has.

    Attributes:
        analysed: papers whose text was analysed now.
        derived_papers, derived_rows: papers for which something was made now; how many variants or reasons.
    """

    corpus: str
    producer: str
    analysed: int
    derived_papers: int
    derived_rows: int
    codes: list[CodeMade]
    papers: int
    texts: int
    distinct_texts: int
    elapsed_s: float = 0.0


def count_neighbours(session: Session, corpus_id: int, producer: str, codes: tuple[str, ...]) -> Counted:
    """Count what the corpus has of the producer's variants of these codes."""
    made = {row["code"]: row for row in session.rows(_count_made(corpus_id, producer))}
    absent: dict[str, dict[str, int]] = {}
    for row in session.rows(_count_absent(corpus_id, producer)):
        absent.setdefault(row["code"], {})[row["reason"]] = int(row["papers"])
    none = {"made": 0, "unchanged": 0}
    listed = [
        CodeMade(
            name,
            CODES[name].category,
            int(made.get(name, none)["made"]),
            int(made.get(name, none)["unchanged"]),
            absent.get(name, {}),
        )
        for name in codes
    ]
    of_corpus = sa.select(sa.func.count()).select_from(papers).where(papers.c.corpus_id == corpus_id)
    texts = session.rows(_count_texts(corpus_id, producer, codes))[0]
    return Counted(listed, int(session.scalar(of_corpus)), int(texts["texts"]), int(texts["distinct_texts"]))


def _select_rows(table: sa.Table, corpus_id: int, producer: str) -> sa.Select[Any]:
    return (
        sa.select()
        .join_from(table, papers, table.c.paper_id == papers.c.paper_id)
        .where(papers.c.corpus_id == corpus_id, table.c.producer == producer)
    )


def _count_made(corpus_id: int, producer: str) -> sa.Select[Any]:
    variants = paper_variants.c
    is_same = sa.and_(
        variants.title.is_not_distinct_from(papers.c.title),
        variants.abstract.is_not_distinct_from(papers.c.abstract),
    )
    unchanged = sa.func.sum(sa.case((is_same, 1), else_=0))
    return (
        _select_rows(paper_variants, corpus_id, producer)
        .add_columns(variants.code, sa.func.count().label("made"), unchanged.label("unchanged"))
        .group_by(variants.code)
    )


def _count_absent(corpus_id: int, producer: str) -> sa.Select[Any]:
    of_table = absent_variants.c
    return (
        _select_rows(absent_variants, corpus_id, producer)
        .add_columns(of_table.code, of_table.reason, sa.func.count().label("papers"))
        .group_by(of_table.code, of_table.reason)
        .order_by(of_table.code, sa.func.count().desc(), of_table.reason)
    )


def _count_texts(corpus_id: int, producer: str, codes: tuple[str, ...]) -> sa.Select[Any]:
    originals = sa.select(_digest(papers)).where(
        papers.c.corpus_id == corpus_id,
        sa.func.coalesce(papers.c.title, papers.c.abstract).is_not(None),
    )
    variants = (
        _select_rows(paper_variants, corpus_id, producer)
        .add_columns(_digest(paper_variants))
        .where(paper_variants.c.code.in_(codes))
    )
    both = sa.union_all(originals, variants).subquery("texts")
    distinct = sa.func.count(sa.distinct(both.c.digest))
    columns: list[Any] = [sa.func.count().label("texts"), distinct.label("distinct_texts")]
    return sa.select(*columns).select_from(both)


def _digest(table: sa.Table) -> sa.ColumnElement[Any]:
    texts = [sa.func.coalesce(table.c[name], "") for name in ("title", "abstract")]
    return sa.cast(sa.func.md5(texts[0] + sa.func.chr(31) + texts[1]), sa.Uuid).label("digest")
