"""One chunk into the tables, area by area."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.database import Session
from pinakes.errors import LoadError
from pinakes.loaders.merge.assessments import merge_assessments
from pinakes.loaders.merge.children import ADDED, CHILD_TABLES, DEFECT, add_children
from pinakes.loaders.merge.citations import find_references, merge_citations
from pinakes.loaders.merge.context import Fates, Ids, MergeContext, MergeCounts, Tables
from pinakes.loaders.merge.deletions import delete
from pinakes.loaders.merge.lookup import Keys, find_keys
from pinakes.loaders.merge.mentioned import create_papers, fill_papers
from pinakes.loaders.merge.papers import merge_papers
from pinakes.loaders.merge.refusals import Problems, describe_refused, find_refused
from pinakes.loaders.merge.selections import find_unknown_sentences, merge_selections
from pinakes.loaders.staging import Chunk, Rejected

_PAPER_KEYS: Final = {
    "papers": "source_id",
    "mentioned_papers": "source_id",
    "judgments": "source_id",
    "labels": "source_id",
    "pool_sources": "source_id",
    "queries": "paper_source_id",
    "citations": "citing_source_id",
}
"""staged table -> its column that names a paper, in the order in which new papers are numbered"""
_NAMED_ONLY: Final = ("queries", "judgments", "labels", "pool_sources")


@dataclass(frozen=True, slots=True)
class _Named:
    """The papers and queries that a chunk names, and the records that select sentences that are not there."""

    papers: Keys
    queries: Keys
    selecting: Problems


def merge_chunk(session: Session, chunk: Chunk, context: MergeContext) -> MergeCounts:
    """Bring a chunk's accepted records into the tables and say what became of each.

    Raises:
        LoadError: what hangs on a paper was staged without the paper (a defect of the loader).
    """
    tables = {name: rows for name, rows in chunk.tables.items() if rows.num_rows}
    _refuse_strays(tables, context)
    named = _find_named(session, tables, context)
    refused, tables = _refuse(chunk, tables, named, context)
    accepted = chunk.rows_in - len(chunk.rejected) - len(refused)
    fates = Fates()
    citations = _merge(session, tables, named, context, fates) if accepted else 0
    known, updated = fates.count()
    rejected = sorted([*chunk.rejected, *refused], key=lambda row: row.row_number)
    return MergeCounts(accepted, updated, known - updated, rejected, citations)


def _refuse_strays(tables: Tables, context: MergeContext) -> None:
    children = tables.keys() & CHILD_TABLES.keys()
    if children and not tables.keys() & {"papers", "mentioned_papers"}:
        raise LoadError(f"{DEFECT}: a record stages {min(children)} of a paper that it does not stage.")
    for name in children - context.describes - set(ADDED):
        raise LoadError(f"{DEFECT}: a file stages {name}, which its role does not describe.")


def _find_named(session: Session, tables: Tables, context: MergeContext) -> _Named:
    columns = [tables[name][column] for name, column in _PAPER_KEYS.items() if name in tables]
    requested = [
        tables[name]["query_id"] for name in ("queries", "judgments", "pool_sources") if name in tables
    ]
    return _Named(
        find_keys(session, "papers", context.corpus_id, columns),
        find_keys(session, "queries", context.corpus_id, requested),
        find_unknown_sentences(session, tables, context),
    )


def _refuse(
    chunk: Chunk, tables: dict[str, pa.Table], named: _Named, context: MergeContext
) -> tuple[list[Rejected], dict[str, pa.Table]]:
    """The records that name what is not there, and the rows of the others.

    A refused record may have held what another one names: so the others are looked at again.
    """
    refused: list[Rejected] = []
    while problems := find_refused(
        tables, named.papers, named.queries, named.selecting, creates_unknown=context.creates_unknown
    ):
        refused += describe_refused(chunk, problems)
        numbers = pa.array(sorted(problems), pa.int64())
        kept = {
            name: rows.filter(pc.invert(pc.is_in(rows["row_number"], value_set=numbers)))
            for name, rows in tables.items()
        }
        tables = {name: rows for name, rows in kept.items() if rows.num_rows}
    return refused, tables


def _merge(
    session: Session, tables: dict[str, pa.Table], named: _Named, context: MergeContext, fates: Fates
) -> int:
    """Merge all areas in the order in which they need each other; the number of new mentions."""
    citations = 0
    references = find_references(session, tables, context)
    written = merge_papers(session, tables, named.papers, references, context, fates)
    if "mentioned_papers" in tables:
        fill_papers(session, tables, named.papers, context, fates)
    added = ADDED if "mentioned_papers" in tables else set(ADDED) - context.describes
    add_children(session, {name: tables[name] for name in added if name in tables}, named.papers)
    if context.creates_unknown:
        columns = [tables[name][_PAPER_KEYS[name]] for name in _NAMED_ONLY if name in tables]
        create_papers(session, columns, named.papers, context)
    if "citations" in tables:
        own = _find_own(tables, named.papers, context)
        keys = (named.papers, references)
        citations = merge_citations(session, tables["citations"], (written, own), keys, context, fates)
    merge_assessments(session, tables, named.papers, context, fates)
    merge_selections(session, tables, context, fates)
    if "deletions" in tables:
        delete(session, tables["deletions"], context, fates)
    return citations


def _find_own(tables: Tables, papers: Keys, context: MergeContext) -> Ids:
    """The ids of the papers whose mentions belong to their records."""
    if "papers" not in tables or "citations" not in context.describes:
        return np.empty(0, dtype=np.int64)
    return papers.find(tables["papers"]["source_id"])
