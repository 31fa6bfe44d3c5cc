"""The benchmark of training: every method beside the plain loop, with the toy encoder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.releases import BENCHMARKS
from tests.toy_encoder import build_toy_encoder


@pytest.mark.long
def test_the_benchmark_has_a_row_for_each_method(tmp_path: Path) -> None:
    model = build_toy_encoder(tmp_path / "toy", sentence_transformers_layout=False)
    target = tmp_path / "figures.json"
    options = ["--quick", "--instances", "2", "--max-tokens", "32", "--threads", "1", "--model", str(model)]
    subprocess.run(
        [sys.executable, str(BENCHMARKS / "train.py"), *options, "--json", str(target)],
        check=True,
        capture_output=True,
    )
    figures = json.loads(target.read_text(encoding="utf-8"))
    numbers = {row["method"]: row["numbers a format"] for row in figures["rows"]}
    # Of two layers of width 16: a token, adapters of one number, PALs of 204, attention over adapters.
    pals = (16 * 204 + 204) + (204 * 16 + 16) + 2 * 3 * (204 * 204 + 204)
    assert numbers == {
        "ctrl": 16,
        "cls": 0,
        "adapters": 2 * (16 + 1 + 16 + 16),
        "pals": pals,
        "fusion": 2 * (3 * 16 * 16 + 2 * 16),
    }
    assert figures["ratio"] > 0
    assert figures["longest text"] == 32
