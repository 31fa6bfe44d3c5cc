"""The Postgres role that may read the tables and nothing else: made, given its rights, and missed."""

from collections.abc import Sequence
from typing import Final

from pinakes.database.core import Database, Session
from pinakes.errors import InputError, show

READER_ROLE: Final = "pinakes_reader"

_STATE: Final = """
SELECT
    me.rolsuper AS is_superuser,
    me.rolsuper OR me.rolcreaterole AS may_create,
    reader.oid IS NOT NULL AS is_there,
    COALESCE(pg_has_role(me.oid, reader.oid, 'SET'), FALSE) AS may_be_it,
    COALESCE(pg_has_role(me.oid, reader.oid, 'MEMBER WITH ADMIN OPTION'), FALSE) AS may_grant_it
FROM pg_catalog.pg_roles AS me
LEFT OUTER JOIN pg_catalog.pg_roles AS reader ON reader.rolname = :role
WHERE me.rolname = CURRENT_USER
"""
# Another process may make it at the same time, for another database of the server.
_CREATE: Final = """
DO $$
BEGIN
    CREATE ROLE pinakes_reader NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$
"""
_FOUND: Final = "SELECT rolsuper AS is_superuser FROM pg_catalog.pg_roles WHERE rolname = :role"
_MAY_CONNECT: Final = "SELECT has_database_privilege(CAST(:role AS NAME), CURRENT_DATABASE(), 'CONNECT')"
_CREATE_READER: Final = (
    "CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT"
)
_QUOTE: Final = "SELECT format(CAST(:text AS TEXT), VARIADIC CAST(:names AS TEXT[]))"
_GRANT_CONNECT: Final = "GRANT CONNECT ON DATABASE %I TO %I"
_READ_ONLY: Final = "ALTER ROLE %I SET default_transaction_read_only = on"
_CLOSED_SCHEMAS: Final = """
SELECT nspname AS name
FROM pg_catalog.pg_namespace
WHERE
    nspname = ANY(:schemas)
    AND NOT has_schema_privilege(:role, oid, 'USAGE')
    AND pg_has_role(CURRENT_USER, nspowner, 'USAGE')
ORDER BY nspname
"""
_CLOSED_TABLES: Final = """
SELECT n.nspname AS schema_name, c.relname AS name
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
WHERE
    n.nspname = ANY(:schemas)
    AND c.relkind IN ('r', 'v', 'm', 'p')
    AND NOT has_table_privilege(:role, c.oid, 'SELECT')
    AND pg_has_role(CURRENT_USER, c.relowner, 'USAGE')
ORDER BY n.nspname, c.relname
"""


def make_reader_role(session: Session) -> None:
    """Make the role and let this user act as it, where it may; nothing on DuckDB."""
    if session.backend.name != "postgresql":
        return
    state = session.rows(_STATE, {"role": READER_ROLE})[0]
    if not state["is_there"] and state["may_create"]:
        session.execute(_CREATE)
        state = session.rows(_STATE, {"role": READER_ROLE})[0]
    if state["may_grant_it"] and not state["may_be_it"]:
        session.execute(f"GRANT {READER_ROLE} TO CURRENT_USER")


def open_to_readers(session: Session, schemas: Sequence[str]) -> None:
    """Let the role read all that this user owns in the schemas, and, in the current one, will make there.

    Nothing on DuckDB, and where there is no such role.
    """
    if session.backend.name != "postgresql":
        return
    known = session.scalar("SELECT COUNT(*) FROM pg_roles WHERE rolname = :role", {"role": READER_ROLE})
    if not known:
        return
    values = {"role": READER_ROLE, "schemas": list(schemas)}
    quote = session.connection.dialect.identifier_preparer.quote
    for row in session.rows(_CLOSED_SCHEMAS, values):
        session.execute_as_written(f"GRANT USAGE ON SCHEMA {quote(row['name'])} TO {READER_ROLE}")
    tables = session.rows(_CLOSED_TABLES, values)
    if not tables:
        return
    listed = ", ".join(f"{quote(row['schema_name'])}.{quote(row['name'])}" for row in tables)
    session.execute_as_written(f"GRANT SELECT ON {listed} TO {READER_ROLE}")
    for schema in sorted({row["schema_name"] for row in tables}):
        session.execute_as_written(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {quote(schema)} GRANT SELECT ON TABLES TO {READER_ROLE}"
        )


def grant_reader(database: Database, name: str) -> bool:
    """Let a Postgres role read what Pinakes made, and nothing else; True if the role was made for it.

    A new one may log in, has no password, and begins every transaction read-only. The server quotes the name.

    Raises:
        InputError: the database is DuckDB's, the name is none for a role, or the role is a superuser.
        DatabaseError: this user may not do that.
    """
    if database.name != "postgresql":
        raise InputError(
            "a DuckDB file has no roles: who may read the file may read the database. chmod gives that right."
        )
    _check_role(name)
    with database.begin() as session:
        make_reader_role(session)
        state = session.first(_FOUND, {"role": name})
        if state is not None and state["is_superuser"]:
            raise InputError(
                f"the Postgres role {show(name)} is a superuser, and reads and writes all there is."
            )
        if state is None:
            session.execute_as_written(_quote_on_server(session, _CREATE_READER, name))
            session.execute_as_written(_quote_on_server(session, _READ_ONLY, name))
        session.execute_as_written(_quote_on_server(session, f"GRANT {READER_ROLE} TO %I", name))
        if not session.scalar(_MAY_CONNECT, {"role": name}):
            named = (str(session.scalar("SELECT CURRENT_DATABASE()")), name)
            session.execute_as_written(
                _quote_on_server(session, "GRANT CONNECT ON DATABASE %I TO %I", *named)
            )
    return state is None


def _check_role(name: str) -> None:
    if not name.isprintable() or not 0 < len(name.encode()) < 64 or name != name.strip():
        raise InputError(f"{show(name)} cannot name a Postgres role; expected 1 to 63 visible characters.")
    if name.startswith("pg_") or name in (READER_ROLE, "public", "none"):
        raise InputError(f"{show(name)} is a name of Postgres' or Pinakes' own; choose another.")


def _quote_on_server(session: Session, text: str, *names: str) -> str:
    """The statement with the names, at its `%I`, as Postgres itself quotes identifiers."""
    return str(session.scalar(_QUOTE, {"text": text, "names": list(names)}))


def warn_of_rights(database: Database) -> str | None:
    """What is to be said of this user's rights on the server; None where nothing is."""
    if database.name != "postgresql":
        return None
    with database.read() as session:
        state = session.rows(_STATE, {"role": READER_ROLE})[0]
    if state["is_superuser"]:
        return (
            "this Postgres user is a superuser: a mistake of a command can reach the whole server, its files "
            f"too. Make an ordinary role that owns the database; `pinakes sql` asks as {READER_ROLE}."
        )
    if not state["may_be_it"]:
        return (
            f"this Postgres user may not act as the role {READER_ROLE}, so `pinakes sql` asks with this "
            f"user's own rights. Let an administrator run CREATE ROLE {READER_ROLE} NOLOGIN and GRANT "
            f"{READER_ROLE} TO this user, then run `pinakes init` again."
        )
    return None
