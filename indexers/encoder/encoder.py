"""A loaded transformer: token ids in, one vector a text out, with the record of what made it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import tokenizers
import torch
from numpy.typing import NDArray

from pinakes.indexers.encoder.control_codes import require_codes
from pinakes.indexers.encoder.kept_models import KeptTokenizer
from pinakes.indexers.encoder.model_settings import Pooling, prepare_text
from pinakes.indexers.encoder.packed import PackedBatch, PackedModel
from pinakes.indexers.encoder.packed_families import pack_model
from pinakes.indexers.names import Precision

WEIGHT_TYPES: Final[dict[Precision, torch.dtype]] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}

PLACES: Final[dict[Pooling, int]] = {"cls": 0, "control_code": 1}
"""which token's state in the last layer is the vector, where it is one token's"""

PendingVectors = Callable[[], NDArray[np.float32]]
"""waits for a batch that was started and gives its vectors (n, dimensions)"""


@dataclass(frozen=True)
class Encoder:
    """A loaded model with all that decides its vectors.

    Attributes:
        revision: the hub's commit, or the weights' digest for a local folder.
        digest: sha256 of the safetensors file in hex (of all of them in the order of their names).
        max_tokens: longer texts are cut here, special tokens included.
        precision: of weights and activations; pooling and vectors are float32 either way.
    """

    name: str
    origin: str
    revision: str
    digest: str
    dimensions: int
    pooling: Pooling
    normalize: bool
    max_tokens: int
    lower_case: bool
    precision: Precision
    device: str
    model: Any = field(repr=False, compare=False)
    tokenizer: Any = field(repr=False, compare=False)

    def describe(self) -> dict[str, Any]:
        """What decides the vectors, apart from the precision; fit for JSON."""
        return {
            "revision": self.revision,
            "weights_digest": self.digest,
            "dimensions": self.dimensions,
            "pooling": self.pooling,
            "max_tokens": self.max_tokens,
            "normalized": self.normalize,
        }

    @cached_property
    def packed(self) -> PackedModel | None:
        """The model as it runs without padding; None where it has to be padded."""
        return pack_model(self.model)

    def compile(self) -> None:
        """Let `torch.compile` fuse what lies between the matrix products; the first batches take longer.

        Pays on CUDA, where norms and activations wait for memory; a model that runs padded is left as it is.
        """
        if self.packed is not None:
            self.packed.compile()

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, special tokens included, cut at `max_tokens`.

        `[SEP]` in a text is the separator of the model's own tokenizer. Raises `IndexingError` where the
        vector is that of a control code and a text does not begin with one.
        """
        separator = getattr(self.tokenizer, "sep_token", None)
        tokens = self._tokenize([prepare_text(text, separator, self.lower_case) for text in texts])
        if self.pooling == "control_code":
            require_codes(self.tokenizer, self.name, texts, tokens)
        return tokens

    def embed(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vectors (n, dimensions) of one batch; rows should be of about one length."""
        return self.start(tokens)()

    def start(self, tokens: Sequence[Sequence[int]]) -> PendingVectors:
        """Start on one batch; the call that is returned waits for its vectors.

        On a CUDA device this returns before the work is done, so that the next batch can be started.
        """
        place = PLACES.get(self.pooling)
        packed = self.packed if all(len(row) > (place or 0) for row in tokens) else None
        with torch.inference_mode():
            if packed is None:
                return _fetch_later(self._finish(self._embed_padded(tokens)))
            batch = packed.pack(tokens, self.device)
            fetch = _fetch_later(self._finish(self._pool_packed(packed, batch)))
        # Put back in the caller's order here, since an index that travelled to the device would wait for it.
        back = np.argsort(batch.order)
        return lambda: fetch()[back]

    @cached_property
    def _tokenize(self) -> Callable[[list[str]], list[list[int]]]:
        return _make_tokenize(self.tokenizer, self.max_tokens)

    def _finish(self, vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors, dim=1) if self.normalize else vectors

    def _pool_packed(self, packed: PackedModel, batch: PackedBatch) -> torch.Tensor:
        place = PLACES.get(self.pooling)
        states = packed.states(batch, last_of=place)
        if self.pooling.startswith("layers_"):
            pooled = [pool_groups(state, batch.groups, self.pooling) for state in states]
            return torch.stack(pooled).mean(dim=0)
        last = deque(states, maxlen=1)[0]
        return pool_groups(last, batch.groups, self.pooling) if place is None else last.float()

    def _embed_padded(self, tokens: Sequence[Sequence[int]]) -> torch.Tensor:
        ids, mask = pad_tokens(tokens, self.tokenizer.pad_token_id or 0)
        # Without padding the mask says nothing, and attention without one has a faster kernel.
        padded = not bool(mask.all())
        mask = mask.to(self.device)
        every_layer = self.pooling.startswith("layers_")
        output = self.model(
            input_ids=ids.to(self.device),
            attention_mask=mask.long() if padded else None,
            **({"output_hidden_states": True} if every_layer else {}),
        )
        states = output.hidden_states if every_layer else [output.last_hidden_state]
        return torch.stack([pool(state.float(), mask, self.pooling) for state in states]).mean(dim=0)


def pad_tokens(tokens: Sequence[Sequence[int]], padding_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The token ids (n, longest), padded, and which of them are real (n, longest).

    >>> [part.tolist() for part in pad_tokens([[7, 8], [9]], 0)]
    [[[7, 8], [9, 0]], [[True, True], [True, False]]]
    """
    lengths = torch.tensor([len(row) for row in tokens])
    ids = torch.full((len(tokens), int(lengths.max())), padding_id)
    for row, row_ids in enumerate(tokens):
        ids[row, : len(row_ids)] = torch.tensor(row_ids)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """The vectors (n, d) of token vectors (n, length, d) whose real tokens `mask` (n, length) marks.

    `layers_mean` and `layers_cls` pool one layer here as `mean` and `cls` do; their mean over the layers is
    the caller's.

    >>> hidden = torch.tensor([[[1.0], [3.0], [50.0]]])
    >>> mask = torch.tensor([[True, True, False]])
    >>> [pool(hidden, mask, how).item() for how in ("cls", "control_code", "mean", "max")]
    [1.0, 3.0, 2.0, 3.0]
    """
    if pooling in ("cls", "control_code", "layers_cls"):
        return hidden[:, PLACES.get(pooling, 0)]
    if pooling == "max":
        return hidden.masked_fill(~mask[:, :, None], float("-inf")).amax(dim=1)
    weights = mask[:, :, None].to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def pool_groups(
    hidden: torch.Tensor, groups: Sequence[tuple[int, int, int]], pooling: Pooling
) -> torch.Tensor:
    """The float32 vectors (n, d) of packed states (tokens, d): groups are (first token, end, length).

    >>> hidden = torch.tensor([[1.0], [3.0], [5.0], [7.0], [50.0]])
    >>> pool_groups(hidden, [(0, 4, 2), (4, 5, 1)], "mean").tolist()
    [[2.0], [6.0], [50.0]]
    """
    parts = []
    for start, end, length in groups:
        states = hidden[start:end].view(-1, length, hidden.shape[1])
        if pooling in ("cls", "layers_cls"):
            parts.append(states[:, 0].float())
        elif pooling == "max":
            parts.append(states.amax(dim=1).float())
        else:
            parts.append(states.mean(dim=1, dtype=torch.float32))
    return torch.cat(parts)


def _make_tokenize(tokenizer: Any, max_tokens: int) -> Callable[[list[str]], list[list[int]]]:
    """A function from texts to their token ids, special tokens included, cut at `max_tokens`.

    A tokenizer of the tokenizers library is used without its record of where each token stood in the text,
    which takes a fifth of the time; one in Python is called as it is. The library works on all cores and
    spends nearly all its time outside Python, so that a thread tokenises ahead of a GPU.
    """
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    if isinstance(tokenizer, KeptTokenizer):
        serialized = tokenizer.serialized
    elif hasattr(backend, "encode_batch_fast"):
        # A copy: the length is the encoder's, and others may use the tokenizer with another.
        serialized = backend.to_str()
    else:
        return lambda texts: _call_tokenizer(tokenizer, max_tokens, texts)
    own: Any = tokenizers.Tokenizer.from_str(serialized)
    own.enable_truncation(max_tokens, direction=getattr(tokenizer, "truncation_side", "right"))
    own.no_padding()
    return lambda texts: [found.ids for found in own.encode_batch_fast(texts)]


def _call_tokenizer(tokenizer: Any, max_tokens: int, texts: Sequence[str]) -> list[list[int]]:
    found: list[list[int]] = tokenizer(
        list(texts),
        truncation=True,
        max_length=max_tokens,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
    )["input_ids"]
    return found


def _fetch_later(vectors: torch.Tensor) -> PendingVectors:
    if vectors.device.type != "cuda":
        found: NDArray[np.float32] = vectors.cpu().numpy()
        return lambda: found
    fetched = torch.empty(vectors.shape, dtype=vectors.dtype, pin_memory=True)
    fetched.copy_(vectors, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record(torch.cuda.current_stream(vectors.device))

    def wait() -> NDArray[np.float32]:
        done.synchronize()
        return np.array(fetched.numpy())

    return wait
