"""Stored predictions to scores: of every setting, of single draws and their mean, and of groups of papers.

In the mode `corrected` a test paper without a prediction is wrong; in `published` it is left out, and the
mean over draws is of percentages that were rounded to two decimals, as the published code has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluators.labels import (
    count_classes,
    count_labels,
    require_measure,
    score_labels,
    score_numbers,
)
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.schema import predictions
from pinakes.tasks.base import ScoreRun, read_mode
from pinakes.workload.examples import Labelled, Split, read_labelled

ALL: Final = "all"
DECIMALS: Final = 4
"""of a share, where the published code rounds a percentage to two"""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What one draw of a setting predicts, in the order of the test papers.

    Attributes:
        answered: whether a paper has a prediction (n,).
        codes: the class of each (n,); -1 without a prediction; empty of labels and numbers.
        members: whether a label is predicted (n, K); (n, 0) of classes and numbers.
        values: the number predicted (n,), NaN without a prediction; empty of classes and labels.
    """

    setting: str
    draw: int
    answered: NDArray[np.bool_]
    codes: NDArray[np.int64]
    members: NDArray[np.bool_]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ProbeScoring:
    """What every run of a benchmark is scored by."""

    database: Database
    benchmark: Benchmark
    measures: Sequence[str]
    labelled: Labelled
    positive: int | None

    def score(self, run_id: int) -> list[Score]:
        """The scores of a run, setting by setting: of each draw, of their mean, and of groups of `all`."""
        published = read_mode(self.database, run_id) == "published"
        found: list[Score] = []
        for setting, draws in groupby(self.read(run_id), key=lambda one: one.setting):
            for measure, scores in self._score_draws(list(draws), published=published).items():
                if setting != ALL:
                    found.append(_average(measure, setting, scores, published=published))
                found += scores
        return found

    def read(self, run_id: int) -> Iterator[Predicted]:
        """The predictions of a run, by setting (`all` first) and draw."""
        table = predictions.c
        query = sa.select(predictions).where(table.run_id == run_id).order_by(table.setting, table.draw)
        with self.database.read() as session:
            rows = session.fetch_arrow(query).combine_chunks()
        if not rows.num_rows:
            raise EvaluationError(f"run {run_id} has no predictions.")
        row, values = self._find_papers(rows["query_id"]), rows["value"].to_numpy()
        # A class that only training examples had may be gone from the view: it is one more, and wrong.
        code = _find(rows["label"], self.labelled.names, len(self.labelled.names))
        counted = rows.group_by(["setting", "draw"], use_threads=False).aggregate([([], "count_all")])
        stops = np.cumsum(counted["count_all"].to_numpy()).tolist()
        draws = zip(counted["setting"].to_pylist(), counted["draw"].to_pylist(), strict=True)
        parts = zip(draws, map(slice, [0, *stops[:-1]], stops), strict=True)
        for (setting, draw), part in sorted(parts, key=lambda one: _order_draws(*one[0])):
            yield self._place(setting, draw, row[part], code[part], values[part])

    def _find_papers(self, query_ids: pa.ChunkedArray) -> NDArray[np.int64]:
        """The place of each among the test papers."""
        found = _find(query_ids, self.labelled.test.query_ids, -1)
        if (found < 0).any():
            strange = query_ids[int(np.flatnonzero(found < 0)[0])].as_py()
            raise EvaluationError(f"{strange} is predicted, which {self.benchmark.name}.examples lacks.")
        return found

    def _place(
        self,
        setting: str,
        draw: int,
        row: NDArray[np.int64],
        code: NDArray[np.int64],
        given: NDArray[np.float64],
    ) -> Predicted:
        """One draw's predictions: the test papers (rows) that they are of, the classes, the numbers."""
        test, count, classes = self.labelled.test, len(self.labelled.test), len(self.labelled.names)
        answered = np.zeros(count, dtype=bool)
        answered[row] = True
        codes, members = np.empty(0, dtype=np.int64), np.zeros((count, 0), dtype=bool)
        values = np.empty(0, dtype=np.float64)
        if test.values.size:
            values = np.full(count, np.nan)
            values[row] = given
        elif test.members.size:
            members = np.zeros((count, classes + 1), dtype=bool)
            members[row, code] = True
            members = members[:, :classes]
        else:
            codes = np.full(count, -1, dtype=np.int64)
            codes[row] = code
        return Predicted(setting, draw, answered, codes, members, values)

    def _score_draws(self, draws: Sequence[Predicted], *, published: bool) -> Mapping[str, list[Score]]:
        by_measure: dict[str, list[Score]] = {measure: [] for measure in self.measures}
        for draw in draws:
            subset = ALL if draw.setting == ALL else f"{draw.setting}/{draw.draw}"
            subsets = {subset: np.ones(len(draw.answered), dtype=bool)}
            if draw.setting == ALL:
                subsets |= self.list_groups()
            for name, chosen in subsets.items():
                kept = chosen & draw.answered if published else chosen
                for measure in self.measures:
                    if name != subset and not _is_defined(self.labelled.test, kept):
                        continue
                    value = self.measure(measure, draw, np.flatnonzero(kept))
                    answered = int((chosen & draw.answered).sum())
                    by_measure[measure].append(Score(measure, name, None, value, int(chosen.sum()), answered))
        return by_measure

    def measure(self, measure: str, draw: Predicted, rows: NDArray[np.intp]) -> float:
        """A measure of a draw over some test papers."""
        test = self.labelled.test
        if test.values.size:
            return score_numbers(measure, test.values[rows], draw.values[rows])
        if test.members.size:
            counts = count_labels(test.members[rows], draw.members[rows], draw.answered[rows])
        else:
            counts = count_classes(test.codes[rows], draw.codes[rows], self.count_classes(draw))
        return float(score_labels(measure, counts, self.positive))

    def count_classes(self, draw: Predicted) -> int:
        """How many classes there are, with those that a draw says and the examples have no longer."""
        return max(len(self.labelled.names), int(draw.codes.max(initial=-1)) + 1)

    def list_groups(self) -> dict[str, NDArray[np.bool_]]:
        """Subset -> which test papers are in it, for each value of each grouping column."""
        found = {}
        for column in self.benchmark.group_by:
            held = [self.labelled.attributes[query_id][column] for query_id in self.labelled.test.query_ids]
            for value in sorted({value for value in held if value is not None}):
                found[f"{column}={value}"] = np.array([one == value for one in held])
        return found


def prepare_scoring(
    database: Database, benchmark: Benchmark, names: Sequence[str], *, target: str, known: Mapping[str, str]
) -> ScoreRun:
    """What scores a run of the benchmark by its id; the examples are read once.

    Raises:
        UnknownNameError: a measure is unknown.
        BenchmarkError: the examples are not what they must be.
        EvaluationError: a measure of the positive class is asked for, and the benchmark names none.
    """
    return open_probe_scoring(database, benchmark, names, target=target, known=known).score


def open_probe_scoring(
    database: Database, benchmark: Benchmark, names: Sequence[str], *, target: str, known: Mapping[str, str]
) -> ProbeScoring:
    """As `prepare_scoring`, with what else can be asked of predictions."""
    measures = [require_measure(name, known) for name in names]
    labelled = read_labelled(database, benchmark, target)
    return ProbeScoring(database, benchmark, measures, labelled, _find_positive(benchmark, labelled))


def _find_positive(benchmark: Benchmark, labelled: Labelled) -> int | None:
    name = benchmark.probe.get("positive")
    if name is None:
        return None
    if name not in labelled.names:
        raise EvaluationError(
            f"{benchmark.name} has no example of the positive class {name!r}; its classes: "
            f"{', '.join(labelled.names)}."
        )
    return labelled.names.index(name)


def _is_defined(test: Split, rows: NDArray[np.bool_]) -> bool:
    """Whether a group can be measured: numbers that are all equal order nothing."""
    return bool(rows.any()) and (not test.values.size or len(np.unique(test.values[rows])) > 1)


def _average(measure: str, setting: str, scores: Sequence[Score], *, published: bool) -> Score:
    values = [round(score.value, DECIMALS) if published else score.value for score in scores]
    expected, answered = scores[0].queries_expected, min(score.queries_answered for score in scores)
    return Score(measure, setting, None, float(np.mean(values)), expected, answered)


def _find(texts: pa.ChunkedArray, names: Sequence[str], otherwise: int) -> NDArray[np.int64]:
    """The place of each text among the names."""
    places = pc.index_in(texts, value_set=pa.array(names, pa.string()))
    found: NDArray[np.int64] = places.fill_null(otherwise).to_numpy().astype(np.int64)
    return found


def _order_draws(setting: str, draw: int) -> tuple[bool, int, str, int]:
    """`all` first, then the settings with more examples, then by draw."""
    size = setting.partition("-")[0]
    return setting != ALL, -int(size) if size.isdigit() else 0, setting, draw
