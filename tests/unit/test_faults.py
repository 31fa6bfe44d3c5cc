"""What the machine refuses is told in words, whichever library says so and however."""

import errno
import os
import subprocess
import sys
import zlib
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa
from safetensors import SafetensorError

from pinakes.cli import run_command
from pinakes.database.driver_errors import explain
from pinakes.errors import DatabaseError, InputError, PinakesError
from pinakes.faults import explain_fault, told_as

FULL = "the disk is full"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FULL),
        (OSError(errno.ENOSPC, "No space left on device", "/a/\x1b[2Jb"), "'/a/\\x1b[2Jb': the disk is full"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS), "x"), "'x': its file system cannot be written to"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "'x': this user may not do that"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "x"), "'x': a part of the path is no folder"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x"), "the name is longer than"),
        (OSError(errno.EIO, "Input/output error"), "may be failing"),
        (OSError(errno.EMFILE, "Too many open files"), "Raise `ulimit -n`"),
        (OSError(errno.ENOPKG, "Package not installed", "x"), "'x': the system refuses it: Package not ins"),
        (OSError("4096 requested and 0 written"), FULL),
        (pa.lib.ArrowIOError("[Errno 28] Error writing bytes to file."), FULL),
        (MemoryError(), "the memory of this machine does not suffice"),
        (pa.ArrowMemoryError("malloc of size 64 failed"), "the memory of this machine does not suffice"),
        (
            SafetensorError("Error while deserializing header: incomplete metadata"),
            "it is damaged or was cut",
        ),
        (SafetensorError("I/O error: No space left on device (os error 28)"), FULL),
        (ValueError("An IO error occurred: 'No space left on device (os error 28) at path \"x\"'"), FULL),
        (
            ValueError('Lockfile: IoError(Os { code: 30, kind: ReadOnlyFilesystem, message: "" })'),
            "file system",
        ),
        (RuntimeError("write error in x: 65491 != 320000 (No space left on dev"), FULL),
    ],
)
def test_what_the_machine_refuses_is_told(error: Exception, said: str) -> None:
    explained = explain_fault(error)
    assert explained is not None
    assert said in explained


@pytest.mark.parametrize(
    "error", [ValueError("a number"), RuntimeError("shape"), KeyError("x"), TypeError("x"), zlib.error("x")]
)
def test_another_error_is_no_fault_of_the_machine(error: Exception) -> None:
    assert explain_fault(error) is None


@pytest.mark.parametrize("number", [errno.EIO, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.ELOOP])
def test_the_same_command_is_not_advised_where_it_would_fail_again(number: int) -> None:
    assert "start the same command" not in str(explain_fault(OSError(number, os.strerror(number))))


def test_a_fault_in_a_block_says_what_could_not_be_done() -> None:
    full = pytest.raises(InputError, match=r"^x cannot be written: the disk is full")
    with full, told_as(InputError, "x cannot be written"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ValueError, match="a number"), told_as(InputError, "x cannot be written"):
        raise ValueError("a number")


DUCKDB_FULL = 'Could not write file "x.duckdb.wal": No space left on device'
DUCKDB = [
    (
        duckdb.TransactionException(f"TransactionContext Error: Failed to commit: {DUCKDB_FULL}"),
        "disk of the",
    ),
    (duckdb.IOException(f"IO Error: {DUCKDB_FULL}"), "disk of the database is full"),
    (
        duckdb.OutOfMemoryException("Out of Memory Error: failed to offload data block of size 256"),
        "disk of the",
    ),
    (duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"), "--memory"),
    (duckdb.IOException("IO Error: Input/output error"), "may be failing"),
    (duckdb.Error("Corrupt database file: computed checksum 1 does not match"), "database file is damaged"),
    (duckdb.IOException('IO Error: Could not read enough bytes from file "x"'), "database file is damaged"),
    (duckdb.SerializationException("Serialization Error: Failed to deserialize"), "database file is damaged"),
    (duckdb.InternalException("INTERNAL Error: Attempted to access index 1"), "DuckDB had to stop"),
    (
        duckdb.FatalException("FATAL Error: database has been invalidated because of a pre"),
        "DuckDB had to stop",
    ),
    (duckdb.FatalException(f"FATAL Error: Failed to commit: {DUCKDB_FULL}"), "disk of the database is full"),
    (duckdb.TransactionException("TransactionContext Error: Conflict on tuple deletion!"), "another command"),
    (duckdb.IOException("IO Error: of a new kind"), "does not answer as it should"),
]


@pytest.mark.parametrize(("error", "said"), DUCKDB)
def test_what_duckdb_cannot_do_is_told(error: Exception, said: str) -> None:
    for raised in (error, sa.exc.DBAPIError("SELECT 1", None, error)):
        assert said in str(explain(raised))


@pytest.mark.parametrize(
    "error",
    [
        duckdb.ConstraintException('Duplicate key "title: No space left on device"'),
        duckdb.ConversionException("Could not convert string 'checksum' to INT32"),
        duckdb.CatalogException("Table with name Corrupt database file does not exist!"),
        duckdb.TransactionException("Failed to commit: PRIMARY KEY or UNIQUE constraint violation"),
    ],
)
def test_a_wrong_statement_stays_a_defect(error: Exception) -> None:
    assert explain(error) is None


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("08006", "Postgres went away"),
        ("57P01", "Postgres went away"),
        ("57014", "Postgres stopped it"),
        ("25006", "cannot be written to"),
        ("25P03", "Postgres stopped it"),
        ("28P01", "refuses this user"),
        ("3D000", "has no such database"),
        ("40001", "another command wrote the same rows"),
        ("40P01", "another command wrote the same rows"),
        ("42501", "this Postgres user may not do that"),
        ("53100", "the disk of the Postgres server is full"),
        ("53200", "has not enough memory"),
        ("53300", "takes no more connections"),
        ("54000", "cannot hold a value of this size"),
        ("55P03", "another command holds the rows"),
        ("58030", "cannot read or write its files"),
        ("XX001", "the Postgres database is damaged"),
        ("XX002", "REINDEX"),
        ("XX000", "met a fault of its own"),
    ],
)
def test_what_postgres_cannot_do_is_told(state: str, said: str) -> None:
    error = psycopg.errors.lookup(state)("its {own} words")
    assert said in str(explain(error))
    assert "{own} words" in str(explain(sa.exc.DBAPIError("SELECT 1", None, error)))


def test_a_server_that_is_gone_is_told_and_a_wrong_statement_stays_a_defect() -> None:
    gone = psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly")
    assert "Postgres cannot be reached, or went away (consuming" in str(explain(gone))
    assert explain(psycopg.errors.UndefinedTable("no table")) is None
    assert isinstance(explain(gone), DatabaseError)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x"), 1, "pinakes: 'x': the disk is full"),
        (MemoryError(), 1, "pinakes: the memory of this machine"),
        (duckdb.FatalException("FATAL Error: invalidated"), 1, "pinakes: DuckDB had to stop"),
        (KeyError("x"), 70, "this is a defect of Pinakes"),
        (PinakesError("what was wrong"), 1, "pinakes: what was wrong"),
    ],
)
def test_a_fault_that_no_command_expects_is_told_and_a_defect_keeps_its_traceback(
    error: Exception,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("pinakes.systems.registry.describe_systems", fail)
    assert run_command(["systems"]) == code
    printed = capsys.readouterr().err
    assert said in printed
    assert ("Traceback" in printed) == (code == 70)


@pytest.mark.parametrize(("words", "goes_on"), [(["load", "beir", "x"], True), (["systems"], False)])
def test_an_interrupted_command_says_so_and_advises_what_helps(
    words: list[str], goes_on: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pinakes.systems.registry.describe_systems", interrupt)
    monkeypatch.setattr("pinakes.load.corpus.choose_loader", interrupt)
    assert run_command(words) == 130
    assert ("start the same command again" in capsys.readouterr().err) == goes_on


def test_an_output_that_cannot_be_written_is_told() -> None:
    command = [sys.executable, "-c", "from pinakes.cli import main; main()", "systems"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
    assert done.returncode == 1
    assert "the disk is full" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_an_output_that_is_not_of_utf_8_ends_no_command(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "some.duckdb")).close()
    words = ["sql", "SELECT '\u00e4\u4e2d'", "--format", "csv", "--db", str(tmp_path / "some.duckdb")]
    command = [sys.executable, "-c", "from pinakes.cli import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.splitlines()[1] == b"\\xe4\\u4e2d"
