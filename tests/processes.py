"""Other processes, which hold what a test looks at."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

IMPORTED: Final = (
    *("transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "nltk", "pandas"),
    *("pinakes.indexers.training.together", "pinakes.indexers.encoder.processes"),
    *("pinakes.loaders.reading.parallel", "pinakes.texts.ahead"),
)
"""what processes that share a test's work import"""
_GIVEN: Final = multiprocessing.get_context


@contextmanager
def fork_for_spawn() -> Iterator[None]:
    """Have `multiprocessing` fork from a process that has imported these modules where it is to spawn.

    Nothing else of a process's state is copied either way: a second of imports is saved, or three.
    """
    multiprocessing.set_forkserver_preload(list(IMPORTED))

    def get_context(method: str | None = None) -> Any:
        return _GIVEN("forkserver" if method == "spawn" else method)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(multiprocessing, "get_context", get_context)
        yield


@contextmanager
def spawn_as_given() -> Iterator[None]:
    """Have it spawn again, as it does for users."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(multiprocessing, "get_context", _GIVEN)
        yield


@contextmanager
def start_process(program: str, *words: str, ready: str = "held") -> Iterator["subprocess.Popen[str]"]:
    """Another Python process, once it has printed that it is ready; in the end its input is closed.

    A process that does not end by itself then reads its input to the end. Where the test fails, it is killed.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == f"{ready}\n"
            yield process
            process.stdin.close()
        except BaseException:
            process.kill()
            raise
