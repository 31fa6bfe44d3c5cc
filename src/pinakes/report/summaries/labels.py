"""The labels of examples summed up: how many sentences are relevant, in which spans, and by which steps."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.report.summaries.data import Asked, Positives, StepScores

PUBLISHED_SEMANTICS = "rouge"
"""the third setting of a greedy labeller that counts as the published code does"""


def read_positives(
    database: Database, benchmark: Benchmark, mode: str, asked: Iterable[Asked], part: str = "train"
) -> dict[Asked, Positives]:
    """The distribution of relevant sentences over the examples of a part; nothing where it has no example."""
    found = {one: _read_positives(database, benchmark, mode, one, part) for one in asked}
    return {one: positives for one, positives in found.items() if positives is not None}


def _read_positives(
    database: Database, benchmark: Benchmark, mode: str, asked: Asked, part: str
) -> Positives | None:
    counted = _read(database, benchmark, "relevant_shares", ("sentences", "positives"), mode, asked, part)
    spans = _read(database, benchmark, "relevant_spans", ("length", "spans"), mode, asked, part)
    sentences, positives = (counted[name].to_numpy() for name in ("sentences", "positives"))
    held = sentences > 0
    if not held.any():
        return None
    pairs = zip(spans["length"].to_pylist(), spans["spans"].to_pylist(), strict=True)
    return Positives(
        examples=int(held.sum()),
        without=int((positives[held] == 0).sum()),
        mean_positives=float(positives[held].mean()),
        shares=summarise(positives[held] / sentences[held]),
        spans={int(length): int(count) for length, count in sorted(pairs)},
    )


def summarise(values: NDArray[np.float64]) -> dict[str, float]:
    """Values as Table 4 sums them up: as pandas describes them, the deviation that of a sample.

    >>> list(summarise(np.array([0.0, 0.5, 1.0])).values())
    [0.5, 0.5, 0.0, 0.25, 0.5, 0.75, 1.0]
    """
    first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
    return {
        "mean": float(values.mean()),
        "standard deviation": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        "minimum": float(values.min()),
        "first quartile": float(first),
        "median": float(median),
        "third quartile": float(third),
        "maximum": float(values.max()),
    }


def _read(
    database: Database,
    benchmark: Benchmark,
    name: str,
    columns: Sequence[str],
    mode: str,
    asked: Asked,
    part: str,
) -> pa.Table:
    keys = {"mode": mode, "corpus": asked[0], "producer": asked[1], "part": part}
    view = sa.table(name, *map(sa.column, (*keys, *columns)), schema=benchmark.name)
    chosen = (view.c[key] == value for key, value in keys.items())
    with database.read() as session:
        return session.fetch_arrow(sa.select(*(view.c[column] for column in columns)).where(*chosen))


def read_curves(
    database: Database, benchmark: Benchmark, mode: str, asked: Iterable[Asked]
) -> dict[Asked, dict[str, list[StepScores]]]:
    """Labeller -> its steps, of the augmentations that count ROUGE as the mode does."""
    found = {one: _read_curves(database, benchmark, mode, one) for one in asked}
    return {one: curves for one, curves in found.items() if curves}


def _read_curves(
    database: Database, benchmark: Benchmark, mode: str, asked: Asked
) -> dict[str, list[StepScores]]:
    columns = ("corpus", "producer", "labeller", "step", "score")
    view = sa.table("augmentation_steps", *map(sa.column, columns), schema=benchmark.name)
    query = sa.select(view.c.labeller, view.c.step, view.c.score)
    with database.read() as session:
        rows = session.fetch_arrow(query.where(view.c.corpus == asked[0], view.c.producer == asked[1]))
    names = sorted({name for name in rows["labeller"].to_pylist() if is_of_mode(name, mode)})
    return {name: _list_steps(rows.filter(pa.compute.equal(rows["labeller"], name))) for name in names}


def is_of_mode(labeller: str, mode: str) -> bool:
    """Whether an augmentation counts ROUGE as the mode's does: two ways are never in one picture.

    >>> is_of_mode("greedy rouge2 f rouge zero", "published")
    True
    >>> is_of_mode("greedy rouge2 f rouge_score citing", "published")
    False
    """
    semantics = (labeller.split() + [""] * 4)[3]
    return (semantics == PUBLISHED_SEMANTICS) == (mode == "published")


def _list_steps(rows: Any) -> list[StepScores]:
    steps, scores = rows["step"].to_numpy(), rows["score"].to_numpy()
    order = np.lexsort((scores, steps))  # the databases give the rows in no order
    numbers, starts = np.unique(steps[order], return_index=True)
    found = []
    for number, values in zip(numbers, np.split(scores[order], starts[1:]), strict=True):
        first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
        found.append(StepScores(int(number), len(values), float(first), float(median), float(third)))
    return found
