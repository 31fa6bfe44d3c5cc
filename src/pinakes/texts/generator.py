"""What a generator is: who makes rows of papers' texts, for which table, and how."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session


@dataclass(frozen=True, slots=True)
class Generator:
    """What makes rows of papers' texts.

    Attributes:
        producer: its name, its version and all settings that its rows depend on, as `neighbours 1 seed=7`:
            rows of another producer are other rows.
        table: of `derive.TABLES`, where the rows go.
        make: papers (paper_id, source_id, title, abstract; a text may be null) -> rows of these papers:
            paper_id and the table's other columns, but not producer and text_digest. Sentences are of the
            abstract, section 0. A paper for which there are no rows is given again the next time. Where
            other processes make the rows it is pickled.
        codes: of paper_variants, which variants are asked for. A paper is given until it has each of them or
            the reason why not: `make` finds in the column `codes` those that it lacks, joined by commas,
            makes one row for each, also of papers without any text, and says in the column `reason` why
            there is no variant (null: there is one).
        analysis: the producer whose row of `text_analyses` is given along as the column `analysis`, null for
            a paper without a text. A paper with a text and no such row is passed over.
        still_holds: asked in each transaction that stores: whether what `make` was made with is what
            the database says now. Where not, nothing more is stored.
    """

    producer: str
    table: sa.Table
    make: Callable[[pa.Table], pa.Table]
    codes: tuple[str, ...] = ()
    analysis: str | None = None
    still_holds: Callable[[Session], bool] = lambda _session: True
