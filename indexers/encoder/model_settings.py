"""How a model's folder says its vectors are made: pooling, normalisation, length; torch-free.

Reads the files of the sentence-transformers layout (`modules.json`, `1_Pooling/config.json`,
`sentence_bert_config.json`) where they are.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pinakes.errors import IndexingError

Pooling = Literal["cls", "mean", "max", "layers_mean", "layers_cls", "control_code"]
"""How the states of a text's tokens, special tokens included and padding not, become one vector.

`cls`, `mean` and `max` read the last layer: the first token's state, the mean and the maximum over tokens.
`control_code` reads the second token's state in the last layer, the one behind `[CLS]`: a text then begins
with a code such as `[PRX]`, which has to be one token of the tokenizer's (SciRepEval, section 4.1).
`layers_cls` and `layers_mean` read all L + 1 hidden states, the embedding layer's output first and the last
layer's last, each with the same weight 1 / (L + 1): the first token's state, or the mean over tokens,
averaged over the L + 1. That is ASPIRE's scalar mix over 13 states of BERT-base with its weights as they
start (equal), because the trained ones are no part of the published checkpoints.
"""

SEPARATOR = "[SEP]"
"""what a text template writes between two parts, whatever the model's own separator is"""

POOLING_FLAGS: dict[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a folder says about its model.

    Attributes:
        transformer: the folder of the transformer's own files.
        pooling: how the token vectors become one; without a word of the folder `cls`, because scholarly
            encoders that are published bare (SPECTER, SciNCL) were trained on the first token.
        normalize: whether vectors are brought to length 1.
        max_tokens: the length that the folder asks for, special tokens included; None: it does not say.
        lower_case: whether texts are lower-cased before they are tokenised.
    """

    transformer: Path
    pooling: Pooling = "cls"
    normalize: bool = False
    max_tokens: int | None = None
    lower_case: bool = False


def read_model_settings(folder: Path) -> ModelSettings:
    """The settings that the folder's files give; the defaults where there is no `modules.json`."""
    modules_file = folder / "modules.json"
    if not modules_file.is_file():
        return ModelSettings(transformer=folder)
    # The class path before the last dot changed between versions of the layout.
    modules = [(module["type"].rpartition(".")[2], module["path"]) for module in read_json(modules_file)]
    paths = dict(modules)
    kinds = [kind for kind, _ in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise IndexingError(
            f"{modules_file} lists the modules {', '.join(kinds)}; expected Transformer, Pooling and at most "
            "Normalize. Encode with the model's own code and import the vectors"
        )
    transformer = folder / paths["Transformer"]
    length_file = transformer / "sentence_bert_config.json"
    length = read_json(length_file) if length_file.is_file() else {}
    return ModelSettings(
        transformer=transformer,
        pooling=_read_pooling(folder / paths["Pooling"] / "config.json"),
        normalize="Normalize" in kinds,
        max_tokens=length.get("max_seq_length"),
        lower_case=bool(length.get("do_lower_case", False)),
    )


def prepare_text(text: str, separator: str | None, lower_case: bool = False) -> str:
    """The text as the model's tokenizer reads it: `[SEP]` as the separator that the tokenizer has.

    A template says `[SEP]` for every model, so that the text and its digest are those of the SQL. A
    tokenizer without a separator reads a space instead. Lower-casing leaves separators as they are.

    >>> prepare_text("Title[SEP]Abstract", "</s>"), prepare_text("Title[SEP]Abstract", None)
    ('Title</s>Abstract', 'Title Abstract')
    >>> prepare_text("Title[SEP]Abstract", "[SEP]", lower_case=True)
    'title[SEP]abstract'
    """
    parts = (part.lower() if lower_case else part for part in text.split(SEPARATOR))
    return (separator or " ").join(parts)


def read_json(path: Path) -> Any:
    """The content of a JSON file; `IndexingError` where there is none that can be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IndexingError(
            f"{path} is not a readable JSON file ({error}); the model's folder is incomplete, save or "
            "download it again"
        ) from error


def _read_pooling(path: Path) -> Pooling:
    config = read_json(path)
    named = config.get("pooling_mode")
    requested = (
        [named]
        if isinstance(named, str)
        else [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    )
    modes: list[Any] = [POOLING_FLAGS.get(mode, mode) for mode in requested]
    if len(modes) == 1 and modes[0] in get_args(Pooling):
        pooling: Pooling = modes[0]
        return pooling
    raise IndexingError(
        f"{path} asks for the pooling {', '.join(map(str, modes)) or 'none'}; expected one of "
        f"{', '.join(get_args(Pooling))}. Name the pooling yourself, or import vectors made elsewhere"
    )
