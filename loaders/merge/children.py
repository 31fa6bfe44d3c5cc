"""What hangs on papers: its tables, its rows with ids of ours, and each row once."""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.errors import LoadError
from pinakes.loaders.base import PAPER_CHILDREN
from pinakes.loaders.merge.context import UNKNOWN, Ids, MergeContext, Tables, read_statement
from pinakes.loaders.merge.lookup import Keys, find_keys, find_last_id

CHILD_TABLES: Final[Mapping[str, tuple[sa.Table, tuple[str, ...]]]] = {
    "identifiers": (schema.paper_identifiers, ("scheme", "identifier")),
    "fields": (schema.paper_fields, ("assigned_by", "field")),
    "authorships": (schema.authorships, ("position",)),
    "sentences": (schema.sentences, ("section_number", "position")),
    "sections": (schema.sections, ("section_number",)),
    "variants": (schema.paper_variants, ("code",)),
    "review_scores": (schema.review_scores, ("review_id", "aspect")),
}
"""staged child -> its table, and the columns that tell the rows of a paper apart"""
DEFECT: Final = "the loader has a defect, please report it"
ADDED: Final = ("identifiers", "fields")
"""children that are sets: what a file does not say in full is added to what is there"""


def prepare_children(
    session: Session, tables: Tables, papers: Keys, references: Keys, context: MergeContext
) -> dict[str, pa.Table]:
    """What hangs on papers, with ids of ours, each row once."""
    children: dict[str, pa.Table] = {}
    for name in PAPER_CHILDREN:
        if name not in tables or name not in context.describes:
            continue
        rows = tables[name]
        if name == "citations":
            owner = rows["citing_source_id"]
            rows = rows.append_column("reference_id", pa.array(references.find(rows["reference_key"])))
            rows = rows.append_column("paper_id", pa.array(papers.find(owner)))
            is_own = pc.is_in(owner, value_set=tables["papers"]["source_id"].combine_chunks())
            children[name] = rows.filter(is_own)
            continue
        ids = papers.find(rows["source_id"])
        _refuse_strays(name, tables, ids)
        rows = rows.append_column("paper_id", pa.array(ids))
        if name == "authorships":
            rows = rows.append_column("author_id", pa.array(_find_authors(session, rows, context)))
        children[name] = keep_first(rows, ("paper_id", *CHILD_TABLES[name][1]))
    return children


def _refuse_strays(name: str, tables: Tables, ids: Ids) -> None:
    if "mentioned_papers" not in tables and (ids == UNKNOWN).any():
        raise LoadError(f"{DEFECT}: a record stages {name} of a paper that it does not stage.")


def add_children(session: Session, tables: Tables, papers: Keys) -> None:
    """Add what is said in passing of papers that are there, and take nothing away."""
    for name, staged in tables.items():
        table, key = CHILD_TABLES[name]
        ids = papers.find(staged["source_id"])
        rows = staged.append_column("paper_id", pa.array(ids)).filter(pa.array(ids != UNKNOWN))
        with session.staged({f"staged_{name}": fit_table(table, keep_first(rows, ("paper_id", *key)))}):
            session.execute(read_statement("papers.sql", f"add_{name}"))


def _find_authors(session: Session, rows: pa.Table, context: MergeContext) -> Ids:
    authors = find_keys(session, "authors", context.corpus_id, [rows["author_source_id"]])
    new = authors.number_new(find_last_id(session, "authors"))
    if len(new.keys):
        first = pc.index_in(new.keys, value_set=rows["author_source_id"].combine_chunks())
        ids = pa.array(new.ids)
        corpus = pa.repeat(pa.scalar(context.corpus_id, pa.int32()), len(new.keys))
        names = rows["author_name"].take(first)
        columns = {"author_id": ids, "corpus_id": corpus, "source_id": new.keys, "name": names}
        session.insert(schema.authors, pa.table(columns))
    return authors.find(rows["author_source_id"])


def keep_first(rows: pa.Table, columns: Iterable[str]) -> pa.Table:
    """The rows without those whose values in the columns stood in an earlier row.

    >>> keep_first(pa.table({"a": [1, 1, 2], "b": [3, 4, 5]}), ["a"])["b"].to_pylist()
    [3, 5]
    """
    names = list(columns)
    if _are_distinct(rows, names):
        return rows
    numbered = rows.select(names).append_column("place", pa.array(np.arange(rows.num_rows)))
    first = numbered.group_by(names).aggregate([("place", "min")])["place_min"]
    return rows if len(first) == rows.num_rows else rows.take(pa.array(np.sort(first.to_numpy())))


def _are_distinct(rows: pa.Table, names: Iterable[str]) -> bool:
    """Whether the first columns already tell all rows apart: a sort of numbers, and mostly none of texts."""
    keys = np.zeros(rows.num_rows, dtype=np.int64)
    for name in names:
        codes = rows[name].combine_chunks().dictionary_encode()
        keys = keys * max(1, len(codes.dictionary)) + codes.indices.to_numpy(zero_copy_only=False)
        if len(np.unique(keys)) == rows.num_rows:
            return True
    return False


def merge_gaps(rows: pa.Table, key: str, columns: Iterable[str]) -> pa.Table:
    """One row for each key in the order of first mention, each column's first value that is not null.

    >>> rows = pa.table({"k": ["x", "x"], "row_number": [4, 5], "a": [None, 2], "b": ["u", "v"]})
    >>> merge_gaps(rows, "k", ["a", "b"]).to_pylist()
    [{'k': 'x', 'row_number': 4, 'a': 2, 'b': 'u'}]
    """
    names = list(columns)
    if pc.count_distinct(rows[key]).as_py() == rows.num_rows:
        return rows.select([key, "row_number", *names])
    grouped = rows.group_by(key, use_threads=False)
    merged = grouped.aggregate([("row_number", "min"), *[(name, "first") for name in names]])
    renamed = [name.removesuffix("_first").removesuffix("_min") for name in merged.column_names]
    return merged.rename_columns(renamed).select([key, "row_number", *names])


def keep_papers(rows: pa.Table, paper_ids: Ids) -> pa.Table:
    """The rows that hang on one of the papers."""
    return rows.filter(pa.array(np.isin(rows["paper_id"].to_numpy(), paper_ids)))


def fit_table(table: sa.Table, rows: pa.Table) -> pa.Table:
    """The columns that the table has."""
    return rows.select([column.name for column in table.columns])


def repeat_value(value: int, rows: pa.Table, type_: pa.DataType) -> pa.Array:
    """A column of one value for all rows."""
    return pa.repeat(pa.scalar(value, type_), rows.num_rows)
