"""Chunks into tables: checked, merged and recorded set-wise, one transaction a chunk.

The SQL stands in `sql/` and is the same text on both databases; ids of ours continue the greatest one, in
the order of the source's records, so the same files give the same ids everywhere. Leaves out: which files
a load has and where it goes on (`pinakes.pipeline.load`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import LoadError
from pinakes.loaders.staging import REASONS, STAGED, Chunk, Rejected, show_raw

_SQL: Final = ("pinakes.loaders", "sql")
_CHILDREN: Final = ("identifiers", "fields", "authorships", "sentences")
_CREATED_FOR: Final = {
    "queries": ("queries_papers",),
    "judgments": ("judgments_papers", "judgments_queries"),
    "pool_sources": ("pool_sources_papers",),
}


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge needs to know besides the rows.

    `file` identifies the file among `load_batches`: column -> value.
    """

    corpus_id: int
    batch_id: int
    role: str
    file: Mapping[str, Any]
    creates_unknown: bool


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """What became of the records of a chunk; `loaded` = new + `updated` + `unchanged`."""

    loaded: int
    updated: int
    unchanged: int
    rejected: list[Rejected]


def merge_chunk(session: Session, chunk: Chunk, context: MergeContext) -> MergeCounts:
    """Bring a chunk's accepted records into the tables and say what became of each.

    Raises:
        LoadError: the loader staged a table that its role does not go with (a defect of the loader).
    """
    tables = _complete_tables(chunk, context.role)
    with session.staged(_name_staged(tables)):
        refused = _find_refused(session, chunk, context)
        if not refused:
            return _merge(session, chunk, context, [])
    numbers = pa.array([row.row_number for row in refused], type=pa.int64())
    kept = {
        name: rows.filter(pc.invert(pc.is_in(rows["row_number"], value_set=numbers)))
        for name, rows in tables.items()
    }
    with session.staged(_name_staged(kept)):
        return _merge(session, chunk, context, refused)


def _complete_tables(chunk: Chunk, role: str) -> dict[str, pa.Table]:
    if role not in _MERGES:
        raise LoadError(f"no merge for the role {role!r}; known: {', '.join(sorted(_MERGES))}.")
    names = ("papers", *_CHILDREN) if role == "papers" else (role,)
    foreign = sorted(chunk.tables.keys() - set(names))
    if foreign:
        raise LoadError(f"a file of {role} cannot hold {', '.join(foreign)}; expected {', '.join(names)}.")
    return {name: chunk.tables.get(name, STAGED[name].empty_table()) for name in names}


def _name_staged(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {f"staged_{name}": rows for name, rows in tables.items()}


def _find_refused(session: Session, chunk: Chunk, context: MergeContext) -> list[Rejected]:
    """The accepted records that name a paper or query that the corpus does not hold."""
    if context.creates_unknown:
        _create_unknown(session, context)
    checks = read_blocks(*_SQL, "checks.sql")
    if context.role not in checks:
        return []
    problems: dict[int, Mapping[str, Any]] = {}
    for row in session.rows(checks[context.role], {"corpus_id": context.corpus_id}):
        problems.setdefault(int(row["row_number"]), row)
    return [_describe(chunk, context.role, problem) for problem in problems.values()]


def _create_unknown(session: Session, context: MergeContext) -> None:
    blocks = read_blocks(*_SQL, "unknown.sql")
    created = [
        session.execute(blocks[block], _values(session, context, "papers"))
        for block in _CREATED_FOR.get(context.role, ())
    ]
    if any(created):
        _run(session, context, "resolve_references")


def _describe(chunk: Chunk, role: str, problem: Mapping[str, Any]) -> Rejected:
    number = int(problem["row_number"])
    message = f"{REASONS[problem['reason']]}: {problem['subject']}"
    origin = chunk.origins.get(number)
    if origin is not None:
        return Rejected(number, origin.location, problem["reason"], message, show_raw(origin.raw))
    main = chunk.tables[role]
    rows = main.filter(pc.equal(main["row_number"], number)).to_pylist()
    raw = orjson.dumps(rows[0] if len(rows) == 1 else rows).decode()
    return Rejected(number, f"record {number}", problem["reason"], message, raw)


def _merge(session: Session, chunk: Chunk, context: MergeContext, refused: list[Rejected]) -> MergeCounts:
    accepted = chunk.rows_in - len(chunk.rejected) - len(refused)
    known, updated = _MERGES[context.role](session, context) if accepted else (0, 0)
    rejected = sorted([*chunk.rejected, *refused], key=lambda row: row.row_number)
    return MergeCounts(accepted, updated, known - updated, rejected)


def _merge_papers(session: Session, context: MergeContext) -> tuple[int, int]:
    known, _ = _count_known(session, context)
    updated = _run(session, context, "update_papers") if known else 0
    if updated:
        for child in _CHILDREN:
            _run(session, context, f"delete_{child}")
    _run(session, context, "insert_papers", "papers")
    _run(session, context, "insert_identifiers")
    _run(session, context, "insert_fields")
    _run(session, context, "insert_authors", "authors")
    _run(session, context, "insert_authorships")
    _run(session, context, "insert_sentences")
    _run(session, context, "resolve_references")
    return known, updated


def _merge_queries(session: Session, context: MergeContext) -> tuple[int, int]:
    known, _ = _count_known(session, context)
    updated = _run(session, context, "update_queries") if known else 0
    _run(session, context, "insert_queries")
    return known, updated


def _merge_judgments(session: Session, context: MergeContext) -> tuple[int, int]:
    known, changed = _count_known(session, context)
    if changed:
        _run(session, context, "update_judgments")
    _run(session, context, "insert_judgments")
    return known, changed


def _merge_pool_sources(session: Session, context: MergeContext) -> tuple[int, int]:
    known, changed = _count_known(session, context)
    _run(session, context, "insert_pool_sources")
    return known, changed


def _merge_citations(session: Session, context: MergeContext) -> tuple[int, int]:
    known = 0
    if _values(session, context, "citations")["may_exist"]:
        known, _ = _count_known(session, context)
    _run(session, context, "insert_references", "cited_references")
    _run(session, context, "insert_citations", "citations")
    return known, 0


_MERGES: Final[dict[str, Callable[[Session, MergeContext], tuple[int, int]]]] = {
    "papers": _merge_papers,
    "queries": _merge_queries,
    "judgments": _merge_judgments,
    "pool_sources": _merge_pool_sources,
    "citations": _merge_citations,
}
"""role -> what merges it and says how many records were known, and how many of those were updated"""

_LAST_ID: Final = {
    "papers": "SELECT COALESCE(MAX(paper_id), 0) FROM papers",
    "authors": "SELECT COALESCE(MAX(author_id), 0) FROM authors",
    "cited_references": "SELECT COALESCE(MAX(reference_id), 0) FROM cited_references",
    "citations": "SELECT COALESCE(MAX(citation_id), 0) FROM citations",
}

_OTHER_CITATIONS: Final = """
SELECT COUNT(*) FROM load_batches
WHERE corpus_id = :corpus_id AND role = 'citations'
    AND NOT (loader = :loader AND file_digest = :file_digest AND options_digest = :options_digest)
"""


def _count_known(session: Session, context: MergeContext) -> tuple[int, int]:
    statement = read_blocks(*_SQL, "counts.sql")[context.role]
    counts = session.rows(statement, {"corpus_id": context.corpus_id})[0]
    return int(counts["known"]), int(counts["changed"])


def _run(session: Session, context: MergeContext, block: str, numbered: str | None = None) -> int:
    statement = read_blocks(*_SQL, "merge.sql")[block]
    return session.execute(statement, _values(session, context, numbered))


def _values(session: Session, context: MergeContext, numbered: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {"corpus_id": context.corpus_id, "batch_id": context.batch_id}
    if numbered:
        values["last_id"] = int(session.scalar(_LAST_ID[numbered]))
    if numbered == "citations":
        # Within a file the same mention may stand twice; between files it is the same mention.
        values["may_exist"] = bool(session.scalar(_OTHER_CITATIONS, context.file))
    return values
