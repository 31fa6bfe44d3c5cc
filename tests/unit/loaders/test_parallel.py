"""Chunks that are read while others are in use: no more of them than the bytes allow."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pytest

from pinakes.errors import LoadError
from pinakes.loaders.reading.parallel import read_in_thread
from pinakes.loaders.staging import Chunk


class Reader:
    """Chunks of 1,000 bytes of file each, and how many were read."""

    def __init__(self, chunks: int) -> None:
        self.chunks, self.read = chunks, 0
        self.waits = threading.Event()

    def __iter__(self) -> Iterator[Chunk]:
        for number in range(self.chunks):
            self.read += 1
            yield Chunk(number + 1, 1, first_byte=1_000 * number, end_byte=1_000 * (number + 1))


def settle(reader: Reader) -> int:
    """How many chunks were read once no more are."""
    before = -1
    while before != reader.read:
        before = reader.read
        time.sleep(0.02)
    return before


@pytest.mark.parametrize(("bytes_ahead", "ahead"), [(0, 1), (2_500, 2), (1_000_000, 4)])
def test_chunks_are_read_ahead_up_to_so_many_bytes(bytes_ahead: int, ahead: int) -> None:
    reader = Reader(9)
    with closing(read_in_thread([iter(reader)], bytes_ahead)) as files:
        chunks = next(files)
        for used in range(1, 4):
            assert next(chunks).last_row == used
            assert settle(reader) == used + ahead
        assert [chunk.last_row for chunk in chunks] == [4, 5, 6, 7, 8, 9]


def test_the_next_files_are_read_while_one_is_in_use() -> None:
    readers = [Reader(1), Reader(0), Reader(5)]
    with closing(read_in_thread([iter(reader) for reader in readers], 1_000_000)) as files:
        first = next(files)
        assert next(first).last_row == 1
        assert [settle(reader) for reader in readers] == [1, 0, 2]  # and two ends of files
        assert list(first) == []
        assert [[chunk.last_row for chunk in chunks] for chunks in files] == [[], [1, 2, 3, 4, 5]]


def test_an_error_of_a_file_comes_in_its_turn_and_those_after_it_are_read() -> None:
    def break_off(error: Exception) -> Iterator[Chunk]:
        yield from Reader(1)
        raise error

    given = [iter(Reader(2)), break_off(LoadError("cut")), iter(Reader(1)), break_off(KeyError("defect"))]
    with closing(read_in_thread(given, 1_000_000)) as files:
        assert [chunk.last_row for chunk in next(files)] == [1, 2]
        second = next(files)
        assert next(second).last_row == 1
        with pytest.raises(LoadError, match="cut"):
            next(second)
        assert [chunk.last_row for chunk in next(files)] == [1]
        with pytest.raises(KeyError, match="defect"):
            list(next(files))


def test_a_chunk_weighs_its_tables_and_its_part_of_the_file() -> None:
    table = pa.table({"row_number": pa.array([1, 2], pa.int64())})
    assert Chunk(2, 2, {"papers": table}, first_byte=10, end_byte=110).nbytes == 16 + 100
    assert Chunk(2, 2, {"papers": table}).nbytes == 2 * 16
