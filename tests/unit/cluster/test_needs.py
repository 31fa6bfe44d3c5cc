"""What a worker asks Ray for is what `pinakes plan` counts; no more workers are wanted than fit."""

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pinakes.cluster import loading, needs, sparse
from pinakes.cluster.connect import Cluster
from pinakes.cluster.encoding import measure_need
from pinakes.cluster.exact import SharedVectors
from pinakes.cluster.fragments import FRAGMENT_ROWS
from pinakes.cluster.sparse import SharedSparseIndex, build_shared
from pinakes.errors import IndexingError
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.encoder.encode import WINDOW
from pinakes.indexers.encoder.presets import ModelSource
from pinakes.indexers.sparse_bm25.analyse import TextBlock
from pinakes.loaders.registry import find_loader
from pinakes.plan.model import ANALYSED_ROWS, Machines, Work, predict
from pinakes.plan.rates import RATES

WORK = Work(200_000, text_bytes=needs.TEXT_BYTES, dimensions=32, queries=300, depth=50, parameters=1e6)
PLANNED = {step.step: step.worker_bytes for step in predict(WORK, Machines(nodes=2, cores=2), RATES)}


class ReservedError(Exception):
    """What was asked for."""


class Asked:
    """Workers, of which nothing but their memory is wanted."""

    def __init__(self, *_: object, most: int | None = None, memory: float = 0) -> None:
        if memory:
            raise ReservedError(memory)

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def reserve(self, memory: float) -> None:
        raise ReservedError(memory)


def read(raised: pytest.ExceptionInfo[ReservedError]) -> float:
    return float(raised.value.args[0])


@contextmanager
def connect(*_: object) -> Any:
    yield SimpleNamespace(count_places=lambda _: 2)


def test_a_worker_of_exact_search_has_what_is_planned() -> None:
    workers: Any = Asked()
    shared = SharedVectors(workers, [], np.arange(WORK.papers), FRAGMENT_ROWS)  # type: ignore[arg-type]
    queries = np.zeros((WORK.queries, WORK.dimensions), np.float32)
    with pytest.raises(ReservedError) as raised:
        shared.search(queries, WORK.depth, "cosine")
    assert read(raised) == PLANNED["exact search"]
    pools = [np.arange(WORK.papers)] * 4
    with pytest.raises(ReservedError) as raised:
        list(shared.search_nested(queries, pools, WORK.depth, "cosine"))
    nested = Work(**{**_fields(), "pools": 4})
    steps = {step.step: step for step in predict(nested, Machines(nodes=2, cores=2), RATES)}
    assert read(raised) == steps["exact search"].worker_bytes


def _fields() -> dict[str, Any]:
    return {name: getattr(WORK, name) for name in WORK.__slots__}


def test_workers_of_sparse_bm25_have_what_is_planned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    workers: Any = Asked()
    index: Any = SimpleNamespace(open_search=lambda k, *_: SimpleNamespace(k=k))
    with pytest.raises(ReservedError) as raised:
        SharedSparseIndex(workers, index, 2, 0).search_many(["a text"] * WORK.queries, WORK.depth)
    assert read(raised) == PLANNED["ranking, sparse_bm25"]
    monkeypatch.setattr(sparse, "connect_cluster", connect)
    monkeypatch.setattr(sparse, "Workers", Asked)
    texts = pa.array(["x" * WORK.text_bytes] * (ANALYSED_ROWS + 1))
    block = TextBlock(np.arange(len(texts)), texts)
    with pytest.raises(ReservedError) as raised:
        build_shared("local", tmp_path, [block], analysis=named_analysis("lucene"))
    assert read(raised) == pytest.approx(PLANNED["index, sparse_bm25"], rel=0.01)  # offsets of texts


def test_a_worker_of_an_encoder_has_what_is_planned(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": WORK.dimensions}))
    (tmp_path / "model.safetensors").write_bytes(bytes(4 * int(WORK.parameters)))
    source = ModelSource("toy", tmp_path, None, "toy")
    assert measure_need(source, WINDOW) == PLANNED["encode"]
    (tmp_path / "config.json").write_text("[]")
    assert measure_need(source, WINDOW) > PLANNED["encode"]


def test_a_worker_of_a_load_has_what_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "connect_cluster", connect)
    monkeypatch.setattr(loading, "Workers", Asked)
    opened = loading.stage_files("local", find_loader("beir"), {}, [])
    with pytest.raises(ReservedError) as raised, opened:
        pass
    assert read(raised) == PLANNED["load"]


def make_cluster(*sizes: tuple[int, float], device: str = "cpu") -> Cluster:
    kind = "GPU" if device == "cuda" else "CPU"
    nodes = [{"Alive": True, "Resources": {kind: count, "memory": size}} for count, size in sizes]
    ray = SimpleNamespace(nodes=lambda: [*nodes, {"Alive": False, "Resources": {kind: 9, "memory": 1e12}}])
    return Cluster(ray, device, print)  # type: ignore[arg-type]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_no_more_workers_are_wanted_than_the_machines_have_memory_for(device: str) -> None:
    cluster = make_cluster((4, 10e9), (2, 100e9), (0, 500e9), device=device)
    assert cluster.count_places() == 6
    assert cluster.count_places(4_000_000_000) == 2 + 2
    assert cluster.count_places(20_000_000_000) == 2
    with pytest.raises(IndexingError, match=r"needs 200\.0 GB, and no machine .* more than 100\.0 GB"):
        cluster.count_places(200_000_000_000)
    assert make_cluster((0, 1e9)).count_places(4_000_000_000) == 0  # machines may still come
