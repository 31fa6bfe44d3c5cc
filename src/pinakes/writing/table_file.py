"""Arrow tables that are kept aside in an open file, so that the database need not be held for them."""

import os
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import pyarrow as pa

BYTES_IN_MEMORY: Final = 64 * 1024 * 1024
"""a temporary file of fewer bytes is kept in memory"""


def open_table_file() -> "SpooledTemporaryFile[bytes]":
    """A file for a `TableFile`, in memory while it is small, then in the folder of temporary files."""
    return SpooledTemporaryFile(BYTES_IN_MEMORY)


class TableFile:
    """Tables of one schema in an open binary file: written, then read."""

    def __init__(self, file: "IO[bytes] | SpooledTemporaryFile[bytes]") -> None:
        self._file = file
        self._writer: Any = None

    def write(self, rows: pa.Table) -> None:
        """Add rows of the one schema."""
        self._writer = self._writer or pa.ipc.new_stream(self._file, rows.schema)
        self._writer.write_table(rows)

    def read(self) -> Iterator[pa.Table]:
        """The tables that were written, in their order, perhaps in smaller parts."""
        if self._writer is None:
            return
        self._writer.close()
        self._file.seek(0, os.SEEK_SET)
        with pa.ipc.open_stream(self._file) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
