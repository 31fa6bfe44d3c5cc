"""The encoding benchmark: its arithmetic against hand-worked values, all of it with the toy encoder."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pinakes.indexers.encoder import packed
from pinakes.indexers.encoder.attention_kernel import has_attention_kernel
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.machine_code import has_instructions
from tests.toy_encoder import build_toy_encoder

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_operations_are_those_of_linear_layers_and_attention() -> None:
    from _encode_rates import count_operations  # type: ignore[import-not-found]

    config = SimpleNamespace(hidden_size=2, intermediate_size=8, num_hidden_layers=3)
    encoder: Any = SimpleNamespace(model=SimpleNamespace(config=config))
    # A layer: 2 * (4 * 2 * 2 + 2 * 2 * 8) = 96 a token; attention 4 * 2 * length^2.
    assert count_operations(encoder, [5, 1]) == 3 * (96 * 5 + 8 * 25) + 3 * (96 + 8)


def test_the_matrix_rate_is_that_of_many_products(monkeypatch: pytest.MonkeyPatch) -> None:
    import _encode_rates

    spent = [0.0]

    def multiply(left: torch.Tensor, weight: torch.Tensor) -> None:
        spent[0] += 0.0031

    monkeypatch.setattr(torch.nn.functional, "linear", multiply)
    # The system's clock of a process, which counts other threads' time at ticks alone.
    monkeypatch.setattr(_encode_rates, "choose_clock", lambda device: lambda: spent[0] // 0.004 * 0.004)
    config = SimpleNamespace(hidden_size=8, intermediate_size=16)
    encoder: Any = SimpleNamespace(device="cpu", model=SimpleNamespace(config=config))
    expected = 2 * 4096 * 8 * 16 / 0.0031 / 1e9
    assert _encode_rates.measure_matrix_rate(encoder, "fp32") == pytest.approx(expected, rel=0.03)


def test_ndcg_is_gain_over_the_ideal_gain() -> None:
    from _encode_data import _ndcg  # type: ignore[import-not-found]

    found = np.array(["b", "a", "c"])
    assert _ndcg(found, {"a": 1}) == pytest.approx(1 / np.log2(3))
    assert _ndcg(found, {"b": 1, "x": 1}) == pytest.approx(1 / (1 + 1 / np.log2(3)))
    assert _ndcg(found, {"x": 1}) == 0


def test_texts_are_as_many_as_were_requested_for() -> None:
    from _encode_data import make_texts, read_texts

    assert len(read_texts(7000)[1]) == 7000
    assert make_texts(3) == make_texts(3)
    assert all(30 <= len(text.split()) <= 200 for text in make_texts(50))


@pytest.mark.parametrize(("attention", "expected"), [("own", True), ("torch", False)])
def test_a_profile_names_the_operations_and_whose_attention_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attention: str, expected: bool
) -> None:
    import encode  # type: ignore[import-not-found]
    from _encode_data import build_random_bert, make_texts

    # A CPU with the kernel's instructions: without them torch attends whatever is asked for.
    has_kernel = has_instructions("avx2") and has_instructions("fma")
    monkeypatch.setattr(packed, "has_attention_kernel", has_attention_kernel)  # put back afterwards
    monkeypatch.setattr(encode, "choose_precision", lambda device: "fp32")
    encode.choose_attention(attention)
    texts = make_texts(8)
    shape = {"hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 256, "num_attention_heads": 2}
    source = resolve_model(build_random_bert(tmp_path / "bert", texts, **shape))
    rows, figures = encode.profile(source, texts)
    found = {row["operation"]: row for row in rows}
    assert ("our attention" in found) is (expected and has_kernel)
    assert any("linear" in name or "addmm" in name for name in found)
    assert sum(row["part"] for row in rows) <= 1 + 1e-9
    assert figures["docs_per_s"] == pytest.approx(8 / figures["seconds"])


@pytest.mark.long
def test_the_benchmark_runs_and_reports_ratio_and_error(tmp_path: Path) -> None:
    model = build_toy_encoder(tmp_path / "toy")
    target = tmp_path / "figures.json"
    options = ["--quick", "--rounds", "1", "--texts", "8", "--threads", "1", "--model", str(model)]
    subprocess.run(
        [sys.executable, str(BENCHMARKS / "encode.py"), *options, "--json", str(target)],
        check=True,
        capture_output=True,
    )
    figures = json.loads(target.read_text())
    assert figures["rows"][0]["system"] == "sentence-transformers"
    assert figures["texts"] == 8
    assert figures["ratio_sentence_transformers"] > 0
    assert figures["fraction_of_matrix_rate"] > 0
    assert figures["max_cosine_error"] < 1e-3
