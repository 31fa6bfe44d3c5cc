"""Cited works and mentions: mentions under the citing paper, or pending until it comes."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes import schema
from pinakes.database import Session
from pinakes.loaders.merge.children import fit_table, keep_first, merge_gaps, repeat_value
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Fates,
    Ids,
    MergeContext,
    Tables,
    make_file_parameters,
    number_rows,
    read_statement,
)
from pinakes.loaders.merge.lookup import Keys, find_keys, find_last_id

_OTHER_FILES: Final = """
SELECT COUNT(*) FROM load_batches
WHERE corpus_id = :corpus_id
    AND citations > 0
    AND NOT (
        loader = :loader AND role = :role AND file_digest = :file_digest
        AND options_digest = :options_digest AND round = :round
    )
"""


def find_references(session: Session, tables: Tables, context: MergeContext) -> Keys:
    """The ids of all works that a chunk cites or describes; new ones are added, gaps of old ones filled."""
    described = tables.get("references")
    named = [tables[name]["reference_key"] for name in ("references", "citations") if name in tables]
    references = find_keys(session, "cited_references", context.corpus_id, named)
    known = references.ids != UNKNOWN
    new = references.number_new(find_last_id(session, "cited_references"))
    if described is not None:
        described = merge_gaps(described, "reference_key", ("title", "abstract", "year"))
    session.insert(schema.cited_references, _describe_new(new, described, context))
    if described is not None:
        _fill_gaps(session, described, Keys(references.keys.filter(pa.array(known)), references.ids[known]))
    if "reference_identifiers" in tables:
        _add_identifiers(session, tables["reference_identifiers"], references)
    return references


def _describe_new(new: Keys, described: pa.Table | None, context: MergeContext) -> pa.Table:
    corpus = pa.repeat(pa.scalar(context.corpus_id, pa.int32()), len(new.keys))
    columns: dict[str, Any] = {
        "reference_id": pa.array(new.ids),
        "corpus_id": corpus,
        "reference_key": new.keys,
    }
    if described is not None:
        positions = pc.index_in(new.keys, value_set=described["reference_key"].combine_chunks())
        columns |= {name: described[name].take(positions) for name in ("title", "abstract", "year")}
    return pa.table(columns)


def _fill_gaps(session: Session, described: pa.Table, known: Keys) -> None:
    ids = known.find(described["reference_key"])
    held = described.append_column("reference_id", pa.array(ids)).filter(pa.array(ids != UNKNOWN))
    if held.num_rows:
        with session.staged({"staged_references": held}):
            session.execute(read_statement("citations.sql", "fill_references"))


def _add_identifiers(session: Session, rows: pa.Table, references: Keys) -> None:
    rows = rows.append_column("reference_id", pa.array(references.find(rows["reference_key"])))
    names = [column.name for column in schema.reference_identifiers.columns]
    with session.staged({"staged_reference_identifiers": keep_first(rows, names)}):
        session.execute(read_statement("citations.sql", "insert_reference_identifiers"))


def merge_citations(
    session: Session,
    rows: pa.Table,
    children: tuple[Ids, Ids],
    keys: tuple[Keys, Keys],
    context: MergeContext,
    fates: Fates,
) -> int:
    """Append mentions and say how many.

    Args:
        rows: the staged mentions.
        children: of papers' own mentions, which were replaced with the paper: the ids of the papers written,
            and of all papers of the chunk.
        keys: the papers and the cited works that the chunk names.
    """
    papers, references = keys
    ids = papers.find(rows["citing_source_id"])
    rows = rows.append_column("reference_id", pa.array(references.find(rows["reference_key"])))
    rows = rows.append_column("citing_paper_id", pa.array(ids))
    written, own = children
    is_own = np.isin(ids, own)
    is_new = np.isin(ids, written)
    others = rows.filter(pa.array(~is_own))
    keep = np.array(is_new)
    if others.num_rows and _may_exist(session, context):
        keep[~is_own] = ~_find_repeated(session, others, context, fates)
    else:
        keep |= ~is_own
    return _append(session, rows.filter(pa.array(keep)), context)


def _may_exist(session: Session, context: MergeContext) -> bool:
    # Within a file the same mention may stand twice; between files it is the same mention.
    return bool(session.scalar(_OTHER_FILES, make_file_parameters(context)))


def _find_repeated(
    session: Session, rows: pa.Table, context: MergeContext, fates: Fates
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which mentions other files have brought already."""
    position = pa.array(np.arange(rows.num_rows))
    repeated = np.zeros(rows.num_rows, dtype=np.bool_)
    with session.staged({"staged_citations": rows.append_column("position", position)}):
        for block in ("repeated_citations", "repeated_pending"):
            statement = read_statement("citations.sql", block)
            found = session.fetch_arrow(statement, make_file_parameters(context)).column(0)
            repeated[found.to_numpy()] = True
    numbers = number_rows(rows)
    fates.known.append(numbers[repeated])
    fates.changed.append(numbers[~repeated])
    return repeated


def _append(session: Session, rows: pa.Table, context: MergeContext) -> int:
    last_id = find_last_id(session, "citations")
    rows = rows.append_column("citation_id", pa.array(last_id + 1 + np.arange(rows.num_rows)))
    rows = rows.append_column("batch_id", repeat_value(context.batch_id, rows, pa.int64()))
    is_held = rows["citing_paper_id"].to_numpy() != UNKNOWN
    held, pending = rows.filter(pa.array(is_held)), rows.filter(pa.array(~is_held))
    session.insert(schema.citations, fit_table(schema.citations, held))
    corpus = repeat_value(context.corpus_id, pending, pa.int32())
    pending = pending.append_column("corpus_id", corpus)
    session.insert(schema.pending_citations, fit_table(schema.pending_citations, pending))
    return int(rows.num_rows)
