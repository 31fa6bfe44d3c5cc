"""Probes trained on a system's vectors: on every example and on draws of few; what they predict, as rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import BenchmarkError, RunError
from pinakes.indexers.probes.base import CLASS_GRID, NUMBER_GRID, RULES, Predictions, Rules, Vectors
from pinakes.progress import Progress
from pinakes.queries.definition import Benchmark
from pinakes.schema import predictions, probes
from pinakes.systems.base import Embedded, System
from pinakes.tasks.base import Answers
from pinakes.workload.examples import Examples, Labelled, Split

ALL: Final = "all"
"""the setting of a probe that is trained on every example"""
NO_LABEL: Final = ""


@dataclass(frozen=True, slots=True)
class FewShot:
    """A setting of few examples: `size` of them in all, of several labels for each; so many draws."""

    size: int
    iterations: int

    @property
    def name(self) -> str:
        """The setting, as scores and predictions have it.

        >>> FewShot(64, 50).name
        '64-shot'
        """
        return f"{self.size}-shot"


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What probes are trained on and asked: the examples that have a vector.

    Attributes:
        train, test: rows of the splits' examples that have one, ascending.
        train_vectors, test_vectors: their vectors.
    """

    labelled: Labelled
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    train_vectors: Vectors
    test_vectors: Vectors
    rules: Rules = field(repr=False)


def read_few_shot(benchmark: Benchmark) -> list[FewShot]:
    """The settings of few examples that a benchmark asks for.

    Raises:
        BenchmarkError: a setting lacks its size or its number of draws, or one of them is not 1 or more.
    """
    found = []
    for given in benchmark.probe.get("few_shot", ()):
        size, iterations = given.get("size"), given.get("iterations")
        if type(size) is not int or type(iterations) is not int or min(size, iterations) < 1:
            raise BenchmarkError(
                f"{benchmark.name} has the few-shot setting {given}; expected size and iterations, 1 or more."
            )
        found.append(FewShot(size, iterations))
    return found


def answer(database: Database, system: System, examples: Examples, progress: Progress) -> Answers:
    """What probes over a system's vectors predict of the test papers, setting by setting, draw by draw.

    Raises:
        RunError: a vector is not finite, or no training example or no test paper has one.
    """
    benchmark = examples.benchmark
    material = _gather(examples, system.embed(database, examples, progress), system.name)
    settings = [(ALL, 0, np.arange(len(material.train))), *_draw(benchmark, material)]
    progress.start(f"train probes of {benchmark.name} on {system.name}", len(settings))
    try:
        for setting, draw, chosen in settings:
            found = _predict(material, chosen, few=setting != ALL)
            yield predictions, _list_predictions(material, setting, draw, found)
            yield probes, _describe(material, setting, draw, found, len(chosen))
            progress.advance(1)
    finally:
        progress.finish()


def _gather(examples: Examples, embedded: Embedded, system: str) -> Material:
    from pinakes.vectors.reading import reload_vectors  # late: torch, which no other task needs

    benchmark = examples.benchmark
    finite = np.isfinite(embedded.vectors).all(axis=1)
    if not finite.all():
        row = embedded.rows[np.flatnonzero(~finite)[0]]
        raise RunError(f"the vector of {examples.source_ids[row]} by {system} is not of finite numbers.")
    vectors = reload_vectors(benchmark, embedded.vectors)
    held = examples.paper_ids[embedded.rows]
    labelled = examples.labelled
    rows, parts = [], []
    for name, split in (("training example", labelled.train), ("test paper", labelled.test)):
        place = np.searchsorted(held, split.paper_ids)
        has_vector = np.zeros(len(split), dtype=bool)
        inside = place < len(held)
        has_vector[inside] = held[place[inside]] == split.paper_ids[inside]
        if not has_vector.any():
            raise RunError(f"no {name} of {benchmark.name} has a vector of {system}.")
        rows.append(np.flatnonzero(has_vector))
        parts.append(np.ascontiguousarray(vectors[place[has_vector]]))
    rules = RULES[benchmark.mode]  # type: ignore[index]
    return Material(labelled, rows[0], rows[1], parts[0], parts[1], rules)


def _draw(benchmark: Benchmark, material: Material) -> Iterator[tuple[str, int, NDArray[np.intp]]]:
    from pinakes.indexers.probes.draws import draw_folds, draw_positives

    train = material.labelled.train
    for setting in read_few_shot(benchmark):
        if train.members.size:
            draws = draw_positives(train.members[material.train], setting.size, setting.iterations)
        else:
            draws = draw_folds(train.codes[material.train], setting.size, setting.iterations)
        yield from ((setting.name, number, rows) for number, rows in enumerate(draws, start=1))


def _predict(material: Material, chosen: NDArray[np.intp], *, few: bool) -> Predictions:
    from pinakes.indexers.probes.classes import predict_classes
    from pinakes.indexers.probes.labels import predict_labels
    from pinakes.indexers.probes.numbers import predict_numbers

    split = material.labelled.train
    rows, rules, test = material.train[chosen], material.rules, material.test_vectors
    vectors = material.train_vectors if len(chosen) == len(material.train) else material.train_vectors[chosen]
    if split.values.size:
        return predict_numbers(vectors, split.values[rows], test, rules, NUMBER_GRID)
    if split.members.size:
        return predict_labels(vectors, split.members[rows], test, rules, CLASS_GRID)
    present, codes = np.unique(split.codes[rows], return_inverse=True)
    found = predict_classes(vectors, codes, test, rules, None if few else CLASS_GRID)
    return replace(found, values=present[found.values])


def _list_predictions(material: Material, setting: str, draw: int, found: Predictions) -> pa.Table:
    """One row a paper, or a paper and label of several; a paper without a label has the label ''."""
    split: Split = material.labelled.test
    row, code, values = np.arange(len(material.test)), found.values, found.decisions
    names = material.labelled.names
    if split.values.size:
        code, names = np.zeros(len(row), dtype=np.int64), ["value"]
    elif split.members.size:
        names = [*names, NO_LABEL]
        none = np.flatnonzero(~found.values.any(axis=1))
        row, code = np.nonzero(found.values)
        row, code = np.append(row, none), np.append(code, np.full(len(none), len(names) - 1))
        best = found.decisions.max(axis=1, initial=-np.inf)
        is_none = code == len(names) - 1
        values = np.where(is_none, best[row], found.decisions[row, np.where(is_none, 0, code)])
        order = np.argsort(row, kind="stable")
        row, code, values = row[order], code[order], values[order]
    return pa.table(
        {
            "setting": pa.array([setting] * len(row), pa.string()),
            "draw": pa.array(np.full(len(row), draw, dtype=np.int32)),
            "query_id": _name_codes(material.test[row], split.query_ids),
            "label": _name_codes(code, names),
            "value": pa.array(values.astype(np.float64)),
        }
    )


def _name_codes(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names, pa.string()))


def _describe(material: Material, setting: str, draw: int, found: Predictions, count: int) -> pa.Table:
    labelled = material.labelled
    alone = len(found.chosen) == 1
    of_label: dict[str, Any] = {} if alone else dict(zip(labelled.names, found.chosen, strict=True))
    row = {
        "setting": setting,
        "draw": draw,
        "c": found.chosen[0] if alone else None,
        "label_c": None if alone else orjson.dumps(of_label).decode(),
        "grid_score": _find_score(found) if alone else None,
        "train_count": count,
        "train_missing": len(labelled.train) - len(material.train),
        "test_missing": len(labelled.test) - len(material.test),
        "leaked": labelled.leaked,
        "open_count": found.open_count,
        "unconverged": found.unconverged,
        "one_class_fits": found.one_class_fits,
    }
    return pa.Table.from_pylist([row], schema=_PROBES)


_PROBES: Final = pa.schema(
    [
        ("setting", pa.string()),
        ("draw", pa.int32()),
        ("c", pa.float64()),
        ("label_c", pa.string()),
        ("grid_score", pa.float64()),
        *((name, pa.int32()) for name in ("train_count", "train_missing", "test_missing", "leaked")),
        *((name, pa.int32()) for name in ("open_count", "unconverged", "one_class_fits")),
    ]
)


def _find_score(found: Predictions) -> float | None:
    """The greatest of the scores that C was chosen by; None where there was nothing to choose by."""
    scores: Sequence[float] = np.ravel(found.grid_scores).tolist()
    finite = [score for score in scores if np.isfinite(score)]
    return max(finite) if finite else None
