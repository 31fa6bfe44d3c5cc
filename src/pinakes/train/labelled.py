"""Papers with a class, labels or a number, drawn."""

from collections import Counter
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.errors import BenchmarkError, IndexingError
from pinakes.indexers.training.tasks import Instances, TrainingTask
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import select_paper_texts
from pinakes.train.asked import AskedTask
from pinakes.train.blocks import Blocks
from pinakes.train.candidates import make_papers
from pinakes.train.data import TRAIN, DrawnTask, DrawOptions
from pinakes.train.instances import SIDES, list_instances
from pinakes.workload.scope import PAPER_TEMPLATE

_OFFERED: Final[dict[str, Any]] = {
    "paper_id": sa.BigInteger,
    "label": sa.Text(collation="C"),
    "value": sa.Double,
}
_TABLE: Final = sa.table("drawing_offered", *(sa.column(name, type_) for name, type_ in _OFFERED.items()))


def draw_labelled(blocks: Blocks, asked: AskedTask, options: DrawOptions) -> DrawnTask:
    """The task's papers to train on and to validate by.

    Raises:
        BenchmarkError: the benchmark has no example to train on, or one without a class or with two.
        IndexingError: fewer than two classes are left, or a number is none.
    """
    template = PAPER_TEMPLATE if asked.benchmark is None else asked.benchmark.paper_template
    if asked.benchmark is None:
        blocks.make("offered")
    else:
        blocks.make_as("offered", _OFFERED, _select_examples(asked.benchmark, asked.objective))
    _require_offered(blocks, asked)
    make_papers(blocks, sa.select(_TABLE.c.paper_id), template, options)
    if asked.objective != "labels":
        _require_once(blocks, asked)
    blocks.make("stated", "classes")
    left_out = Counter({row["reason"]: row["items"] for row in blocks.rows("count_left_out")})
    _refuse_unlabelled(asked, left_out)
    classes = _choose_classes(blocks, asked, left_out)
    blocks.make("eligible", "drawn")
    _count_drawn(blocks, left_out)
    drawn, targets = blocks.fetch("list_drawn"), blocks.fetch("list_targets")
    chosen = sa.select(sa.table("drawing_drawn", sa.column("paper_id")).c.paper_id)
    texts = blocks.session.fetch_arrow(select_paper_texts(chosen, template))
    return _build(asked, classes, left_out, drawn, targets, texts)


def _select_examples(benchmark: Benchmark, objective: str) -> sa.Select[Any]:
    """The targets of the split train of the view `examples`."""
    target = "value" if objective == "number" else "label"
    names = ("paper_id", "split", target)
    view = sa.table("examples", *(sa.column(name) for name in names), schema=benchmark.name)
    nothing = sa.cast(sa.null(), sa.Text if objective == "number" else sa.Double)
    stated = sa.cast(view.c[target], sa.Double if objective == "number" else sa.Text)
    columns = (nothing, stated) if objective == "number" else (stated, nothing)
    return sa.select(view.c.paper_id, *columns).where(view.c.split == TRAIN).distinct()


def _require_offered(blocks: Blocks, asked: AskedTask) -> None:
    if blocks.session.first(sa.select(_TABLE.c.paper_id).limit(1)):
        return
    if asked.benchmark is None:
        raise IndexingError(f"the task {asked.name} has no paper. Load some, or leave it out")
    raise BenchmarkError(
        f"{asked.name} has no split for training in this database: no example has the split train. Load its "
        "training data, or leave it out."
    )


def _require_once(blocks: Blocks, asked: AskedTask) -> None:
    for row in blocks.rows("find_repeated"):
        raise BenchmarkError(
            f"{asked.name} has {row['targets']} different targets for {row['paper_key']}; expected one a "
            "paper, or `multi_label = true` under [probe]."
        )


def _refuse_unlabelled(asked: AskedTask, left_out: Counter[str]) -> None:
    missing = left_out["papers without a label or a number"]
    if asked.benchmark is not None and missing:
        raise BenchmarkError(f"{asked.name}.examples has {missing} papers to train on without a target.")


def _choose_classes(blocks: Blocks, asked: AskedTask, left_out: Counter[str]) -> tuple[str, ...]:
    """The classes of two papers or more, byte by byte ascending; the others are counted."""
    if asked.objective == "number":
        return ()
    papers_of = {str(row["label"]): int(row["papers"]) for row in blocks.rows("list_classes")}
    left_out["classes seen once"] = sum(count == 1 for count in papers_of.values())
    classes = tuple(sorted((name for name, count in papers_of.items() if count > 1), key=str.encode))
    if len(classes) < 2:
        raise IndexingError(
            f"the task {asked.name} has {len(classes)} classes of two papers or more, of {len(papers_of)} in "
            "all; expected at least 2. Load more of its training data, or leave it out"
        )
    return classes


def _count_drawn(blocks: Blocks, left_out: Counter[str]) -> None:
    for row in blocks.rows("count_ineligible"):
        left_out["papers whose every class was seen once"] = int(row["items"])
    for row in blocks.rows("count_undrawn"):
        left_out["papers beyond the greatest number"] = int(row["items"])


def _build(
    asked: AskedTask,
    classes: tuple[str, ...],
    left_out: Counter[str],
    drawn: pa.Table,
    targets: pa.Table,
    texts: pa.Table,
) -> DrawnTask:
    said = dict(zip(texts["paper_id"].to_pylist(), texts["text"].to_pylist(), strict=True))
    rows: dict[str, int] = {}
    spoken = np.array(
        [rows.setdefault(said[paper_id], len(rows)) for paper_id in drawn["paper_id"].to_pylist()], np.int64
    )
    stated = _read_targets(asked, classes, drawn, targets)
    side = drawn["side"].to_numpy(zero_copy_only=False)
    train, validation = (Instances(spoken[side == one], stated[side == one]) for one in SIDES)
    task = TrainingTask(asked.name, asked.format, asked.objective, list(rows), classes, train, validation)
    labels = _spell_labels(asked, classes, stated)
    instances = list_instances(drawn, query_paper_id=drawn["paper_id"], **labels)
    return DrawnTask(task, dict(+left_out), instances)


def _read_targets(
    asked: AskedTask, classes: tuple[str, ...], drawn: pa.Table, targets: pa.Table
) -> NDArray[Any]:
    """The target of each drawn paper, as `Instances` has it."""
    places = {
        key: place
        for place, key in enumerate(
            zip(drawn["side"].to_pylist(), drawn["position"].to_pylist(), strict=True)
        )
    }
    keys = zip(targets["side"].to_pylist(), targets["position"].to_pylist(), strict=True)
    of_row = np.array([places[key] for key in keys], np.int64)
    if asked.objective == "number":
        values = np.empty(len(drawn), np.float64)
        values[of_row] = targets["value"].to_numpy(zero_copy_only=False)
        return _transform(asked, values)
    number_of = {name: number for number, name in enumerate(classes)}
    numbers = np.array([number_of.get(label, -1) for label in targets["label"].to_pylist()], np.int64)
    if asked.objective == "classes":
        chosen = np.empty(len(drawn), np.int64)
        chosen[of_row] = numbers
        return chosen
    members = np.zeros((len(drawn), len(classes)), np.int64)
    members[of_row[numbers >= 0], numbers[numbers >= 0]] = 1
    return members


def _transform(asked: AskedTask, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as they are trained on; computed here, where it is the same for both databases."""
    if not np.isfinite(values).all():
        raise IndexingError(
            f"the task {asked.name} has a number that is infinite or none; expected finite ones. Correct the "
            "label in the corpus"
        )
    transform = None if asked.kind is None else asked.kind.transform
    if transform == "log":
        values = np.log(values)
    if transform == "scaled" and len(values):
        lowest, highest = values.min(), values.max()
        if lowest == highest:
            raise IndexingError(
                f"the task {asked.name} has the one number {lowest:g}; expected several, since one teaches "
                "nothing. Leave it out"
            )
        values = (values - lowest) / (highest - lowest)
    return values


def _spell_labels(asked: AskedTask, classes: tuple[str, ...], stated: NDArray[Any]) -> dict[str, pa.Array]:
    """The targets as columns of `training_instances`."""
    if asked.objective == "number":
        return {"value": pa.array(stated, pa.float64())}
    if asked.objective == "classes":
        return {"label": pa.array([classes[number] for number in stated], pa.string())}
    listed = [orjson.dumps([classes[place] for place in np.flatnonzero(row)]).decode() for row in stated]
    return {"label": pa.array(listed, pa.string())}
