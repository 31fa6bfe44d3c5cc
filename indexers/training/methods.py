"""The model that is trained: a base with what its method adds for each format, and a linear head a task."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_settings import AdapterSettings
from pinakes.indexers.encoder.adapters import Bottleneck
from pinakes.indexers.encoder.model_settings import prepare_text, read_model_settings
from pinakes.indexers.training.settings import Method, TrainingSettings
from pinakes.indexers.training.tasks import CODES, TrainingTask

START: Final = 0
"""where `[CLS]` stands; a control code stands behind it"""
_START_STD: Final = 0.02


class MultiFormatModel(nn.Module):
    """Vectors of texts by format, and what the heads make of them.

    Attributes:
        base: the transformer, with the tokens or adapters of the method in it.
        tokenizer: the base's, with the codes as special tokens where the method is `ctrl`.
        heads: a linear layer for each task of classes, labels or numbers.
        codes: the codes of the formats that are trained, in the order of `CODES`.
    """

    def __init__(
        self, base: nn.Module, tokenizer: Any, settings: TrainingSettings, tasks: Sequence[TrainingTask]
    ) -> None:
        super().__init__()
        self.base: Any = base
        self.tokenizer = tokenizer
        self.settings = settings
        self.codes = tuple(code for code in CODES if any(code in task.codes() for task in tasks))
        _PREPARE[settings.method](self)
        width = int(base.config.hidden_size)  # type: ignore[union-attr, arg-type]
        self.heads = nn.ModuleDict(
            {
                _name_head(task): nn.Linear(width, max(len(task.classes), 1))
                for task in tasks
                if task.objective != "triplets"
            }
        )
        for head in self.heads.values():
            _start(head)

    def encode_texts(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of texts, special tokens included, cut so that a code fits between them."""
        added = 1 if self.settings.method == "ctrl" else 0
        prepared = [prepare_text(text, self.tokenizer.sep_token) for text in texts]
        found: list[list[int]] = self.tokenizer(
            prepared,
            truncation=True,
            max_length=self.settings.max_tokens - added,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        return found

    def put_code(self, tokens: list[int], code: str) -> list[int]:
        """The token ids of a text behind its format's code; as they are where the method has no codes."""
        if self.settings.method != "ctrl":
            return tokens
        return [tokens[0], self.tokenizer.convert_tokens_to_ids(f"[{code}]"), *tokens[1:]]

    def embed(self, ids: Tensor, mask: Tensor, code: str) -> Tensor:
        """The vectors (n, d) of texts of one format; `ids` and `mask` are (n, tokens)."""
        for module in self.base.modules():
            if isinstance(module, SwitchedOutput):
                module.chosen = code
        states = self.base(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        vectors: Tensor = states[:, START + 1 if self.settings.method == "ctrl" else START]
        return vectors.float()

    def answer(self, task: TrainingTask, vectors: Tensor) -> Tensor:
        """What the loss compares: logits or numbers of vectors (n, d); of triplets the vectors (n, 3, d)."""
        if task.objective == "triplets":
            return vectors
        answers: Tensor = self.heads[_name_head(task)](vectors)
        return answers

    def list_trained(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: value for name, value in self.named_parameters() if value.requires_grad}


class SwitchedOutput(nn.Module):
    """A BERT layer's `output` with one bottleneck a format, of which the chosen one is computed."""

    def __init__(self, output: Any, bottlenecks: Mapping[str, Bottleneck]) -> None:
        super().__init__()
        self.dense, self.dropout, self.LayerNorm = output.dense, output.dropout, output.LayerNorm
        self._replaced = (output,)  # in a tuple, so that its parameters are not named twice
        self.bottlenecks = nn.ModuleDict(bottlenecks)
        self.chosen = next(iter(bottlenecks))

    def forward(self, hidden_states: Tensor, input_tensor: Tensor) -> Tensor:
        """The states (…, width); the names are those that the transformer calls it with."""
        hidden = self.dropout(self.dense(hidden_states))
        found: Tensor = self.bottlenecks[self.chosen](hidden, input_tensor, self.LayerNorm)
        return found

    def restore(self) -> Any:
        """The output that this one replaced, as the base has it."""
        return self._replaced[0]


def load_base(folder: Path) -> tuple[nn.Module, Any]:
    """The transformer of a folder, in fp32, and its tokenizer.

    Raises:
        IndexingError: the folder holds no such model in safetensors, or its tokenizer begins a text with no
            `[CLS]`, whose state would be the vector.
    """
    path = read_model_settings(folder).transformer
    with hide_bars():
        model, tokenizer = _read_base(path)
    tokens = tokenizer("a")["input_ids"]
    if tokenizer.cls_token_id is None or tokens[START] != tokenizer.cls_token_id:
        raise IndexingError(
            f"the tokenizer in {path} begins no text with [CLS]; expected one that does, since that token's "
            "state is the vector. Choose another base"
        )
    return model, tokenizer


@contextmanager
def hide_bars() -> Iterator[None]:
    """Keep transformers' own progress bars from showing."""
    from transformers.utils import logging

    showed = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if showed:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _read_base(path: Path) -> tuple[nn.Module, Any]:
    from transformers import AutoModel, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            path, dtype=torch.float32, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except (OSError, ValueError, ImportError) as error:
        raise IndexingError(
            f"the base in {path} cannot be loaded ({error}); expected a transformer with its tokenizer and "
            "safetensors weights. Save or download it again"
        ) from error
    return model, tokenizer


def _prepare_cls(model: MultiFormatModel) -> None:
    """Nothing is added."""


def _prepare_codes(model: MultiFormatModel) -> None:
    """The codes become special tokens, with random embeddings as far apart as the base's own."""
    names = [f"[{code}]" for code in CODES]
    known = [name for name in names if name in model.tokenizer.get_vocab()]
    if known:
        raise IndexingError(
            f"the base's vocabulary has {', '.join(known)} already; expected none of the codes, since they "
            "would not be new. Train from the model that it was made from"
        )
    model.tokenizer.add_special_tokens({"additional_special_tokens": names})
    rows = model.base.get_input_embeddings().weight
    spread = rows.detach().std()
    held = len(rows)
    model.base.resize_token_embeddings(max(len(model.tokenizer), held), mean_resizing=False)
    weight = model.base.get_input_embeddings().weight
    with torch.no_grad():
        for name in names:
            nn.init.normal_(weight[model.tokenizer.convert_tokens_to_ids(name)], std=float(spread))


def _prepare_adapters(model: MultiFormatModel) -> None:
    """The base is frozen; behind each layer's feed-forward part stands a bottleneck for each format."""
    config = model.base.config
    if config.model_type != "bert":
        raise IndexingError(
            f"the base is a {config.model_type}; expected a BERT, the only kind that adapters are put into "
            "here. Train with the method ctrl"
        )
    for value in model.base.parameters():
        value.requires_grad_(False)
    for layer in model.base.encoder.layer:
        layer.output = SwitchedOutput(
            layer.output,
            {code: make_bottleneck(code, config.hidden_size, model.settings) for code in model.codes},
        )


_PREPARE: Final[dict[Method, Callable[[MultiFormatModel], None]]] = {
    "cls": _prepare_cls,
    "ctrl": _prepare_codes,
    "adapters": _prepare_adapters,
}


def describe_adapter(code: str, width: int, settings: TrainingSettings) -> AdapterSettings:
    """The settings of a format's adapter: those of Pfeiffer et al. 2020, as SPECTER2's are."""
    return AdapterSettings(
        name=code,
        hidden_size=width,
        model_type="bert",
        mh_adapter=False,
        output_adapter=True,
        reduction_factor=settings.reduction_factor,
        non_linearity="relu",
        original_ln_before=True,
    )


def make_bottleneck(code: str, width: int, settings: TrainingSettings) -> Bottleneck:
    """An adapter as training begins: small weights, no biases, so that it changes little."""
    described = describe_adapter(code, width, settings)
    narrow = described.reduce(0, width)
    down, up = torch.randn(narrow, width) * _START_STD, torch.randn(width, narrow) * _START_STD
    return Bottleneck(
        described,
        {
            "adapter_down.0.weight": down,
            "adapter_down.0.bias": torch.zeros(narrow),
            "adapter_up.weight": up,
            "adapter_up.bias": torch.zeros(width),
        },
    )


def _name_head(task: TrainingTask) -> str:
    return task.name.replace(".", "_")  # a module's name has no dot


def _start(head: nn.Module) -> None:
    nn.init.normal_(head.weight, std=_START_STD)  # type: ignore[arg-type]
    nn.init.zeros_(head.bias)  # type: ignore[arg-type]
