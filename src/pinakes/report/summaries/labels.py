"""The labels of examples summed up: how many sentences are relevant, in which spans, and by which steps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.report.summaries.data import Asked, Positives, PrintedPositives, StepScores

PUBLISHED_SEMANTICS: Final = "rouge"
"""the third setting of a greedy labeller that counts as the published code does"""
SHARES: Final = ("mean", "deviation", "lowest", "first_quartile", "median", "third_quartile", "highest")
"""columns of the view `positives`, as Table 4 has them"""


def read_positives(
    database: Database, benchmark: Benchmark, mode: str, asked: Iterable[Asked], part: str = "train"
) -> dict[Asked, Positives]:
    """The distribution of relevant sentences over the examples of a part; nothing where it has no example."""
    found = {one: _read_positives(database, benchmark, mode, one, part) for one in asked}
    return {one: positives for one, positives in found.items() if positives is not None}


def _read_positives(
    database: Database, benchmark: Benchmark, mode: str, asked: Asked, part: str
) -> Positives | None:
    keys = {"mode": mode, "corpus": asked[0], "producer": asked[1], "part": part}
    counts = ("examples", "without_positive")
    rows = _read_rows(database, benchmark, "positives", (*counts, *SHARES), keys)
    if not rows or rows[0]["mean"] is None:
        return None
    positives = [
        row["positives"] for row in _read_rows(database, benchmark, "example_positives", ("positives",), keys)
    ]
    spans = _read_rows(database, benchmark, "spans", ("length", "spans", "frequency"), keys)
    return Positives(
        examples=int(rows[0]["examples"]),
        without=int(rows[0]["without_positive"]),
        mean_positives=sum(positives) / len(positives),
        shares={name: float(rows[0][name] or 0) for name in SHARES},
        spans={
            int(row["length"]): (int(row["spans"]), float(row["frequency"]))
            for row in sorted(spans, key=lambda row: int(row["length"]))
        },
    )


def read_printed(database: Database, benchmark: Benchmark) -> PrintedPositives:
    """What the paper prints in its Table 4."""
    rows = _read_rows(database, benchmark, "published_positives", ("statistic", "length", "printed"), {})
    return PrintedPositives(
        {row["statistic"]: f"{row['printed']} %" for row in rows if row["length"] is None},
        {int(row["length"]): f"{row['printed']} %" for row in rows if row["length"] is not None},
    )


def _read_rows(
    database: Database,
    benchmark: Benchmark,
    name: str,
    columns: Sequence[str],
    keys: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Columns of a view's rows of these keys, in no order."""
    view = sa.table(name, *map(sa.column, (*keys, *columns)), schema=benchmark.name)
    chosen = (view.c[key] == value for key, value in keys.items())
    with database.read() as session:
        return session.rows(sa.select(*(view.c[column] for column in columns)).where(*chosen))


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
