"""Vector indexes by the names that commands give, their options, and a search through one of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.faiss.kinds import KINDS, find_kind
from pinakes.indexers.lexical import Ids, Ranked, TieOrder
from pinakes.indexers.names import EXACT, Distance
from pinakes.options import Option, describe_options, parse_options
from pinakes.vectors.indexes.base import VectorQuery
from pinakes.vectors.indexes.faiss_side import open_faiss_index, search_faiss, search_opened
from pinakes.vectors.indexes.sql_search import EF_SEARCH, search_by_sql
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.scope import CorpusScope

OpenNearest = Callable[[Vectors, int, Ids | None, TieOrder], list[Ranked]]
"""vectors (n, d), k, a pool and the order of equals -> the ranking of each vector"""
PGVECTOR: Final = "pgvector"
FAISS: Final = "faiss:"

__all__ = [
    "OpenNearest",
    "VectorQuery",
    "describe_index_options",
    "list_build_options",
    "list_search_options",
    "open_through",
    "search_through",
]

HELP: Final = {
    "nlist": "Cells; default: by the number of vectors.",
    "pq_bytes": "Bytes of a vector; default: by its dimensions.",
    "m": "Links of a vector.",
    "ef_construction": "Candidates while building.",
    "nprobe": "Cells that a search looks into.",
    "ef_search": "Candidates while searching.",
}
"""what each option of an index is, whichever kind has it; the defaults are the kind's"""


def list_build_options(kind: str) -> tuple[Option, ...]:
    """The options that build a Faiss index of a kind; UnknownNameError for another kind."""
    return _declare(find_kind(kind).build)


def list_search_options(through: str) -> tuple[Option, ...]:
    """The options of a search, by the name that `through` has; UnknownNameError for another name."""
    ways = {PGVECTOR: {"ef_search": EF_SEARCH}} | {FAISS + name: kind.search for name, kind in KINDS.items()}
    if through not in ways:
        raise UnknownNameError("way to search", through, [EXACT, *ways])
    return _declare(ways[through])


def describe_index_options(through: str) -> list[dict[str, str]]:
    """One row an option of an index, by the name that `through` has: when it is given, and what it is."""
    at_search = describe_options(list_search_options(through))
    kind = through.removeprefix(FAISS)
    at_build = describe_options(list_build_options(kind)) if kind != through else []
    return [{"at": at, **row} for at, rows in (("build", at_build), ("search", at_search)) for row in rows]


def _declare(defaults: Mapping[str, int]) -> tuple[Option, ...]:
    return tuple(
        Option(name, int, default or None, HELP[name], minimum=1) for name, default in defaults.items()
    )


def search_through(
    database: Database, folder: Path, through: str, query: VectorQuery, given: Mapping[str, str]
) -> Ranked:
    """The nearest papers by `pgvector` or `faiss:KIND`, scored exactly; `given` are options as typed.

    Raises:
        UnknownNameError: there is no such way to search, or no such option of it.
        InputError: a value is not one that its option can have.
        RunError: no such index exists, or it is stale; the message has the command.
    """
    options = _read_options(through, given)
    if through == PGVECTOR:
        found = search_by_sql(database, query, mode="hnsw", **options)
    else:
        found = search_faiss(database, folder, through.removeprefix(FAISS), query, options)
    return found.rankings[0]


def open_through(
    database: Database,
    folder: Path,
    through: str,
    scope: CorpusScope,
    encoder: StoredEncoder,
    distance: Distance,
    given: Mapping[str, str],
) -> OpenNearest:
    """As `search_through` for vectors (n, d), k, a pool and the order of equals, without the database.

    Raises:
        InputError: the index is in the database; further, what `search_through` raises.
    """
    options = _read_options(through, given)
    if through == PGVECTOR:
        raise InputError(
            "pgvector searches in the database, and nothing of it can be held; expected exact or faiss:KIND."
        )
    index = open_faiss_index(database, folder, scope, encoder, through.removeprefix(FAISS), distance)

    def search(vectors: Vectors, k: int, pool: Ids | None, tie_order: TieOrder) -> list[Ranked]:
        return search_opened(index, vectors, k, pool, tie_order, options).rankings

    return search


def _read_options(through: str, given: Mapping[str, str]) -> dict[str, int]:
    return parse_options(list_search_options(through), f"a search through {through}", given)
