"""Child rows of papers, with our ids: prepared for the merge, or added to the existing ones."""

from typing import Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Session
from pinakes.errors import LoadError
from pinakes.loaders.base import PAPER_CHILDREN
from pinakes.loaders.merge.citations import CITATION_KEYS
from pinakes.loaders.merge.context import (
    UNKNOWN,
    Ids,
    Keys,
    MergeContext,
    Tables,
    encode_keys,
    find_first,
    find_keys,
)
from pinakes.loaders.merge.rows import fit_table, keep_first, keep_papers, mark_rows
from pinakes.loaders.merge.statements import add_missing
from pinakes.schema import next_id

DEFECT: Final = "the loader has a defect, please report it"
ADDED: Final = ("identifiers", "fields")
"""child rows that are sets: what a file does not say in full is added to the existing ones"""


def prepare_children(
    session: Session, tables: Tables, papers: Keys, references: Keys, context: MergeContext
) -> dict[str, pa.Table]:
    """The child rows that a chunk describes, with our ids, each row once."""
    children: dict[str, pa.Table] = {}
    for name, table in PAPER_CHILDREN.items():
        if name not in tables or name not in context.describes:
            continue
        rows = tables[name]
        if name == "citations":
            ids = papers.find(rows["citing_source_id"])
            rows = rows.append_column("reference_id", pa.array(references.find(rows["reference_key"])))
            rows = rows.append_column("paper_id", pa.array(ids)).drop_columns(CITATION_KEYS)
            children[name] = keep_papers(rows, papers.find(tables["papers"]["source_id"]))
            continue
        ids = papers.find(rows["source_id"])
        if "mentioned_papers" not in tables and (ids == UNKNOWN).any():
            raise LoadError(f"{DEFECT}: a record stages {name} of a paper that it does not stage.")
        rows = rows.append_column("paper_id", pa.array(ids)).drop_columns("source_id")
        if name == "authorships":
            rows = encode_keys(rows, ["author_source_id"])
            rows = rows.append_column("author_id", pa.array(_find_authors(session, rows, context)))
            rows = rows.drop_columns("author_source_id")
        children[name] = mark_rows(table, keep_first(rows, list_key(table)), context)
    return children


def list_key(table: sa.Table) -> list[str]:
    """The columns that tell the rows of one file apart in a table."""
    return [column.name for column in table.primary_key if column.name not in ("corpus_id", "producer")]


def add_children(session: Session, tables: Tables, papers: Keys) -> None:
    """Add what is said in passing of existing papers, and take nothing away."""
    for name, staged in tables.items():
        table = PAPER_CHILDREN[name]
        ids = papers.find(staged["source_id"])
        rows = staged.append_column("paper_id", pa.array(ids)).filter(pa.array(ids != UNKNOWN))
        add_missing(session, table, fit_table(table, keep_first(rows, list_key(table))))


def _find_authors(session: Session, rows: pa.Table, context: MergeContext) -> Ids:
    """The ids of the authors; `rows` have the column `author_source_id` encoded."""
    authors = find_keys(session, "authors", context.corpus_id, [rows["author_source_id"]])
    is_new = pa.array(authors.ids == UNKNOWN)
    new = authors.number_new(next_id(session, schema.authors.c.author_id))
    if len(new.keys):
        names = rows["author_name"].take(find_first(rows["author_source_id"]).filter(is_new))
        described = pa.table({"author_id": new.ids, "source_id": new.keys, "name": names})
        session.insert(schema.authors, mark_rows(schema.authors, described, context))
    return authors.find(rows["author_source_id"])
