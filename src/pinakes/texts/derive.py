"""Derived rows brought up to date: those of papers that have none, or none of their text as it is now.

A generator says who it is (`producer`), which table it fills, and how rows are made of texts. Its rows stand
beside those of loaders and of other generators, which it never touches; docs/decisions/0021 has the rules.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, PinakesError
from pinakes.load.corpus import find_corpus
from pinakes.loaders.registry import LOADERS
from pinakes.progress import Progress, Silent
from pinakes.schema import check_schema, labels, paper_variants, papers, sentences

TABLES: Final = (paper_variants, sentences, labels)
"""the tables that have a producer"""
PAPERS_PER_BATCH: Final = 1_000
"""papers whose rows are written in one transaction"""

_RESERVED: Final = "user"
"""the producer of rows that are written without one"""
_OURS: Final = ("producer", "text_digest")

_text_digests: Final = sa.table(
    "text_digests",
    sa.column("paper_id", sa.BigInteger),
    sa.column("section_number", sa.Integer),
    sa.column("text_digest", sa.Uuid),
)
_asked: Final = sa.table("staged_papers", sa.column("paper_id", sa.BigInteger))


@dataclass(frozen=True, slots=True)
class Generator:
    """What makes rows of papers' texts.

    Attributes:
        producer: its name, its version and all settings that its rows depend on, as `neighbours 1 seed=7`:
            rows of another producer are other rows.
        table: of `TABLES`, where the rows go.
        make: papers (paper_id, title, abstract; a text may be null) -> rows of these papers: paper_id and the
            table's other columns, but not producer and text_digest. Sentences are of the abstract, section 0.
            A paper for which there are no rows is given again the next time.
    """

    producer: str
    table: sa.Table
    make: Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class Derived:
    """For how many papers rows were made, and how many rows."""

    papers: int
    rows: int


def derive(
    database: Database,
    corpus: str,
    generator: Generator,
    *,
    papers_per_batch: int = PAPERS_PER_BATCH,
    progress: Progress | None = None,
) -> Derived:
    """Make the generator's rows for all papers of a corpus that have none of their text as it is now.

    Each batch is one transaction: stopped and started again, it goes on with the papers that are left.

    Raises:
        UnknownNameError: no such corpus.
        InputError: the producer cannot be one, or the table has none.
        PinakesError: the generator has made rows that are not those of its papers.
    """
    _check(generator)
    check_schema(database)
    shown = progress or Silent()
    with database.read() as session:
        outdated = list_outdated(session, find_corpus(session, corpus), generator)
    rows = 0
    shown.start(f"derive {generator.producer}", len(outdated))
    try:
        for start in range(0, len(outdated), papers_per_batch):
            paper_ids = outdated[start : start + papers_per_batch]
            with database.read() as session:
                texts = read_texts(session, paper_ids)
            made = generator.make(texts.select(["paper_id", "title", "abstract"]))
            with database.begin() as session:
                rows += store_derived(session, generator, texts, made)
            shown.advance(len(paper_ids))
    finally:
        shown.finish()
    return Derived(len(outdated), rows)


def _check(generator: Generator) -> None:
    producer = generator.producer
    if not producer.strip() or producer == _RESERVED or producer in LOADERS:
        raise InputError(f"{producer!r} cannot be the producer of derived rows: it stands for other rows.")
    if generator.table not in TABLES:
        listed = ", ".join(table.name for table in TABLES)
        raise InputError(f"{generator.table.name} has no producer; expected one of {listed}.")


def list_outdated(session: Session, corpus_id: int, generator: Generator) -> npt.NDArray[np.int64]:
    """The ids, ascending, of papers with a text that have no rows of the generator of this text."""
    table = generator.table
    is_made = sa.exists().where(
        table.c.paper_id == papers.c.paper_id,
        table.c.producer == generator.producer,
        table.c.text_digest == _text_digests.c.text_digest,
    )
    has_text = sa.func.coalesce(papers.c.title, papers.c.abstract).is_not(None)
    query = (
        sa.select(papers.c.paper_id)
        .join_from(papers, _text_digests, _same_paper())
        .where(papers.c.corpus_id == corpus_id, has_text, ~is_made)
        .order_by(papers.c.paper_id)
    )
    return np.asarray(session.fetch_arrow(query)["paper_id"].to_numpy(), dtype=np.int64)


def _same_paper() -> sa.ColumnElement[bool]:
    return sa.and_(papers.c.paper_id == _text_digests.c.paper_id, _text_digests.c.section_number == 0)


def read_texts(session: Session, paper_ids: npt.NDArray[np.int64]) -> pa.Table:
    """paper_id, title, abstract and text_digest of the papers, ascending; of those that are there."""
    columns = (papers.c.paper_id, papers.c.title, papers.c.abstract, _text_digests.c.text_digest)
    query = (
        sa.select(*columns)
        .join_from(papers, _text_digests, _same_paper())
        .where(papers.c.paper_id.in_(sa.select(_asked.c.paper_id)))
        .order_by(papers.c.paper_id)
    )
    with session.staged({_asked.name: pa.table({"paper_id": paper_ids})}):
        return session.fetch_arrow(query)


def store_derived(session: Session, generator: Generator, texts: pa.Table, made: pa.Table) -> int:
    """Put the rows in the place of the generator's rows of these papers; the number of rows that are in.

    `texts`, as `read_texts` gives them, is what `made` was made of. A paper that is gone since gets no rows;
    rows of a text that changed since are stale. Raises `PinakesError` for rows of another paper or section,
    or two with one key.
    """
    table = generator.table
    _refuse_defects(generator, texts, made)
    with session.staged({_asked.name: texts.select(["paper_id"])}):
        chosen = sa.select(_asked.c.paper_id)
        query = sa.select(papers.c.paper_id).where(papers.c.paper_id.in_(chosen))
        held = session.fetch_arrow(query)["paper_id"].combine_chunks()
        older = sa.delete(table).where(table.c.paper_id.in_(chosen), table.c.producer == generator.producer)
        session.execute(older)
    rows = made.filter(pc.is_in(made["paper_id"], value_set=held))
    read = pc.index_in(rows["paper_id"], value_set=texts["paper_id"].combine_chunks())
    rows = rows.append_column("text_digest", texts["text_digest"].take(read))
    rows = rows.append_column("producer", pa.repeat(pa.scalar(generator.producer), rows.num_rows))
    return session.insert(table, rows.select([c.name for c in table.columns if c.name in rows.column_names]))


def _refuse_defects(generator: Generator, texts: pa.Table, made: pa.Table) -> None:
    key = [column.name for column in generator.table.primary_key if column.name not in _OURS]
    problem = None
    if set(made["paper_id"].to_pylist()) - set(texts["paper_id"].to_pylist()):
        problem = "rows of papers that it was not given"
    elif "section_number" in made.column_names and set(made["section_number"].to_pylist()) - {0}:
        problem = "sentences of another section than the abstract (0)"
    elif made.group_by(key).aggregate([]).num_rows < made.num_rows:
        problem = f"two rows with the same {', '.join(key)}"
    if problem:
        raise PinakesError(f"{generator.producer} has made {problem}: it has a defect, please report it.")
