"""Encoders as systems: the exact comparison of a query's vector with those of its candidates.

`mean:specter,scincl` is an ensemble: a text's vector is the mean of those of its members.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, ClassVar, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.lexical import Ranked
from pinakes.indexers.names import EXACT, Distance
from pinakes.options import NoOptions, read_options
from pinakes.progress import Progress
from pinakes.queries.relations import select_corpus_texts
from pinakes.schema import vectors_table
from pinakes.systems.base import (
    Ability,
    Asked,
    CorpusQuery,
    Embedded,
    IndexSummary,
    Ranking,
    System,
    SystemDescription,
    SystemOptions,
    report_rankings,
)
from pinakes.systems.dense_pools import HeldVectors, hold_vectors, rank_own_pools, rank_pools
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.reading import (
    CandidateBlocks,
    CorpusBlocks,
    fetch_distinct_queries,
    fetch_queries,
    mean_vectors,
    read_vectors,
    reload_vectors,
)
from pinakes.vectors.stored import StoredEncoder, select_distinct_texts
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Workload

ENSEMBLE: Final = "mean:"


class DenseSystem(System):
    """A system that compares vectors: of one encoder, by preset, folder or hub id."""

    can: ClassVar[frozenset[Ability]] = frozenset(
        {"rank", "rank_groups", "embed", "index_corpus", "search", "search_through"}
    )
    own_options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        if options.through == EXACT:
            read_options(NoOptions, name, options.parameters)  # the others are those of an index
        self._options = options
        self._members = [_start(part, options) for part in self._list_members(name)]
        self._distance = _choose_distance(self._members)
        self._device = self._members[0].device
        self._precision = self._members[0].precision
        self.name = self._spell()

    def _list_members(self, name: str) -> list[str]:
        return [name]

    def _spell(self) -> str:
        return self._members[0].source.name

    def index(self, database: Database, workload: Asked, progress: Progress) -> IndexSummary:
        """Encode every text of the workload that has no vector yet."""
        texts = select_distinct_texts(*workload.select_texts())
        return self._encode(database, texts, workload.benchmark.name, progress)

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """The encoders, the distance and the device."""
        stored = self._require_workload(database, workload)
        alone = len(stored) == 1
        which = {"encoder": stored[0].name} if alone else {"mean_of": [one.name for one in stored]}
        return SystemDescription(
            {**which, "distance": self._distance, "search": "exact"},
            device=device_name(self._device),
            encoder_id=stored[0].encoder_id if alone else None,
            encoder_revision=", ".join(one.revision for one in stored),
            precision=self._precision,
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a candidate without a text has no vector and is in no ranking."""
        tables = _tables(self._require_workload(database, workload))
        with database.read() as session:
            query_rows, _ = found = fetch_queries(session, workload, tables)
        rank = self._rank_shared if workload.pools is None else self._rank_pools
        with database.read() as session:
            rankings = rank(session, workload, tables, *found)
            yield from report_rankings(rankings, workload, self.name, len(query_rows), progress)

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        """Stored vectors; a paper without a text has none."""
        tables = _tables(self._require_workload(database, texts))
        with database.read() as session:
            return Embedded(*read_vectors(session, texts, tables))

    def _rank_shared(
        self,
        session: Session,
        workload: Workload,
        tables: list[sa.Table],
        query_rows: list[int],
        queries: Vectors,
    ) -> Iterator[Ranking]:
        blocks = CandidateBlocks(workload)
        if not len(blocks.rows) or not query_rows:
            return
        depth = min(workload.benchmark.depth or len(blocks.rows), len(blocks.rows))
        read = blocks.read(session, tables)
        found, scores = search_exact(queries, read, depth, self._distance, blocks.ties, self._device)
        for number, position in enumerate(query_rows):
            yield Ranking(workload.query_ids[position], blocks.rows[found[number]], scores[number])

    def _rank_pools(
        self,
        session: Session,
        workload: Workload,
        tables: list[sa.Table],
        query_rows: list[int],
        queries: Vectors,
    ) -> Iterator[Ranking]:
        blocks = CandidateBlocks(workload)
        if not len(blocks.rows):
            return
        documents = np.empty((len(blocks.rows), queries.shape[1]), dtype=np.float32)
        for rows, vectors in blocks.read(session, tables):
            documents[rows] = vectors
        queries, documents = (reload_vectors(workload.benchmark, part) for part in (queries, documents))
        held = HeldVectors(documents, blocks.rows)
        yield from rank_own_pools(workload, query_rows, queries, held, self._distance)

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """As `rank` in each pool, with every vector read once; a query's own paper is left out."""
        tables = _tables(self._require_workload(database, workload))
        requested = sum(text != "" for text in workload.query_texts)
        if requested and workload.has_text.any():
            rankings = self._rank_groups(database, workload, tables)
            yield from report_rankings(rankings, workload, self.name, requested, progress)

    def _rank_groups(
        self, database: Database, workload: Workload, tables: list[sa.Table]
    ) -> Iterator[Ranking]:
        blocks = CandidateBlocks(workload)
        with ExitStack() as stack:
            with database.read() as session:
                texts, queries = fetch_distinct_queries(session, workload, tables)
                read = hold_vectors(blocks.read(session, tables), blocks.rows, queries.shape[1])
                held = stack.enter_context(read)
            # The database is not kept waiting while pools are searched.
            yield from rank_pools(workload, held, texts, queries, self._distance, self._device)

    def index_corpus(self, database: Database, scope: CorpusScope, progress: Progress) -> IndexSummary:
        """Encode every text of a corpus that has no vector yet."""
        return self._encode(database, _corpus_texts(scope), scope.corpus, progress)

    def search(self, database: Database, query: CorpusQuery) -> Ranked:
        """The papers whose vectors are nearest to that of the text; one without a text has no vector."""
        stored = self._require(database, _corpus_texts(query.scope), query.scope.requested_as)
        vector = mean_vectors([member.embed(query.text) for member in self._members])
        through, folder = self._options.through, self._options.index_folder
        if through != EXACT:
            from pinakes.vectors.nearest import VectorQuery, search_through  # imported late: Faiss

            nearest = VectorQuery(
                query.scope, stored[0], vector, query.k, self._distance, query.pool, query.tie_order
            )
            return search_through(database, folder, through, nearest, self._options.parameters)
        with database.read() as session:
            blocks = CorpusBlocks(session, query.scope, query.pool)
            read = blocks.read(session, _tables(stored))
            found, scores = search_exact(vector, read, query.k, self._distance, blocks.ties, self._device)
        return Ranked(blocks.paper_ids[found[0]], scores[0])

    def _encode(
        self, database: Database, texts: sa.Select[Any], label: str, progress: Progress
    ) -> IndexSummary:
        started = time.monotonic()
        counts = [member.encode(database, texts, label, progress) for member in self._members]
        added, existing = (sum(column) for column in zip(*counts, strict=True))
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def _require_workload(self, database: Database, workload: Asked) -> list[StoredEncoder]:
        texts = select_distinct_texts(*workload.select_texts())
        return self._require(database, texts, workload.benchmark.name)

    def _require(self, database: Database, texts: sa.Select[Any], requested_as: str) -> list[StoredEncoder]:
        stored = []
        for member in self._members:
            requested = f"--system {member.requested_as} --precision {member.precision}"
            stored.append(member.require(database, texts, f"`pinakes index {requested_as} {requested}`"))
        widths = {one.dimensions for one in stored}
        if len(widths) > 1:
            raise RunError(
                f"{self.name}: the encoders' vectors have {sorted(widths)} dimensions; expected one."
            )
        return stored


class EnsembleSystem(DenseSystem):
    """The mean of several encoders' vectors, by a name such as `mean:specter,scincl`."""

    can: ClassVar[frozenset[Ability]] = DenseSystem.can - {"search_through"}

    def _list_members(self, name: str) -> list[str]:
        listed = [part.strip() for part in name.removeprefix(ENSEMBLE).split(",")]
        if len(listed) < 2 or len(set(listed)) < len(listed) or not all(listed):
            raise InputError(
                f"{name!r}: expected at least two encoders, each once, as in mean:specter,scincl."
            )
        return listed

    def _spell(self) -> str:
        return ENSEMBLE + ",".join(member.source.name for member in self._members)


def _start(name: str, options: SystemOptions) -> EncoderSession:
    return EncoderSession(name, precision=options.precision, device=options.device, distance=options.distance)


def _choose_distance(members: list[EncoderSession]) -> Distance:
    """What the encoders agree on; else the cosine."""
    own = {member.distance for member in members}
    return own.pop() if len(own) == 1 else "cosine"


def _corpus_texts(scope: CorpusScope) -> sa.Select[Any]:
    return select_distinct_texts(select_corpus_texts(scope.corpus, scope.paper_template))


def _tables(stored: list[StoredEncoder]) -> list[sa.Table]:
    return [vectors_table(one.name, one.dimensions) for one in stored]
