"""A user's query on Postgres: one query, in a transaction that only reads, as a role that may only read.

A transaction that only reads leaves rows and tables as they are. Functions can do more: read the server's
files, end other sessions, hold locks, give a session its rights back. Postgres says of each function whether
it may have an effect (`VOLATILE`); a query that calls one of these is refused, but for a few that have none.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import capabilities, sql

from pinakes.database.query_text import find_calls, find_explained, has_unicode_names, is_show
from pinakes.database.reader_role import READER_ROLE
from pinakes.errors import InputError

HARMLESS_FUNCTIONS: Final = (
    "array_sample",
    "array_shuffle",
    "bernoulli",
    "clock_timestamp",
    "current_query",
    "gen_random_uuid",
    "pg_database_size",
    "pg_indexes_size",
    "pg_relation_size",
    "pg_table_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "setseed",
    "system",
    "timeofday",
    "uuidv4",
    "uuidv7",
)
"""that Postgres calls VOLATILE since they give another value each time, and that change nothing"""

# A name with other signs than a word's is not found among the calls, and looked for as it is.
_WITH_EFFECTS: Final = r"""
SELECT DISTINCT proname
FROM pg_catalog.pg_proc
WHERE
    provolatile = 'v'
    AND (
        proname = ANY(%(calls)s)
        OR (proname ~ '[^\w$]' AND strpos(%(text)s, replace(proname, '"', '""')) > 0)
    )
    AND NOT (pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(%(harmless)s))
ORDER BY proname
"""
ROWS_AT_ONCE: Final = 1000
"""that are held of an answer as it comes, by a libpq that can (17 and newer); else one"""

_RIGHTS: Final = """
SELECT
    current_setting('is_superuser') = 'on',
    (
        SELECT
            pg_has_role(current_user, oid, 'SET')
            AND has_table_privilege(oid, to_regclass('schema_version'), 'SELECT')
        FROM pg_catalog.pg_roles
        WHERE rolname = %(role)s
    ),
    ARRAY(SELECT quote_ident(name) FROM unnest(current_schemas(FALSE)) AS listed (name))
"""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The rows of a query as they come, their columns, and libpq's description of both."""

    columns: Sequence[psycopg.Column]
    described: psycopg.pq.abc.PGresult
    rows: Generator[tuple[Any, ...]]


def open_question(raw: Any, text: str, timeout_s: float | None) -> Answer:
    """The answer to one query of a user's, to an EXPLAIN of one, or to a SHOW.

    Until its rows are read or closed, nothing else can be asked of the connection. Raises `InputError` where
    Postgres or Pinakes refuses the text.
    """
    _refuse_effects(raw, text)
    _take_rights(raw, timeout_s)
    explained = find_explained(text)
    if explained is None and not is_show(text):
        with _declare(raw, text) as declared:
            columns, described = declared.description or (), declared.pgresult
        return Answer(columns, described, _stream(raw, text))
    if explained is not None:  # its own checks of what only reads let CREATE TABLE AS pass
        _declare(raw, explained).close()
    cursor = _run(raw.cursor(), text, prepare=True)  # prepared: one statement and no more
    return Answer(cursor.description or (), cursor.pgresult, _fetch(cursor))


def _refuse_effects(raw: Any, text: str) -> None:
    if has_unicode_names(text):
        raise InputError('Postgres refuses the query: it has a name as U&"…"; write the name itself.')
    values = {"calls": list(find_calls(text)), "text": text, "harmless": list(HARMLESS_FUNCTIONS)}
    with raw.cursor() as cursor:
        found = [name for (name,) in cursor.execute(_WITH_EFFECTS, values)]
    if found:
        raise InputError(
            f"Postgres refuses the query: {', '.join(found)} may do more than read (VOLATILE); leave it "
            "out. A function of your own that only reads is declared STABLE."
        )


def _take_rights(raw: Any, timeout_s: float | None) -> None:
    """Leave this transaction no more than reading, as the reader role where there is one."""
    with raw.cursor() as cursor:
        rights = cursor.execute(_RIGHTS, {"role": READER_ROLE}).fetchone()
        is_superuser, may_be_reader, schemas = rights
        if is_superuser and not may_be_reader:
            raise InputError(
                "this Postgres user is a superuser, and no user's query runs with a superuser's rights. Run "
                f"`pinakes init` once, which makes the role {READER_ROLE}, or connect as another user."
            )
        cursor.execute("SET TRANSACTION READ ONLY")
        if timeout_s is not None:
            for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
                milliseconds = max(1, round(timeout_s * 1000))
                cursor.execute(sql.SQL("SET LOCAL {} = {}").format(sql.SQL(setting), milliseconds))
        if may_be_reader:
            # "$user" is another's from here on.
            cursor.execute("SELECT set_config('search_path', %s, TRUE)", [", ".join(schemas)])
            cursor.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(READER_ROLE)))


def _declare(raw: Any, text: str) -> Any:
    """A server-side cursor, which takes one query and nothing else; it is planned and not run."""
    return _run(raw.cursor(name="pinakes_query"), text)


def _stream(raw: Any, text: str) -> Generator[tuple[Any, ...]]:
    """The rows of a text that was declared: from a cursor they would come without parallel workers."""
    with raw.cursor() as cursor:
        yield from cursor.stream(text, size=ROWS_AT_ONCE if capabilities.has_stream_chunked() else 1)


def _fetch(cursor: Any) -> Generator[tuple[Any, ...]]:
    with cursor:
        yield from cursor


def _run(cursor: Any, text: str, **options: bool) -> Any:
    try:
        cursor.execute(text, **options)
    except psycopg.Error as error:
        cursor.close()
        raise InputError(f"Postgres refuses the query: {error}") from error
    return cursor
