"""What the parameters of a database URL may say: a list of what is allowed, since others may change anything.

DuckDB takes any of its settings from a URL, Postgres any of libpq's parameters, and `options` any of the
server's settings; among them are those that make a reader a writer.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from pinakes.errors import DatabaseError, show, suggest

_SHARED_DUCKDB: Final = ("memory_limit", "max_memory", "threads", "worker_threads")
_WRITERS_DUCKDB: Final = ("max_temp_directory_size", "temp_directory")
DUCKDB_PARAMETERS: Final = (*_SHARED_DUCKDB, *_WRITERS_DUCKDB)
"""of a URL of DuckDB; a reader leaves the last two, and spills to the folder beside the file"""
POSTGRES_PARAMETERS: Final = (
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "gssencmode",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "options",
    "passfile",
    "password",
    "port",
    "require_auth",
    "service",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslpassword",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
)
"""of a URL of Postgres: where and who, and how the way there is secured"""
POSTGRES_SETTINGS: Final = (
    "idle_in_transaction_session_timeout",
    "jit",
    "lock_timeout",
    "maintenance_work_mem",
    "max_parallel_workers_per_gather",
    "search_path",
    "statement_timeout",
    "transaction_timeout",
    "work_mem",
)
"""that `options` may set"""
_CARRIED: Final = "the database URL may not carry the parameter"
_SETTING: Final = re.compile(r"(?:-c|--)([\w.-]+)=(.*)", re.DOTALL | re.ASCII)


def check_parameters(url: sa.URL, *, read_only: bool = False) -> sa.URL:
    """The URL; for a reader without the parameters that are of writers alone.

    Raises:
        DatabaseError: a parameter, or a setting in `options`, is none of those that are allowed.
    """
    if url.get_backend_name() == "duckdb":
        _refuse_others(_CARRIED, url.query, DUCKDB_PARAMETERS)
        return url.difference_update_query(_WRITERS_DUCKDB) if read_only else url
    _refuse_others(_CARRIED, url.query, POSTGRES_PARAMETERS)
    read_settings(_join(url.query.get("options", "")), "options")
    return url


def make_reader_arguments(url: sa.URL, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What psycopg is told besides the URL, so that no variable of libpq's makes a reader a writer.

    What is given here goes before the URL, a service file, PGOPTIONS and PGCLIENTENCODING.

    Raises:
        DatabaseError: PGOPTIONS sets what `options` may not set.
    """
    variables = os.environ if environment is None else environment
    given = url.query.get("options")
    settings = (
        read_settings(variables.get("PGOPTIONS", ""), "PGOPTIONS")
        if given is None
        else read_settings(_join(given), "options")
    )
    words = [f"-c {name}={_escape(value)}" for name, value in settings.items()]
    return {"options": " ".join([*words, "-c default_transaction_read_only=on"]), "client_encoding": "UTF8"}


def read_settings(options: str, source: str) -> dict[str, str]:
    r"""The settings of libpq's `options`, by name.

    Args:
        options: as `-c work_mem=1GB --jit=off`; a backslash stands before a space within a value.
        source: where they are from, for the error.

    Raises:
        DatabaseError: a word is no setting, or one that may not be set.

    >>> read_settings(r"-c search_path=a,\ b --work-mem=1GB", "options")
    {'search_path': 'a, b', 'work_mem': '1GB'}
    """
    settings = {}
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", options)]
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word += words.pop(0)
        found = _SETTING.fullmatch(word)
        if found is None:
            raise DatabaseError(
                f"{source} holds {show(word)}, which sets nothing; expected -c NAME=VALUE with one of "
                f"{', '.join(POSTGRES_SETTINGS)}."
            )
        settings[found[1].replace("-", "_").lower()] = found[2]
    _refuse_others(f"{source} may not set", settings, POSTGRES_SETTINGS)
    return settings


def _refuse_others(refused: str, given: Collection[str], allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            raise DatabaseError(
                f"{refused} {show(name)}; allowed: {', '.join(allowed)}.{suggest(name, allowed)}"
            )


def _escape(value: str) -> str:
    return re.sub(r"([\s\\])", r"\\\1", value)


def _join(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)
