"""A process that has imported what takes long, and forks for each start one that runs a program.

So tests of processes that are killed, interrupted or at work beside each other spend no time on imports. Each
begins in the folder and with the environment of the test.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

COMMANDS: Final = (
    *("duckdb_engine", "psycopg", "pandas", "pyarrow", "pyarrow.parquet", "rich.console"),
    *("pinakes.cli", "pinakes.database.postgres_backend", "pinakes.database.read_only"),
    *("pinakes.evaluators.evaluate", "pinakes.queries.install", "pinakes.report.output"),
    *("pinakes.tasks.clustering.task", "pinakes.tasks.extraction.task", "pinakes.tasks.probing.task"),
    *("pinakes.tasks.ranking.task", "pinakes.tasks.reviewers.task", "pinakes.tasks.self_retrieval.task"),
)
"""what all commands import"""
_MODULES: Final = (
    *COMMANDS,
    *("faiss", "gensim.models", "nltk", "numba", "pytest", "sklearn.feature_extraction.text", "tantivy"),
    *("textblob", "torch._dynamo", "transformers.models.align", "transformers.models.auto.modeling_auto"),
    *("transformers.models.auto.tokenization_auto", "transformers.models.bert.modeling_bert"),
    *("transformers.models.bert.tokenization_bert", "pinakes.evaluate.evaluate", "pinakes.index.encode"),
    *("pinakes.index.index", "pinakes.indexers.encoder.model", "pinakes.indexers.faiss.build"),
    *("pinakes.indexers.sentence_models.search", "pinakes.load.load", "pinakes.loaders.beir"),
    *("pinakes.loaders.merge", "pinakes.loaders.s2orc", "pinakes.report.present.derive"),
    *("pinakes.report.present.load", "pinakes.run.run", "pinakes.systems.bm25", "pinakes.systems.dense"),
    *("pinakes.systems.sentences.system", "pinakes.systems.sparse", "pinakes.systems.tfidf"),
    *("pinakes.systems.trained_sentences.system", "pinakes.systems.word2vec"),
    *("pinakes.texts.corpus_neighbours", "pinakes.texts.neighbours.analysers.textblob"),
    *("pinakes.texts.neighbours.generate", "pinakes.texts.summaries.derive"),
    *("pinakes.texts.summaries.examples", "pinakes.texts.summaries.label_store"),
    *("pinakes.texts.summaries.sections", "pinakes.vectors.encoding"),
    *("tests.integration.test_upgrade", "tests.unit.indexers.test_faiss_index"),
)
"""what the programs of all tests import"""

# Each program has a parent of its own, which says how it ended: so several can be at work.
_SERVER = """
import gc, importlib, json, os, signal, sys

said = os.dup(1)
os.dup2(2, 1)
for name in sys.argv[1:]:
    importlib.import_module(name)
from pinakes.cli import run_command
run_command(["--version"])  # which builds the command line
gc.collect()
gc.freeze()  # else collections in the forked ones would copy all of it
os.write(said, b"ready\\n")
parents = []
for line in sys.stdin:
    program, words, folder, environment, output, errors = json.loads(line)
    parents = [one for one in parents if not os.waitpid(one, os.WNOHANG)[0]]
    if parent := os.fork():
        parents.append(parent)
        continue
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(said, f"{child} {code}\\n".encode())
        os._exit(0)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    given = (os.devnull, os.O_RDONLY), (output, os.O_WRONLY | os.O_CREAT), (errors, os.O_WRONLY)
    for number, (path, flags) in enumerate(given):
        os.dup2(os.open(path, flags), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    os.write(said, f"{os.getpid()} started\\n".encode())
    os.close(said)
    sys.argv = ["-c", *words]
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    sys.exit()
for parent in parents:
    os.waitpid(parent, 0)
"""


class Ended(NamedTuple):
    """How a process ended: its exit code (negative: the signal), and what it printed."""

    code: int
    out: str
    err: str


class Warm:
    """A process that forks others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._said: dict[int, str] = {}
        with (folder / "server.txt").open("wb") as output:
            # Unbuffered, so that nothing that was said waits unseen when the pipe is asked for more.
            self._server = subprocess.Popen(
                [sys.executable, "-c", _SERVER, *_MODULES],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                bufsize=0,
                env={**_describe_environment(), "OMP_NUM_THREADS": "1"},
            )
        assert self._read() == "ready", (folder / "server.txt").read_text()

    def start(self, program: str, *words: object) -> "Started":
        """Start a program, whose `sys.argv[1:]` are the words, in a session of its own."""
        self._started += 1
        output, errors = (self._folder / f"{kind} {self._started}" for kind in ("output", "errors"))
        os.mkfifo(errors)
        reading = os.open(errors, os.O_RDONLY | os.O_NONBLOCK)
        assert self._server.stdin is not None
        asked = (program, [str(word) for word in words], os.getcwd(), _describe_environment())
        line = json.dumps([*asked, str(output), str(errors)])
        self._server.stdin.write(f"{line}\n".encode())
        process = 0
        while not process:
            said, what = self._read().split()
            if what == "started":
                process = int(said)
                self._said.pop(process, None)  # of an earlier process that had this number
            else:
                self._said[int(said)] = what
        return Started(self, process, output, reading)

    def run(self, program: str, *words: object) -> Ended:
        """How a program ended."""
        ended = self.start(program, *words).wait()
        assert ended is not None, f"it hangs: {words}"
        return ended

    def take_code(self, process: int, timeout_s: float) -> int | None:
        """The exit code of a process; None where it has not ended in that time."""
        assert self._server.stdout is not None
        until = time.monotonic() + timeout_s
        while process not in self._said:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._server.stdout], [], [], left)[0]:
                return None
            ended, code = self._read().split()
            self._said[int(ended)] = code
        return int(self._said[process])

    def close(self) -> None:
        """Let it end."""
        self._server.communicate()

    def _read(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().decode().strip()


class Started:
    """A process that runs a program.

    Attributes:
        process: its id, which is also that of its group.
    """

    def __init__(self, warm: Warm, process: int, output: Path, errors: int) -> None:
        self.process = process
        self._warm = warm
        self._output = output
        self._errors = errors
        self._err = b""

    def wait(self, timeout_s: float = 120.0) -> Ended | None:
        """How it ended, once all that it started and that shares its stderr have; None: not in that time."""
        until = time.monotonic() + timeout_s
        while self._errors >= 0:
            if not self._read_errors(max(0.0, until - time.monotonic())):
                return None
        code = self._warm.take_code(self.process, max(0.0, until - time.monotonic()))
        if code is None:
            return None
        return Ended(code, self._output.read_text(), self._err.decode(errors="replace"))

    def read_line(self, timeout_s: float = 120.0) -> str:
        """The first line that it prints to stderr."""
        while b"\n" not in self._err and self._errors >= 0:
            assert self._read_errors(timeout_s), "it says nothing"
        return self._err.decode().partition("\n")[0]

    def kill(self, name: signal.Signals = signal.SIGKILL) -> None:
        """Send it a signal, where it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.process, name)

    def _read_errors(self, timeout_s: float) -> bool:
        """Whether something was read, or the end, in that time."""
        if not select.select([self._errors], [], [], timeout_s)[0]:
            return False
        part = os.read(self._errors, 65_536)
        self._err += part
        if not part:
            os.close(self._errors)
            self._errors = -1
        return True


def _describe_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@contextmanager
def open_warm(folder: Path) -> Iterator[Warm]:
    """A process that forks others, closed in the end."""
    warm = Warm(folder)
    try:
        yield warm
    finally:
        warm.close()
