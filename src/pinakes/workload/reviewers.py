"""What the task of matching reviewers asks: submissions, reviewers, and the papers that are theirs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.distinct import find_distinct
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.schema import papers
from pinakes.workload.digest import order_ties
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.workload import Ids

VIEWS: Final[Mapping[str, str]] = {
    "queries": "the submissions, each a paper, with the columns that reports break down by.",
    "candidates": "the reviewers that the published code ranks for a submission.",
    "judgments": "how well a reviewer fits a submission.",
    "reviewers": "the papers of each reviewer.",
}
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "queries": ("query_id", "paper_id"),
    "candidates": ("query_id", "paper_id"),
    "judgments": ("query_id", "paper_id", "grade"),
    "reviewers": ("reviewer_id", "paper_id"),
}
"""view -> the columns that it has, besides the grouping columns of the queries; a reviewer is a paper"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Submissions(PaperTexts):
    """Submissions to be reviewed, and who could review them; `PaperTexts` are the papers of both.

    Attributes:
        query_ids: the submissions, by id.
        query_papers: the paper of each, ours (q,).
        reviewer_ids: the reviewers, ours, ascending (r,).
        reviewer_ties: the rank of each among equal scores: source ids byte-wise descending (r,).
        authored: the papers of each reviewer, ours, ascending; none where nothing is known of them.
        pools: the positions of each submission's candidates in `reviewer_ids`, ascending.
    """

    query_ids: list[str]
    query_papers: Ids
    reviewer_ids: Ids
    reviewer_ties: Ids
    authored: list[Ids]
    pools: list[Ids]

    @property
    def queries_expected(self) -> int:
        """How many submissions there are."""
        return len(self.query_ids)

    @property
    def candidates_expected(self) -> int:
        """(submission, reviewer) pairs."""
        return sum(map(len, self.pools))

    @property
    def candidates_without_text(self) -> int:
        """Of these, those with a reviewer of whom no paper has a text."""
        without = np.array([not self.has_text[self.find(own)].any() for own in self.authored], dtype=bool)
        return sum(int(without[pool].sum()) for pool in self.pools)

    def find(self, paper_ids: Ids) -> Ids:
        """The rows of `paper_ids` that papers of a submission or a reviewer are."""
        return np.searchsorted(self.paper_ids, paper_ids)


def list_columns(benchmark: Benchmark, view: str) -> tuple[str, ...]:
    """The columns that a view of a benchmark must have."""
    grouping = (*benchmark.group_by, benchmark.fold_column, benchmark.repeat_column)
    return COLUMNS[view] + (tuple(filter(None, grouping)) if view == "queries" else ())


def read_submissions(
    database: Database, benchmark: Benchmark, _query_template: str, paper_template: str
) -> Submissions:
    """The submissions and reviewers of an installed benchmark.

    In the mode `corrected` every reviewer is a candidate of every submission; in `published` those whom the
    view `candidates` gives for it, but for reviewers of whom the view `reviewers` has nothing.

    Raises `BenchmarkError` where there are no submissions or no reviewers, and for an id that is not once.
    """
    with database.read() as session:
        queries, owned, listed = (
            _read_view(session, benchmark, view) for view in ("queries", "reviewers", "candidates")
        )
        _require_queries(benchmark, queries, owned, listed)
        reviewer_ids = find_distinct(_ids(owned, "reviewer_id"), _ids(listed, "paper_id"))
        names = _read_names(session, benchmark)
        positions = np.searchsorted(reviewer_ids, _ids(owned, "reviewer_id"))
        papers_owned = _ids(owned, "paper_id")
        authored = [find_distinct(papers_owned[positions == place]) for place in range(len(reviewer_ids))]
        pools = _find_pools(benchmark, queries, listed, reviewer_ids, authored)
        return Submissions.read(
            session,
            benchmark,
            paper_template,
            _choose_papers(benchmark),
            _list_requested(queries, owned, names, [reviewer_ids[pool] for pool in pools]),
            query_ids=queries["query_id"].to_pylist(),
            query_papers=_ids(queries, "paper_id"),
            reviewer_ids=reviewer_ids,
            reviewer_ties=order_ties(pa.array([names[reviewer] for reviewer in reviewer_ids.tolist()])),
            authored=authored,
            pools=pools,
        )


def _relate(benchmark: Benchmark, view: str) -> sa.TableClause:
    return sa.table(view, *map(sa.column, COLUMNS[view]), schema=benchmark.name)


def _choose_papers(benchmark: Benchmark) -> sa.Select[tuple[int]]:
    parts = (sa.select(_relate(benchmark, view).c.paper_id) for view in ("queries", "reviewers"))
    chosen = sa.union(*parts).subquery("chosen")
    return sa.select(chosen.c.paper_id)


def _read_view(session: Session, benchmark: Benchmark, view: str) -> pa.Table:
    """The rows of a view that name a paper, each once, in order; with `source_id`, the paper's."""
    shown = _relate(benchmark, view)
    rows = sa.select(*shown.c, papers.c.source_id).join(papers, papers.c.paper_id == shown.c.paper_id)
    found = session.fetch_arrow(rows.distinct())
    return found.sort_by([(found.column_names[0], "ascending"), ("source_id", "ascending")])


def _ids(rows: pa.Table, name: str) -> Ids:
    ids: Ids = rows[name].to_numpy().astype(np.int64)
    return ids


def _read_names(session: Session, benchmark: Benchmark) -> dict[int, str]:
    """Reviewer, ours -> the source's id of it."""
    owners, listed = _relate(benchmark, "reviewers"), _relate(benchmark, "candidates")
    reviewers = sa.union(sa.select(owners.c.reviewer_id), sa.select(listed.c.paper_id))
    named = sa.select(papers.c.paper_id, papers.c.source_id).where(papers.c.paper_id.in_(reviewers))
    return {row["paper_id"]: row["source_id"] for row in session.rows(named)}


def _require_queries(benchmark: Benchmark, queries: pa.Table, owned: pa.Table, listed: pa.Table) -> None:
    if not queries.num_rows or not owned.num_rows:
        missing = "submissions" if not queries.num_rows else "reviewers with papers"
        raise BenchmarkError(
            f"the benchmark {benchmark.name} has no {missing} in this database; load its corpus "
            f"{benchmark.corpus} first, with `pinakes load`."
        )
    if len(queries["query_id"].unique()) != queries.num_rows:
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query_id twice; expected each once.")
    unknown = sorted(set(listed["query_id"].to_pylist()) - set(queries["query_id"].to_pylist()))
    if unknown:
        raise BenchmarkError(f"{benchmark.name}.candidates names query {unknown[0]}, which its queries lack.")


def _find_pools(
    benchmark: Benchmark, queries: pa.Table, listed: pa.Table, reviewer_ids: Ids, authored: list[Ids]
) -> list[Ids]:
    if benchmark.mode != "published":
        return [np.arange(len(reviewer_ids))] * queries.num_rows
    is_known = np.array([len(own) > 0 for own in authored])
    positions = np.searchsorted(reviewer_ids, _ids(listed, "paper_id"))
    owner = np.array(listed["query_id"].to_pylist(), dtype=object)
    return [
        np.unique(positions[(owner == query_id) & is_known[positions]])
        for query_id in queries["query_id"].to_pylist()
    ]


def _list_requested(
    queries: pa.Table, owned: pa.Table, names: Mapping[int, str], pools: list[Ids]
) -> pa.Table:
    """What decides the answers besides the texts, by the source's ids: who wrote what, who is asked about."""
    authors = [names[reviewer] for reviewer in owned["reviewer_id"].to_pylist()]
    wrote = sorted(zip(authors, owned["source_id"].to_pylist(), strict=True))
    rows = [("wrote", *pair, "") for pair in wrote]
    for query_id, paper, pool in zip(
        queries["query_id"].to_pylist(), queries["source_id"].to_pylist(), pools, strict=True
    ):
        rows.append(("asks", query_id, paper, "\n".join(sorted(names[one] for one in pool.tolist()))))
    return pa.table({str(place): [row[place] for row in rows] for place in range(4)})
