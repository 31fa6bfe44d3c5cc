"""What is written is written in order, once, in another thread, and no error is lost."""

import threading
from collections.abc import Iterator

import pytest

from pinakes.indexers.encoder.batches import write_behind


def test_batches_are_written_in_order_by_one_other_thread() -> None:
    written: list[tuple[int, int]] = []
    write_behind(range(50), lambda batch: written.append((batch, threading.get_ident())))
    assert [batch for batch, _ in written] == list(range(50))
    writers = {thread for _, thread in written}
    assert len(writers) == 1
    assert threading.get_ident() not in writers


def test_the_next_batch_is_computed_while_one_is_written() -> None:
    computed = threading.Event()

    def batches() -> Iterator[int]:
        yield 1
        computed.set()
        yield 2

    waited: list[bool] = []
    write_behind(batches(), lambda _: waited.append(computed.wait(10)))
    assert waited == [True, True]


def test_no_more_batches_wait_than_the_depth() -> None:
    written: list[int] = []
    most = 0

    def batches() -> Iterator[int]:
        nonlocal most
        for number in range(20):
            most = max(most, number - len(written))
            yield number

    write_behind(batches(), written.append, depth=3)
    assert len(written) == 20
    assert 1 <= most <= 4


def test_an_error_of_the_writer_is_raised_and_nothing_behind_it_is_written() -> None:
    written: list[int] = []

    def write(batch: int) -> None:
        if batch == 3:
            raise ValueError("the disk is full")
        written.append(batch)

    with pytest.raises(ValueError, match="the disk is full"):
        write_behind(range(50), write)
    assert written == [0, 1, 2]


def test_what_came_before_an_error_of_the_batches_is_written() -> None:
    written: list[int] = []

    def batches() -> Iterator[int]:
        yield from (0, 1, 2)
        raise RuntimeError("the model is broken")

    with pytest.raises(RuntimeError, match="the model is broken"):
        write_behind(batches(), written.append)
    assert written == [0, 1, 2]
