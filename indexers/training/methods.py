"""The model that is trained: a base with what its method adds for each format, and a linear head a task."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_fusion import FusedBottlenecks
from pinakes.indexers.encoder.encoder import pad_tokens
from pinakes.indexers.encoder.model_settings import prepare_text
from pinakes.indexers.training.additions import Switch, add_parts, start_linear
from pinakes.indexers.training.bases import Base
from pinakes.indexers.training.packed import can_run_packed, run_packed
from pinakes.indexers.training.settings import TrainingSettings
from pinakes.indexers.training.tasks import TrainingTask, list_codes

START: Final = 0
"""where `[CLS]` stands; a control code stands behind it"""

_PENALTY: Final = 0.01
"""of the squared distance of a fusion's value matrix from the identity"""


class MultiFormatModel(nn.Module):
    """Vectors of texts by format, and what the heads make of them.

    Attributes:
        base: the transformer, with the tokens or adapters of the method in it.
        tokenizer: the base's, with the codes as special tokens where the method is `ctrl`.
        heads: a linear layer for each task of classes, labels or numbers.
        codes: the codes of the formats that are trained, in the order of `CODES`.
    """

    def __init__(self, base: Base, settings: TrainingSettings, tasks: Sequence[TrainingTask]) -> None:
        """Raises `IndexingError` for a base that cannot be loaded or does not fit the method."""
        super().__init__()
        self.base: Any
        self.base, self.tokenizer = load_base(base.transformer)
        self.settings = settings
        self.codes = list_codes(tasks)
        add_parts(self.base, self.tokenizer, self.codes, settings, base.adapters)
        width = int(self.base.config.hidden_size)
        self.heads = nn.ModuleDict(
            {
                _name_head(task): nn.Linear(width, max(len(task.classes), 1))
                for task in tasks
                if task.objective != "triplets"
            }
        )
        for head in self.heads.values():
            start_linear(head)  # type: ignore[arg-type]

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

    def can_run_packed(self, device: str) -> bool:
        """Whether texts go through the model without padding there."""
        return can_run_packed(self.base, device, self.settings.precision)

    def embed(self, tokens: Sequence[Sequence[int]], code: str, device: str) -> Tensor:
        """The vectors (n, d) of texts of one format, from their token ids with the code."""
        for module in self.base.modules():
            if isinstance(module, Switch):
                module.chosen = code
        place = START + 1 if self.settings.method == "ctrl" else START
        if self.can_run_packed(device):
            return run_packed(self.base, tokens, place, self.settings.recompute, device).float()
        ids, mask = pad_tokens(tokens, self.tokenizer.pad_token_id or 0)
        states = self.base(input_ids=ids.to(device), attention_mask=mask.long().to(device)).last_hidden_state
        vectors: Tensor = states[:, place]
        return vectors.float()

    def answer(self, task: TrainingTask, vectors: Tensor) -> Tensor:
        """What the loss compares: logits or numbers of vectors (n, d); of triplets the vectors (n, 3, d)."""
        if task.objective == "triplets":
            return vectors
        answers: Tensor = self.heads[_name_head(task)](vectors)
        return answers

    def list_trained(self, task: TrainingTask | None = None) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name; of a task those that its losses depend on."""
        others = set() if task is None else {id(value) for value in self._list_others(task)}
        return {
            name: value
            for name, value in self.named_parameters()
            if value.requires_grad and id(value) not in others
        }

    def _list_others(self, task: TrainingTask) -> Iterator[nn.Parameter]:
        """The parameters that other formats have for themselves, and those of other tasks' heads."""
        switches = [module.parts for module in self.modules() if isinstance(module, Switch)]
        for own, parts in (((_name_head(task),), self.heads), *((task.codes(), one) for one in switches)):
            for name, part in parts.items():
                if name not in own:
                    yield from part.parameters()

    def compute_penalty(self) -> Tensor | None:
        """What keeps the values of fusions near the identity, as the library `adapters` has it; else None."""
        fusions = [module for module in self.modules() if isinstance(module, FusedBottlenecks)]
        if not fusions:
            return None
        same = torch.eye(fusions[0].value.out_features, device=fusions[0].value.weight.device)
        terms = [_PENALTY * (same - one.value.weight).pow(2).sum() for one in fusions]
        return torch.stack(terms).sum()


def load_base(path: Path) -> tuple[nn.Module, Any]:
    """The transformer of a folder with its own files, in fp32, and its tokenizer.

    Raises:
        IndexingError: the folder holds no such model in safetensors, or its tokenizer begins a text with no
            `[CLS]`, whose state would be the vector.
    """
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


def _name_head(task: TrainingTask) -> str:
    return task.name.replace(".", "_")  # a module's name has no dot
