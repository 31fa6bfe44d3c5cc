"""Approximate indexes over an encoder's stored vectors: Faiss beside the database, HNSW in Postgres."""

from dataclasses import dataclass, replace

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.options import parse_options
from pinakes.progress import Progress, Silent
from pinakes.schema import check_schema
from pinakes.systems.base import SystemOptions, note_stored
from pinakes.vectors.encoding import start_session
from pinakes.vectors.indexes.base import VectorIndexSummary
from pinakes.vectors.indexes.faiss_side import build_faiss_index
from pinakes.vectors.indexes.pgvector import build_pgvector
from pinakes.vectors.nearest import list_build_options
from pinakes.workload.readers import SEARCH, FormatChoice, Reader, find_readers
from pinakes.workload.scope import add_prefix, open_corpus
from pinakes.workload.templates import find_own_templates


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
    """The Faiss index that was requested; one that exists already is not built again.

    Raises:
        UnknownNameError: no such corpus, encoder, kind or option.
        InputError: a value is not one that its option can have.
        RunError: the corpus was not encoded; the message has the command.
    """
    choice = replace(request.options, own_format=SEARCH).choice
    template = request.paper_template or find_own_templates(request.system, choice)[1]
    reader = _find_reader(request.system, choice)
    scope = add_prefix(open_corpus(database, request.corpus, template), reader.prefix)
    encoder = start_session(reader.encoder, note_stored(database, request.options))
    stored = encoder.find(database, f"pinakes index {scope.requested_as}")
    known = list_build_options(request.kind)
    return build_faiss_index(
        database,
        request.options.index_folder,
        scope,
        stored,
        request.kind,
        distance=encoder.distance,
        options=parse_options(known, f"the {request.kind} index", request.options.parameters),
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
    reader = _find_reader(system, replace(options, own_format=SEARCH).choice)
    check_schema(database)
    encoder = start_session(reader.encoder, note_stored(database, options))
    return build_pgvector(
        database,
        encoder.find(database, "pinakes index --corpus NAME"),
        m=m,
        ef_construction=ef_construction,
        distance=encoder.distance,
        kind=kind,
        progress=progress or Silent(),
    )


def _find_reader(system: str, choice: FormatChoice) -> Reader:
    """The one encoder that reads the papers of a corpus for a system."""
    readers = find_readers(system, choice).papers
    if len(readers) > 1:
        raise InputError(f"{system} is a mean of several encoders; expected one, whose vectors are indexed.")
    return readers[0]
