"""Cited works and mentions: mentions under the citing paper, or pending until it comes."""

from contextlib import nullcontext
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Ids,
    Keys,
    MergeContext,
    Tables,
    are_few,
    find_keys,
    number_places,
    number_rows,
)
from pinakes.loaders.merge.origins import is_restated, restate
from pinakes.loaders.merge.rows import fit_table, keep_first, mark_rows, merge_gaps
from pinakes.loaders.merge.statements import add_missing, fill_gaps
from pinakes.schema import citations, load_batches, next_id, pending_citations

CITATION_KEYS: Final = ("citing_source_id", "reference_key")
"""columns of staged mentions that name a paper and a work; encoded (`context.encode_keys`)"""
_DESCRIBED: Final = ("title", "abstract", "year")
_MAY_BE_NULL: Final = ("source_reference_id", "context", "context_start")
_ROWS_A_MENTION: Final = 8
"""where a mention has more, Postgres finds those that are there sooner by the index of citing papers"""


def find_references(session: Session, tables: Tables, context: MergeContext) -> Keys:
    """The ids of all works that a chunk cites or describes; new ones are added, gaps of old ones filled."""
    described = tables.get("references")
    named = [tables[name]["reference_key"] for name in ("references", "citations") if name in tables]
    references = find_keys(session, "cited_references", context.corpus_id, named)
    known = references.ids != UNKNOWN
    new = references.number_new(next_id(session, schema.cited_references.c.reference_id))
    rows = pa.table({"reference_id": pa.array(new.ids), "reference_key": new.keys})
    if described is not None:
        described = merge_gaps(described, "reference_key", _DESCRIBED)
        positions = pc.index_in(new.keys, value_set=described["reference_key"].combine_chunks())
        for name in _DESCRIBED:
            rows = rows.append_column(name, described[name].take(positions))
    session.insert(schema.cited_references, mark_rows(schema.cited_references, rows, context))
    if described is not None:
        _fill_gaps(session, described, Keys(references.keys.filter(pa.array(known)), references.ids[known]))
    if "reference_identifiers" in tables:
        staged = tables["reference_identifiers"]
        ids = pa.array(references.find(staged["reference_key"]))
        identifiers = fit_table(schema.reference_identifiers, staged.append_column("reference_id", ids))
        rows = keep_first(identifiers, identifiers.column_names)
        add_missing(session, schema.reference_identifiers, rows)
    return references


def _fill_gaps(session: Session, described: pa.Table, known: Keys) -> None:
    ids = known.find(described["reference_key"])
    held = described.append_column("reference_id", pa.array(ids)).filter(pa.array(ids != UNKNOWN))
    if held.num_rows:
        with session.staged({"staged_references": held}):
            fill_gaps(session, schema.cited_references, "references", _DESCRIBED)


def merge_citations(
    session: Session,
    rows: pa.Table,
    children: tuple[Ids, Ids],
    keys: tuple[Keys, Keys],
    context: MergeContext,
) -> int:
    """Append the staged mentions and say how many.

    `children` are, of papers' own mentions, which were replaced with the paper, the ids of the papers
    written, and of all papers of the chunk; `keys` the papers and the cited works that the chunk names.
    """
    papers, references = keys
    ids = papers.find(rows["citing_source_id"])
    rows = rows.append_column("reference_id", pa.array(references.find(rows["reference_key"])))
    rows = rows.drop_columns("reference_key")
    rows = rows.append_column("citing_paper_id", pa.array(ids))
    written, own = children
    is_own = np.isin(ids, own)
    is_new = np.isin(ids, written)
    others = rows.filter(pa.array(~is_own))
    keep = np.array(is_new)
    if others.num_rows and _may_exist(session, context):
        keep[~is_own] = ~_find_repeated(session, others, context)
    else:
        keep |= ~is_own
    return _append(session, rows if keep.all() else rows.filter(pa.array(keep)), context)


def _may_exist(session: Session, context: MergeContext) -> bool:
    # Within a file the same mention may stand twice; between files it is the same mention.
    others = sa.select(load_batches.c.batch_id).where(
        load_batches.c.corpus_id == context.corpus_id,
        load_batches.c.citations > 0,
        load_batches.c.batch_id.not_in(_select_batches(context)),
    )
    return session.first(others.limit(1)) is not None


def _select_batches(context: MergeContext) -> sa.Select[Any]:
    """The batches of the file itself."""
    same = [load_batches.c[name] == value for name, value in context.file.items()]
    return sa.select(load_batches.c.batch_id).where(*same)


def _find_repeated(session: Session, rows: pa.Table, context: MergeContext) -> npt.NDArray[np.bool_]:
    """Which mentions other files have brought already."""
    repeated = np.zeros(rows.num_rows, dtype=np.bool_)
    by_index = are_few(session, citations, rows.num_rows, _ROWS_A_MENTION)
    placed = number_places(_decode_citing(rows))
    if by_index:  # in its order the mentions of one paper are read after those of the one before
        placed = placed.sort_by("citing_paper_id")
    with session.staged({"staged_citations": placed}):
        for table in (citations, pending_citations):
            staged, same = _match_repeated(table, context)
            columns = (staged.c.place, table.c.citation_id, table.c.batch_id)
            query = sa.select(*columns).join_from(staged, table, same)
            with session.joined_by_index() if by_index and table is citations else nullcontext():
                places, ids, held = session.fetch_numbers(query)
            repeated[places] = True
            if len(ids):
                _note_known(session, table, find_distinct(ids), held, context)
    numbers = number_rows(rows)
    context.outcomes.known.append(numbers[repeated])
    context.outcomes.changed.append(numbers[~repeated])
    return repeated


def _note_known(session: Session, table: sa.Table, ids: Ids, held: Ids, context: MergeContext) -> None:
    """Note mentions of the table, by their ids, as the file's too; `held` are the batches they are of."""
    known = sa.table("staged_known", sa.column("citation_id", sa.BigInteger))
    with session.staged({known.name: pa.table({"citation_id": ids})}):
        same = table.c.citation_id == known.c.citation_id
        # Taken over, a mention would be taken for the file's own, and the next one like it for new.
        restate(session, table, known, same, context, held=held, takes_over=False)


def _match_repeated(table: sa.Table, context: MergeContext) -> tuple[sa.TableClause, sa.ColumnElement[bool]]:
    """The staged mentions, and which of those that a table has from other files they are."""
    citing = "citing_paper_id" if table is citations else "citing_source_id"
    names = ("place", citing, "reference_id", *_MAY_BE_NULL)
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in names]
    staged = sa.table("staged_citations", *columns)
    same = [table.c[name] == staged.c[name] for name in (citing, "reference_id")]
    same += [staged.c[name].is_not_distinct_from(table.c[name]) for name in _MAY_BE_NULL]
    if "corpus_id" in table.c:
        same.append(table.c.corpus_id == context.corpus_id)
    same.append(table.c.batch_id.not_in(_select_batches(context)))
    if table is citations:
        same.append(~is_restated(_select_batches(context)))
    return staged, sa.and_(*same)


def _append(session: Session, rows: pa.Table, context: MergeContext) -> int:
    first_id = max(next_id(session, table.c.citation_id) for table in (citations, pending_citations))
    rows = rows.append_column("citation_id", pa.array(first_id + np.arange(rows.num_rows)))
    is_held = rows["citing_paper_id"].to_numpy() != UNKNOWN
    for table, is_chosen in ((citations, is_held), (pending_citations, ~is_held)):
        chosen = fit_table(table, mark_rows(table, rows, context))
        if not is_chosen.all():
            chosen = chosen.filter(pa.array(is_chosen))
        session.insert(table, _decode_citing(chosen) if table is pending_citations else chosen)
    return int(rows.num_rows)


def _decode_citing(rows: pa.Table) -> pa.Table:
    place = rows.schema.get_field_index("citing_source_id")
    return rows.set_column(place, "citing_source_id", pc.cast(rows.column(place), pa.string()))
