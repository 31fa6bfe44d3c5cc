"""Making the tables and views, and checking at every start that they are of this version."""

from importlib.resources import files
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.reader_role import make_reader_role, open_to_readers
from pinakes.database.sql_blocks import quote_text
from pinakes.errors import SchemaVersionError
from pinakes.schema.base import metadata, required

SCHEMA_VERSION: Final = 17
OLDEST_VERSION: Final = 11
"""the oldest version from which schema/upgrades/ has steps to this one"""

schema_version = sa.Table(
    "schema_version",
    metadata,
    required("version", sa.Integer, "pinakes.schema.SCHEMA_VERSION that made the tables"),
    comment="The version of this schema: one row.",
)

VIEWS: Final = {
    "candidate_types": "What a candidate is: cited, graph, random, or what else put it into its pool.",
    "chosen_corpora": "The corpus that a benchmark reads: of those it can read, the first that is loaded.",
    "citation_batches": "Whose a mention is: the batch that brought it, or a newer version of its file.",
    "citation_links": "Who cites whom among the papers that we hold: each pair once.",
    "distinct_papers": "Papers without those that were merged into another.",
    "distinct_sentences": "Sentences of one split of each text: the source's before a generator's.",
    "distinct_references": "Cited works without those that were merged into another, and their mentions.",
    "judged_papers": "Judgments with the corpus's name and the paper's own id.",
    "paper_parts": "A tenth, 0 to 9, of each paper, by the digest of its corpus and id: for splits.",
    "labelled_papers": "Labels with the corpus's name, the paper's own id and its side: train or test.",
    "paper_title_keys": "Papers with their normalised titles.",
    "pool_size_effect": "Each measure's mean at each pool size, in all and by field, and at the smallest.",
    "prefiltered_papers": "The papers that a sampled benchmark draws queries and candidates from.",
    "reference_title_keys": "Cited works with their normalised titles.",
    "repeat_spread": "Each subset's values over the repeats of its pools: mean, deviation, lowest, highest.",
    "run_disagreement": "How many papers two runs share among their first 10 and 200 for a query.",
    "score_history": "Each value that an evaluation gave and that was new, with when and by what.",
    "score_differences": "By how much two runs of a benchmark differ on a query.",
    "suite_scores": "Each figure of a suite by each system: its value, interval and coverage.",
    "leaderboard": "The averages of a suite by system, mode, group and format, and over how many figures.",
    "types_above_cited": "How many candidates of each type a run ranks above the papers that a query cites.",
    "summary_leaks": "How much of a split's test examples is of papers that have training examples.",
    "text_digests": "The digest of the text that rows are derived from: of each paper and each section.",
    "paper_derivations": "The derived rows of each paper, and whether they are of its text as it is now.",
    "derivation_states": "The derived rows of each producer in a corpus, and how many are of an older text.",
    "variant_coverage": "How many papers of a corpus have a variant of a code, and why the others have none.",
    "unresolved_citations": "Mentions of works that we do not hold as papers.",
    "paper_terms": "The terms of each paper in each index that was written down, with what they weigh.",
    "term_index_states": "Each index that was written down, and how its corpus has changed since.",
}


_VERSION_TABLE: Final = (
    "SELECT COUNT(*) FROM information_schema.tables "
    "WHERE table_schema = CURRENT_SCHEMA() AND table_name = 'schema_version'"
)
"""DuckDB: whether there is a table schema_version in the current schema, or a view"""
_VERSION_COLUMNS: Final = {
    # Asked for its columns, DuckDB's information schema binds every view of the database.
    "duckdb": "SELECT name AS column_name, LOWER(type) AS kind FROM pragma_table_info('schema_version')",
    # The information schema hides what this user has no right to.
    "postgresql": "SELECT attname AS column_name, format_type(atttypid, NULL) AS kind FROM pg_attribute "
    "WHERE attrelid = to_regclass(quote_ident(CURRENT_SCHEMA()) || '.schema_version') "
    "AND attnum > 0 AND NOT attisdropped",
}
"""the columns of the table schema_version in the current schema"""


def create_schema(database: Database) -> bool:
    """Make every table, view and comment; True if they were made now, False if they were there."""
    with database.begin() as session:
        if find_version(session) is not None:
            _refuse_other_version(session)
            return False
        _refuse_foreign(session)
        if database.name == "postgresql":
            session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        metadata.create_all(session.connection)
        for view, comment in VIEWS.items():
            session.execute(read_view(view))
            comment_on_view(session, view, comment)
        session.execute(sa.insert(schema_version).values(version=SCHEMA_VERSION))
        make_reader_role(session)
        open_to_readers(session, [session.scalar("SELECT CURRENT_SCHEMA()")])
    return True


def read_view(view: str) -> str:
    """The statement that makes one of `VIEWS`."""
    return files("pinakes.schema").joinpath("views", f"{view}.sql").read_text(encoding="utf-8")


def comment_on_view(session: Session, view: str, comment: str) -> None:
    """Say in the database what a view is; `view` is a name as SQL writes it."""
    session.execute_as_written(f"COMMENT ON VIEW {view} IS {quote_text(comment)}")


def check_schema(database: Database) -> None:
    """Raise `SchemaVersionError`, which says what to do, where the tables are none, older or newer ones."""
    with database.read() as session:
        _refuse_other_version(session)


def has_tables(database: Database) -> bool:
    """Whether the database has Pinakes tables, of any version."""
    with database.read() as session:
        return find_version(session) is not None


def find_version(session: Session) -> int | None:
    """The version of the tables in the database; None where there are none.

    Raises:
        SchemaVersionError: another program keeps a version of its own in a table of that name.
    """
    backend = session.backend.name
    is_there = backend != "duckdb" or session.scalar(_VERSION_TABLE)
    columns = session.rows(_VERSION_COLUMNS[backend]) if is_there else []
    if not columns:
        return None
    if columns != [{"column_name": "version", "kind": "integer"}]:
        raise _explain_foreign(["schema_version"])
    found: int | None = session.scalar(sa.select(schema_version.c.version))
    return found


def _refuse_foreign(session: Session) -> None:
    """Raise `SchemaVersionError` where another program's table or view has the name of one of Pinakes'."""
    there = sa.inspect(session.connection)
    foreign = sorted({*there.get_table_names(), *there.get_view_names()} & {*metadata.tables, *VIEWS})
    if foreign:
        raise _explain_foreign(foreign)


def _explain_foreign(names: list[str]) -> SchemaVersionError:
    return SchemaVersionError(
        f"this database has something called {', '.join(names)} that Pinakes did not make, and Pinakes needs "
        "the name. Nothing was changed. Choose another database (--db), or rename it."
    )


def read_version(session: Session) -> int:
    """The version of the tables: this one, or one that `pinakes upgrade` starts from.

    Raises:
        SchemaVersionError: there are no tables, or they are newer, or too old for that.
    """
    found = find_version(session)
    if found is None:
        raise SchemaVersionError("this database has no Pinakes tables yet; make them with `pinakes init`.")
    if found > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"this database has schema version {found}, and this Pinakes knows {SCHEMA_VERSION}: it was made "
            "by a newer Pinakes. Install that version or a newer one."
        )
    if found < OLDEST_VERSION:
        raise SchemaVersionError(f"{_say_older(found)} Load the corpora into a new database.")
    return found


def _refuse_other_version(session: Session) -> None:
    found = read_version(session)
    if found < SCHEMA_VERSION:
        raise SchemaVersionError(
            f"{_say_older(found)} Run `pinakes upgrade`, which keeps all rows; --dry-run prints its steps."
        )


def _say_older(found: int) -> str:
    return (
        f"this database has schema version {found}, and this Pinakes needs {SCHEMA_VERSION}: it was made "
        "by an older Pinakes."
    )
