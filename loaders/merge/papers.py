"""Papers and their child rows: new ones appended, changed ones replaced, gaps filled, the rest left alone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.loaders.base import PAPER_CHILDREN, PAPER_COLUMNS
from pinakes.loaders.merge.children import ADDED, prepare_children
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Ids,
    Keys,
    MergeContext,
    Tables,
    fetch_ids,
    list_distinct,
    number_rows,
)
from pinakes.loaders.merge.origins import restate, restate_mentions
from pinakes.loaders.merge.rows import drop_papers, fit_table, keep_papers, mark_rows, merge_gaps
from pinakes.loaders.merge.statements import (
    delete_rows,
    fill_gaps,
    match_children,
    match_papers,
    select_changed_owners,
    select_changed_papers,
    update_papers,
)
from pinakes.loaders.staging import STAGED
from pinakes.schema import next_id

_COUNTING: Final = ("papers", "citations", "queries", "judgments", "pool_sources", "labels", "deletions")
"""staged tables whose rows say what became of a record, whatever papers it mentions"""


def merge_papers(
    session: Session, tables: Tables, papers: Keys, references: Keys, context: MergeContext
) -> Ids:
    """Merge a chunk's own papers with their child rows; the ids of those that were written, sorted."""
    if "papers" not in tables:
        return np.empty(0, dtype=np.int64)
    own = tables["papers"]
    known = papers.find(own["source_id"]) != UNKNOWN
    _insert_papers(session, own.filter(pa.array(~known)) if known.any() else own, papers, context)
    ids = papers.find(own["source_id"])
    # Mentions are compared here and written with all others; of papers that are all new there is nothing to.
    said = tables if known.any() else {name: rows for name, rows in tables.items() if name != "citations"}
    children = prepare_children(session, said, papers, references, context)
    changed = np.empty(0, dtype=np.int64)
    if known.any():
        held = own.append_column("paper_id", pa.array(ids)).filter(pa.array(known))
        context = replace(context, span=(int(ids[known].min()), int(ids[known].max())))
        changed = _find_changed(session, held, children, context)
        context.outcomes.known.append(number_rows(held))
        context.outcomes.changed.append(number_rows(held)[np.isin(ids[known], changed)])
        _restate(session, held, changed, context)
        _update(session, keep_papers(held, changed), children, context)
    written = find_distinct(ids[~known], changed)
    for name, rows in children.items():
        if name != "citations":
            kept = keep_papers(rows, written) if known.any() or "mentioned_papers" in tables else rows
            session.insert(PAPER_CHILDREN[name], fit_table(PAPER_CHILDREN[name], kept))
    return written


def _insert_papers(session: Session, rows: pa.Table, papers: Keys, context: MergeContext) -> None:
    """Append papers that are not there, each named once, and give their keys their ids."""
    numbers = next_id(session, schema.papers.c.paper_id) + np.arange(rows.num_rows)
    papers.ids[pc.index_in(rows["source_id"], value_set=papers.keys).to_numpy()] = numbers
    described = mark_rows(schema.papers, rows.append_column("paper_id", pa.array(numbers)), context)
    session.insert(schema.papers, fit_table(schema.papers, described))


def _find_changed(
    session: Session, held: pa.Table, children: Mapping[str, pa.Table], context: MergeContext
) -> Ids:
    """The ids of the papers that the tables hold otherwise than the chunk says."""
    known = find_distinct(held["paper_id"].to_numpy())
    with session.staged({"staged_papers": held}):
        parts = [fetch_ids(session, select_changed_papers(context))]
        for name in sorted(context.describes & PAPER_CHILDREN.keys()):
            rows = keep_papers(children.get(name, _make_empty(name)), known)
            unsaid = {column for column in rows.column_names if rows[column].null_count == rows.num_rows}
            with session.staged({f"staged_{name}": rows.drop_columns("row_number")}):
                parts.append(fetch_ids(session, select_changed_owners(name, unsaid, context)))
    return find_distinct(*parts)


def _restate(session: Session, held: pa.Table, changed: Ids, context: MergeContext) -> None:
    """Have papers that were there, and the child rows of those that stay as they are, be of the file too."""
    says = context.says_papers
    for is_changed, rows in ((True, keep_papers(held, changed)), (False, drop_papers(held, changed))):
        if rows.num_rows:
            with session.staged({"staged_papers": rows.select(["paper_id"])}):
                change = sa.true() if is_changed else sa.false()
                restate(
                    session, schema.papers, *match_papers(context), context, is_changed=change, notes=says
                )
                for name in () if is_changed else sorted(context.describes & PAPER_CHILDREN.keys()):
                    table = PAPER_CHILDREN[name]
                    if table is schema.citations:
                        restate_mentions(session, *match_children(table, context), context)
                    elif "batch_id" in table.c:
                        restate(session, table, *match_children(table, context), context)


def _make_empty(name: str) -> pa.Table:
    empty = STAGED[name].empty_table()
    for number in ("paper_id", "author_id", "reference_id"):
        empty = empty.append_column(number, pa.array([], pa.int64()))
    return empty


def _find_owners(held: pa.Table, rows: pa.Table, context: MergeContext) -> pa.Table:
    """The papers whose child rows of a kind the chunk replaces: all, or those of which it has some."""
    owners = held.select(["paper_id"])
    return keep_papers(owners, rows["paper_id"].to_numpy()) if context.gaps_say_nothing else owners


def _update(
    session: Session, rows: pa.Table, children: Mapping[str, pa.Table], context: MergeContext
) -> None:
    if not rows.num_rows:
        return
    with session.staged({"staged_papers": rows}):
        session.execute(update_papers(context))
    for name in sorted(context.describes & PAPER_CHILDREN.keys()):
        owners = _find_owners(rows, children.get(name, _make_empty(name)), context)
        with session.staged({"staged_papers": owners}):
            session.execute(delete_rows(name, context))


def fill_papers(session: Session, tables: Tables, papers: Keys, context: MergeContext) -> None:
    """Add the papers that records describe in passing, or fill the gaps of existing ones."""
    mentioned = tables["mentioned_papers"]
    merged = merge_gaps(mentioned, "source_id", PAPER_COLUMNS)
    known = papers.find(merged["source_id"]) != UNKNOWN
    new = merged.filter(pa.array(~known))
    _insert_papers(session, new, papers, context)
    _insert_children(session, tables, new, papers, context)
    if not known.any():
        return
    ids = pa.array(papers.find(merged["source_id"]))
    with session.staged({"staged_papers": merged.append_column("paper_id", ids).filter(pa.array(known))}):
        fill_gaps(session, schema.papers, "papers", PAPER_COLUMNS)
        restate(session, schema.papers, *match_papers(context), context)
    held = merged.filter(pa.array(known))["source_id"].combine_chunks()
    numbers = number_rows(mentioned.filter(pc.is_in(mentioned["source_id"], value_set=held)))
    counted = [number_rows(tables[name]) for name in _COUNTING if name in tables]
    context.outcomes.known.append(
        np.setdiff1d(numbers, np.concatenate([*counted, np.empty(0, dtype=np.int64)]))
    )


def _insert_children(
    session: Session, tables: Tables, new: pa.Table, papers: Keys, context: MergeContext
) -> None:
    passed = PAPER_CHILDREN.keys() - {*ADDED, "citations"}
    children = {name: rows for name, rows in tables.items() if name in passed}
    if not children or not new.num_rows:
        return
    ids = papers.find(new["source_id"])
    prepared = prepare_children(session, children, papers, Keys(pa.array([], pa.string()), ids[:0]), context)
    for name, rows in prepared.items():
        session.insert(PAPER_CHILDREN[name], fit_table(PAPER_CHILDREN[name], keep_papers(rows, ids)))


def create_papers(
    session: Session, columns: Iterable[pa.ChunkedArray], papers: Keys, context: MergeContext
) -> None:
    """Papers without a text for all that is named and not there, in the order of their source ids."""
    named = list_distinct(columns)
    ids = papers.find(pa.chunked_array([named]))
    is_new = ids == UNKNOWN
    if not is_new.all():
        with session.staged({"staged_papers": pa.table({"paper_id": ids[~is_new]})}):
            restate(session, schema.papers, *match_papers(context), context)
    new = sorted(named.filter(pa.array(is_new)).to_pylist(), key=str.encode)
    _insert_papers(session, pa.table({"source_id": pa.array(new, pa.string())}), papers, context)
