"""The benchmark of exact search runs, compares with the truth, and tells figures by their names."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.parametrize("data", ["clustered", "isotropic"])
def test_a_small_benchmark_of_exact_search_equals_the_truth(tmp_path: Path, data: str) -> None:
    peer = importlib.util.find_spec("faiss") is not None
    command = [sys.executable, str(ROOT / "benchmarks" / "exact_search.py"), "--quick", "--data", data]
    command += ["--rows", "700", "--queries", "40", "--dims", "48", "--depth", "20", "--threads", "1"]
    command += ["--json", str(tmp_path / "figures.json")] + ([] if peer else ["--no-peer"])
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["equals_float64_truth"] is True
    assert figures["queries_compared_with_truth"] == 6
    assert [row["system"].split()[0] for row in figures["rows"]] == ["pinakes", "faiss"][: 1 + peer]
    if peer:
        assert figures["agrees_with_faiss"] is True
        assert figures["ratio_faiss"] > 0
