"""BM25 by our sparse scorer: k1 and b are options of a run, and all queries share one pass over the index.

N, df and the mean length are of the corpus; where pools are grouped, of the pool, which the corpus's index is
cut to; with the option `trained_on`, of another corpus. Without k1 and b a run takes the pair that `pinakes
tune bm25` chose for the benchmark as it is; else 1.2 and 0.75.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.analysis import ANALYSES, named_analysis
from pinakes.indexers.lexical import BuiltIndex, Ids, Ranked, Scores, TieOrder, select_top
from pinakes.indexers.sparse_bm25.analyse import TextBlock
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.explain import explain_score
from pinakes.indexers.sparse_bm25.index import LARGEST_K1, SparseBm25Index
from pinakes.indexers.sparse_bm25.weights import FORMULAS, describe_formula
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.settings import read_settings
from pinakes.systems.base import (
    Ability,
    Asked,
    ExplainedScore,
    Ranking,
    ScoreQuestion,
    SystemDescription,
    SystemOptions,
    WrittenDown,
)
from pinakes.systems.lexical import IndexSource, LexicalSystem, WeighTexts, trained_on_option
from pinakes.systems.rankings import (
    Found,
    choose_k,
    make_ranking,
    make_rankings,
    make_tie_order,
    report_rankings,
)
from pinakes.systems.tuned import describe_settings, find_choice
from pinakes.vectors.side_index import Row
from pinakes.vectors.term_tables import Weighing, find_written, strike_out, write_down
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Workload
from pinakes.writing.folders import join_address

if TYPE_CHECKING:  # imported late: Ray
    from pinakes.cluster.sparse import SharedSparseIndex

NAME: Final = "sparse_bm25"
K1: Final = 1.2
B: Final = 0.75


@dataclass(frozen=True, slots=True)
class SparseBm25Options:
    """The options of `sparse_bm25`."""

    k1: float | None = option(
        None, "k1; default: as tuned on the benchmark, else 1.2.", minimum=0, maximum=LARGEST_K1
    )
    b: float | None = option(None, "b; default: as tuned on the benchmark, else 0.75.", minimum=0, maximum=1)
    analysis: str = option("lucene", "How a text becomes terms.", choices=tuple(ANALYSES))
    formula: str = option("lucene", "Whose idf.", choices=tuple(FORMULAS))
    trained_on: str = trained_on_option()


@dataclass(frozen=True, slots=True)
class Pair:
    """k1 and b, and where they are from."""

    k1: float
    b: float
    origin: str


class SparseBm25System(LexicalSystem):
    """A lexical system whose k1 and b are chosen when it ranks."""

    can: ClassVar[frozenset[Ability]] = LexicalSystem.can | {
        *("rank_groups", "explain", "share", "write_down")
    }
    own_options: ClassVar[type[SparseBm25Options]] = SparseBm25Options

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(SparseBm25Options, name, options.parameters, options.fixed)
        super().__init__(name, options, named_analysis(own.analysis), own.trained_on)
        self._formula = own.formula
        self._on, self._tell = options.on, options.tell
        pair = Pair(K1 if own.k1 is None else own.k1, B if own.b is None else own.b, "given")
        self._given = None if own.k1 is None and own.b is None else pair

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """The index's parameters, the formula, k1, b and where they are from, and whose statistics."""
        described = super().describe(database, workload)
        pair = self.choose(database, workload) if isinstance(workload, Workload) else self._untuned()
        tuning = {"k1": pair.k1, "b": pair.b, "tuning": pair.origin}
        grouped = isinstance(workload, Workload) and workload.groups is not None
        own = grouped and not self._other_corpus(workload.scope)
        statistics = {"statistics": "pool"} if own else {}
        parameters = {**described.parameters, **describe_formula(self._formula), **tuning, **statistics}
        return SystemDescription(parameters, device="cpu")

    def choose(self, database: Database, workload: Workload) -> Pair:
        """The pair given; else the one tuned on the benchmark as it is; else 1.2 and 0.75."""
        if self._given is not None:
            return self._given
        found = find_choice(database, workload, self.name, self.settings(workload))
        if found is None:
            return Pair(K1, B, "default")
        if found.stale:
            return Pair(K1, B, "default: the benchmark, or its analysis, was tuned as it no longer is")
        return Pair(found.k1, found.b, f"{found.measure} on {found.validation}")

    def _untuned(self) -> Pair:
        """The pair of texts that are not ranked as a benchmark's queries are: nothing was tuned on them."""
        return self._given or Pair(K1, B, "default")

    def settings(self, workload: Workload) -> str:
        """What a tuned pair depends on, as JSON."""
        # Said only where they differ, so that a pair that was tuned before they could be set still holds.
        formula = {} if self._formula == "lucene" else {"formula": self._formula}
        other = self._other_corpus(workload.scope)
        counted = {"trained_on": other} if other else {}
        return describe_settings(workload, {**self._analysis.parameters(), **formula, **counted})

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """All queries in one pass; in a pool of its own, a candidate that shares no term is last, with 0."""
        index = self.open_index(database, workload)
        pair = self.choose(database, workload)
        pairs = zip(workload.query_ids, workload.query_texts, strict=True)
        texts = {query_id: text for query_id, text in pairs if text}

        def rank() -> Iterator[Ranking]:
            with self._share(database, workload, index) as searched:
                found = rank_texts(searched, workload, list(texts), list(texts.values()), pair.k1, pair.b)
            for query_id, ranked in zip(texts, found, strict=True):
                yield make_ranking(workload, query_id, ranked)

        return report_rankings(rank(), workload, self.name, len(texts), progress)

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """Each pool's queries in one pass, with the pool's own statistics; their own papers are left out."""
        index = self.open_index(database, workload)
        pair = self.choose(database, workload)
        requested = sum(text != "" for text in workload.query_texts)

        def rank() -> Iterator[Ranking]:
            with self._share(database, workload, index) as searched:
                if not isinstance(searched, SparseBm25Index):
                    yield from rank_shared_pools(searched, index, workload, pair)
                    return
            for search in open_pools(index, workload):
                yield from search.rank(pair.k1, pair.b)
                del search  # its postings, before the next pool's

        return report_rankings(rank(), workload, self.name, requested, progress)

    def open_index(self, database: Database, workload: Asked) -> SparseBm25Index:
        """The index of the workload's corpus; `RunError` with the command that builds it where it is not."""
        return SparseBm25Index.open(self._find_files(database, workload), self._formula)

    def _find_files(self, database: Database, workload: Asked) -> Path:
        folder: Path = self._folder / self._require_once(database, workload)["path"]
        return folder

    @contextmanager
    def _share(
        self, database: Database, workload: Asked, index: SparseBm25Index
    ) -> Iterator["SparseBm25Index | SharedSparseIndex"]:
        """The index on a cluster, where one is named; else as it is open."""
        if self._on is None:
            yield index
            return
        from pinakes.cluster.sparse import share_index  # late: Ray

        files, place = self._find_files(database, workload), read_settings().shared_folder
        through = None if place is None else join_address(place, "sparse_bm25")
        with share_index(self._on, files, index, self._tell, through=through) as shared:
            yield shared

    def explain(self, database: Database, question: ScoreQuestion) -> ExplainedScore:
        """The score that a run or a search gives, with its parts; the rank costs one pass over the index."""
        workload = question.workload
        pair = self._untuned() if workload is None else self.choose(database, workload)
        row = self._require(database, question.scope)
        index = SparseBm25Index.open(self._folder / row["path"], self._formula)
        ranked = np.sort(index.paper_ids) if question.ranked is None else question.ranked
        if question.own_statistics:
            index = index.restrict(ranked, threads=os.cpu_count() or 1)
        parts = explain_score(index, question.text, question.paper_id, pair.k1, pair.b)
        scores = index.score_pool(question.text, ranked, pair.k1, pair.b)
        rank = _find_rank(ranked, scores, question)
        count = len(ranked) if question.ranks_all else int((scores > 0).sum())
        return ExplainedScore(parts, pair.k1, pair.b, pair.origin, self._formula, rank, count)

    def write_down(
        self, database: Database, scope: CorpusScope, progress: Progress, *, asked: bool
    ) -> WrittenDown | None:
        """Write the index of a corpus into tables, in one transaction."""
        if not asked and self._find_written(database, scope) is None:
            return None
        # Nobody else writes between the look at the texts and the end.
        with database.in_one_transaction() as one:
            row = self._require(one, scope)
            with one.begin() as session:
                written = find_written(session, row["side_index_id"])
                weighing = self._weighing_of(None if asked else written)
                if written is not None and _is_as_now(written, row, weighing):
                    return None
                new = write_down(
                    session,
                    row,
                    SparseBm25Index.open(self._folder / row["path"], weighing.formula),
                    corpus=scope.corpus,
                    counted_in=self._other_corpus(scope) or scope.corpus,
                    weighing=weighing,
                    progress=progress,
                )
                return WrittenDown(new["name"], new["term_count"], new["posting_count"])

    def strike_out(self, database: Database, scope: CorpusScope) -> None:
        """Remove the rows of the index of a corpus."""
        written = self._find_written(database, scope)
        if written is not None:
            with database.begin() as session:
                strike_out(session, [written["side_index_id"]])

    def _find_written(self, database: Database, scope: CorpusScope) -> Row | None:
        row = self._side_index(scope).find(database)
        if row is None:
            return None
        with database.read() as session:
            return find_written(session, row["side_index_id"])

    def _weighing_of(self, written: Row | None) -> Weighing:
        """That of the rows that are renewed; of none, the options'."""
        if written is None:
            pair = self._untuned()
            return Weighing(pair.k1, pair.b, self._formula)
        return Weighing(written["k1"], written["b"], written["formula"])

    def _open_weighing(self, database: Database, texts: PaperTexts) -> WeighTexts:
        index, pair = self.open_index(database, texts), self._untuned()
        return lambda given, _titles: index.weigh(given, pair.k1, pair.b)

    def _build_files(self, folder: Path, source: IndexSource) -> BuiltIndex:
        blocks = (TextBlock(part["paper_id"].to_numpy(), part["text"]) for part in source.parts)
        settings: dict[str, Any] = {"analysis": self._analysis, "statistics": source.statistics}
        threads = os.cpu_count() or 1
        if self._on is not None:
            from pinakes.cluster.sparse import build_shared  # late: Ray

            return build_shared(self._on, folder, blocks, **settings, threads=threads, tell=self._tell)
        return build_sparse_bm25(folder, blocks, **settings, threads=threads)

    def _open(self, folder: Path) -> "_FixedIndex":
        return _FixedIndex(SparseBm25Index.open(folder, self._formula), self._untuned())


def _is_as_now(written: Row, side_index: Row, weighing: Weighing) -> bool:
    same = Weighing(written["k1"], written["b"], written["formula"]) == weighing
    return same and bool(written["content_digest"] == side_index["content_digest"])


def _find_rank(ranked: Ids, scores: Scores, question: ScoreQuestion) -> int | None:
    """The rank of the paper among those with these scores; None where it is not ranked."""
    places = np.flatnonzero(ranked == question.paper_id)
    if not len(places):
        return None
    own = scores[places[0]]
    if not (own > 0 or question.ranks_all):
        return None
    equal = ranked[scores == own]
    order = question.tie_order(equal)
    before = order < order[equal == question.paper_id]
    return 1 + int((scores > own).sum()) + int(before.sum())


def rank_texts(
    index: "SparseBm25Index | SharedSparseIndex",
    workload: Workload,
    query_ids: Sequence[str],
    texts: Sequence[str],
    k1: float,
    b: float,
) -> list[Ranked]:
    """Each text's ranking of the workload's candidates; `query_ids` say whose pool where each has its own."""
    depth = workload.benchmark.depth or len(workload.paper_ids)
    tie_order = make_tie_order(workload)
    threads = os.cpu_count() or 1
    if workload.pools is not None:
        pools = [workload.paper_ids[workload.pools[query_id]] for query_id in query_ids]
        scored = index.score_pools(texts, pools, k1, b, threads=threads)
        return [select_top(*pair, depth, tie_order) for pair in zip(pools, scored, strict=True)]
    found = index.search_many(
        texts, depth, k1, b, pool=workload.paper_ids, tie_order=tie_order, threads=threads
    )
    # A pool fills up with papers that share no term; a ranking of a shared pool holds those that do.
    counts = [int((ranked.scores > 0).sum()) for ranked in found]
    return [
        Ranked(ranked.paper_ids[:count], ranked.scores[:count])
        for ranked, count in zip(found, counts, strict=True)
    ]


class _FixedIndex:
    """An index with its k1 and b, as the search for one text takes it."""

    def __init__(self, index: SparseBm25Index, pair: Pair) -> None:
        self._index, self._pair = index, pair

    @property
    def row_count(self) -> int:
        return self._index.row_count

    def search(self, query_text: str, k: int, *, tie_order: TieOrder) -> Ranked:
        pair = self._pair
        return self._index.search_many([query_text], k, pair.k1, pair.b, tie_order=tie_order)[0]

    def search_many(self, query_texts: Sequence[str], k: int, *, tie_order: TieOrder) -> list[Ranked]:
        pair, threads = self._pair, os.cpu_count() or 1
        return self._index.search_many(query_texts, k, pair.k1, pair.b, tie_order=tie_order, threads=threads)

    def score_pool(self, query_text: str, paper_ids: Ids) -> Scores:
        return self._index.score_pool(query_text, paper_ids, self._pair.k1, self._pair.b)


class PoolSearch:
    """The queries of one pool, and an index of the pool alone; one serves any number of k1 and b."""

    def __init__(
        self, index: SparseBm25Index, workload: Workload, queries: list[int], terms: list[NDArray[np.int32]]
    ) -> None:
        self._index, self._workload, self._queries, self._terms = index, workload, queries, terms
        self._tie_order = make_tie_order(workload)

    def rank(self, k1: float, b: float) -> Iterator[Ranking]:
        """The ranking of each query by one pair: papers that share a term with it, its own left out."""
        ranked = self._index.search_terms(
            self._terms,
            choose_k(self._workload, self._index.row_count),
            k1,
            b,
            tie_order=self._tie_order,
            threads=os.cpu_count() or 1,
        )
        yield from make_rankings(self._workload, self._queries, _find_rows(self._workload, ranked))


def _find_rows(workload: Workload, ranked: list[Ranked]) -> Iterator[Found]:
    # One look-up for all queries: one for each would cost more than its search.
    ids = np.concatenate([np.empty(0, np.int64), *(one.paper_ids for one in ranked)])
    rows = np.searchsorted(workload.paper_ids, ids)
    start = 0
    for one in ranked:
        yield rows[start : start + len(one.scores)], one.scores
        start += len(one.scores)


def open_pools(index: SparseBm25Index, workload: Workload) -> Iterator[PoolSearch]:
    """A search of each pool of a grouped workload, by name; each distinct text is analysed once.

    Trap: one holds its pool's postings in memory; let go of it before the next is asked for.
    """
    for queries, requested, rows in _read_parts(index, workload):
        pool = workload.paper_ids[rows]
        yield PoolSearch(index.restrict(pool, threads=os.cpu_count() or 1), workload, queries, requested)


def rank_shared_pools(
    shared: "SharedSparseIndex", index: SparseBm25Index, workload: Workload, pair: Pair
) -> Iterator[Ranking]:
    """As the searches of `open_pools` rank, each pool by a worker of a cluster."""
    from pinakes.cluster.sparse import PoolQuestion  # late: Ray

    asked: deque[list[int]] = deque()

    def ask() -> Iterator[PoolQuestion]:
        for queries, requested, rows in _read_parts(index, workload):
            asked.append(queries)
            k = choose_k(workload, len(rows))
            yield PoolQuestion(workload.paper_ids[rows], workload.tie_order[rows], requested, k)

    for ranked in shared.rank_pools(ask(), pair.k1, pair.b):
        yield from make_rankings(workload, asked.popleft(), _find_rows(workload, ranked))


def _read_parts(
    index: SparseBm25Index, workload: Workload
) -> Iterator[tuple[list[int], list[NDArray[np.int32]], Ids]]:
    """Of each pool the places of its queries that have a text, their term ids, and the rows of its papers."""
    texts = sorted({text for text in workload.query_texts if text})
    terms = dict(zip(texts, index.read_queries(texts), strict=True))
    for part in workload.parts():
        queries = [query for query in part.queries.tolist() if workload.query_texts[query]]
        yield queries, [terms[workload.query_texts[query]] for query in queries], part.rows
