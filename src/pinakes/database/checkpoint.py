"""Folding DuckDB's log into its file, so that no kill and no power cut in the middle can damage the file.

DuckDB 2.0 writes a checkpoint's table data into blocks that are free, but its metadata also into free parts
of blocks whose other parts are in use. Such a block is written in place, 256 KiB at once, under one checksum:
where the write stops in its middle, no DuckDB opens the file again. So the blocks that a checkpoint may write
in place, a few MB, are first saved in a file beside the database, as SQLite's rollback journal does it, and
put back by the next to open it, if the checkpoint was not finished. Checkpoints that DuckDB would make by
itself are turned off (`connect`).
"""

import fcntl
import hashlib
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from pinakes.errors import DatabaseError, show

LARGE_LOG: Final = 1 << 30
"""bytes of the log from which it is folded in after a transaction: each time, every index is written"""
SMALL_LOG: Final = 64 << 20
"""bytes of the log that stay in it when the file is released for a while: the next to open it reads them"""
_SUFFIX: Final = ".blocks"
_WRITTEN: Final = ".blocks.new"
_KIND: Final = b"pinakes: blocks of a DuckDB file\n"
_HEADER_BYTES: Final = 3 * 4096
"""of a DuckDB file: what it is, and twice which blocks are in use; a finished checkpoint changes them"""
_BLOCK: Final = struct.Struct("<QQ")
_DIGEST_BYTES: Final = 32
_RESTORING: Final = threading.Lock()

# A block without a free part is not written before it is free as a whole.
_SHARED_BLOCKS: Final = """
SELECT block_id FROM pragma_metadata_info() WHERE free_blocks > 0 AND free_blocks < total_blocks
ORDER BY block_id
"""


class Log:
    """The write-ahead log of a DuckDB file that this process may write."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def size(self) -> int:
        """Bytes of the log; 0: there is none."""
        try:
            return name_log(self.file).stat().st_size
        except FileNotFoundError:
            return 0

    def fold(self, connection: Any) -> None:
        """Make a checkpoint, which no stop of this process or machine can turn into a damaged file.

        Args:
            connection: DuckDB's own, outside a transaction.

        Raises:
            duckdb.Error: DuckDB could not, as while another transaction writes; the log is as it was.
            OSError: there is no room for the saved blocks; the log is as it was.
        """
        journal = _name(self.file, _SUFFIX)
        handle = _find_handle(self.file)
        if handle is not None:  # no system that lists a process's open files: without a journal
            size = connection.execute("SELECT block_size FROM pragma_database_size()").fetchone()[0]
            blocks = [block for (block,) in connection.execute(_SHARED_BLOCKS).fetchall()]
            _save(_name(self.file, _WRITTEN), journal, handle, blocks, size)
        connection.execute("CHECKPOINT")
        journal.unlink(missing_ok=True)


def restore_blocks(file: Path) -> None:
    """Put back what a checkpoint that was stopped has written over; nothing where none was.

    Nothing is done while any process has the file open: it was put back before that.

    Raises:
        DatabaseError: a checkpoint was stopped, and this user may not write the file.
    """
    journal = _name(file, _SUFFIX)
    if not journal.exists():
        return
    with _RESTORING, suppress(FileNotFoundError):  # another process has put them back
        # Closing the file would end the locks of a DuckDB in this process.
        if _find_handle(file) is not None:
            return
        try:
            with file.open("r+b") as opened:
                if _lock(opened, fcntl.LOCK_EX):
                    _restore(opened.fileno(), journal)
        except PermissionError as error:
            with file.open("rb") as opened:
                is_free = _lock(opened, fcntl.LOCK_SH)
            if is_free:
                raise DatabaseError(
                    f"a command that wrote {show(str(file))} was stopped, and this user may not write the "
                    "file. Any command of a user who may, as `pinakes status`, makes it whole again."
                ) from error


def name_journals(file: Path) -> tuple[Path, Path]:
    """The files that a checkpoint makes beside the database: the saved blocks, and those not wholly saved."""
    return _name(file, _SUFFIX), _name(file, _WRITTEN)


def name_log(file: Path) -> Path:
    """DuckDB's log of a file."""
    return _name(file, ".wal")


def read_header(file: Path) -> bytes | None:
    """The header of a DuckDB file, which checkpoints change; None where this process has it not open."""
    handle = _find_handle(file)
    return None if handle is None else os.pread(handle, _HEADER_BYTES, 0)


def _name(file: Path, suffix: str) -> Path:
    resolved = file.resolve()
    return resolved.with_name(f"{resolved.name}{suffix}")


def _find_handle(file: Path) -> int | None:
    """The descriptor by which this process has the file open; None where it has not.

    Another one would do harm: when a process closes any descriptor of a file, it loses its locks of it.
    """
    try:
        sought, handles = file.stat(), os.listdir("/dev/fd")
    except OSError:
        return None
    for handle in map(int, handles):
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), sought):
                return handle
    return None


def _lock(opened: IO[bytes], how: int) -> bool:
    """Take the lock that DuckDB takes; False: another process has it."""
    try:
        fcntl.lockf(opened, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _restore(handle: int, journal: Path) -> None:
    header, blocks = _read(journal)
    if header and os.pread(handle, _HEADER_BYTES, 0) == header:
        for offset, content in blocks:
            os.pwrite(handle, content, offset)
        os.fsync(handle)
    with suppress(PermissionError):  # the folder is another user's: it is put back once more
        journal.unlink()


def _save(written: Path, journal: Path, handle: int, blocks: list[int], size: int) -> None:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    try:
        with written.open("wb") as out:
            os.fchmod(out.fileno(), os.fstat(handle).st_mode & 0o777)
            for part in _lay_out(handle, blocks, size):
                digest.update(part)
                out.write(part)
            out.write(digest.digest())
            out.flush()
            os.fsync(out.fileno())
        written.replace(journal)
    except OSError:
        with suppress(OSError):
            written.unlink()
        raise
    folder = os.open(journal.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lay_out(handle: int, blocks: list[int], size: int) -> Iterator[bytes]:
    yield _KIND
    yield os.pread(handle, _HEADER_BYTES, 0)
    for block in blocks:
        offset = _HEADER_BYTES + block * size
        content = os.pread(handle, size, offset)
        yield _BLOCK.pack(offset, len(content)) + content


def _read(journal: Path) -> tuple[bytes, list[tuple[int, bytes]]]:
    """The header and the blocks with their offsets; nothing from a file that is not whole."""
    content = journal.read_bytes()
    kept, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    whole = hashlib.blake2b(kept, digest_size=_DIGEST_BYTES).digest() == digest
    if not whole or not kept.startswith(_KIND):
        return b"", []
    at = len(_KIND) + _HEADER_BYTES
    header, blocks = kept[len(_KIND) : at], []
    while at < len(kept):
        offset, size = _BLOCK.unpack_from(kept, at)
        at += _BLOCK.size
        blocks.append((offset, kept[at : at + size]))
        at += size
    return header, blocks
