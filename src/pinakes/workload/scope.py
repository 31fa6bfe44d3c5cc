"""A whole corpus as one template reads it: what an index is built over that serves any search."""

from dataclasses import dataclass, replace

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.queries.relations import read_template, split_template
from pinakes.schema import check_schema, corpora

PAPER_TEMPLATE = "title_abstract"


@dataclass(frozen=True, slots=True)
class CorpusScope:
    """A corpus and the text template that its papers are read with.

    `requested_as` is what a user calls it in a command: `BENCHMARK`, or `--corpus NAME`.
    """

    corpus: str
    paper_template: str
    requested_as: str


def add_prefix(scope: CorpusScope, prefix: str) -> CorpusScope:
    """The corpus as an encoder reads it that reads a prefix before every text."""
    before, template = split_template(scope.paper_template)
    return replace(scope, paper_template=f"{prefix}{before}{{{template}}}") if prefix else scope


def open_corpus(database: Database, name: str, paper_template: str | None = None) -> CorpusScope:
    """The corpus of that name, read with a template (title and abstract where none is named).

    Raises:
        SchemaVersionError: the database has no tables, or others.
        UnknownNameError: no such corpus is loaded, or there is no such template; the message lists those.
    """
    check_schema(database)
    with database.read() as session:
        known = [str(row["name"]) for row in session.rows(sa.select(corpora.c.name).order_by(corpora.c.name))]
    if name not in known:
        raise UnknownNameError("corpus", name, known, "`pinakes load` loads one.")
    template = paper_template or PAPER_TEMPLATE
    read_template("papers", template)
    return CorpusScope(name, template, f"--corpus {name}")
