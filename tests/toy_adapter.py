"""An adapter as the library `adapters` saves it, with random weights, for the toy encoder's two layers."""

from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file

from tests.toy_encoder import DIMENSIONS, write_json

PFEIFFER: Final[dict[str, Any]] = {
    "adapter_residual_before_ln": False,
    "cross_adapter": False,
    "dropout": 0.0,
    "factorized_phm_W": True,
    "factorized_phm_rule": False,
    "hypercomplex_nonlinearity": "glorot-uniform",
    "init_weights": "bert",
    "init_weights_seed": None,
    "inv_adapter": None,
    "inv_adapter_reduction_factor": None,
    "is_parallel": False,
    "learn_phm": True,
    "leave_out": [],
    "ln_after": False,
    "ln_before": False,
    "mh_adapter": False,
    "non_linearity": "relu",
    "original_ln_after": True,
    "original_ln_before": True,
    "output_adapter": True,
    "phm_bias": True,
    "phm_c_init": "normal",
    "phm_dim": 4,
    "phm_init_range": 0.0001,
    "phm_layer": False,
    "phm_rank": 1,
    "reduction_factor": 4,
    "residual_before_ln": True,
    "scaling": 1.0,
    "shared_W_phm": False,
    "shared_phm_rule": True,
    "stochastic_depth": 0.0,
    "use_gating": False,
}
"""the configuration that the library writes for adapters as SPECTER2's; here the factor is 4"""
HOULSBY: Final[dict[str, Any]] = {
    **PFEIFFER,
    "mh_adapter": True,
    "original_ln_before": False,
    "non_linearity": "swish",
}


def build_toy_adapter(
    folder: Path, name: str = "[PRX]", config: dict[str, Any] = PFEIFFER, seed: int = 3, layers: int = 2
) -> Path:
    """Save the adapter's configuration and weights in `folder` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "config": config,
        "config_id": "0123456789abcdef",
        "hidden_size": DIMENSIONS,
        "model_class": "BertAdapterModel",
        "model_name": "toy",
        "model_type": "bert",
        "name": name,
        "version": "adapters.1.2.0",
    }
    write_json(folder / "adapter_config.json", described)
    generator = torch.Generator().manual_seed(seed)
    weights = {
        f"bert.encoder.layer.{layer}.{place}.adapters.{name}.{part}": torch.randn(shape, generator=generator)
        / 4
        for layer in range(layers)
        for place in _list_places(config)
        for part, shape in _list_shapes(config).items()
    }
    if config["ln_before"]:
        # The library saves this norm a second time, as the first step down.
        for key in [key for key in weights if "adapter_norm_before" in key]:
            weights[key.replace("adapter_norm_before", "adapter_down.0")] = weights[key].clone()
    save_file(weights, folder / "adapter.safetensors")
    return folder


def _list_places(config: dict[str, Any]) -> list[str]:
    flags = {"attention.output": "mh_adapter", "output": "output_adapter"}
    return [place for place, flag in flags.items() if config[flag]]


def _list_shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    narrow, first = DIMENSIONS // config["reduction_factor"], 1 if config["ln_before"] else 0
    shapes: dict[str, tuple[int, ...]] = {
        f"adapter_down.{first}.weight": (narrow, DIMENSIONS),
        f"adapter_down.{first}.bias": (narrow,),
        "adapter_up.weight": (DIMENSIONS, narrow),
        "adapter_up.bias": (DIMENSIONS,),
    }
    for flag in ("ln_before", "ln_after"):
        if config[flag]:
            norm = flag.replace("ln", "adapter_norm")
            shapes |= {f"{norm}.weight": (DIMENSIONS,), f"{norm}.bias": (DIMENSIONS,)}
    if config["scaling"] in ("learned", "channel"):
        shapes["scaling"] = (1,) if config["scaling"] == "learned" else (DIMENSIONS,)
    return shapes
