"""What a system is asked for the vectors of: papers of a benchmark, with their texts."""

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Session
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import select_paper_texts
from pinakes.workload.digest import digest_papers, order_ties
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Ids, read_papers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PaperTexts:
    """Papers and what they say to a system; what a task asks besides is of a class of its own.

    Attributes:
        chosen: a select of the papers' paper_id.
        paper_ids: the papers, ascending (n,).
        source_ids: the source's id of each (n,), Python strings.
        tie_order: the rank of each among equal scores: source ids byte-wise descending (n,).
        has_text: whether a paper has a text (n,).
        digest: sha256 over ids and texts, and over what else the task asks.
    """

    benchmark: Benchmark
    paper_template: str
    chosen: sa.Select[Any]
    paper_ids: Ids
    source_ids: NDArray[np.object_]
    tie_order: Ids
    has_text: NDArray[np.bool_]
    digest: str

    @property
    def query_template(self) -> str | None:
        """None: nothing is asked by a text of its own."""
        return None

    @property
    def candidates_expected(self) -> int:
        """How many papers a vector is asked of."""
        return len(self.paper_ids)

    @property
    def candidates_without_text(self) -> int:
        """Of these, how many have no text."""
        return len(self.paper_ids) - int(self.has_text.sum())

    @property
    def scope(self) -> CorpusScope:
        """The corpus of the papers, read as they are."""
        return CorpusScope(self.benchmark.corpus, self.paper_template, self.benchmark.name)

    def select_paper_texts(self) -> sa.Select[Any]:
        """paper_id and text of every paper, by paper_id."""
        return select_paper_texts(self.chosen, self.paper_template)

    def select_query_texts(self) -> sa.Select[Any] | None:
        """None: nothing is asked by a text of its own."""
        return None

    @classmethod
    def read(
        cls,
        session: Session,
        benchmark: Benchmark,
        paper_template: str,
        chosen: sa.Select[Any],
        requested: pa.Table | None = None,
        **members: Any,
    ) -> Self:
        """The papers that a select of paper_ids gives, with their texts.

        Args:
            requested: what else decides the answers, in an order that both databases give; it enters the
                digest, row by row.
            members: those of a class of the task's own.
        """
        listed = read_papers(session, select_paper_texts(chosen, paper_template))
        tie_order = order_ties(listed["source_id"])
        digest = hashlib.sha256()
        digest_papers(digest, listed, tie_order)
        for row in zip(*(column.to_pylist() for column in (requested or pa.table({})).columns), strict=True):
            digest.update(repr(row).encode() + b"\n")
        return cls(
            benchmark=benchmark,
            paper_template=paper_template,
            chosen=chosen,
            paper_ids=listed["paper_id"].to_numpy().astype(np.int64),
            source_ids=listed["source_id"].to_numpy(zero_copy_only=False),
            tie_order=tie_order,
            has_text=listed["has_text"].to_numpy(zero_copy_only=False),
            digest=digest.hexdigest(),
            **members,
        )
