"""What runs on a CUDA device gives what a CPU gives, and the same again; skipped where there is none.

Nothing of conftest.py is used: a machine with a GPU may have no database (`benchmarks/gpu.py`).
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import find_preset, resolve_model
from pinakes.indexers.encoder.processes import EncoderProcesses
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.names import Distance, Precision
from pinakes.indexers.training import methods
from pinakes.indexers.training.bases import find_base
from pinakes.indexers.training.methods import MultiFormatModel
from pinakes.indexers.training.settings import Method
from pinakes.indexers.training.tasks import list_codes
from tests.toy_encoder import build_toy_encoder
from tests.unit.indexers.test_training import FAST, METHODS, KilledError, kill_at, make_tasks, train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

CUDA = ("cuda:0",)
TEXTS = ["a graph", "of", "the citation graph of a b", "paper " * 20, "retrieval of papers"] * 7
WITHIN = {"fp32": 1e-4, "bf16": 0.05, "fp16": 0.01}
"""how far a component of a vector of length 1 may lie from the CPU's"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("base") / "toy", sentence_transformers_layout=False)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("toy") / "toy")


def encode(encoder: Any, prefix: str = "") -> np.ndarray:
    return put_in_order(encode_texts(encoder, enumerate(prefix + text for text in TEXTS)))


def put_in_order(batches: Any) -> np.ndarray:
    found = {key: row for batch in batches for key, row in zip(batch.keys, batch.vectors, strict=True)}
    return np.stack([found[number] for number in range(len(TEXTS))])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's compiler, by itself
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("precision", get_args(Precision))
def test_vectors_of_cuda_are_those_of_a_cpu(precision: Precision, is_compiled: bool, toy: Path) -> None:
    expected = encode(load_encoder(resolve_model(toy), "fp32", "cpu"))
    encoder = load_encoder(resolve_model(toy), precision, "cuda")
    if is_compiled:
        encoder.compile()
    np.testing.assert_allclose(encode(encoder), expected, atol=WITHIN[precision])


def test_two_processes_on_one_cuda_device_give_the_vectors_of_one(toy: Path) -> None:
    expected = encode(load_encoder(resolve_model(toy), "fp16", "cuda"))
    processes: EncoderProcesses[int] = EncoderProcesses(resolve_model(toy), CUDA * 2, {"precision": "fp16"})
    with processes:
        found = put_in_order(processes.encode(enumerate(TEXTS)))
    np.testing.assert_allclose(found, expected, atol=WITHIN["fp16"])


@pytest.mark.parametrize("distance", get_args(Distance))
@pytest.mark.parametrize("first_pass", ["auto", "tf32", "fp32", "bf16", "fp16"])
def test_rankings_of_cuda_are_those_of_a_cpu(distance: Distance, first_pass: Any) -> None:
    random = np.random.default_rng(3)
    documents = random.normal(size=(5_000, 48)).astype(np.float32)
    documents[100:200] = documents[:100]  # ties
    queries = documents[50:120] + 0.1
    expected = search_exact(queries, documents, 50, distance, method="float64")
    found = search_exact(queries, documents, 50, distance, device="cuda", method=first_pass)
    for here, there in zip(expected, found, strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("precision", get_args(Precision))
@pytest.mark.parametrize("method", METHODS)
def test_a_killed_training_on_cuda_ends_as_an_undisturbed_one(
    method: Method, precision: Precision, base: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, method=method, precision=precision, epochs=2, checkpoint_steps=2, patience=5)
    whole = train(base, tmp_path / "a" / "whole", settings, devices=CUDA)
    with pytest.raises(KilledError):
        train(base, tmp_path / "b" / "whole", settings, devices=CUDA, on_step=kill_at(3))
    resumed = train(base, tmp_path / "b" / "whole", settings, devices=CUDA)
    assert resumed.losses == whole.losses
    for path in sorted((tmp_path / "a").rglob("*.safetensors")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
    preset = find_preset(str(tmp_path / "a" / "whole"))
    source = resolve_model((preset.members if preset else {}).get("PRX", str(tmp_path / "a" / "whole")))
    prefix = (preset.prefixes if preset else {}).get("PRX", "")
    there, here = (encode(load_encoder(source, "fp32", device), prefix) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(there, here, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("precision", get_args(Precision))
@pytest.mark.parametrize("method", METHODS)
def test_gradients_on_cuda_are_those_of_a_cpu(
    method: Method,
    precision: Precision,
    packs: bool,
    base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = base
    if method == "fusion":
        of = tmp_path / "adapted"
        train(base, of, replace(FAST, method="adapters", epochs=1))
    settings = replace(FAST, method=method, precision=precision)
    torch.manual_seed(1)
    model = MultiFormatModel(find_base(of, method, list_codes(make_tasks())), settings, make_tasks()).eval()
    tokens = [model.put_code(row, "PRX") for row in model.encode_texts(TEXTS[:5])]
    if not packs:
        monkeypatch.setattr(methods, "can_run_packed", lambda *_: False)
    elif precision != "fp32":
        assert model.can_run_packed("cuda:0")
    found, off = [], {"fp32": 1e-3, "bf16": 0.1, "fp16": 0.02}[precision]
    for device in ("cpu", "cuda:0"):
        model.zero_grad()
        kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
        on_cuda = device != "cpu" and precision != "fp32"
        with torch.autocast("cuda", kinds.get(precision, torch.float16), enabled=on_cuda):
            vectors = model.to(device).embed(tokens, "PRX", device)
        (vectors**3).sum().backward()  # type: ignore[no-untyped-call]
        found.append(
            {name: value.grad.cpu() for name, value in model.list_trained().items() if value.grad is not None}
            | {"vectors": vectors.detach().cpu()}
        )
    assert found[0].keys() == found[1].keys()
    assert (found[1]["vectors"] - found[0]["vectors"]).norm() < off * found[0]["vectors"].norm()
    # All together: some gradients, such as those of keys' biases, are nothing but rounding.
    here, there = (torch.cat([one[name].flatten() for name in found[0]]) for one in found)
    assert (there - here).norm() < off * here.norm()
