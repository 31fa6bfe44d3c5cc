"""The papers that a task's instances can be of: key, side, text, and whether a test asks for each."""

from typing import Any, Final

import sqlalchemy as sa

from pinakes.queries.relations import read_template
from pinakes.schema import corpora, papers
from pinakes.train.blocks import Blocks
from pinakes.train.data import TRAIN, VALIDATION, DrawOptions
from pinakes.train.held import PLAIN

_COLUMNS: Final[dict[str, Any]] = {
    "paper_id": sa.BigInteger,
    "paper_key": sa.Text(collation="C"),
    "side": sa.Text,
    "text_digest": sa.Uuid,
    "has_text": sa.Integer,
    "is_held": sa.Integer,
    "in_pool": sa.Integer,
}
TABLE: Final = sa.table("drawing_papers", *(sa.column(name, type_) for name, type_ in _COLUMNS.items()))
"""paper_key: the corpus and the source's id, by which both databases order alike. side: by the text, so that
what says the same is on one side in all tasks. in_pool: whether it may be a negative that nobody named."""
_HELD: Final = sa.table("drawing_held", sa.column("paper_id"), sa.column("text_digest"))


def make_papers(
    blocks: Blocks,
    chosen: sa.Select[Any],
    template: str,
    options: DrawOptions,
    pool: sa.Select[Any] | None = None,
) -> None:
    """Make `drawing_papers` of a select of paper_ids, read with a template; `pool` are those that are in it.

    `pool` is by default all of them.
    """
    text = read_template("papers", template).element
    plain = sa.func.md5(read_template("papers", PLAIN).element)
    is_held = sa.or_(
        papers.c.paper_id.in_(sa.select(_HELD.c.paper_id)),
        sa.cast(plain, sa.Uuid).in_(sa.select(_HELD.c.text_digest).where(_HELD.c.text_digest.is_not(None))),
    )
    in_pool = sa.true() if pool is None else papers.c.paper_id.in_(pool)
    rows = (
        sa.select(
            papers.c.paper_id,
            corpora.c.name + ":" + papers.c.source_id,
            tell_side(plain, options),
            sa.cast(sa.func.md5(text), sa.Uuid),
            sa.case((text != "", 1), else_=0),
            sa.case((is_held, 1), else_=0),
            sa.case((in_pool, 1), else_=0),
        )
        .join_from(papers, corpora, papers.c.corpus_id == corpora.c.corpus_id)
        .where(papers.c.paper_id.in_(chosen))
    )
    blocks.make_as("papers", _COLUMNS, rows)


def tell_side(digest: Any, options: DrawOptions) -> sa.ColumnElement[str]:
    """Whether what has that md5, as text, trains or validates."""
    number = sa.cast(sa.func.md5(digest + f":validation:{options.seed}"), sa.Uuid)
    edge = sa.cast(sa.literal(options.edge, sa.Text), sa.Uuid)
    return sa.case((number < edge, VALIDATION), else_=TRAIN)
