"""Queries, judgments, pools and labels: what is there already is compared, what is new is appended."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.loaders.merge.children import keep_first
from pinakes.loaders.merge.context import UNKNOWN, Fates, MergeContext, Tables, number_rows, read_statement
from pinakes.loaders.merge.lookup import Keys

_KINDS: Final[dict[str, tuple[sa.Table, str, tuple[str, ...]]]] = {
    "queries": (schema.benchmark_queries, "paper_source_id", ("query_id",)),
    "judgments": (schema.judgments, "source_id", ("query_id", "paper_id", "assessor", "split")),
    "pool_sources": (schema.pool_sources, "source_id", ("query_id", "paper_id", "source")),
    "labels": (schema.labels, "source_id", ("task", "paper_id", "split", "label")),
}
"""staged table -> its table, its column that names a paper, and the columns of its key"""


def merge_assessments(
    session: Session, tables: Tables, papers: Keys, context: MergeContext, fates: Fates
) -> None:
    """Merge a chunk's queries, judgments, pools and labels; all papers that they name are there."""
    if context.creates_unknown and "judgments" in tables:
        _create_queries(session, tables, context)
    for kind, (_, column, key) in _KINDS.items():
        if kind not in tables:
            continue
        rows = tables[kind]
        ids = papers.find(rows[column])
        paper_ids = pa.array(ids, mask=ids == UNKNOWN)
        _merge(session, kind, keep_first(rows.append_column("paper_id", paper_ids), key), context, fates)


def _create_queries(session: Session, tables: Tables, context: MergeContext) -> None:
    requested = pc.unique(tables["judgments"]["query_id"])
    if "queries" in tables:
        staged = tables["queries"]["query_id"].combine_chunks()
        requested = requested.filter(pc.invert(pc.is_in(requested, value_set=staged)))
    with session.staged({"staged_queries": pa.table({"query_id": requested})}):
        session.execute(read_statement("assessments.sql", "create_queries"), _values(context))


def _values(context: MergeContext) -> dict[str, Any]:
    return {"corpus_id": context.corpus_id, "batch_id": context.batch_id}


def _merge(session: Session, kind: str, rows: pa.Table, context: MergeContext, fates: Fates) -> None:
    numbered = rows.append_column("position", pa.array(np.arange(rows.num_rows)))
    with session.staged({f"staged_{kind}": numbered}):
        found = session.fetch_arrow(read_statement("assessments.sql", f"known_{kind}"), _values(context))
        known = found["position"].to_numpy()
        changed = known[found["is_changed"].to_numpy(zero_copy_only=False)]
        if len(changed):
            session.execute(read_statement("assessments.sql", f"update_{kind}"), _values(context))
    is_new = np.ones(rows.num_rows, dtype=np.bool_)
    is_new[known] = False
    numbers = number_rows(rows)
    fates.known.append(numbers[known])
    fates.changed += [numbers[changed], numbers[is_new]]
    table = _KINDS[kind][0]
    new = rows.filter(pa.array(is_new))
    for name, value in _values(context).items():
        if name in table.columns:
            type_ = pa.int32() if name == "corpus_id" else pa.int64()
            new = new.append_column(name, pa.repeat(pa.scalar(value, type_), new.num_rows))
    session.insert(table, new.select([column.name for column in table.columns]))
