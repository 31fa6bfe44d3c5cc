"""The benchmark of augmentation: its loop picks what `augment` picks, and both are timed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("augmentation_benchmark", BENCHMARKS / "augmentation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "augmentation_benchmark", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("limit_s", "how"), [(60.0, "measured"), (0.0, "extrapolated")])
def test_the_loop_is_measured_up_to_a_limit(benchmark: ModuleType, limit_s: float, how: str) -> None:
    example = benchmark.make_example(1, 12, words=5)
    row = benchmark.compare(example, benchmark.PUBLISHED, limit_s)
    assert row["loop"] == how
    assert row["steps"] > 0
    assert row["evaluations"] == sum(12 - step for step in range(row["steps"] + 1))
    assert row["loop s"] > 0
    assert row["peak MB"] > 0


def test_a_seed_makes_the_same_example_again(benchmark: ModuleType) -> None:
    assert benchmark.make_example(3, 20) == benchmark.make_example(3, 20)
    assert benchmark.make_example(3, 20) != benchmark.make_example(4, 20)
