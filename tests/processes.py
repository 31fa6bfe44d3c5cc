"""Other processes, which hold what a test looks at."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
