"""Two processes on the CPU stand for two devices."""

import os
import queue
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import ModelSource, resolve_model
from pinakes.indexers.encoder.processes import EncoderProcesses, _work, choose_shard
from tests.processes import spawn_as_given
from tests.toy_encoder import build_toy_encoder

TEXTS = [
    " ".join(["paper", "graph", "of", "x1"][: 1 + number % 4] * (1 + number % 7)) for number in range(60)
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    return resolve_model(build_toy_encoder(tmp_path_factory.mktemp("model") / "toy"))


@pytest.fixture(scope="module")
def processes(source: ModelSource) -> Iterator[EncoderProcesses[int]]:
    given = (source, ["cpu", "cpu"], {"precision": "fp32"}, 64)
    with spawn_as_given(), EncoderProcesses[int](*given, threads=1) as started:
        yield started


def test_every_text_is_encoded_once_and_again_when_requested_again(
    source: ModelSource, processes: EncoderProcesses[int]
) -> None:
    expected: dict[int, np.ndarray] = {}
    for batch in encode_texts(load_encoder(source, "fp32"), enumerate(TEXTS)):
        expected.update(zip(batch.keys, batch.vectors, strict=True))
    for requested in (TEXTS, TEXTS[:7], []):
        found = list(processes.encode(enumerate(requested)))
        assert sorted(key for batch in found for key in batch.keys) == list(range(len(requested)))
        for batch in found:
            np.testing.assert_allclose(batch.vectors, [expected[key] for key in batch.keys], atol=2e-6)


def test_the_same_texts_give_the_same_bits(processes: EncoderProcesses[int]) -> None:
    first, second = (
        {
            key: row.tobytes()
            for batch in processes.encode(enumerate(TEXTS))
            for key, row in zip(batch.keys, batch.vectors, strict=True)
        }
        for _ in range(2)
    )
    assert first == second


def test_texts_are_shared_out_by_their_digests() -> None:
    assert [choose_shard(digest, 3) for digest in ("00000000-", "00000001-", "0000000b-", "ffffffff-")] == [
        0,
        1,
        2,
        0,
    ]


def test_an_error_of_the_reader_is_raised_where_the_vectors_are_requested_for(source: ModelSource) -> None:
    def read() -> Iterator[tuple[int, str]]:
        yield 0, "paper"
        raise RuntimeError("the database is gone")

    stopped = EncoderProcesses[int](source, ["cpu"], threads=1)
    with pytest.raises(RuntimeError, match="the database is gone"):
        list(stopped.encode(read()))


def test_a_model_that_cannot_be_loaded_says_so(source: ModelSource) -> None:
    results: queue.Queue[tuple[str, str]] = queue.Queue()
    options = {"precision": "fp32", "max_tokens": 1}
    _work("cpu", source, options, None, 8192, 1, False, queue.Queue(), results)
    kind, message = results.get_nowait()
    assert (kind, message[:37]) == ("failed", "max_tokens is 1; expected 3 to 64, th")


def test_what_a_process_says_failed_is_raised(source: ModelSource) -> None:
    stopped = EncoderProcesses[int](source, ["cpu"], threads=1)
    stopped._results = queue.Queue()
    stopped._results.put(("failed", "the model is broken; mend it"))
    with pytest.raises(IndexingError, match="the model is broken; mend it"):
        list(stopped.encode([]))


def test_a_process_that_is_killed_is_noticed(processes: EncoderProcesses[int]) -> None:
    # The last test here, since nothing can be encoded by these processes afterwards.
    os.kill(processes.process_ids[1], signal.SIGKILL)
    with pytest.raises(IndexingError, match="on cpu ended with exit code -9"):
        list(processes.encode(enumerate(TEXTS)))
