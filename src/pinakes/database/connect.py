"""From a URL to a `Database`: which backend, how it is opened, how long to wait for its holder."""

import errno
import glob
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb
import sqlalchemy as sa

from pinakes.database.address import check_file, find_file, read_address, require_file
from pinakes.database.backend import Backend
from pinakes.database.checkpoint import Log, name_journals, restore_blocks
from pinakes.database.core import Database
from pinakes.database.driver_errors import translated
from pinakes.database.duckdb_backend import DuckdbBackend
from pinakes.database.in_place import prepare, restrict
from pinakes.database.jobs import hold_file, hold_table
from pinakes.database.parameters import check_parameters, make_reader_arguments
from pinakes.database.waiting import Waiting
from pinakes.errors import PinakesError
from pinakes.memory import plan_memory
from pinakes.progress import say_nothing

Address = str | os.PathLike[str] | sa.URL | None
"""of a database, as `address.read_address` takes it"""

STORAGE_VERSION: Final = "v1.2.0"
"""of a DuckDB file that is made: that and every later DuckDB opens it

The oldest that compresses long texts: by v1.1.0 a file of full texts is up to twice as large, by the newest
at most a fifth smaller. A file that exists keeps the version that it has.
"""
_READ_WRITE: Final = {
    # `Database` folds the log into the file itself, in a way that a kill cannot damage the file.
    "checkpoint_threshold": "1000TB",
    "storage_compatibility_version": STORAGE_VERSION,
}
_READ_ONLY: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""with what `in_place.restrict` sets once the file is open"""
_MADE: Final = ".new"
"""ends the name of a DuckDB file that is not wholly made"""
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)
"""what file systems say on which a file has one name: there DuckDB makes the file under its own"""
_BYTES_A_THREAD: Final = 128 << 20
"""DuckDB needs about so many for each thread: with less it would run out of them, and not spill"""


def connect(
    url: Address = None,
    *,
    wait_s: float = 0.0,
    sleep: Callable[[float], None] = time.sleep,
    tell: Callable[[str], None] = say_nothing,
    create: bool = True,
    memory: int | None = None,
) -> Database:
    """The database at a SQLAlchemy URL or in a DuckDB file, open for reading and writing.

    Args:
        url: as `duckdb:///file.duckdb`, `file.duckdb` or `postgresql://user@host/name`; None:
            `PINAKES_DATABASE_URL`, or `duckdb:///pinakes.duckdb`.
        wait_s: how many seconds to wait while another process holds the DuckDB file.
        sleep: what waits, in seconds.
        tell: takes a line, at once and then every minute, that says for whom it waits.
        create: whether a DuckDB file that is missing is made; else it is an error.
        memory: bytes that this process is to take, of which DuckDB gets a part (`memory.Budget`); None:
            `PINAKES_MEMORY`, or a quarter of the machine's.

    Raises:
        DatabaseBusyError: another process holds the DuckDB file; the message names it.
        DatabaseError: the URL is of another kind or has a parameter that is not allowed, nothing answers
            there, or there is no such file.
    """
    return _open(read_address(url), Waiting(wait_s, tell, sleep), create=create, memory=memory)


def connect_read_only(
    url: Address = None,
    *,
    wait_s: float = 0.0,
    sleep: Callable[[float], None] = time.sleep,
    tell: Callable[[str], None] = say_nothing,
    memory: int | None = None,
) -> Database:
    """The database, opened so that nothing can be written: neither to it nor, from DuckDB, to any file.

    No parameter of the URL and no variable of libpq's changes that. Errors are those of `connect`; a DuckDB
    file that does not exist is not made.
    """
    address = read_address(url)
    return _open(address, Waiting(wait_s, tell, sleep), create=False, memory=memory, read_only=True)


@contextmanager
def connect_alone(
    url: Address,
    job: str,
    *,
    wait_s: float = 0.0,
    tell: Callable[[str], None] = say_nothing,
    memory: int | None = None,
) -> Iterator[Database]:
    """The database, while no other process does the job, one of `jobs.JOBS`, for it.

    `wait_s` is for the job and the file together. Errors are those of `connect`; `DatabaseBusyError` also
    where another process does the job.
    """
    address, waiting = read_address(url), Waiting(wait_s, tell)
    require_file(address)
    with (
        hold_file(address, job, waiting),
        _open(address, waiting, create=False, memory=memory) as database,
        hold_table(database, job, waiting),
    ):
        yield database


def connect_to_look(
    url: Address = None,
    *,
    wait_s: float = 0.0,
    tell: Callable[[str], None] = say_nothing,
    memory: int | None = None,
) -> Database:
    """The database for commands of our own that only read: several may have a DuckDB file open at once.

    A DuckDB file is opened as by `connect_read_only`, and `Database.open_to_write` is there for views that
    must be renewed first. On Postgres it is `connect`, since what they stage are temporary tables, which a
    transaction that only reads cannot make. Errors are those of `connect`.
    """
    address, waiting = read_address(url), Waiting(wait_s, tell)
    if address.get_backend_name() != "duckdb":
        return _open(address, waiting, create=False, memory=memory)
    database = _open(address, waiting, create=False, memory=memory, read_only=True)
    reopen = partial(_open, address, waiting, create=False, memory=memory)
    return _LookedAt(database.engine, database.backend, waiting, reopen)


class _LookedAt(Database):
    """A DuckDB file that is open to be read."""

    def __init__(
        self, engine: sa.Engine, backend: Backend, waiting: Waiting, reopen: Callable[[], Database]
    ) -> None:
        super().__init__(engine, backend, waiting)
        self._reopen = reopen

    @contextmanager
    def open_to_write(self) -> Iterator[Database]:
        """The same file, opened once more: DuckDB has it open in one way at a time."""
        self.close()
        with self._reopen() as database:
            yield database


@contextmanager
def connect_to_fill(
    url: Address,
    is_empty: Callable[[Database], bool],
    *,
    wait_s: float = 0.0,
    tell: Callable[[str], None] = say_nothing,
    memory: int | None = None,
) -> Iterator[Database]:
    """The database; a DuckDB file that this made, and that is empty in the end, is taken away again.

    Errors are those of `connect`.
    """
    address = read_address(url)
    require_file(address)
    file = find_file(address)
    if file is not None:
        check_file(file, must_exist=False)
    is_new = file is not None and not file.exists()
    left_empty = False
    try:
        with connect(address, wait_s=wait_s, tell=tell, memory=memory) as database:
            try:
                yield database
            finally:
                with suppress(PinakesError):  # what is raised above says more
                    left_empty = is_new and is_empty(database)
    finally:
        if left_empty and file is not None:
            for made in (file, file.with_name(f"{file.name}.wal"), *name_journals(file)):
                made.unlink(missing_ok=True)


def _open(
    url: sa.URL, waiting: Waiting, *, create: bool, memory: int | None, read_only: bool = False
) -> Database:
    if not create:
        require_file(url)
    file = find_file(url)
    if file is not None:
        check_file(file, must_exist=not create)
    database = _make(check_parameters(url, read_only=read_only), waiting, memory, read_only=read_only)
    try:
        if file is not None and not file.exists():
            with translated():
                _make_file(file)
        with database.connect():
            if file is not None and not read_only:
                _clear_temporary(file)
    except BaseException:
        database.close()
        raise
    return database


def _make(url: sa.URL, waiting: Waiting, memory: int | None, *, read_only: bool) -> Database:
    if url.get_backend_name() == "duckdb":
        from pinakes.database.duckdb_dialect import make_duckdb_engine  # late: many commands open no database

        size = plan_memory(memory).database
        backend = DuckdbBackend(None if read_only or "memory_limit" in url.query else size)
        engine = make_duckdb_engine(
            url, read_only=read_only, config=_configure(url, size, read_only=read_only)
        )
        sa.event.listen(engine, "connect", restrict if read_only else _prepare_writer)
        file = find_file(url)
        if file is not None:
            sa.event.listen(engine, "do_connect", lambda *_: restore_blocks(file))
        return Database(engine, backend, waiting, None if read_only or file is None else Log(file))
    from pinakes.database.postgres_backend import PostgresBackend  # late: a DuckDB file needs no psycopg
    from pinakes.database.postgres_dialect import make_postgres_engine
    from pinakes.database.sessions import name_session

    arguments: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if read_only:
        options, arguments = {"postgresql_readonly": True}, make_reader_arguments(url)
    elif "application_name" not in url.query:
        arguments = {"application_name": name_session()}
    engine = make_postgres_engine(url, arguments, options)
    return Database(engine, PostgresBackend(waiting.tell, plan_memory(memory).database), waiting)


def _configure(url: sa.URL, size: int, *, read_only: bool) -> dict[str, Any]:
    """DuckDB's settings: what it may hold, and the folder beside the file for the rest."""
    config: dict[str, Any] = {"memory_limit": f"{size}B"}
    if (threads := max(1, size // _BYTES_A_THREAD)) < (os.cpu_count() or 1):
        config["threads"] = threads
    if read_only:  # where no file can be named, DuckDB takes a folder of its own, beside the file too
        return config | _READ_ONLY
    file = find_file(url)
    if file is not None:
        config["temp_directory"] = str(_name_temporary(file))
    return config | _READ_WRITE


def _name_temporary(file: Path) -> Path:
    """The folder beside a DuckDB file for what this process cannot hold in memory.

    DuckDB makes it when it is needed, and takes it away when the file is closed.
    """
    return file.with_name(f"{file.name}.{os.getpid()}.tmp")


def _make_file(file: Path) -> None:
    """Make an empty DuckDB file, under another name until it is whole.

    A DuckDB that is stopped while it makes a file leaves one that no DuckDB opens.
    """
    made = file.with_name(f"{file.name}.{os.getpid()}{_MADE}")
    try:
        made.unlink(missing_ok=True)  # of a process that had this number before
        duckdb.connect(str(made), config={"storage_compatibility_version": STORAGE_VERSION}).close()
        os.link(made, file)
    except duckdb.Error as error:
        raise type(error)(str(error).replace(str(made), str(file))) from error
    except (FileExistsError, FileNotFoundError):
        pass  # another process has made it, or cleared up behind one that had
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    finally:
        with suppress(OSError):  # the next writer clears it away
            made.unlink()


def _clear_temporary(file: Path) -> None:
    """Take away what killed processes left behind: no other process has the file open."""
    for folder in file.parent.glob(f"{glob.escape(file.name)}.*.tmp"):
        if folder.is_dir() and folder != _name_temporary(file):
            shutil.rmtree(folder, ignore_errors=True)
    for made in file.parent.glob(f"{glob.escape(file.name)}.*{_MADE}"):
        if made.name.removeprefix(f"{file.name}.").removesuffix(_MADE).isdecimal():
            with suppress(OSError):
                made.unlink()


def _prepare_writer(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    # Else a program without a file, as in `python -c`, finds DuckDB's progress bar in its standard output.
    connection.execute("SET enable_progress_bar = false")
    prepare(connection)
