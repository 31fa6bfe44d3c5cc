"""Which instances each step reads, and in which parts they go through the model."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.repeatable import derive_seed
from pinakes.indexers.training.settings import Batching

Rows = NDArray[np.int64]
Step = list[tuple[int, Rows]]
"""the instances of one step: a task's number and rows of its instances"""


def plan_epoch(
    sizes: Sequence[int], batch_size: int, batching: Batching, seed: int, epoch: int, epochs: int = 1
) -> list[Step]:
    """The steps of an epoch, in which each instance of each task is read once, in an order of the seed.

    `equal`: a step has as many of each task as of any other, while they last; what a small task leaves is
    shared by the others. `annealed`: as many steps, each of one task, which is drawn (`share_annealed`); a
    task that is drawn more often than its instances last begins again in another order, and of one that is
    drawn less some are not read.

    >>> [[(task, len(rows)) for task, rows in step] for step in plan_epoch([6, 2], 4, "equal", 1, 1)]
    [[(0, 2), (1, 2)], [(0, 4)]]
    >>> [[(task, len(rows)) for task, rows in step] for step in plan_epoch([3, 2], 2, "sequential", 1, 1)]
    [[(0, 2)], [(0, 1)], [(1, 2)]]
    """
    if batching == "annealed":
        return _draw_steps(sizes, batch_size, seed, epoch, epochs)
    orders = [_shuffle(size, seed, epoch, task) for task, size in enumerate(sizes)]
    if batching == "equal":
        return _share_equally(orders, batch_size)
    if batching == "sequential":
        return [
            [(task, order[start : start + batch_size])]
            for task, order in enumerate(orders)
            for start in range(0, len(order), batch_size)
        ]
    return _mix(orders, batch_size, _shuffle(sum(sizes), seed, epoch, "all"))


def _shuffle(size: int, seed: int, epoch: int, purpose: object) -> Rows:
    return np.random.default_rng(derive_seed(seed, "order", epoch, purpose)).permutation(size)


def _share_equally(orders: Sequence[Rows], batch_size: int) -> list[Step]:
    steps: list[Step] = []
    read = [0] * len(orders)
    while open_tasks := [task for task, order in enumerate(orders) if read[task] < len(order)]:
        step: Step = []
        left = batch_size
        # The smallest remainder first, so that what it leaves of its share goes to the others.
        by_remainder = sorted(open_tasks, key=lambda task: len(orders[task]) - read[task])
        for place, task in enumerate(by_remainder):
            share = max(1, left // (len(by_remainder) - place))
            rows = orders[task][read[task] : read[task] + share]
            step.append((task, rows))
            read[task] += len(rows)
            left -= len(rows)
        steps.append(sorted(step, key=lambda part: part[0]))
    return steps


def share_annealed(sizes: Sequence[int], epoch: int, epochs: int) -> NDArray[np.float64]:
    """The probability of each task in an epoch, from 1: its size to the power 1 - 0.8 (e - 1) / (E - 1).

    Stickland & Murray 2019, section 3.2: first by size, at the end nearly alike.

    >>> share_annealed([900, 100], 1, 2).tolist()
    [0.9, 0.1]
    >>> share_annealed([243, 32], 2, 2).round(3).tolist()
    [0.6, 0.4]
    """
    alpha = 1 - 0.8 * (epoch - 1) / max(epochs - 1, 1)
    weights = np.array(sizes, dtype=np.float64) ** alpha
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _draw_steps(sizes: Sequence[int], batch_size: int, seed: int, epoch: int, epochs: int) -> list[Step]:
    generator = np.random.default_rng(derive_seed(seed, "order", epoch, "tasks"))
    steps = -(-sum(sizes) // batch_size)
    tasks = generator.choice(len(sizes), size=steps, p=share_annealed(sizes, epoch, epochs))
    rows = {}
    for task, drawn in enumerate(np.bincount(tasks, minlength=len(sizes))):
        turns = -(-int(drawn) * min(batch_size, sizes[task]) // sizes[task]) if drawn else 0
        orders = [_shuffle(sizes[task], seed, epoch, (task, turn)) for turn in range(turns)]
        rows[task] = np.concatenate(orders) if orders else np.empty(0, np.int64)
    found: list[Step] = []
    read = [0] * len(sizes)
    for task in map(int, tasks):
        # A batch that is larger than its task reads it once.
        end = read[task] + min(batch_size, sizes[task])
        found.append([(task, rows[task][read[task] : end])])
        read[task] = end
    return found


def _mix(orders: Sequence[Rows], batch_size: int, order: Rows) -> list[Step]:
    task_of = np.repeat(np.arange(len(orders)), [len(rows) for rows in orders])[order]
    row_of = np.concatenate([np.arange(len(rows)) for rows in orders])[order]
    steps: list[Step] = []
    for start in range(0, len(order), batch_size):
        tasks, rows = task_of[start : start + batch_size], row_of[start : start + batch_size]
        steps.append([(int(task), rows[tasks == task]) for task in np.unique(tasks)])
    return steps


def cut_parts(lengths: NDArray[np.int64], most_tokens: int, is_padded: bool = True) -> Iterator[Rows]:
    """Places of instances by parts that hold at most so many tokens; a part has one instance at least.

    `lengths` (n, texts) are the tokens of each text of each instance. Instances of like length share a part.
    `is_padded`: each text of a part counts as its longest.

    >>> lengths = np.array([[5], [2], [5], [2], [1]])
    >>> [part.tolist() for part in cut_parts(lengths, 10)]
    [[4, 1, 3], [0, 2]]
    >>> [part.tolist() for part in cut_parts(lengths, 10, is_padded=False)]
    [[4, 1, 3, 0], [2]]
    """
    longest = lengths.max(axis=1)
    order = np.argsort(longest, kind="stable")
    ends = np.concatenate([[0], np.cumsum(lengths.sum(axis=1)[order])])
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order):
            padded = (end + 1 - start) * lengths.shape[1] * longest[order[end]]
            if (padded if is_padded else ends[end + 1] - ends[start]) <= most_tokens:
                continue
        yield order[start:end]
        start = end
