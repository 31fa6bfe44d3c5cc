"""Where a database is, as a user says it: a URL, or the path of a DuckDB file.

A path is what ends in `.duckdb`, `.ddb` or `.db`, or begins with `./`, `../`, `/` or `~`: no URL does, so
that neither is taken for the other.
"""

import os
import re
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from pinakes.errors import DatabaseError, show, suggest
from pinakes.settings import read_settings

FORMS: Final = (
    "a DuckDB file, as pinakes.duckdb, ./x or /folder/x, or a URL, as duckdb:///FILE or "
    "postgresql://USER@HOST/NAME"
)
_SUFFIXES: Final = (".duckdb", ".ddb", ".db")
_STARTS: Final = ("./", "../", "/", "~")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_PASSWORD: Final = re.compile(r":(?!/).*@")


def read_address(given: str | os.PathLike[str] | sa.URL | None) -> sa.URL:
    """The URL of a database; of a file's path `duckdb:///PATH`, where `~` is the home folder.

    None: `PINAKES_DATABASE_URL`, or `duckdb:///pinakes.duckdb`.

    Raises:
        DatabaseError: it is neither a URL nor a path, or of another kind of database.
    """
    address = read_settings().database_url if given is None else given
    if isinstance(address, os.PathLike) or (isinstance(address, str) and is_path(address)):
        return sa.URL.create("duckdb", database=str(Path(address).expanduser()))
    url = address if isinstance(address, sa.URL) else _parse(address)
    kind = url.get_backend_name()
    if kind == "duckdb":
        return _check_duckdb(url)
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    meant = suggest(kind, ["duckdb", "postgresql"])
    raise DatabaseError(
        f"Pinakes keeps its tables in DuckDB or Postgres, not in {show(kind)}; expected {FORMS}.{meant}"
    )


def is_path(text: str) -> bool:
    """Whether a text is the path of a DuckDB file, and no URL.

    >>> [is_path(text) for text in ("a.duckdb", "../b/a.db", "/srv/a", "~/a", "a", "duckdb:///a.duckdb")]
    [True, True, True, True, False, False]
    """
    if _SCHEME.match(text):
        return False
    return text.startswith(_STARTS) or text.lower().endswith(_SUFFIXES)


def _parse(text: str) -> sa.URL:
    if not text.strip():
        raise DatabaseError(f"--db, or PINAKES_DATABASE_URL, is empty; expected {FORMS}.")
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
        shown = show(_PASSWORD.sub(":***@", text))
        meant = f" Did you mean ./{text}?" if re.fullmatch(r"[\w.\-][\w.\-/]*", text) else ""
        raise DatabaseError(f"{shown} is not a database URL; expected {FORMS}.{meant}") from error


def _check_duckdb(url: sa.URL) -> sa.URL:
    if url.host:
        rest = "/".join(filter(None, (url.host, url.database)))
        raise DatabaseError(
            f"duckdb://{rest} has two slashes, and names a server; expected three before a relative path, "
            f"duckdb:///{rest}, four before an absolute one, or the path alone."
        )
    if url.database and url.database.startswith("~"):
        return url.set(database=str(Path(url.database).expanduser()))
    return url


def find_file(url: sa.URL) -> Path | None:
    """The file of a DuckDB database; None of one in memory, and of Postgres."""
    if url.get_backend_name() != "duckdb" or str(url.database or ":memory:").startswith(":memory:"):
        return None
    return Path(str(url.database))


def require_file(url: sa.URL) -> None:
    """Raise `DatabaseError` for a database in memory, which a command finds empty and leaves nowhere."""
    if url.get_backend_name() == "duckdb" and str(url.database or ":memory:").startswith(":memory:"):
        raise DatabaseError(
            "a database in memory is empty when a command begins and gone when it ends; expected a file, as "
            "pinakes.duckdb or duckdb:///FILE. `pinakes load --dry-run` tries a load without keeping it."
        )


def check_file(file: Path, *, must_exist: bool) -> None:
    """Raise `DatabaseError` where DuckDB cannot open or make the file; the message has its whole path."""
    try:
        _check_file(file, must_exist=must_exist)
    except OSError as error:
        raise DatabaseError(f"{show(str(file))} cannot be opened: {error.strerror}.") from error


def _check_file(file: Path, *, must_exist: bool) -> None:
    if file.is_dir():
        raise DatabaseError(
            f"{file.absolute()} is a folder; expected a DuckDB file, as {file.absolute() / 'pinakes.duckdb'}."
        )
    if file.exists():
        return
    if must_exist:
        raise DatabaseError(
            f"there is no database file {file.absolute()}; `pinakes load` or `pinakes init` makes one, and "
            "--db FILE or PINAKES_DATABASE_URL names another."
        )
    if not file.parent.is_dir():
        raise DatabaseError(
            f"the folder {file.absolute().parent} does not exist; make it, or choose another --db."
        )
