"""Selections of sentences: whose sentences are there, what has changed, and what is new.

A selection is what a query asks with under one name; a newer one takes the place of the one that is there.
"""

from typing import Any

import numpy as np

from pinakes.database import Session
from pinakes.loaders.merge.context import Fates, MergeContext, Tables, number_rows, read_statement
from pinakes.loaders.merge.refusals import Problems
from pinakes.loaders.staging import Reason


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


def merge_selections(session: Session, tables: Tables, context: MergeContext, fates: Fates) -> None:
    """Merge a chunk's selections; all sentences that they name are there."""
    if "sentence_selections" not in tables:
        return
    rows = tables["sentence_selections"]
    numbers = np.unique(number_rows(rows))
    parameters = {"corpus_id": context.corpus_id, "batch_id": context.batch_id}
    with session.staged({"staged_sentence_selections": rows}):
        found = session.fetch_arrow(_read("known_selections"), {"corpus_id": context.corpus_id})
        known = found["row_number"].to_numpy()
        changed = known[found["is_changed"].to_numpy(zero_copy_only=False)]
        session.execute(_read("delete_positions"), {"corpus_id": context.corpus_id})
        session.execute(_read("insert_positions"), parameters)
    fates.known.append(known)
    fates.changed += [changed, np.setdiff1d(numbers, known)]


def _read(block: str) -> str:
    return read_statement("selections.sql", block)
