"""What a search says of the papers that it finds, held in memory: ids, titles, years, and who comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.indexers.lexical import Ids, Ranked, positions_of
from pinakes.schema import corpora, papers
from pinakes.search.found import Found

HOLDER = "the papers of the corpus as they were when the searcher was opened"


@dataclass(frozen=True, slots=True, eq=False)
class HeldPapers:
    """The papers of a corpus: about 120 bytes each, most of it the title.

    Attributes:
        ids: ascending (n,).
        ranks: the place of each among equal scores (n,): source ids byte-wise descending.
        described: source_id, title and year, of the same rows.
    """

    ids: Ids
    ranks: Ids
    described: pa.Table

    def order(self, paper_ids: Ids) -> Ids:
        """The `TieOrder` of trec_eval."""
        return self.ranks[positions_of(paper_ids, self.ids, HOLDER)]

    def describe(self, rankings: Sequence[Ranked]) -> list[list[Found]]:
        """The papers of each ranking."""
        ids = np.concatenate([np.empty(0, np.int64), *(ranked.paper_ids for ranked in rankings)])
        rows = self.described.take(pa.array(positions_of(ids, self.ids, HOLDER))).to_pydict()
        said = list(zip(rows["source_id"], rows["title"], rows["year"], ids.tolist(), strict=True))
        found, start = [], 0
        for ranked in rankings:
            scores = ranked.scores.tolist()
            part = said[start : start + len(scores)]
            found.append(
                [
                    Found(rank, score, *one)
                    for rank, (score, one) in enumerate(zip(scores, part, strict=True), 1)
                ]
            )
            start += len(scores)
        return found


def read_held_papers(session: Session, corpus: str) -> HeldPapers:
    """The papers of a corpus."""
    columns = (papers.c.source_id, papers.c.title, papers.c.year)
    read = session.fetch_arrow(select_tie_ranks(corpus).add_columns(*columns))
    return HeldPapers(*_read_ranks(read), read.select([column.name for column in columns]).combine_chunks())


def read_tie_ranks(session: Session, corpus: str) -> tuple[Ids, Ids]:
    """The ids of a corpus's papers, ascending, and the place of each among equal scores."""
    return _read_ranks(session.fetch_arrow(select_tie_ranks(corpus)))


def select_tie_ranks(corpus: str) -> sa.Select[tuple[int, int]]:
    """paper_id and tie_rank, the place of the source's id byte-wise descending, by paper_id."""
    rank = sa.func.row_number().over(order_by=papers.c.source_id.desc()).label("tie_rank")
    of_corpus = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    chosen = sa.select(papers.c.paper_id, rank).select_from(of_corpus).where(corpora.c.name == corpus)
    return chosen.order_by(papers.c.paper_id)


def _read_ranks(read: pa.Table) -> tuple[Ids, Ids]:
    ids, ranks = (read[name].to_numpy().astype(np.int64) for name in ("paper_id", "tie_rank"))
    return ids, ranks
