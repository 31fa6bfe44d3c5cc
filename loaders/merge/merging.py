"""One chunk into the tables, area by area; and what a release deletes."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.errors import LoadError
from pinakes.loaders.base import ASSESSMENTS, PAPER_CHILDREN, PAPER_KEYS
from pinakes.loaders.merge.assessments import find_unknown_sentences, merge_assessments, merge_selections
from pinakes.loaders.merge.children import ADDED, DEFECT, add_children
from pinakes.loaders.merge.citations import CITATION_KEYS, find_references, merge_citations
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Ids,
    Keys,
    MergeContext,
    MergeCounts,
    Tables,
    encode_keys,
    find_keys,
    number_places,
    number_rows,
)
from pinakes.loaders.merge.papers import create_papers, fill_papers, merge_papers
from pinakes.loaders.merge.refusals import Problems, describe_refused, find_refused, find_textless
from pinakes.loaders.staging import Chunk, Rejected
from pinakes.schema import citations, cited_references, load_batches, papers, pending_citations
from pinakes.schema.removal import remove_rows


@dataclass(frozen=True, slots=True)
class _Named:
    """The papers and queries that a chunk names, and the records that select sentences that are not there."""

    papers: Keys
    queries: Keys
    selecting: Problems


def merge_chunk(session: Session, chunk: Chunk, context: MergeContext) -> MergeCounts:
    """Bring a chunk's accepted records into the tables and say what became of each.

    Raises `LoadError` where child rows were staged without their paper (a defect of the loader).
    """
    tables = {name: rows for name, rows in chunk.tables.items() if rows.num_rows}
    _refuse_strays(tables, context)
    if "labels" in tables:
        tables["labels"] = _number_labels(session, chunk, tables["labels"], context)
    if "citations" in tables:
        tables["citations"] = encode_keys(tables["citations"], CITATION_KEYS)
    named = _find_named(session, tables, context)
    refused, tables = _refuse(chunk, tables, named, context)
    left_out = _count_left_out(tables.pop("left_out", None))
    accepted = chunk.rows_in - len(chunk.rejected) - len(refused)
    citations = _merge(session, tables, named, context) if accepted else 0
    known, updated = context.outcomes.count()
    rejected = sorted([*chunk.rejected, *refused], key=lambda row: row.row_number)
    return MergeCounts(accepted, updated, known - updated, rejected, citations, left_out)


def _count_left_out(rows: pa.Table | None) -> dict[tuple[str, str], int]:
    """(kind, reason) -> items of which the accepted records make no row."""
    if rows is None:
        return {}
    counted = rows.group_by(["kind", "reason"]).aggregate([("items", "sum")])
    return {(row["kind"], row["reason"]): row["items_sum"] for row in counted.to_pylist()}


def _number_labels(session: Session, chunk: Chunk, labels: pa.Table, context: MergeContext) -> pa.Table:
    """The labels with the column `position`: which record of the file says it, from 1."""
    of_file = [load_batches.c[name] == value for name, value in context.file.items()]
    before = int(
        session.scalar(sa.select(sa.func.coalesce(sa.func.sum(load_batches.c.rows_in), 0)).where(*of_file))
    )
    staged = [number_rows(rows) for rows in chunk.tables.values()]
    others = np.array([*(row.row_number for row in chunk.rejected), *chunk.origins], dtype=np.int64)
    records = find_distinct(*staged, others)
    position = before + 1 + np.searchsorted(records, number_rows(labels))
    return labels.append_column("position", pa.array(position))


def _refuse_strays(tables: Tables, context: MergeContext) -> None:
    apart = {"citations", *(ASSESSMENTS.keys() - context.describes)}
    children = tables.keys() & (PAPER_CHILDREN.keys() - apart)
    if children and not tables.keys() & {"papers", "mentioned_papers"}:
        raise LoadError(f"{DEFECT}: a record stages {min(children)} of a paper that it does not stage.")
    for name in children - context.describes - set(ADDED):
        raise LoadError(f"{DEFECT}: a file stages {name}, which its role does not describe.")


def _find_named(session: Session, tables: Tables, context: MergeContext) -> _Named:
    columns = [tables[name][column] for name, column in PAPER_KEYS.items() if name in tables]
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
    """The records without a text and those that name what is not there, and the rows of the others.

    A refused record may have held what another one names: so the others are looked at again.
    """
    refused: list[Rejected] = []
    textless = {} if context.may_lack_text else find_textless(tables, context.describes)
    while problems := textless or find_refused(
        tables, named.papers, named.queries, named.selecting, creates_unknown=context.creates_unknown
    ):
        textless = {}
        refused += describe_refused(chunk, problems)
        numbers = pa.array(sorted(problems), pa.int64())
        kept = {
            name: rows.filter(pc.invert(pc.is_in(rows["row_number"], value_set=numbers)))
            for name, rows in tables.items()
        }
        tables = {name: rows for name, rows in kept.items() if rows.num_rows}
    return refused, tables


def _merge(session: Session, tables: dict[str, pa.Table], named: _Named, context: MergeContext) -> int:
    """Merge all areas in the order in which they need each other; the number of new mentions."""
    mentions = 0
    references = find_references(session, tables, context)
    written = merge_papers(session, tables, named.papers, references, context)
    if "mentioned_papers" in tables:
        fill_papers(session, tables, named.papers, context)
    added = ADDED if "mentioned_papers" in tables else set(ADDED) - context.describes
    add_children(session, {name: tables[name] for name in added if name in tables}, named.papers)
    if context.creates_unknown:
        columns = [tables[name][PAPER_KEYS[name]] for name in ASSESSMENTS if name in tables]
        create_papers(session, columns, named.papers, context)
    if "citations" in tables:
        own = np.empty(0, dtype=np.int64)  # the ids of the papers whose mentions belong to their records
        if "papers" in tables and "citations" in context.describes:
            own = named.papers.find(tables["papers"]["source_id"])
        keys = (named.papers, references)
        mentions = merge_citations(session, tables["citations"], (written, own), keys, context)
    merge_assessments(session, tables, named.papers, context)
    merge_selections(session, tables, context)
    if "deletions" in tables:
        _delete(session, tables["deletions"], context)
    return mentions


def _delete(session: Session, rows: pa.Table, context: MergeContext) -> None:
    """Delete what the rows name and the corpus holds; what it does not hold is no error.

    With a paper go its child rows, whoever made them, and what else names it and says so (`on_delete` of a
    reference), but not the stored runs: a hit is what was found then.
    """
    context.outcomes.known.append(number_rows(rows))
    for kind, find, tables in (
        ("papers", _find_papers, (papers,)),
        ("citations", _find_mentions, (citations, pending_citations)),
    ):
        named = rows.filter(pc.equal(rows["kind"], kind))
        if not named.num_rows:
            continue
        positions, ids = find(session, named, context)
        context.outcomes.changed.append(number_rows(named)[find_distinct(positions)])
        if len(ids):
            keys = {table: pa.table([pa.array(ids)], [table.primary_key.columns[0].name]) for table in tables}
            remove_rows(session, keys, declared_alone=True)


def _find_papers(session: Session, rows: pa.Table, context: MergeContext) -> tuple[Ids, Ids]:
    ids = find_keys(session, "papers", context.corpus_id, [rows["key"]]).find(rows["key"])
    positions = np.flatnonzero(ids != UNKNOWN)
    return positions, ids[positions]


def _find_mentions(session: Session, rows: pa.Table, context: MergeContext) -> tuple[Ids, Ids]:
    staged = sa.table("staged_deletions", sa.column("place", sa.BigInteger), sa.column("key", sa.Text))
    selects = []
    for table in (citations, pending_citations):
        named = sa.and_(
            staged.c.key == table.c.source_reference_id,
            table.c.reference_id == cited_references.c.reference_id,
            cited_references.c.corpus_id == context.corpus_id,
        )
        selects.append(sa.select(staged.c.place, table.c.citation_id.label("id")).where(named))
    with session.staged({staged.name: number_places(rows)}):
        found = session.fetch_arrow(sa.union_all(*selects))
    return found["place"].to_numpy(), found["id"].to_numpy()
