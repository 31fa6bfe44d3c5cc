"""Papers and what hangs on them: new ones appended, changed ones replaced, the rest left alone.

A paper that is there already has changed where one of its described columns or of the described rows that
hang on it has.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes import schema
from pinakes.database import Session
from pinakes.loaders.base import PAPER_CHILDREN, PAPER_COLUMNS
from pinakes.loaders.merge.children import (
    CHILD_TABLES,
    fit_table,
    keep_papers,
    prepare_children,
    repeat_value,
)
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Fates,
    Ids,
    MergeContext,
    Tables,
    fetch_ids,
    make_file_parameters,
    number_rows,
    read_statement,
)
from pinakes.loaders.merge.lookup import Keys, find_last_id
from pinakes.loaders.staging import STAGED


def merge_papers(
    session: Session, tables: Tables, papers: Keys, references: Keys, context: MergeContext, fates: Fates
) -> Ids:
    """Merge a chunk's own papers with their children; the ids of those that were written, sorted."""
    if "papers" not in tables:
        return np.empty(0, dtype=np.int64)
    own = tables["papers"]
    known = papers.find(own["source_id"]) != UNKNOWN
    insert_papers(session, own.filter(pa.array(~known)) if known.any() else own, papers, context)
    ids = papers.find(own["source_id"])
    children = prepare_children(session, tables, papers, references, context)
    changed = np.empty(0, dtype=np.int64)
    if known.any():
        held = own.append_column("paper_id", pa.array(ids)).filter(pa.array(known))
        changed = _find_changed(session, held, children, context)
        fates.known.append(number_rows(held))
        fates.changed.append(number_rows(held)[np.isin(ids[known], changed)])
        _update(session, keep_papers(held, changed), children, context)
    written = np.union1d(ids[~known], changed)
    for name, rows in children.items():
        if name != "citations":
            table = CHILD_TABLES[name][0]
            kept = keep_papers(rows, written) if known.any() or "mentioned_papers" in tables else rows
            session.insert(table, fit_table(table, kept))
    return written


def insert_papers(session: Session, rows: pa.Table, papers: Keys, context: MergeContext) -> None:
    """Append papers that are not there, each named once, and give their keys their ids."""
    last_id = find_last_id(session, "papers")
    numbers = pa.array(last_id + 1 + np.arange(rows.num_rows))
    positions = pc.index_in(rows["source_id"], value_set=papers.keys).to_numpy()
    papers.ids[positions] = numbers.to_numpy()
    session.insert(
        schema.papers,
        pa.table(
            {
                "paper_id": numbers,
                "corpus_id": repeat_value(context.corpus_id, rows, pa.int32()),
                **{name: rows[name] for name in ("source_id", *PAPER_COLUMNS)},
                "batch_id": repeat_value(context.batch_id, rows, pa.int64()),
            }
        ),
    )


def _find_changed(
    session: Session, held: pa.Table, children: Mapping[str, pa.Table], context: MergeContext
) -> Ids:
    """The ids of the papers that the tables hold otherwise than the chunk says."""
    with session.staged({"staged_papers": held}):
        parts = [fetch_ids(session, "papers.sql", "changed_papers", _list_described(context))]
    known = np.unique(held["paper_id"].to_numpy())
    for name in sorted(context.describes & set(PAPER_CHILDREN)):
        rows = keep_papers(children.get(name, _make_empty(name)), known)
        owners = _find_owners(held, rows, context)
        with session.staged({"staged_papers": owners, f"staged_{name}": rows}):
            parts.append(fetch_ids(session, "papers.sql", f"changed_{name}", make_file_parameters(context)))
    return np.unique(np.concatenate(parts))


def _list_described(context: MergeContext) -> dict[str, Any]:
    described: dict[str, Any] = {name: name in context.describes for name in PAPER_COLUMNS}
    return {**described, "nulls_count": not context.gaps_say_nothing}


def _make_empty(name: str) -> pa.Table:
    empty = STAGED[name].empty_table()
    for number in ("paper_id", "author_id", "reference_id"):
        empty = empty.append_column(number, pa.array([], pa.int64()))
    return empty


def _find_owners(held: pa.Table, rows: pa.Table, context: MergeContext) -> pa.Table:
    """The papers whose children of a kind the chunk says: all, or those that have some."""
    owners = held.select(["paper_id"])
    return keep_papers(owners, rows["paper_id"].to_numpy()) if context.gaps_say_nothing else owners


def _update(
    session: Session, rows: pa.Table, children: Mapping[str, pa.Table], context: MergeContext
) -> None:
    if not rows.num_rows:
        return
    with session.staged({"staged_papers": rows}):
        statement = read_statement("papers.sql", "update_papers")
        session.execute(statement, {**_list_described(context), "batch_id": context.batch_id})
    for name in sorted(context.describes & set(PAPER_CHILDREN)):
        owners = _find_owners(rows, children.get(name, _make_empty(name)), context)
        with session.staged({"staged_papers": owners}):
            session.execute(read_statement("papers.sql", f"delete_{name}"), make_file_parameters(context))
