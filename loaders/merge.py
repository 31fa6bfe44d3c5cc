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
from pinakes.loaders.staging import REASONS, STAGED, Chunk, Rejected

_CHILDREN: Final = ("identifiers", "fields", "authorships", "sentences")
_CREATED_FOR: Final = {
    "queries": ("queries_papers",),
    "judgments": ("judgments_papers", "judgments_queries"),
    "pool_sources": ("pool_sources_papers",),
}


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge needs to know besides the rows."""

    corpus_id: int
    batch_id: int
    role: str
    file_digest: str
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
    if context.role not in _MERGES:
        raise LoadError(f"no merge for the role {context.role!r}; known: {', '.join(sorted(_MERGES))}.")
    tables = {**{name: STAGED[name].empty_table() for name in _staged_with(context.role)}, **chunk.tables}
    tables, refused = _refuse_unmergeable(session, tables, context)
    accepted = chunk.rows_in - len(chunk.rejected) - len(refused)
    with session.staged({f"staged_{name}": rows for name, rows in tables.items()}):
        new, updated = _MERGES[context.role](session, context) if accepted else (0, 0)
    unchanged = max(0, accepted - new - updated)
    rejected = sorted([*chunk.rejected, *refused], key=lambda row: row.row_number)
    return MergeCounts(accepted, updated, unchanged, rejected)


def _staged_with(role: str) -> tuple[str, ...]:
    return ("papers", *_CHILDREN) if role == "papers" else (role,)


def _refuse_unmergeable(
    session: Session, tables: dict[str, pa.Table], context: MergeContext
) -> tuple[dict[str, pa.Table], list[Rejected]]:
    main = tables[context.role]
    with session.staged({f"staged_{context.role}": main}):
        if context.creates_unknown:
            for name in _CREATED_FOR.get(context.role, ()):
                session.execute(
                    read_blocks("pinakes.loaders", "sql", "unknown.sql")[name],
                    _values(session, context, "papers"),
                )
        problems = session.rows(
            read_blocks("pinakes.loaders", "sql", "checks.sql")[context.role],
            {"corpus_id": context.corpus_id, "file_digest": context.file_digest},
        )
    if not problems:
        return tables, []
    refused = [_describe(main, problem) for problem in problems]
    numbers = pa.array([row.row_number for row in refused], type=pa.int64())
    kept = {
        name: rows.filter(pc.invert(pc.is_in(rows["row_number"], value_set=numbers)))
        for name, rows in tables.items()
    }
    return kept, refused


def _describe(main: pa.Table, problem: Mapping[str, Any]) -> Rejected:
    number = int(problem["row_number"])
    rows = main.filter(pc.equal(main["row_number"], number)).to_pylist()
    raw = orjson.dumps(rows[0] if len(rows) == 1 else rows).decode()
    message = f"{REASONS[problem['reason']]}: {problem['subject']}"
    return Rejected(number, f"record {number}", problem["reason"], message, raw)


def _merge_papers(session: Session, context: MergeContext) -> tuple[int, int]:
    updated = _run(session, context, "update_papers")
    known = "SELECT COUNT(*) FROM papers WHERE corpus_id = :corpus_id AND batch_id <> :batch_id"
    values = {"corpus_id": context.corpus_id, "batch_id": context.batch_id}
    if updated or session.scalar(known, values):
        for child in _CHILDREN:
            _run(session, context, f"delete_{child}")
    new = _run(session, context, "insert_papers", "papers")
    _run(session, context, "insert_identifiers")
    _run(session, context, "insert_fields")
    _run(session, context, "insert_authors", "authors")
    _run(session, context, "insert_authorships")
    _run(session, context, "insert_sentences")
    if session.scalar("SELECT COUNT(*) FROM cited_references WHERE corpus_id = :corpus_id", values):
        _run(session, context, "resolve_references")
    return new, updated


def _merge_queries(session: Session, context: MergeContext) -> tuple[int, int]:
    updated = _run(session, context, "update_queries")
    return _run(session, context, "insert_queries"), updated


def _merge_judgments(session: Session, context: MergeContext) -> tuple[int, int]:
    rows = int(session.scalar("SELECT COUNT(*) FROM staged_judgments"))
    records = int(session.scalar("SELECT COUNT(DISTINCT row_number) FROM staged_judgments"))
    updated = _run(session, context, "update_judgments")
    new = _run(session, context, "insert_judgments")
    # A record may hold several assessors' rows; counts are of records.
    return new * records // rows if rows else 0, updated * records // rows if rows else 0


def _merge_pool_sources(session: Session, context: MergeContext) -> tuple[int, int]:
    _run(session, context, "insert_pool_sources")
    return int(session.scalar("SELECT COUNT(DISTINCT row_number) FROM staged_pool_sources")), 0


def _merge_citations(session: Session, context: MergeContext) -> tuple[int, int]:
    _run(session, context, "insert_references", "cited_references")
    return _run(session, context, "insert_citations", "citations"), 0


_MERGES: Final[dict[str, Callable[[Session, MergeContext], tuple[int, int]]]] = {
    "papers": _merge_papers,
    "queries": _merge_queries,
    "judgments": _merge_judgments,
    "pool_sources": _merge_pool_sources,
    "citations": _merge_citations,
}

_LAST_ID: Final = {
    "papers": "SELECT COALESCE(MAX(paper_id), 0) FROM papers",
    "authors": "SELECT COALESCE(MAX(author_id), 0) FROM authors",
    "cited_references": "SELECT COALESCE(MAX(reference_id), 0) FROM cited_references",
    "citations": "SELECT COALESCE(MAX(citation_id), 0) FROM citations",
}

_OTHER_CITATIONS: Final = """
SELECT COUNT(*) FROM load_batches
WHERE corpus_id = :corpus_id AND role = 'citations' AND file_digest <> :file_digest
"""


def _run(session: Session, context: MergeContext, block: str, numbered: str | None = None) -> int:
    statement = read_blocks("pinakes.loaders", "sql", "merge.sql")[block]
    return session.execute(statement, _values(session, context, numbered))


def _values(session: Session, context: MergeContext, numbered: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {"corpus_id": context.corpus_id, "batch_id": context.batch_id}
    if numbered:
        values["last_id"] = int(session.scalar(_LAST_ID[numbered]))
    if numbered == "citations":
        others = {"corpus_id": context.corpus_id, "file_digest": context.file_digest}
        values["may_exist"] = bool(session.scalar(_OTHER_CITATIONS, others))
    return values
