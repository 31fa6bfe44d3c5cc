"""What each method adds to a base for its formats: codes, adapters, fusions, projected attention layers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_fusion import FusedBottlenecks, stack_bottlenecks
from pinakes.indexers.encoder.adapter_settings import AdapterSettings
from pinakes.indexers.encoder.adapters import Bottleneck
from pinakes.indexers.encoder.pals import Attend, Pal, PalLayer, PalSettings, make_pals
from pinakes.indexers.training.settings import PAL_HEADS, Method, TrainingSettings
from pinakes.indexers.training.tasks import CODES

START_STD: Final = 0.02
"""of new weights, as BERT's own began"""


_OFF_DIAGONAL: Final = 1e-6
Adapters = Mapping[str, Path]


class Switch(nn.Module):
    """Something for each format, of which the chosen one is computed.

    Attributes:
        parts: what each format has here, by code.
    """

    parts: nn.ModuleDict
    chosen: str


class SwitchedOutput(Switch):
    """A BERT layer's `output` with one bottleneck, or one fusion, a format."""

    def __init__(self, output: Any, bottlenecks: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.dense, self.dropout, self.LayerNorm = output.dense, output.dropout, output.LayerNorm
        self._replaced = (output,)  # in a tuple, so that its parameters are not named twice
        self.parts = nn.ModuleDict(bottlenecks)
        self.chosen = next(iter(bottlenecks))

    def forward(self, hidden_states: Tensor, input_tensor: Tensor) -> Tensor:
        """The states (…, width); the names are those that the transformer calls it with."""
        hidden = self.dropout(self.dense(hidden_states))
        found: Tensor = self.parts[self.chosen](hidden, input_tensor, self.LayerNorm)
        return found

    def restore(self) -> Any:
        """The output that this one replaced, as the base has it."""
        return self._replaced[0]


class SwitchedPal(Switch):
    """The PALs of one layer, one a format."""

    def __init__(self, pals: Mapping[str, Pal]) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(pals)
        self.chosen = next(iter(pals))

    def forward(self, hidden: Tensor, attend: Attend) -> Tensor:
        """As the chosen PAL."""
        found: Tensor = self.parts[self.chosen](hidden, attend)
        return found


def add_parts(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """Put what the method needs into the base, and freeze what it does not train.

    `adapters` are the folders of those that a fusion is of, by code.

    Raises:
        IndexingError: the base does not fit the method.
    """
    _ADD[settings.method](base, tokenizer, codes, settings, adapters)


def _add_nothing(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """`cls`: the base as it is."""


def _add_codes(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """All codes become special tokens, with random embeddings as far apart as the base's own."""
    names = [f"[{code}]" for code in CODES]
    known = [name for name in names if name in tokenizer.get_vocab()]
    if known:
        raise IndexingError(
            f"the base's vocabulary has {', '.join(known)} already; expected none of the codes, since they "
            "would not be new. Train from the model that it was made from"
        )
    tokenizer.add_special_tokens({"additional_special_tokens": names})
    rows = base.get_input_embeddings().weight
    spread = rows.detach().std()
    held = len(rows)
    base.resize_token_embeddings(max(len(tokenizer), held), mean_resizing=False)
    weight = base.get_input_embeddings().weight
    with torch.no_grad():
        for name in names:
            nn.init.normal_(weight[tokenizer.convert_tokens_to_ids(name)], std=float(spread))


def _add_adapters(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """The base is frozen; behind each layer's feed-forward part stands a bottleneck for each format."""
    _require_bert(base, "adapters")
    base.requires_grad_(False)
    width = int(base.config.hidden_size)
    for layer in base.encoder.layer:
        layer.output = SwitchedOutput(
            layer.output, {code: make_bottleneck(code, width, settings) for code in codes}
        )


def _add_pals(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """Beside each layer stands a PAL for each format; everything is trained."""
    _require_bert(base, "projected attention layers")
    pals = {code: make_pals(describe_pals(code, base.config, settings)) for code in codes}
    for of_format in pals.values():
        for pal in of_format:
            for linear in (pal.down, pal.up, pal.query_key_value):
                start_linear(linear)
    layers = base.encoder.layer
    for number in range(len(layers)):
        switched = SwitchedPal({code: of_format[number] for code, of_format in pals.items()})
        layers[number] = PalLayer(layers[number], switched)


def _add_fusions(
    base: Any, tokenizer: Any, codes: Sequence[str], settings: TrainingSettings, adapters: Adapters
) -> None:
    """Base and adapters are frozen; behind each feed-forward part each format attends to all adapters."""
    _require_bert(base, "adapters")
    base.requires_grad_(False)
    width, dropout = int(base.config.hidden_size), float(base.config.attention_probs_dropout_prob)
    for layer, bottlenecks in zip(base.encoder.layer, stack_bottlenecks(base, adapters), strict=True):
        for bottleneck in bottlenecks.values():
            bottleneck.requires_grad_(False)
        layer.output = SwitchedOutput(
            layer.output,
            {
                code: _start_fusion(
                    [bottlenecks[name] for name in order_fused(code, adapters)], width, dropout
                )
                for code in codes
            },
        )


def order_fused(code: str, adapters: Iterable[str]) -> list[str]:
    """The adapters of a format's fusion: its own first, as SciRepEval has it."""
    return [code, *(name for name in adapters if name != code)]


def _start_fusion(bottlenecks: Sequence[Bottleneck], width: int, dropout: float) -> FusedBottlenecks:
    """A fusion as the library `adapters` begins it: small queries and keys, values near the identity."""
    fusion = FusedBottlenecks(bottlenecks, width, dropout)
    for linear in (fusion.query, fusion.key):
        start_linear(linear)
    with torch.no_grad():
        fusion.value.weight.fill_(_OFF_DIAGONAL).fill_diagonal_(1.0)
    return fusion


def _require_bert(base: Any, what: str) -> None:
    if base.config.model_type != "bert":
        raise IndexingError(
            f"the base is a {base.config.model_type}; expected a BERT, the only kind that {what} are put "
            "into here. Train with the method ctrl"
        )


_ADD: Final[dict[Method, Callable[[Any, Any, Sequence[str], TrainingSettings, Adapters], None]]] = {
    "cls": _add_nothing,
    "ctrl": _add_codes,
    "adapters": _add_adapters,
    "pals": _add_pals,
    "fusion": _add_fusions,
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


def describe_pals(code: str, config: Any, settings: TrainingSettings) -> PalSettings:
    """The settings of a format's PALs in a base of that configuration."""
    shape = (int(config.hidden_size), int(config.num_hidden_layers))
    return PalSettings(code, *shape, width=settings.pal_width, heads=PAL_HEADS)


def make_bottleneck(code: str, width: int, settings: TrainingSettings) -> Bottleneck:
    """An adapter as training begins: small weights, no biases, so that it changes little."""
    described = describe_adapter(code, width, settings)
    narrow = described.reduce(0, width)
    down, up = torch.randn(narrow, width) * START_STD, torch.randn(width, narrow) * START_STD
    return Bottleneck(
        described,
        {
            "adapter_down.0.weight": down,
            "adapter_down.0.bias": torch.zeros(narrow),
            "adapter_up.weight": up,
            "adapter_up.bias": torch.zeros(width),
        },
    )


def start_linear(linear: nn.Linear) -> None:
    """Give a linear layer the small weights that training begins with."""
    nn.init.normal_(linear.weight, std=START_STD)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
