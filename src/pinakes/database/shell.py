"""The shell of the database itself, `duckdb` or `psql`, opened so that it only reads.

DuckDB's writes to any file that it may read, by COPY: so it is given no file but the database's own.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import sqlalchemy as sa

from pinakes.database.address import check_file, find_file
from pinakes.database.parameters import check_parameters, make_reader_arguments
from pinakes.errors import InputError

_CONNECTION = {"host": "host", "port": "port", "username": "user", "database": "dbname"}


@dataclass(frozen=True, slots=True)
class Shell:
    """A program with its arguments, and the variables that it needs besides the environment."""

    words: list[str]
    variables: dict[str, str]


def find_shell(url: sa.URL, environment: Mapping[str, str] | None = None) -> Shell:
    """The shell for a database: of DuckDB it reads this file alone, of Postgres each transaction only reads.

    No password is among the arguments, which other users of the machine see.

    Raises:
        DatabaseError: there is no such file, or the URL has a parameter that is not allowed.
        InputError: the shell is not installed.
    """
    variables = os.environ if environment is None else environment
    if url.get_backend_name() == "duckdb":
        return _find_duckdb(url, variables)
    return _find_psql(url, variables)


def split_statements(text: str) -> tuple[list[str], str]:
    """What DuckDB takes for statements, each with its semicolon, and what begins one that has none yet.

    >>> split_statements("SELECT ';' -- ;\\n; FROM papers; SELECT 'a;")
    (["SELECT ';' -- ;\\n;", 'FROM papers;'], "SELECT 'a;")
    >>> split_statements("; SELECT 1 -- one;\\n")
    ([], 'SELECT 1 -- one;\\n')
    """
    code = text.encode()
    statements, start, holds_words = [], 0, False
    for place, kind in duckdb.tokenize(text):
        if kind == duckdb.token_type.operator and code[place : place + 1] == b";":
            if holds_words:
                statements.append(code[start : place + 1].decode().strip())
            start, holds_words = place + 1, False
        elif kind != duckdb.token_type.comment:
            holds_words = True
    return statements, code[start:].decode().lstrip()  # its line may end within a comment


def _find_duckdb(url: sa.URL, variables: Mapping[str, str]) -> Shell:
    file = find_file(check_parameters(url, read_only=True))
    if file is None:
        raise InputError("a database in memory is empty; expected a DuckDB file.")
    check_file(file, must_exist=True)
    settings = "SET enable_external_access = false; SET lock_configuration = true;"
    program = _require("duckdb", "DuckDB's command line, https://duckdb.org/install", variables)
    return Shell([program, "-readonly", "-cmd", settings, str(file)], {})


def _find_psql(url: sa.URL, variables: Mapping[str, str]) -> Shell:
    checked = check_parameters(url, read_only=True)
    program = _require("psql", "Postgres' client, as the package postgresql-client", variables)
    given = {name: getattr(checked, part) for part, name in _CONNECTION.items()}
    known = {name: str(value) for name, value in given.items() if value}
    others = {name: ",".join(_list(value)) for name, value in checked.query.items() if name != "options"}
    if "sslpassword" in others:
        raise InputError(
            "other users would see sslpassword among psql's arguments; give it in a service file."
        )
    secret = {"PGPASSWORD": str(others.pop("password", checked.password) or "")}
    arguments = make_reader_arguments(checked, variables)
    text = " ".join(f"{name}='{_escape(value)}'" for name, value in (known | others).items())
    return Shell(
        [program, "--no-psqlrc", text],
        {"PGOPTIONS": arguments["options"], "PGCLIENTENCODING": "UTF8"}
        | {name: value for name, value in secret.items() if value},
    )


def _require(program: str, what: str, variables: Mapping[str, str]) -> str:
    found = shutil.which(program, path=variables.get("PATH"))
    if found is None:
        raise InputError(
            f"`pinakes shell` needs the program {program}, which is not on the PATH; install {what}. "
            '`pinakes sql "…"` needs nothing more.'
        )
    return found


def _list(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
