"""The losses of SciRepEval's formats (Singh et al. 2023, section 4.2): a number for each instance."""

import torch
from torch import Tensor
from torch.nn import functional

from pinakes.indexers.training.tasks import Objective


def compute_losses(objective: Objective, outputs: Tensor, targets: Tensor, margin: float) -> Tensor:
    """The losses (n,) of instances.

    `classes`: cross entropy of logits (n, classes) with class numbers (n,). `labels`: binary cross entropy of
    logits (n, labels) with 0 or 1, its mean over the labels. `number`: squared error of (n, 1) with (n,).
    `triplets`: `max(d(q, p) - d(q, n) + margin, 0)` of vectors (n, 3, d), d the Euclidean distance; targets
    are not read.

    >>> vectors = torch.tensor([[[0.0, 0.0], [3.0, 4.0], [0.0, 5.5]]])
    >>> compute_losses("triplets", vectors, torch.empty(1, 0), 1.0).tolist()
    [0.5]
    """
    if objective == "classes":
        return functional.cross_entropy(outputs, targets, reduction="none")
    if objective == "labels":
        return functional.binary_cross_entropy_with_logits(
            outputs, targets.to(outputs.dtype), reduction="none"
        ).mean(dim=1)
    if objective == "number":
        return (outputs[:, 0] - targets.to(outputs.dtype)) ** 2
    query, nearer, further = outputs.unbind(dim=1)
    return functional.relu(measure(query, nearer) - measure(query, further) + margin)


def measure(left: Tensor, right: Tensor) -> Tensor:
    """The Euclidean distances (n,) of the rows of two matrices; where they are equal the gradient is 0.

    >>> left = torch.zeros(1, 2, requires_grad=True)
    >>> measure(left, torch.zeros(1, 2)).sum().backward()
    >>> left.grad.tolist()
    [[0.0, 0.0]]
    """
    distances: Tensor = torch.linalg.vector_norm(left - right, dim=1)
    return distances
