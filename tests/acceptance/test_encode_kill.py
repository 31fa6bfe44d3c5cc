"""Encodings into files that are killed again and again end with the bytes of an undisturbed one."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.toy_encoder import build_toy_encoder

TEXTS = 600
SHARD_ROWS = 20
KILLS = 10
SEED = 4
MOST_SHARDS = 4
"""a process is killed after so many new shards at most"""
LONGEST_S = 0.02
"""and after that time at most, about that of one shard, so that kills fall everywhere"""

# Says when all is imported. Then forks for each line a process that encodes, and says its id and how it
# ended: so no time is spent on imports, again and again.
PROGRAM = f"""
import os, sys
from pathlib import Path

from transformers import AutoModel, AutoTokenizer, BertModel, BertTokenizer
from pinakes.index.encode import EncodeOptions, encode_source

options = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows={SHARD_ROWS})
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        encode_source(Path(sys.argv[1]), sys.argv[2], Path(line.strip()), options)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Encodings:
    """Processes that encode, one at a time."""

    def __init__(self, source: Path, model: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        self._server = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(source), str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment,
        )
        assert self._read() == b"ready"

    def start(self, out: Path) -> int:
        """Start an encoding; the id of its process."""
        assert self._server.stdin is not None
        self._server.stdin.write(f"{out}\n".encode())
        return int(self._read())

    def wait(self, timeout_s: float = 120.0) -> int | None:
        """The encoding's exit code; None when it has not ended in that time."""
        assert self._server.stdout is not None
        ready, _, _ = select.select([self._server.stdout], [], [], timeout_s)
        return int(self._read()) if ready else None

    def close(self) -> None:
        """Let the server end."""
        self._server.communicate()

    def _read(self) -> bytes:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()


@pytest.fixture
def encodings(tmp_path: Path) -> Iterator[Encodings]:
    """Starts encodings of a file of texts, some of them more than once, by the toy encoder."""
    words = ["paper", "graph", "of", "citation", "x1", "query"]
    generator = random.Random(SEED)
    texts = [" ".join(generator.choices(words, k=generator.randint(1, 25))) for _ in range(TEXTS)]
    texts[400:450] = texts[:50]
    source = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"id": list(range(TEXTS)), "text": texts}), source)
    started = Encodings(source, build_toy_encoder(tmp_path / "toy"))
    yield started
    started.close()


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def count_shards(folder: Path) -> int:
    return len(list(folder.glob("shard-*"))) if folder.exists() else 0


def test_an_encoding_killed_at_random_moments_ends_with_the_bytes_of_an_undisturbed_one(
    encodings: Encodings, tmp_path: Path
) -> None:
    encodings.start(tmp_path / "undisturbed")
    assert encodings.wait() == 0
    expected = read_bytes(tmp_path / "undisturbed")
    assert len(expected) == TEXTS // SHARD_ROWS + 1
    manifest = json.loads(expected["manifest.json"])
    assert manifest["rows"] == TEXTS

    moments = random.Random(SEED)
    kills = number = 0
    left: set[int] = set()
    while kills < KILLS:
        out = tmp_path / f"killed_{number}"
        process = encodings.start(out)
        wanted = count_shards(out) + moments.randint(0, MOST_SHARDS)
        while (ended := encodings.wait(0)) is None and count_shards(out) < wanted:
            time.sleep(0.001)
        if ended is None:
            ended = encodings.wait(moments.uniform(0, LONGEST_S))
        if ended is None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            ended = encodings.wait()
        if ended == -signal.SIGKILL:
            kills += 1
            left.add(count_shards(out))
            continue
        # It came through before its moment: what it left must be whole, and the next one begins anew.
        assert ended == 0
        assert read_bytes(out) == expected
        number += 1
    assert len(left - {0, TEXTS // SHARD_ROWS}) >= 3
    encodings.start(out)
    assert encodings.wait() == 0
    assert read_bytes(out) == expected
