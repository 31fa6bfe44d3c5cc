"""Loads an encoder from a folder: its weights, its tokenizer and what the folder says about both.

Weights are read from safetensors alone, and code of the model's author never runs.
"""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_source import AdapterSource
from pinakes.indexers.encoder.attached import attach_parts
from pinakes.indexers.encoder.encoder import WEIGHT_TYPES, Encoder
from pinakes.indexers.encoder.kept_models import LoadedModel, describe_folder, find_kept, keep_model
from pinakes.indexers.encoder.model_settings import ModelSettings, Pooling, read_model_settings
from pinakes.indexers.encoder.precision import choose_precision, read_cpu_info
from pinakes.indexers.encoder.presets import ADAPTED, ModelSource
from pinakes.indexers.names import Precision, PrecisionChoice

INTEL = "GenuineIntel"
UNKNOWN_LENGTH = 512
UNLIMITED = 1_000_000  # tokenizers without a limit say 10^30


def load_encoder(
    source: ModelSource,
    precision: PrecisionChoice = "auto",
    device: str = "cpu",
    max_tokens: int | None = None,
    pooling: Pooling | None = None,
    normalize: bool | None = None,
    *,
    for_texts: bool = False,
) -> Encoder:
    """The model in `source`, ready to encode; what is None is as its preset says, or else as the folder says.

    `auto` is bf16 where the device multiplies it faster than fp32 (a CUDA device that has it, a CPU with
    AMX or AVX-512 bf16), else fp32. Raises `IndexingError` for a model that cannot be used as it is.
    `for_texts`: the encoder is asked for the vectors of whole texts alone; a folder that was loaded so before
    and did not change is then loaded without transformers (`kept_models`), and gives the same vectors.

    On one processor of Intel's, vectors are the same to the bit at any number of threads.
    """
    _fix_order_of_sums()
    settings = _read_settings(source)
    chosen = choose_precision(device) if precision == "auto" else precision
    # What is kept of a tokenizer knows no tokens by name, as control codes are asked for.
    is_plain = source.adapter is None and (pooling or settings.pooling) != "control_code"
    read = _read_kept if for_texts and is_plain else _read_whole
    loaded = read(settings, source.adapter, chosen, device)
    model, tokenizer = loaded.model, loaded.tokenizer
    return Encoder(
        name=source.name,
        **_identify(source, loaded.digest),
        dimensions=int(model.config.hidden_size),
        pooling=pooling or settings.pooling,
        normalize=settings.normalize if normalize is None else normalize,
        max_tokens=_choose_length(source, settings, model.config, tokenizer, max_tokens),
        lower_case=settings.lower_case,
        precision=chosen,
        device=device,
        model=model,
        tokenizer=tokenizer,
    )


def _fix_order_of_sums() -> None:
    # MKL, which multiplies fp32 matrices for torch, else adds up in an order that depends on the number of
    # threads. It reads this once, before its first product; other makers' processors have no such mode.
    if INTEL in read_cpu_info():
        os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


def _read_settings(source: ModelSource) -> ModelSettings:
    """What the folder says, where the preset says nothing else."""
    settings = read_model_settings(source.folder)
    known = source.preset
    if known is None:
        return settings
    return replace(
        settings,
        pooling=known.pooling or settings.pooling,
        normalize=settings.normalize if known.normalize is None else known.normalize,
        max_tokens=known.max_tokens or settings.max_tokens,
    )


def _identify(source: ModelSource, digest: str) -> dict[str, str]:
    """origin, revision and digest of the weights, those of an adapter included."""
    adapter = source.adapter
    if adapter is None:
        return {"origin": source.origin, "revision": source.revision or digest, "digest": digest}
    adapted = adapter.digest()
    return {
        "origin": f"{source.origin}{ADAPTED}{adapter.origin}",
        "revision": f"{source.revision or digest}{ADAPTED}{adapter.revision or adapted}",
        "digest": hashlib.sha256(f"{digest}{ADAPTED}{adapted}".encode()).hexdigest(),
    }


def digest_weights(folder: Path) -> str:
    """The sha256, in hex, of the folder's safetensors files in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _read_kept(
    settings: ModelSettings, adapter: AdapterSource | None, precision: Precision, device: str
) -> LoadedModel:
    """A model without an adapter; kept for the next process where that can be."""
    folder = settings.transformer
    state = describe_folder(folder) | {"precision": precision}
    found = find_kept(state, folder, WEIGHT_TYPES[precision], device)
    if found is None:
        found = _read_whole(settings, adapter, precision, device)
        if describe_folder(folder).items() <= state.items():  # else it is of another state
            keep_model(state, folder, found)
    return found


def _read_whole(
    settings: ModelSettings, adapter: AdapterSource | None, precision: Precision, device: str
) -> LoadedModel:
    digest = digest_weights(settings.transformer)
    return LoadedModel(*_read_model(settings, adapter, precision, device), digest)


def _read_model(
    settings: ModelSettings, adapter: AdapterSource | None, precision: Precision, device: str
) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    folder = settings.transformer
    showed_progress = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model, report = AutoModel.from_pretrained(
            folder,
            dtype=WEIGHT_TYPES[precision],
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        raise IndexingError(
            f"the model in {folder} cannot be loaded ({error}); expected a transformer with its tokenizer "
            "and safetensors weights that needs no code of its own"
        ) from error
    finally:
        if showed_progress:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    _require_usable(folder, model, report["missing_keys"])
    if adapter is not None:
        attach_parts(model, adapter.folder)
    return model.eval().to(device), tokenizer


def _require_usable(folder: Path, model: Any, missing_weights: set[str]) -> None:
    missing = sorted(name for name in missing_weights if not name.startswith("pooler."))
    if missing:
        raise IndexingError(
            f"the weights in {folder} lack {len(missing)} of the model's tensors "
            f"({', '.join(missing[:3])}, …), which would be random; expected all but the pooler's. Save or "
            "download the model again"
        )
    if model.config.is_encoder_decoder:
        raise IndexingError(
            f"the model in {folder} is an encoder-decoder ({model.config.model_type}); expected an encoder. "
            "Save its encoder alone, or import vectors made elsewhere"
        )


def _choose_length(
    source: ModelSource, settings: ModelSettings, config: Any, tokenizer: Any, requested: int | None
) -> int:
    limits = [limit for limit in (_position_limit(config), tokenizer.model_max_length) if limit < UNLIMITED]
    limit = min(limits, default=UNLIMITED)
    if requested is None:
        return min(settings.max_tokens or min(limit, UNKNOWN_LENGTH), limit)
    special = int(tokenizer.num_special_tokens_to_add())
    if not special < requested <= limit:
        raise IndexingError(
            f"max_tokens is {requested}; expected {special + 1} to {limit}, the special tokens and the "
            f"positions that {source.name} has. Give a length between them, or none"
        )
    return requested


def _position_limit(config: Any) -> int:
    positions = int(getattr(config, "max_position_embeddings", UNLIMITED))
    # RoBERTa and its kin count positions from behind the padding token's id.
    offset = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0
    return positions - offset
