"""What tells the content of a DuckDB file from that of any other moment, without reading it.

A transaction that is committed is in the log, which grows, or in the file, whose header changes with every
checkpoint. Beside these two, what the file system says of both files tells copies that went different ways.
"""

import hashlib
from pathlib import Path

from pinakes.database.checkpoint import name_log, read_header


def describe_file_state(file: Path) -> str | None:
    """The state of a file that this process has open, as a digest; None where it cannot be seen.

    Two that are equal are of the same rows; two that differ may be. What is not yet committed is not in it.
    """
    header = read_header(file)
    if header is None:
        return None
    digest = hashlib.sha256(header)
    for path in (file, name_log(file)):
        digest.update(_describe(path).encode())
    return digest.hexdigest()


def _describe(path: Path) -> str:
    try:
        seen = path.stat()
    except FileNotFoundError:
        return "none\n"
    return f"{seen.st_ino} {seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}\n"
