"""Threads that are kept: they stay, a forked process has its own, and an error waits for all tasks."""

import multiprocessing
import threading
import warnings
from collections.abc import Callable

import pytest

from pinakes.kept_threads import run_in_threads

LIMIT_S = 30


def list_threads(prepare: Callable[[], object] | None = None) -> set[int]:
    """The threads of two tasks that run at the same time."""
    found: set[int] = set()
    together = threading.Barrier(2)

    def work() -> None:
        together.wait(LIMIT_S)
        found.add(threading.get_ident())

    run_in_threads([work, work], 2, prepare)
    return found


def test_threads_stay_for_the_next_tasks() -> None:
    threads = list_threads()
    assert len(threads) == 2
    assert list_threads() == threads
    assert threading.get_ident() not in threads


def test_threads_are_prepared_once_each() -> None:
    prepared: list[int] = []

    def prepare() -> None:
        prepared.append(threading.get_ident())

    threads = list_threads(prepare)
    assert list_threads(prepare) == threads == set(prepared)
    assert len(prepared) == 2
    assert list_threads().isdisjoint(threads)


def test_results_come_in_the_order_of_the_tasks() -> None:
    is_second_done = threading.Event()

    def wait_for_second() -> str:
        is_second_done.wait(LIMIT_S)
        return "first"

    def be_second() -> str:
        is_second_done.set()
        return "second"

    assert run_in_threads([wait_for_second, be_second], 2) == ["first", "second"]


def test_a_forked_process_has_threads_of_its_own() -> None:
    list_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, since Python 3.12
        child = multiprocessing.get_context("fork").Process(target=list_threads, daemon=True)
        child.start()
    child.join(LIMIT_S)
    code = child.exitcode
    child.kill()
    assert code == 0


def test_an_error_is_raised_when_no_task_runs_any_more() -> None:
    ended: list[str] = []
    is_waiting = threading.Event()

    def fail() -> None:
        is_waiting.wait(LIMIT_S)
        raise ValueError("no")

    def go_on() -> None:
        is_waiting.set()
        threading.Event().wait(0.2)
        ended.append("second")

    with pytest.raises(ValueError, match="no"):
        run_in_threads([fail, go_on], 2)
    assert ended == ["second"]
