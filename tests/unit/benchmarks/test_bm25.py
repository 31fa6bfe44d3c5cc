"""The benchmark of sparse BM25: its lists are checked against the formula, over the raw tokens."""

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("bm25_benchmark", BENCHMARKS / "bm25.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bm25_benchmark", module)
    spec.loader.exec_module(module)
    return module


def test_the_lists_are_checked_against_the_formula(benchmark: ModuleType, tmp_path: Path) -> None:
    sizes = {"papers": 300, "queries": 6, "peer_queries": 6, "pool_queries": 4, "k": 20, "vocabulary": 2000}
    options = argparse.Namespace(**sizes, threads=1)
    benchmark.make_collection(options, tmp_path)
    assert benchmark.build(options, tmp_path)["index_MiB"] > 0
    found = benchmark.search_pinakes(options, tmp_path)
    assert (found["queries"], found["pools"]) == (6, 4)
    error, wrong = benchmark.check(options, tmp_path)
    assert 0 < error < 1e-5
    assert wrong == 0

    kept = np.load(tmp_path / "pinakes.npz")
    rows = kept["rows"].copy()
    rows[0, 0] = next(row for row in range(300) if row not in rows[0])
    np.savez(tmp_path / "pinakes.npz", rows=rows, scores=kept["scores"] * np.float32(1.001))
    error, wrong = benchmark.check(options, tmp_path)
    assert error > 9e-4
    assert wrong == 1
