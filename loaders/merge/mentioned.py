"""Papers that records only mention: described in passing, or named and not described at all."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.database import Session
from pinakes.loaders.base import PAPER_COLUMNS
from pinakes.loaders.merge.children import (
    ADDED,
    CHILD_TABLES,
    fit_table,
    keep_papers,
    merge_gaps,
    prepare_children,
)
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Fates,
    Ids,
    MergeContext,
    Tables,
    number_rows,
    read_statement,
)
from pinakes.loaders.merge.lookup import Keys
from pinakes.loaders.merge.papers import insert_papers
from pinakes.loaders.staging import STAGED

_TELLING: Final = ("papers", "citations", "queries", "judgments", "pool_sources", "labels", "deletions")


def fill_papers(session: Session, tables: Tables, papers: Keys, context: MergeContext, fates: Fates) -> None:
    """Add the papers that records describe in passing, or fill the gaps of those that are there."""
    mentioned = tables["mentioned_papers"]
    merged = merge_gaps(mentioned, "source_id", PAPER_COLUMNS)
    known = papers.find(merged["source_id"]) != UNKNOWN
    new = merged.filter(pa.array(~known))
    insert_papers(session, new, papers, context)
    _insert_children(session, tables, new, papers, context)
    if not known.any():
        return
    ids = pa.array(papers.find(merged["source_id"]))
    with session.staged({"staged_papers": merged.append_column("paper_id", ids).filter(pa.array(known))}):
        session.execute(read_statement("papers.sql", "fill_papers"), {"batch_id": context.batch_id})
    held = merged.filter(pa.array(known))["source_id"].combine_chunks()
    numbers = number_rows(mentioned.filter(pc.is_in(mentioned["source_id"], value_set=held)))
    fates.known.append(np.setdiff1d(numbers, _find_told(tables)))


def _find_told(tables: Tables) -> Ids:
    """The records of which other rows say what became of them."""
    parts = [number_rows(tables[name]) for name in _TELLING if name in tables]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _insert_children(
    session: Session, tables: Tables, new: pa.Table, papers: Keys, context: MergeContext
) -> None:
    children = {name: rows for name, rows in tables.items() if name in CHILD_TABLES and name not in ADDED}
    if not children or not new.num_rows:
        return
    ids = papers.find(new["source_id"])
    prepared = prepare_children(session, children, papers, Keys(pa.array([], pa.string()), ids[:0]), context)
    for name, rows in prepared.items():
        session.insert(CHILD_TABLES[name][0], fit_table(CHILD_TABLES[name][0], keep_papers(rows, ids)))


def create_papers(
    session: Session, columns: Iterable[pa.ChunkedArray], papers: Keys, context: MergeContext
) -> None:
    """Papers without a text for all that is named and not there, in the order of their source ids."""
    parts = [part for column in columns for part in column.chunks]
    named = pc.unique(pa.chunked_array(parts, pa.string())).drop_null()
    is_new = papers.find(pa.chunked_array([named])) == UNKNOWN
    new = pa.array(sorted(named.filter(pa.array(is_new)).to_pylist(), key=str.encode), pa.string())
    rows = pa.table({"source_id": new})
    for name in PAPER_COLUMNS:
        rows = rows.append_column(name, pa.nulls(len(new), STAGED["papers"].field(name).type))
    insert_papers(session, rows, papers, context)
