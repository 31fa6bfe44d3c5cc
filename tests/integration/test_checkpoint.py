"""A DuckDB file is whole wherever a checkpoint of it is stopped, in the middle of a write too."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pinakes.database.checkpoint import Log, restore_blocks
from pinakes.database.connect import connect, connect_read_only
from pinakes.errors import DatabaseError

PAGE = 4096
BLOCK = 256 << 10
FIRST_BLOCK = 3 * PAGE

FILL = "INSERT INTO papers SELECT range, md5(range::VARCHAR) FROM range({0}, {0} + 500)"


@dataclass(frozen=True)
class Stopped:
    """What is beside each other when a checkpoint begins, and the file when it has ended."""

    before: Path
    after: bytes
    rows: int

    def copy(self, file: Path, content: bytes) -> None:
        """Lay the state out under a name, with another content of the file."""
        file.write_bytes(content)
        for suffix in (".wal", ".blocks"):
            shutil.copy(f"{self.before}{suffix}", f"{file}{suffix}")


class _CopyFirst:
    """DuckDB's connection, which copies the files away before a checkpoint."""

    def __init__(self, connection: Any, copy: Callable[[], None]) -> None:
        self._connection, self._copy = connection, copy

    def execute(self, statement: str) -> Any:
        if statement == "CHECKPOINT":
            self._copy()
        return self._connection.execute(statement)


@pytest.fixture
def stopped(tmp_path: Path) -> Stopped:
    """A file with some checkpoints, and one more that is stopped."""
    file, before = tmp_path / "whole.duckdb", tmp_path / "before.duckdb"
    with connect(file) as database, database.begin() as session:
        session.execute("CREATE TABLE papers (id BIGINT PRIMARY KEY, title VARCHAR)")
    for first in range(0, 2_000, 500):
        with connect(file) as database, database.begin() as session:
            session.execute(FILL.format(first))

    def copy() -> None:
        for suffix in ("", ".wal", ".blocks"):
            shutil.copy(f"{file}{suffix}", f"{before}{suffix}")

    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute(FILL.format(2_000))
        Log(file).fold(_CopyFirst(connection, copy))
    return Stopped(before, file.read_bytes(), 2_500)


def tear(stopped: Stopped) -> Iterator[tuple[int, bytes]]:
    """The file as it is when the write of one block was stopped, for every block that is written."""
    old = stopped.before.read_bytes().ljust(len(stopped.after), b"\0")
    new = stopped.after + old[len(stopped.after) :]  # a checkpoint cuts the file behind its end
    for start in range(FIRST_BLOCK, len(old), BLOCK):
        for written in (PAGE, BLOCK // 2, BLOCK - PAGE):
            torn = old[:start] + new[start : start + written] + old[start + written :]
            if torn != old:
                yield start, torn


def count_rows(file: Path) -> int:
    with connect_read_only(file) as database, database.read() as session:
        return int(session.scalar("SELECT count(*) FROM (SELECT DISTINCT id, title FROM papers)"))


def is_opened_by_duckdb(file: Path) -> bool:
    try:
        with closing(duckdb.connect(str(file), read_only=True)) as connection:
            connection.execute("SELECT count(DISTINCT title) FROM papers").fetchall()
    except duckdb.Error:
        return False
    return True


def test_a_file_with_a_half_written_block_is_whole_again(stopped: Stopped, tmp_path: Path) -> None:
    damaged = 0
    for number, (_start, torn) in enumerate(tear(stopped)):
        file = tmp_path / f"torn{number}.duckdb"
        stopped.copy(file, torn)
        damaged += not is_opened_by_duckdb(file)
        assert count_rows(file) == stopped.rows
        assert not Path(f"{file}.blocks").exists()
        with connect(file) as database, database.begin() as session:
            session.execute(FILL.format(5_000))
        assert count_rows(file) == stopped.rows + 500
    assert damaged  # what DuckDB does by itself: if it no longer does, the saved blocks can go


def test_a_checkpoint_that_ended_is_kept(stopped: Stopped, tmp_path: Path) -> None:
    """Stopped between the end of the checkpoint and the removal of what was saved for it."""
    file = tmp_path / "ended.duckdb"
    stopped.copy(file, stopped.after)
    Path(f"{file}.wal").unlink()
    assert count_rows(file) == stopped.rows
    assert file.read_bytes() == stopped.after
    assert not Path(f"{file}.blocks").exists()


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "foreign"])
def test_damaged_saved_blocks_are_not_put_back(stopped: Stopped, tmp_path: Path, harm: str) -> None:
    file = tmp_path / "harmed.duckdb"
    stopped.copy(file, stopped.before.read_bytes())
    journal = Path(f"{file}.blocks")
    content = journal.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    journal.write_bytes(
        {"cut": content[:-1], "changed": bytes(changed), "empty": b"", "foreign": b"x" * 99}[harm]
    )
    assert count_rows(file) == stopped.rows
    assert not journal.exists()


def test_saved_blocks_of_another_file_are_not_put_back(stopped: Stopped, tmp_path: Path) -> None:
    file = tmp_path / "other.duckdb"
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("CREATE TABLE papers AS SELECT 1 AS id, 'a' AS title")
    content = file.read_bytes()
    shutil.copy(f"{stopped.before}.blocks", f"{file}.blocks")
    assert count_rows(file) == 1
    assert file.read_bytes() == content


def test_nothing_is_put_back_while_another_process_has_the_file(stopped: Stopped, tmp_path: Path) -> None:
    """The other one is within its checkpoint."""
    file = tmp_path / "held.duckdb"
    _, torn = next(tear(stopped))
    stopped.copy(file, torn)
    code = (
        "import fcntl, sys; handle = open(sys.argv[1], 'r+b'); fcntl.lockf(handle, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        restore_blocks(file)
        assert file.read_bytes() == torn
        assert Path(f"{file}.blocks").exists()
        holder.communicate()
    restore_blocks(file)
    assert not Path(f"{file}.blocks").exists()


def test_who_may_not_write_is_told_who_can_help(
    stopped: Stopped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "readable.duckdb"
    stopped.copy(file, next(tear(stopped))[1])
    whole = Path.open

    def refuse(path: Path, mode: str = "r", **others: Any) -> Any:  # root, as whom tests may run, writes all
        if path == file and "+" in mode:
            raise PermissionError(13, "Permission denied")
        return whole(path, mode, **others)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        with pytest.raises(DatabaseError, match=r"may not write the file\. Any command of a user who may"):
            count_rows(file)
    assert count_rows(file) == stopped.rows


def test_this_process_keeps_its_lock_of_the_file(tmp_path: Path) -> None:
    """Closing any descriptor of a file ends a process's locks of it: a second process would write too."""
    file = tmp_path / "locked.duckdb"
    code = (
        "import fcntl, sys; handle = open(sys.argv[1], 'r+b'); "
        "fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    with connect(file) as database, database.connect():
        with database.begin() as session:
            session.execute("CREATE TABLE papers AS SELECT range AS id FROM range(9)")
        database._fold_log(1)
        (tmp_path / "locked.duckdb.blocks").touch()
        restore_blocks(file)
        tried = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, check=False)
        assert b"BlockingIOError" in tried.stderr


def test_a_log_that_cannot_be_folded_in_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "full.duckdb"

    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", refuse)
        with connect(file) as database, database.begin() as session:
            session.execute("CREATE TABLE papers AS SELECT range AS id, 'a' AS title FROM range(9)")
    assert Log(file).size > 0
    assert sorted(os.listdir(tmp_path)) == ["full.duckdb", "full.duckdb.wal"]
    assert count_rows(file) == 9
    with connect(file) as database:
        assert database.name == "duckdb"
    assert Log(file).size == 0


def test_a_long_log_is_folded_in_between_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinakes.database.core.LARGE_LOG", 100_000)
    log = Log(tmp_path / "long.duckdb")
    with connect(log.file) as database:
        with database.begin() as session:
            session.execute("CREATE TABLE papers (id BIGINT, title VARCHAR)")
        sizes = []
        for first in range(0, 20_000, 500):
            with database.begin() as session:
                session.execute(FILL.format(first))
            sizes.append(log.size)
        assert max(sizes) < 100_000
        assert sizes.count(0) > 1
    assert count_rows(log.file) == 20_000


def test_a_log_behind_a_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file.duckdb", tmp_path / "link.duckdb"
    with connect(file) as database, database.begin() as session:
        session.execute("CREATE TABLE papers (id BIGINT, title VARCHAR)")
    link.symlink_to(file)
    with connect(link) as database:
        with database.begin() as session:
            session.execute(FILL.format(0))
        assert Log(link).size > 0
    assert sorted(os.listdir(file.parent)) == ["file.duckdb"]
