"""How an encoder is trained; the defaults are SciRepEval's (Singh et al. 2023, appendix B)."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from pinakes.errors import IndexingError

Method = Literal["cls", "ctrl", "adapters", "pals", "fusion"]
"""One embedding for everything; a control code a format; bottleneck adapters a format in a frozen base;
projected attention layers a format, and the base is trained too; attention over all formats' adapters for
each format, which were trained first."""
Batching = Literal["equal", "mixed", "sequential", "annealed"]
"""Equal shares of every task in each batch; instances of all tasks in one random order; task by task; a task
a batch, drawn by its size, which counts less from epoch to epoch."""
PAL_HEADS: Final = 6
"""heads of a projected attention layer, as its authors' code has them"""
Precision = Literal["fp32", "bf16", "fp16"]
EPOCHS: Final[dict[Method, int]] = {"cls": 2, "ctrl": 2, "adapters": 6, "pals": 2, "fusion": 4}


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """What decides the weights of a trained encoder, beside its base and its instances.

    Attributes:
        epochs: how often each instance is seen; None: 2, for adapters 6, for fusions 4 behind those of their
            adapters. A number is that of both steps.
        batch_size: instances a step of the optimiser.
        micro_tokens: tokens, padding included where there is any, that go through the model at once; a step
            adds up as many such parts as it needs. None: 2,048 on a CPU, else 32,768. Halved where memory
            runs out.
        learning_rate, warmup_steps: the peak, reached linearly, behind which the rate falls with the inverse
            square root of the step.
        margin: of the triplet loss.
        max_tokens: longer texts are cut here, special tokens included.
        reduction_factor: the base's width through that of an adapter's bottleneck.
        pal_width: the numbers that a projected attention layer works on; a multiple of its 6 heads.
        batching: None: annealed of PALs, as Stickland & Murray 2019; else equal.
        patience: epochs without a lower validation loss of a format after which its tasks train no more;
            where all formats stopped, training ends. The weights of formats that share any are then those of
            the epoch with the lowest mean over these; of one that shares none, of its own lowest. 0: all
            epochs, the last weights.
        checkpoint_steps: steps between two states that are kept on disk.
        recompute: whether states are computed again for the gradient, which needs less memory.
        precision: of the products; weights stay fp32. fp16 is of CUDA devices, with losses that are scaled.
    """

    method: Method = "ctrl"
    epochs: int | None = None
    batch_size: int = 256
    micro_tokens: int | None = None
    learning_rate: float = 5e-5
    warmup_steps: int = 700
    weight_decay: float = 0.01
    margin: float = 1.0
    max_tokens: int = 512
    reduction_factor: int = 16
    pal_width: int = 204
    batching: Batching | None = None
    patience: int = 0
    checkpoint_steps: int = 200
    recompute: bool = False
    precision: Precision = "fp32"
    seed: int = 1

    def __post_init__(self) -> None:
        for name, allowed in (("method", Method), ("batching", Batching), ("precision", Precision)):
            if getattr(self, name) not in get_args(allowed) and (name, self.batching) != ("batching", None):
                raise IndexingError(
                    f"{name} is {getattr(self, name)!r}; expected one of {', '.join(get_args(allowed))}."
                )
        least = {"batch_size": 1, "warmup_steps": 0, "max_tokens": 4, "patience": 0}
        least |= {"reduction_factor": 1, "checkpoint_steps": 1, "epochs": 1, "micro_tokens": 1}
        for name, number in least.items():
            if getattr(self, name) is not None and getattr(self, name) < number:
                raise IndexingError(f"{name} is {getattr(self, name)}; expected {number} or more.")
        if self.pal_width < PAL_HEADS or self.pal_width % PAL_HEADS:
            raise IndexingError(
                f"pal_width is {self.pal_width}; expected a multiple of {PAL_HEADS}, the heads of a "
                "projected attention layer."
            )
        if not (self.learning_rate > 0 and self.margin >= 0 and self.weight_decay >= 0):
            raise IndexingError(
                f"learning_rate is {self.learning_rate}, margin {self.margin} and weight_decay "
                f"{self.weight_decay}; expected a rate above 0, and the others 0 or more."
            )

    @property
    def epoch_count(self) -> int:
        """How many epochs are run at most."""
        return EPOCHS[self.method] if self.epochs is None else self.epochs

    @property
    def batching_used(self) -> Batching:
        """How the tasks share the batches."""
        return self.batching or ("annealed" if self.method == "pals" else "equal")

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, from 1.

        >>> settings = TrainingSettings(learning_rate=1.0, warmup_steps=4)
        >>> [settings.rate_at(step) for step in (1, 2, 4, 16)]
        [0.25, 0.5, 1.0, 0.5]
        """
        warmup = max(self.warmup_steps, 1)
        return self.learning_rate * min(step / warmup, float((warmup / step) ** 0.5))
