"""Encodings into files that are killed again and again end with the bytes of an undisturbed one."""

import json
import random
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.long import long
from tests.toy_encoder import build_toy_encoder
from tests.warm import Started, Warm

pytestmark = pytest.mark.in_turn

TEXTS = 600
SHARD_ROWS = 20
SEED = 4
MOST_SHARDS = 4
"""a process is killed after so many new shards at most"""
LONGEST_S = 0.02
"""and after that time at most, about that of one shard, so that kills fall everywhere"""

PROGRAM = f"""
import sys
from pathlib import Path
from pinakes.index.encode import EncodeOptions, encode_source

options = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows={SHARD_ROWS})
encode_source(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), options)
"""


class Encodings:
    """Processes that encode."""

    def __init__(self, warm: Warm, source: Path, model: Path) -> None:
        self._warm = warm
        self._source = source
        self._model = model

    def start(self, out: Path) -> Started:
        """Start an encoding."""
        return self._warm.start(PROGRAM, self._source, self._model, out)

    def run(self, out: Path) -> None:
        """Encode to the end."""
        ended = self.start(out).wait()
        assert ended is not None
        assert ended.code == 0, ended.err


@pytest.fixture
def encodings(tmp_path: Path, warm: Warm) -> Encodings:
    """Starts encodings of a file of texts, some of them more than once, by the toy encoder."""
    words = ["paper", "graph", "of", "citation", "x1", "query"]
    generator = random.Random(SEED)
    texts = [" ".join(generator.choices(words, k=generator.randint(1, 25))) for _ in range(TEXTS)]
    texts[400:450] = texts[:50]
    source = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"id": list(range(TEXTS)), "text": texts}), source)
    return Encodings(warm, source, build_toy_encoder(tmp_path / "toy"))


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def count_shards(folder: Path) -> int:
    return len(list(folder.glob("shard-*"))) if folder.exists() else 0


@pytest.mark.parametrize("kills", [2, long(6)])
def test_an_encoding_killed_at_random_moments_ends_with_the_bytes_of_an_undisturbed_one(
    encodings: Encodings, tmp_path: Path, kills: int
) -> None:
    encodings.run(tmp_path / "undisturbed")
    expected = read_bytes(tmp_path / "undisturbed")
    assert len(expected) == TEXTS // SHARD_ROWS + 1
    manifest = json.loads(expected["manifest.json"])
    assert manifest["rows"] == TEXTS

    moments = random.Random(SEED)
    killed = number = 0
    left: set[int] = set()
    while killed < kills:
        out = tmp_path / f"killed_{number}"
        process = encodings.start(out)
        wanted = count_shards(out) + moments.randint(0, MOST_SHARDS)
        while (ended := process.wait(0.001)) is None and count_shards(out) < wanted:
            pass
        if ended is None:
            ended = process.wait(moments.uniform(0, LONGEST_S))
        if ended is None:
            process.kill()
            ended = process.wait()
        assert ended is not None
        if ended.code == -signal.SIGKILL:
            killed += 1
            left.add(count_shards(out))
            continue
        # It came through before its moment: what it left must be whole, and the next one begins anew.
        assert ended.code == 0, ended.err
        assert read_bytes(out) == expected
        number += 1
    assert len(left - {0, TEXTS // SHARD_ROWS}) >= kills // 2
    encodings.run(out)
    assert read_bytes(out) == expected
