"""Which papers of a corpus a search is about, said by their columns; the values are bound, never pasted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.schema import corpora, paper_fields, papers


@dataclass(frozen=True, slots=True)
class PaperFilter:
    """What must hold of a paper: all of what is not None.

    Attributes:
        year_from, year_to: its year, both ends included; a paper without a year is none.
        venue: its venue, word for word.
        field: one of its fields of study, whoever assigned it.
        min_citations: its citation count.
    """

    year_from: int | None = None
    year_to: int | None = None
    venue: str | None = None
    field: str | None = None
    min_citations: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every paper passes."""
        return self == PaperFilter()


def find_pool(database: Database, corpus: str, wanted: PaperFilter) -> NDArray[np.int64] | None:
    """The ids of the corpus's papers that pass, ascending; None where every paper does.

    Raises:
        InputError: no paper passes.
    """
    if wanted.is_empty:
        return None
    statement = (
        sa.select(papers.c.paper_id)
        .join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
        .where(corpora.c.name == corpus, *_conditions(wanted))
        .order_by(papers.c.paper_id)
    )
    with database.read() as session:
        found = session.fetch_arrow(statement)
    if not found.num_rows:
        raise InputError(f"no paper of {corpus} passes the filter; loosen it.")
    pool: NDArray[np.int64] = found["paper_id"].to_numpy().astype(np.int64)
    return pool


def _conditions(wanted: PaperFilter) -> list[sa.ColumnElement[bool]]:
    pairs: list[tuple[Any, Callable[[Any], sa.ColumnElement[bool]]]] = [
        (wanted.year_from, lambda year: papers.c.year >= year),
        (wanted.year_to, lambda year: papers.c.year <= year),
        (wanted.venue, lambda venue: papers.c.venue == venue),
        (wanted.field, _has_field),
        (wanted.min_citations, lambda count: papers.c.citation_count >= count),
    ]
    return [condition(value) for value, condition in pairs if value is not None]


def _has_field(field: str) -> sa.ColumnElement[bool]:
    return papers.c.paper_id.in_(sa.select(paper_fields.c.paper_id).where(paper_fields.c.field == field))
