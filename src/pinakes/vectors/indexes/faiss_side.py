"""Faiss indexes of a corpus's vectors, in the index folder: built, reused, refused when stale, searched."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.distinct import find_distinct
from pinakes.errors import IndexingError, RunError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.faiss.build import build_faiss
from pinakes.indexers.faiss.index import FaissIndex, Found
from pinakes.indexers.faiss.kinds import find_kind, settle_options
from pinakes.indexers.lexical import Ids, TieOrder
from pinakes.indexers.names import Distance
from pinakes.matrices import to_matrix
from pinakes.progress import Progress, Silent
from pinakes.schema import vectors_table
from pinakes.vectors.indexes.base import (
    PhaseProgress,
    VectorIndexSummary,
    VectorQuery,
    digest_corpus,
    encoder_in_words,
    require_vectors,
    select_text_digests,
    spoken_options,
    summarise,
)
from pinakes.vectors.side_index import SideIndex
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.scope import CorpusScope

BLOCK_ROWS = 16_384


def build_faiss_index(
    database: Database,
    folder: Path,
    scope: CorpusScope,
    encoder: StoredEncoder,
    kind: str,
    *,
    distance: Distance = "cosine",
    options: Mapping[str, int] | None = None,
    seed: int = 0,
    threads: int = 1,
    graph_threads: int = 1,
    progress: Progress | None = None,
) -> VectorIndexSummary:
    """The Faiss index of the corpus's vectors under `folder`; one that exists is not built again.

    One exists when its files are whole, its texts and encoder are those of today, and its settings those
    requested. Options: nlist, pq_bytes, m, ef_construction, as the kind has them.

    Raises:
        RunError: a text of the corpus has no vector; the message has the command.
        IndexingError, UnknownNameError: an option or a kind that does not fit.
    """
    find_kind(kind)
    started = time.monotonic()
    require_vectors(database, scope, encoder)
    with database.read() as session:
        digest, rows = digest_corpus(session, scope, encoder)
    settled = settle_options(kind, options or {}, rows, encoder.dimensions)
    report = PhaseProgress(progress or Silent(), f"index {scope.corpus} for {kind}")

    def build(path: Path) -> dict[str, Any]:
        with database.read() as session:
            try:
                built = build_faiss(
                    path,
                    _stream(session, scope, encoder),
                    kind,
                    distance=distance,
                    options=options,
                    seed=seed,
                    threads=threads,
                    graph_threads=graph_threads,
                    progress=lambda phase, done, total: report(phase, done, total or rows),
                )
            finally:
                report.finish()
        return {
            "parameters": {**built.parameters, "index_bytes": built.index_bytes},
            "row_count": built.row_count,
            "recall_10": built.recall[10],
            "recall_100": built.recall[100],
        }

    requested = {"distance": distance, "seed": seed, "options": settled}
    row, is_new = _side_index(folder, scope, encoder, kind).ensure(database, digest, build, requested)
    return summarise(row, built=is_new, elapsed_s=time.monotonic() - started)


def open_faiss_index(
    database: Database,
    folder: Path,
    scope: CorpusScope,
    encoder: StoredEncoder,
    kind: str,
    distance: Distance,
) -> FaissIndex:
    """The Faiss index of the corpus as it is today.

    Raises:
        RunError: there is none, or one of another distance, or the corpus or its encoder changed since; the
            message has the command.
        IndexingError: its files are damaged.
    """
    find_kind(kind)
    side_index = _side_index(folder, scope, encoder, kind)
    command = f"pinakes index faiss --corpus {scope.corpus} {encoder_in_words(encoder)} --kind {kind}"
    existing = side_index.find(database)
    if existing:
        parameters = orjson.loads(existing["parameters"])
        command += f" --distance {parameters['distance']}{spoken_options(parameters['options'])}"

    def digest() -> str:
        with database.read() as session:
            return digest_corpus(session, scope, encoder)[0]

    row = side_index.require(
        database,
        digest,
        what=f"faiss:{kind} index of the corpus {scope.corpus} by {encoder.name}",
        command=f"`{command}`",
        built_from="texts or vectors",
    )
    try:
        index = FaissIndex.open(side_index.path(row))
    except IndexingError as problem:
        raise IndexingError(f"{problem} with `{command}`.") from problem
    if index.distance != distance:
        raise RunError(
            f"the faiss:{kind} index of the corpus {scope.corpus} is by {index.distance}, not by {distance}; "
            f"build it again with `pinakes index faiss --corpus {scope.corpus} {encoder_in_words(encoder)} "
            f"--kind {kind} --distance {distance}`."
        )
    return index


def search_faiss(
    database: Database,
    folder: Path,
    kind: str,
    query: VectorQuery,
    options: Mapping[str, int] | None = None,
) -> Found:
    """The best papers for each query, through the index: min(k, pool) hits each.

    `options` are nprobe, ef_search.

    Raises:
        RunError: no index, a stale one, or one of another distance; the message has the command.
    """
    index = open_faiss_index(database, folder, query.scope, query.encoder, kind, query.distance)
    return search_opened(index, query.vectors, query.k, query.pool, query.tie_order, options)


def search_opened(
    index: FaissIndex,
    vectors: Vectors,
    k: int,
    pool: Ids | None,
    tie_order: TieOrder,
    options: Mapping[str, int] | None,
) -> Found:
    """The best papers for each vector (n, d), of those of the pool that the index holds."""
    held = None
    if pool is not None:
        held = np.intersect1d(find_distinct(pool), find_distinct(index.ids), assume_unique=True)
    return index.search(vectors, k, tie_order=tie_order, pool=held, options=options)


def _side_index(folder: Path, scope: CorpusScope, encoder: StoredEncoder, kind: str) -> SideIndex:
    template = scope.paper_template
    named = (scope.corpus, template, encoder.name, kind)
    return SideIndex(
        folder, f"faiss_{kind}", f"corpus:{scope.corpus}", template, "faiss", named, encoder.name
    )


def _stream(session: Session, scope: CorpusScope, encoder: StoredEncoder) -> Iterator[tuple[Ids, Vectors]]:
    """Paper ids and vectors, by paper id, so that the same corpus gives the same index."""
    vectors = vectors_table(encoder.name, encoder.dimensions)
    texts = select_text_digests(scope).order_by(None).subquery("digests")
    query = (
        sa.select(texts.c.paper_id, vectors.c.embedding)
        .join(vectors, vectors.c.text_digest == texts.c.text_digest)
        .order_by(texts.c.paper_id)
    )
    for part in session.stream_vectors(query, rows=BLOCK_ROWS):
        yield part["paper_id"].to_numpy().astype(np.int64), to_matrix(part["embedding"])
