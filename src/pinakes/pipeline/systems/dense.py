"""Encoders as systems: the exact comparison of a query's vector with those of its candidates.

`mean:specter,scincl` is an ensemble: a text's vector is the mean of those of its members. Leaves out: making
vectors (`encoding`), the search (`pinakes.indexers`), and the tables (`vectors`).
"""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError
from pinakes.indexers.exact import score_pool, search_exact
from pinakes.indexers.exact_scores import Distance
from pinakes.indexers.lexical import positions_of
from pinakes.indexers.model import device_name
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    take_options,
)
from pinakes.pipeline.systems.encoding import EncoderAtWork
from pinakes.pipeline.systems.vectors import (
    StoredEncoder,
    Vectors,
    fetch_queries,
    select_workload_texts,
    stream_documents,
)
from pinakes.pipeline.workload import Workload
from pinakes.queries.relations import select_candidate_texts
from pinakes.schema import vectors_table

ENSEMBLE: Final = "mean:"


def make_dense(name: str, options: SystemOptions) -> "DenseSystem":
    """An encoder by preset, folder or hub id."""
    take_options(name, options, {})
    member = EncoderAtWork(name, options)
    return DenseSystem(member.source.name, [member], options)


def make_ensemble(name: str, options: SystemOptions) -> "DenseSystem":
    """The mean of several encoders' vectors, by a name such as `mean:specter,scincl`."""
    take_options(name, options, {})
    listed = [part.strip() for part in name.removeprefix(ENSEMBLE).split(",")]
    if len(listed) < 2 or len(set(listed)) < len(listed) or not all(listed):
        raise InputError(f"{name!r}: expected at least two encoders, each once, as in mean:specter,scincl.")
    members = [EncoderAtWork(part, options) for part in listed]
    return DenseSystem(ENSEMBLE + ",".join(member.source.name for member in members), members, options)


class DenseSystem:
    """A system that compares vectors: of one encoder, or the means of several."""

    def __init__(self, name: str, members: list[EncoderAtWork], options: SystemOptions) -> None:
        self.name = name
        self._members = members
        self._distance: Distance = options.distance or "cosine"  # type: ignore[assignment]
        self._device = members[0].device
        self._precision = members[0].precision

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every text of the workload that has no vector yet."""
        started = time.monotonic()
        texts = select_workload_texts(workload)
        counts = [
            member.encode(database, texts, workload.benchmark.name, progress) for member in self._members
        ]
        added, already = (sum(column) for column in zip(*counts, strict=True))
        return IndexSummary(self.name, added, already, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoders, the distance and the device."""
        stored = self._require(database, workload)
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
        tables = [vectors_table(one.name, one.dimensions) for one in self._require(database, workload)]
        with database.read() as session:
            query_rows, queries = fetch_queries(session, workload, tables)
        progress.start(f"rank {workload.benchmark.name} by {self.name}", len(query_rows))
        rank = _rank_shared if workload.pools is None else _rank_pools
        try:
            with database.read() as session:
                for ranking in rank(
                    session, workload, tables, query_rows, queries, self._distance, self._device
                ):
                    yield ranking
                    progress.advance(1)
        finally:
            progress.finish()

    def _require(self, database: Database, workload: Workload) -> list[StoredEncoder]:
        texts = select_workload_texts(workload)
        stored = []
        for member in self._members:
            asked = f"--system {member.asked_as} --precision {member.precision}"
            command = f"`pinakes index {workload.benchmark.name} {asked}`"
            stored.append(member.require(database, texts, command))
        widths = {one.dimensions for one in stored}
        if len(widths) > 1:
            raise RunError(
                f"{self.name}: the encoders' vectors have {sorted(widths)} dimensions; expected one."
            )
        return stored


class CandidateBlocks:
    """The vectors of a workload's candidates, block by block, with the rows that they are of.

    Attributes:
        rows: the row of `workload.paper_ids` of each vector that was read so far.
        ties: the rank of each among equal scores.
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self.count = int(workload.has_text.sum())
        self.rows = np.zeros(self.count, dtype=np.int64)
        self.ties = np.zeros(self.count, dtype=np.int64)

    def read(self, session: Session, tables: list[sa.Table]) -> Iterator[Vectors]:
        """Read each candidate's vector once; `rows` and `ties` are filled as the blocks come."""
        workload, start = self._workload, 0
        texts = select_candidate_texts(workload.benchmark, workload.paper_template)
        for paper_ids, vectors in stream_documents(session, texts, tables):
            rows = positions_of(paper_ids, workload.paper_ids, "the candidates as they were read before")
            end = start + len(rows)
            if end > self.count:
                break
            self.rows[start:end], self.ties[start:end] = rows, workload.tie_order[rows]
            start = end
            yield vectors
        if start != self.count or len(np.unique(self.rows)) != self.count:
            raise RunError(
                f"{self.count} candidates of {workload.benchmark.name} have a text, but other vectors were "
                "read: the database changed meanwhile. Start the run again."
            )


def _rank_shared(
    session: Session,
    workload: Workload,
    tables: list[sa.Table],
    query_rows: list[int],
    queries: Vectors,
    distance: Distance,
    device: str,
) -> Iterator[Ranking]:
    blocks = CandidateBlocks(workload)
    if not blocks.count or not query_rows:
        return
    depth = min(workload.benchmark.depth or blocks.count, blocks.count)
    found, scores = search_exact(queries, blocks.read(session, tables), depth, distance, blocks.ties, device)
    for number, position in enumerate(query_rows):
        yield Ranking(workload.query_ids[position], blocks.rows[found[number]], scores[number])


def _rank_pools(
    session: Session,
    workload: Workload,
    tables: list[sa.Table],
    query_rows: list[int],
    queries: Vectors,
    distance: Distance,
    _device: str,
) -> Iterator[Ranking]:
    blocks = CandidateBlocks(workload)
    parts = list(blocks.read(session, tables))
    if not parts:
        return
    documents = np.concatenate(parts)
    place = np.full(len(workload.paper_ids), -1, dtype=np.int64)
    place[blocks.rows] = np.arange(blocks.count)
    for vector, position in zip(queries, query_rows, strict=True):
        query_id = workload.query_ids[position]
        places = place[(workload.pools or {})[query_id]]
        found, scores = score_pool(vector, documents, places[places >= 0], distance, blocks.ties)
        depth = workload.benchmark.depth or len(found)
        yield Ranking(query_id, blocks.rows[found[:depth]], scores[:depth])
