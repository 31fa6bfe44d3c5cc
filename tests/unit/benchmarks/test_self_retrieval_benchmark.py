"""The benchmark of alternative-self retrieval: what it times is checked against float64 and its peer."""

import argparse
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location(
        "self_retrieval_benchmark", BENCHMARKS / "self_retrieval.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "self_retrieval_benchmark", module)
    spec.loader.exec_module(module)
    return module


def test_every_job_has_a_row_and_every_check_holds(benchmark: ModuleType) -> None:
    options = argparse.Namespace(papers=300, queries=40, rounds=1)
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    benchmark.compare(options, 16, rows, figures)
    benchmark.measure_terms(options, rows)
    vectors = [f"{job}, d = 16" for job in ("products", "pairs", "ranks", "overlaps", "scikit-learn")]
    terms = [f"{job}, weighted terms" for job in ("pairs", "ranks", "overlaps")]
    assert [row["job"] for row in rows] == [*vectors, *terms]
    assert figures["ranks_as_in_float64_16"] == 1.0
    assert figures["overlaps_as_sklearn_16"] > 0.9


def test_another_answer_does_not_pass_the_checks(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, sample = np.arange(300), np.arange(40)
    originals, neighbours = (benchmark.DenseTexts(rows, one) for one in benchmark.make_neighbours(300, 16))
    assert benchmark.check_ranks(neighbours, originals) == 1.0
    assert benchmark.check_overlaps(neighbours, originals, sample) > 0.9
    ranked, shared = benchmark.rank_own, benchmark.find_overlaps

    def rank_worse(*given: Any) -> Any:
        found = ranked(*given)
        return replace(found, rank=found.rank + 1)

    backwards = benchmark.DenseTexts(rows, neighbours.vectors[::-1].copy())
    monkeypatch.setattr(benchmark, "rank_own", rank_worse)
    monkeypatch.setattr(benchmark, "find_overlaps", lambda _, *rest: shared(backwards, *rest))
    assert benchmark.check_ranks(neighbours, originals) == 0.0
    assert benchmark.check_overlaps(neighbours, originals, sample) < 0.1
