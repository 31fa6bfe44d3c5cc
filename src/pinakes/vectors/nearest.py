"""Vector indexes by the names that commands give: building them, and a search through one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.exact.scores import Distance, Vectors
from pinakes.indexers.faiss.kinds import KINDS
from pinakes.indexers.lexical import Ids, Ranked, TieOrder
from pinakes.progress import Progress, Silent
from pinakes.systems.base import SystemOptions
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.indexes import (
    VectorIndexSummary,
    build_faiss_index,
    build_pgvector,
    search_by_sql,
    search_faiss,
)
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.scope import CorpusScope, open_corpus
from pinakes.workload.templates import find_own_templates

EXACT: Final = "exact"
PGVECTOR: Final = "pgvector"
FAISS: Final = "faiss:"
EF_SEARCH: Final = "ef_search"


@dataclass(frozen=True, slots=True)
class FaissRequest:
    """Which Faiss index to build: of a corpus's vectors by an encoder, of a kind, with the kind's options."""

    corpus: str
    system: str
    kind: str
    options: SystemOptions
    paper_template: str | None = None
    threads: int = 1


def index_faiss(
    database: Database, request: FaissRequest, progress: Progress | None = None
) -> VectorIndexSummary:
    """The Faiss index that was asked for; what is there already is not built again.

    Raises:
        UnknownNameError: no such corpus, encoder, kind or option.
        RunError: the corpus was not encoded; the message has the command.
    """
    template = request.paper_template or find_own_templates(request.system)[1]
    scope = open_corpus(database, request.corpus, template)
    encoder = EncoderSession(request.system, request.options)
    return build_faiss_index(
        database,
        request.options.index_folder,
        scope,
        encoder.find(database, f"pinakes index {scope.requested_as}"),
        request.kind,
        distance=encoder.choose_distance(request.options),
        options=read_numbers(request.options.parameters),
        threads=request.threads,
        graph_threads=request.threads,
        progress=progress or Silent(),
    )


def index_pgvector(
    database: Database,
    system: str,
    options: SystemOptions,
    *,
    m: int = 16,
    ef_construction: int = 64,
    kind: str = "vector",
    progress: Progress | None = None,
) -> VectorIndexSummary:
    """The HNSW index over all vectors of an encoder in Postgres; one of the same settings is not built again.

    Raises:
        IndexingError: the database is DuckDB, or the settings do not fit.
        RunError: the encoder has made no vector yet.
    """
    encoder = EncoderSession(system, options)
    return build_pgvector(
        database,
        encoder.find(database, "pinakes index --corpus NAME"),
        m=m,
        ef_construction=ef_construction,
        distance=encoder.choose_distance(options),
        kind=kind,
        progress=progress or Silent(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class NearestRequest:
    """A query's vector (1, d), and which papers of a corpus may answer it."""

    scope: CorpusScope
    encoder: StoredEncoder
    query: Vectors
    k: int
    distance: Distance
    pool: Ids | None
    tie_order: TieOrder


def search_through(
    database: Database, folder: Path, through: str, request: NearestRequest, options: Mapping[str, str]
) -> Ranked:
    """The nearest papers by `pgvector` or `faiss:KIND`, scored exactly; `options` as the index takes them.

    Raises:
        UnknownNameError: there is no such way to search.
        RunError: no such index is there, or it is stale; the message has the command.
    """
    numbers = read_numbers(options)
    if through == PGVECTOR:
        return _search_pgvector(database, request, numbers)
    kinds = {f"{FAISS}{kind}": kind for kind in KINDS}
    if through not in kinds:
        raise UnknownNameError("way to search", through, [EXACT, PGVECTOR, *kinds])
    found = search_faiss(
        database,
        folder,
        request.scope,
        request.encoder,
        request.query,
        request.k,
        kind=kinds[through],
        distance=request.distance,
        pool=request.pool,
        tie_order=request.tie_order,
        options=numbers,
    )
    return found.rankings[0]


def _search_pgvector(database: Database, request: NearestRequest, options: Mapping[str, int]) -> Ranked:
    unknown = sorted(options.keys() - {EF_SEARCH})
    if unknown:
        raise UnknownNameError("option of a search through pgvector", unknown[0], [EF_SEARCH])
    found = search_by_sql(
        database,
        request.scope,
        request.encoder,
        request.query,
        request.k,
        mode="hnsw",
        distance=request.distance,
        pool=request.pool,
        tie_order=request.tie_order,
        **options,
    )
    return found.rankings[0]


def read_numbers(options: Mapping[str, str]) -> dict[str, int]:
    """Options whose values are whole numbers.

    >>> read_numbers({"ef_search": "64"})
    {'ef_search': 64}
    """
    wrong = sorted(name for name, value in options.items() if not value.isdigit())
    if wrong:
        raise InputError(f"option {wrong[0]}={options[wrong[0]]!r}: expected a whole number.")
    return {name: int(value) for name, value in options.items()}
