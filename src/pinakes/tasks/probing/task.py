"""The tasks `classification` and `regression`: their view, their tables, and what does their steps."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from pinakes.evaluators.labels import CLASS_MEASURES, NUMBER_MEASURES, require_measure
from pinakes.queries.definition import Benchmark
from pinakes.schema import predictions, probes
from pinakes.tasks.base import Deciding, Task
from pinakes.tasks.probing.answers import answer
from pinakes.tasks.probing.resampling import prepare_resampling
from pinakes.tasks.probing.scoring import prepare_scoring
from pinakes.workload.examples import NUMBER, list_columns, read_examples, select_labelled

LABEL: Final = "label"


def _make_task(name: str, target: str, view: str, measures: Mapping[str, str]) -> Task:
    def read(database: Any, benchmark: Any, _query_template: str, paper_template: str) -> Any:
        return read_examples(database, benchmark, paper_template, target)

    def select_deciding(benchmark: Benchmark) -> Deciding:
        labelled, groups = select_labelled(benchmark, target)
        return Deciding(labelled, [groups], "labels")

    return Task(
        name=name,
        needs=("embed",),
        answers=predictions,
        facts=(probes,),
        views={"examples": view},
        settings=("paper_template",),
        scored_view="examples",
        list_columns=lambda benchmark, _view: list_columns(benchmark, target),
        read=read,
        answer=answer,
        name_measure=partial(require_measure, known=measures),
        open_scoring=partial(prepare_scoring, target=target, known=measures),
        select_deciding=select_deciding,
        open_resampling=partial(prepare_resampling, target=target, known=measures),
    )


CLASSIFICATION: Final = _make_task(
    "classification",
    LABEL,
    "papers with their class, or one row a label; split train or test, in the order of position.",
    CLASS_MEASURES,
)
REGRESSION: Final = _make_task(
    "regression",
    NUMBER,
    "papers with their number; split train or test, in the order of position.",
    NUMBER_MEASURES,
)
