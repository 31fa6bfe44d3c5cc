"""Queries, judgments, pools, labels, variants, selected sentences: old ones compared, new ones appended."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.distinct import find_distinct
from pinakes.loaders.base import ASSESSMENTS, PAPER_KEYS
from pinakes.loaders.merge.children import list_key
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Keys,
    MergeContext,
    Tables,
    number_places,
    number_rows,
)
from pinakes.loaders.merge.origins import restate
from pinakes.loaders.merge.refusals import Problems
from pinakes.loaders.merge.rows import fit_table, keep_first, mark_rows
from pinakes.loaders.merge.statements import add_missing, differ, list_said, match, stage
from pinakes.loaders.staging import Reason


def merge_assessments(session: Session, tables: Tables, papers: Keys, context: MergeContext) -> None:
    """Merge a chunk's queries, judgments, pools, labels and variants; all papers that they name are there."""
    if context.creates_unknown and "judgments" in tables:
        _create_queries(session, tables, context)
    for name, table in ASSESSMENTS.items():
        if name in tables and name not in context.describes:
            ids = papers.find(tables[name][PAPER_KEYS[name]])
            rows = tables[name].append_column("paper_id", pa.array(ids, mask=ids == UNKNOWN))
            _merge(session, name, keep_first(rows, list_key(table)), context)


def _create_queries(session: Session, tables: Tables, context: MergeContext) -> None:
    requested = pc.unique(tables["judgments"]["query_id"])
    if "queries" in tables:
        staged = tables["queries"]["query_id"].combine_chunks()
        requested = requested.filter(pc.invert(pc.is_in(requested, value_set=staged)))
    table = schema.benchmark_queries
    add_missing(session, table, mark_rows(table, pa.table({"query_id": requested}), context))
    staged = sa.table("staged_requested", sa.column("query_id", sa.Text))
    same = sa.and_(table.c.corpus_id == context.corpus_id, table.c.query_id == staged.c.query_id)
    with session.staged({staged.name: pa.table({"query_id": requested})}):
        restate(session, table, staged, same, context)


def _merge(session: Session, name: str, rows: pa.Table, context: MergeContext) -> None:
    table = ASSESSMENTS[name]
    staged, said = stage(name, table), list_said(table)
    constants = {"corpus_id": context.corpus_id, "producer": context.producer}
    same = match(table, staged, table.primary_key.columns.keys(), constants)
    is_changed = differ(table, staged, said)
    with session.staged({staged.name: number_places(rows)}):
        columns = (staged.c.place, is_changed.label("is_changed"), table.c.batch_id)
        found = session.fetch_arrow(sa.select(*columns).join_from(staged, table, same))
        known = found["place"].to_numpy()
        held = found["batch_id"].drop_null().to_numpy()
        restate(session, table, staged, same, context, held=held, is_changed=is_changed)
        changed = known[found["is_changed"].to_numpy(zero_copy_only=False)]
        if len(changed):
            values: dict[str, Any] = {column: staged.c[column] for column in said}
            values["batch_id"] = context.batch_id
            session.execute(sa.update(table).values(values).where(same, is_changed))
    is_new = np.ones(rows.num_rows, dtype=np.bool_)
    is_new[known] = False
    numbers = number_rows(rows)
    context.outcomes.known.append(numbers[known])
    context.outcomes.changed += [numbers[changed], numbers[is_new]]
    session.insert(table, fit_table(table, mark_rows(table, rows.filter(pa.array(is_new)), context)))


def find_unknown_sentences(session: Session, tables: Tables, context: MergeContext) -> Problems:
    """The records that name a query that is not there or is no paper, or a sentence that its paper has not.

    A query counts as there when an earlier record brought it, not when the same chunk does.
    """
    if "sentence_selections" not in tables:
        return {}
    with session.staged({"staged_sentence_selections": tables["sentence_selections"]}):
        rows = session.rows(_read("unknown_sentences"), {"corpus_id": context.corpus_id})
    problems: Problems = {}
    for row in rows:
        problems.setdefault(row["row_number"], _name_problem(row))
    return problems


def _name_problem(row: dict[str, Any]) -> tuple[Reason, str]:
    if row["is_unknown"]:
        return "unknown_query", row["query_id"]
    if row["is_text"]:
        return "unknown_sentence", f"{row['query_id']} is no paper"
    return "unknown_sentence", f"{row['query_id']} has no sentence {row['position']}"


def merge_selections(session: Session, tables: Tables, context: MergeContext) -> None:
    """Merge a chunk's selections; all sentences that they name are there."""
    if "sentence_selections" not in tables:
        return
    rows = tables["sentence_selections"]
    numbers = find_distinct(number_rows(rows))
    parameters = {"corpus_id": context.corpus_id, "batch_id": context.batch_id}
    with session.staged({"staged_sentence_selections": rows}):
        found = session.fetch_arrow(_read("known_selections"), {"corpus_id": context.corpus_id})
        known = found["row_number"].to_numpy()
        changed = known[found["is_changed"].to_numpy(zero_copy_only=False)]
        session.execute(_read("delete_positions"), {"corpus_id": context.corpus_id})
        session.execute(_read("insert_positions"), parameters)
        names = ("query_id", "selection", "position")
        table, staged = schema.sentence_selections, stage("sentence_selections", schema.sentence_selections)
        same = match(table, staged, ("corpus_id", *names), {"corpus_id": context.corpus_id})
        restate(session, table, staged, same, context)
    context.outcomes.known.append(known)
    context.outcomes.changed += [changed, np.setdiff1d(numbers, known)]


def _read(block: str) -> str:
    return read_blocks("pinakes.loaders.merge", "sql", "selections.sql")[block]
