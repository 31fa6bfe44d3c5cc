"""A loaded transformer: token ids in, one vector a text out, with the record of what made it.

Leaves out: loading (`pinakes.indexers.model`) and which texts go together (`pinakes.indexers.encode`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from pinakes.indexers.model_settings import Pooling

Precision = Literal["fp32", "bf16"]


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

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, special tokens included, cut at `max_tokens`."""
        lowered = [text.lower() for text in texts] if self.lower_case else list(texts)
        tokens: list[list[int]] = self.tokenizer(
            lowered,
            truncation=True,
            max_length=self.max_tokens,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        return tokens

    def embed(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vectors (n, dimensions) of one batch; rows should be of about one length."""
        lengths = torch.tensor([len(row) for row in tokens])
        ids = torch.full((len(tokens), int(lengths.max())), self.tokenizer.pad_token_id or 0)
        for row, row_ids in enumerate(tokens):
            ids[row, : len(row_ids)] = torch.tensor(row_ids)
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).to(self.device)
        with torch.inference_mode():
            # Without padding the mask says nothing, and attention without one has a faster kernel.
            padded = bool((lengths < ids.shape[1]).any())
            output = self.model(input_ids=ids.to(self.device), attention_mask=mask.long() if padded else None)
            vectors = pool(output.last_hidden_state.float(), mask, self.pooling)
            if self.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        result: NDArray[np.float32] = vectors.cpu().numpy()
        return result


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """The vectors (n, d) of token vectors (n, length, d) whose real tokens `mask` (n, length) marks.

    >>> hidden = torch.tensor([[[1.0], [3.0], [50.0]]])
    >>> mask = torch.tensor([[True, True, False]])
    >>> [pool(hidden, mask, how).item() for how in ("cls", "mean", "max")]
    [1.0, 2.0, 3.0]
    """
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(~mask[:, :, None], float("-inf")).amax(dim=1)
    weights = mask[:, :, None].to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)
